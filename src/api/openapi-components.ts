import { AppError, ERROR_STATUS } from "../lib/errors.js";
import { PARAMETER_NOTES } from "./openapi-notes.js";

/** The part of an OpenAPI document that is moved into components. */
interface Reference {
  $ref: string;
}
interface ParameterObject {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Record<string, unknown>;
}
interface ResponseObject {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}
interface OperationObject {
  operationId: string;
  parameters?: (ParameterObject | Reference)[];
  responses: Record<string, ResponseObject | Reference>;
}
export interface DocumentObject {
  paths: Record<string, Record<string, OperationObject>>;
  components: Record<string, Record<string, unknown>>;
}

interface ComponentOptions {
  /** Headers that components describe, by name. Operations refer to them. */
  headers: Readonly<Record<string, string>>;
  /** Names of those that every response has. Only those that every operation has list them, which keeps the document small. */
  always: readonly string[];
  /** Ids of operations whose responses are made while they are sent: they have no ETag, and no 304. */
  streams: ReadonlySet<string>;
}

/** Names of headers of a 304, besides those that every response has. */
const CACHED = ["ETag", "Cache-Control"];

/**
 * Moves what operations share into components, where each thing is written once: headers, error responses and parameters. Adds
 * the 304 of every GET but streams, with `If-None-Match`. Changes the document.
 */
export function shareComponents(
  document: DocumentObject,
  { headers, always, streams }: ComponentOptions,
): void {
  const components = {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, description]) => [
        name,
        { description, schema: { type: "string" } },
      ]),
    ),
    responses: {} as Record<string, ResponseObject>,
    parameters: {} as Record<string, ParameterObject>,
  };
  const refer = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  components.responses.NotModified = {
    description: "Nothing has changed since the caller's response. Free if the response was cached.",
    headers: refer([...CACHED, ...always]),
  };
  components.parameters.IfNoneMatch = {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The ETag of a response that the caller has.",
    example: 'W/"6PZfVzQ1tN0aX4dDkqYl2g"',
    schema: { type: "string" },
  };
  for (const [, operation, method] of operationsOf(document)) {
    const { responses } = operation;
    const isTagged =
      method === "get" && responses["200"] !== undefined && !streams.has(operation.operationId);
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response) continue;
      if (status === "default" || Number(status) >= 400) {
        const name = status === "default" ? "Failure" : nameOfErrors(response.description);
        components.responses[name] ??=
          status === "default" ? { ...response, headers: refer(["Retry-After", ...always]) } : response;
        responses[status] = { $ref: `#/components/responses/${name}` };
      } else {
        const own = Object.entries(response.headers ?? {}).filter(([name]) => headers[name] === undefined);
        const described = Object.keys(response.headers ?? {}).filter((name) => headers[name] !== undefined);
        const cached = isTagged && status === "200" ? CACHED : [];
        const names = new Set([...described, ...cached]);
        response.headers = { ...Object.fromEntries(own), ...refer([...names]) };
      }
    }
    if (isTagged) {
      responses["304"] = { $ref: "#/components/responses/NotModified" };
      operation.parameters = [
        ...(operation.parameters ?? []),
        { $ref: "#/components/parameters/IfNoneMatch" },
      ];
    }
  }
  shareResponses(document, components.responses);
  shareParameters(document, components.parameters);
  Object.assign(document.components, components);
}

/** Refers to a success that several operations have in the same form; it is named after the first of them. */
function shareResponses(document: DocumentObject, shared: Record<string, ResponseObject | Reference>): void {
  const uses = new Map<string, { name: string; count: number }>();
  const each = function* () {
    for (const [, operation] of operationsOf(document))
      for (const [status, response] of Object.entries(operation.responses))
        if (!("$ref" in response)) yield { operation, status, response, text: JSON.stringify(response) };
  };
  for (const { operation, status, text } of each()) {
    const known = uses.get(text) ?? { name: `${capitalised(operation.operationId)}${status}`, count: 0 };
    uses.set(text, { ...known, count: known.count + 1 });
  }
  for (const { operation, status, response, text } of each()) {
    const { name, count } = uses.get(text) ?? { name: "", count: 0 };
    if (count < 2) continue;
    shared[name] = response;
    operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
}

/** Refers to a parameter that several operations have in the same form, and gives each an example. */
function shareParameters(document: DocumentObject, shared: Record<string, ParameterObject>): void {
  const uses = new Map<string, { parameter: ParameterObject; owners: OperationObject[] }>();
  for (const [, operation] of operationsOf(document)) {
    for (const parameter of operation.parameters ?? []) {
      if ("$ref" in parameter) continue;
      complete(parameter);
      const text = JSON.stringify(parameter);
      const use = uses.get(text) ?? { parameter, owners: [] };
      use.owners.push(operation);
      uses.set(text, use);
    }
  }
  const references = new Map<string, Reference>();
  for (const [text, { parameter, owners }] of uses) {
    const [first] = owners;
    if (first === undefined || owners.length < 2) continue;
    const plain = capitalised(parameter.name);
    const name = shared[plain] === undefined ? plain : `${capitalised(first.operationId)}${plain}`;
    shared[name] = parameter;
    references.set(text, { $ref: `#/components/parameters/${name}` });
  }
  for (const [, operation] of operationsOf(document))
    if (operation.parameters !== undefined)
      operation.parameters = operation.parameters.map(
        (parameter) => references.get(JSON.stringify(parameter)) ?? parameter,
      );
}

/**
 * Moves description and example of a parameter from its schema to itself, and adds those of its name where it has none. A choice
 * has its default, or its first value, as example.
 */
function complete(parameter: ParameterObject): void {
  const { description, example, ...schema } = parameter.schema;
  const note = PARAMETER_NOTES[parameter.name] ?? {};
  const text = description ?? note.description;
  if (typeof text === "string") parameter.description ??= text;
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  const shown = example ?? schema.default ?? choices[0] ?? note.example;
  if (shown !== undefined) parameter.example ??= shown;
  parameter.schema = schema;
}

function* operationsOf({ paths }: DocumentObject): Generator<[string, OperationObject, string]> {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) yield [path, operation, method];
}

/** The name of a response with these error codes: `INVALID_REQUEST, NOT_FOUND` becomes `InvalidRequestNotFound`. */
function nameOfErrors(codes: string): string {
  return codes
    .split(", ")
    .map((code) => {
      if (!(code in ERROR_STATUS)) throw new AppError("INTERNAL", `${code} is no error code`);
      return code
        .split("_")
        .map((word) => capitalised(word.toLowerCase()))
        .join("");
    })
    .join("");
}

function capitalised(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
