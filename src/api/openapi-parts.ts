import { IGNORED_HEADER, RATE_HEADERS } from "../http/http.js";
import { FIELD_NOTES, PARAMETER_NOTES } from "./openapi-notes.js";

/** Completes an OpenAPI document: descriptions and examples that schemas leave out, and components for shared parts. */

/** The part of a JSON schema that is read here. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  example?: unknown;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  minimum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
}
interface Reference {
  $ref: string;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}
interface Body {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: Schema; example?: unknown }>;
}
interface Operation {
  operationId: string;
  parameters?: (Parameter | Reference)[];
  requestBody?: Body;
  responses: Record<string, Body | Reference>;
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const HEADERS: Readonly<Record<string, string>> = {
  ...RATE_HEADERS,
  "X-Request-Id": "The id of the request, which an error repeats in its body.",
  [IGNORED_HEADER]:
    'The query parameters that the operation does not know, at most five, each with the nearest one that it knows, such as "per_page";nearest="limit". Absent without any.',
  ETag: "The tag of the response, for If-None-Match.",
  "Cache-Control": "Who may keep the response, and for how long.",
  Link: 'Addresses of other pages of the list (RFC 8288): rel="first", "prev", "next", "last".',
  Location: "The address of the created or moved resource.",
  "Retry-After": "Seconds after which the same request succeeds.",
  "Content-Disposition": "The name of the file.",
  "Content-Range": "The range that the body is of, and the length of the file.",
  "Set-Cookie": "The session of the browser.",
};
/** The headers of every response; only the components that every operation has list them, which keeps the document small. */
const ALWAYS = ["X-Request-Id", IGNORED_HEADER, ...Object.keys(RATE_HEADERS)];
/** The further headers of a 304, and of the response that it stands for. */
const CACHED = ["ETag", "Cache-Control"];

const refer = (names: Iterable<string>) =>
  Object.fromEntries([...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const NOT_MODIFIED: Body = {
  description: "Nothing has changed since the caller's response. Free if the response was cached.",
  headers: refer([...CACHED, ...ALWAYS]),
};
const IF_NONE_MATCH: Parameter = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of a response that the caller has.",
  example: 'W/"6PZfVzQ1tN0aX4dDkqYl2g"',
  schema: { type: "string" },
};

/** Changes the document. `streams`: ids of operations whose responses are made while they are sent: they have no ETag, and no 304. */
export function completeDocument({ paths, components }: Document, streams: ReadonlySet<string>): void {
  const { schemas } = components;
  for (const schema of Object.values(schemas)) describeFields(schema);
  const failures: Part[] = [];
  const successes: Part[] = [];
  const parameterParts: Part[] = [];
  for (const [method, operation] of Object.values(paths).flatMap((methods) => Object.entries(methods))) {
    const { operationId, requestBody = {}, responses, parameters = [] } = operation;
    const isTagged = method === "get" && responses["200"] !== undefined && !streams.has(operationId);
    completeContent(requestBody, schemas);
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response) continue;
      completeContent(response, schemas);
      const isFailure = status === "default" || Number(status) >= 400;
      if (status === "default") response.headers = refer(["Retry-After", ...ALWAYS]);
      else if (!isFailure) response.headers = headersOf(response, isTagged && status === "200" ? CACHED : []);
      const failure =
        status === "default" ? "Failure" : capitalised((response.description ?? "").toLowerCase());
      const names = [isFailure ? failure : `${capitalised(operationId)}${status}`];
      const replace = (by: Reference) => Object.assign(responses, { [status]: by });
      (isFailure ? failures : successes).push({ value: response, names, replace });
    }
    for (const [at, parameter] of parameters.entries()) {
      if ("$ref" in parameter) continue;
      completeParameter(parameter);
      const name = capitalised(parameter.name);
      const names = [name, `${capitalised(operationId)}${name}`];
      parameterParts.push({ value: parameter, names, replace: (by) => parameters.splice(at, 1, by) });
    }
    if (!isTagged) continue;
    responses["304"] = { $ref: "#/components/responses/NotModified" };
    operation.parameters = parameters;
    parameters.push({ $ref: "#/components/parameters/IfNoneMatch" });
  }
  const headers = Object.fromEntries(
    Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
  const sharedResponses = { NotModified: NOT_MODIFIED };
  share("responses", sharedResponses, failures, 1);
  share("responses", sharedResponses, successes, 2);
  const sharedParameters = { IfNoneMatch: IF_NONE_MATCH };
  share("parameters", sharedParameters, parameterParts, 2);
  Object.assign(components, { headers, responses: sharedResponses, parameters: sharedParameters });
}

/** A part of an operation, the names that it may have as a component, and how a reference takes its place. */
interface Part {
  value: object;
  names: readonly string[];
  replace: (by: Reference) => void;
}

/** Moves parts that occur `least` times in the same form into components, under the first free name of the first of them. */
function share(kind: string, shared: Record<string, object>, parts: readonly Part[], least: number): void {
  for (const equal of Map.groupBy(parts, ({ value }) => JSON.stringify(value)).values()) {
    const [first] = equal;
    const name = first?.names.find((one) => shared[one] === undefined);
    if (first === undefined || name === undefined || equal.length < least) continue;
    shared[name] = first.value;
    for (const { replace } of equal) replace({ $ref: `#/components/${kind}/${name}` });
  }
}

/** The headers of a response: those that components describe as references, after all others. */
function headersOf({ headers = {} }: Body, further: readonly string[]): Record<string, unknown> {
  const own = Object.entries(headers).filter(([name]) => HEADERS[name] === undefined);
  const described = Object.keys(headers).filter((name) => HEADERS[name] !== undefined);
  return { ...Object.fromEntries(own), ...refer(new Set([...described, ...further])) };
}

/**
 * Moves description and example of a parameter from its schema to itself, and adds those of its name if it has none. A choice has its
 * default, or its first value, as example.
 */
function completeParameter(parameter: Parameter): void {
  const { description, example, ...schema } = parameter.schema;
  const note = PARAMETER_NOTES[parameter.name] ?? {};
  const text = description ?? note.description;
  if (text !== undefined) parameter.description ??= text;
  const shown = example ?? schema.default ?? schema.enum?.[0] ?? note.example;
  if (shown !== undefined) parameter.example ??= shown;
  parameter.schema = schema;
}

function completeContent({ content = {} }: Body, schemas: Record<string, Schema>): void {
  for (const media of Object.values(content)) {
    describeFields(media.schema);
    if (media.schema.format !== "binary") media.example ??= exampleOf(media.schema, schemas);
  }
}

/** Describes the fields that have no description by their name, which means the same in all records. */
function describeFields(schema: Schema): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const { description, example } = FIELD_NOTES[name] ?? {};
    if (description !== undefined) field.description ??= description;
    if (example !== undefined && field.enum === undefined && allows(field, example))
      field.example ??= example;
  }
  for (const inner of innerSchemas(schema)) describeFields(inner);
}

/** Whether the schema has the type of the value; one name may be a count here, and a list there. */
function allows({ type, items, anyOf = [] }: Schema, value: unknown): boolean {
  if (anyOf.some((one) => allows(one, value))) return true;
  const types = [type].flat();
  if (value === null) return types.includes("null");
  if (typeof value === "number") return types.includes("number") || types.includes("integer");
  if (!Array.isArray(value)) return types.includes(typeof value);
  return types.includes("array") && (value.length === 0 || (items !== undefined && allows(items, value[0])));
}

function innerSchemas({
  properties = {},
  items,
  additionalProperties,
  allOf = [],
  anyOf = [],
}: Schema): Schema[] {
  const others = [items, additionalProperties].filter((one) => typeof one === "object");
  return [...Object.values(properties), ...others, ...allOf, ...anyOf];
}

/** A value that the schema allows, with the fields that are always there. */
function exampleOf(schema: Schema, schemas: Record<string, Schema>): unknown {
  const { $ref, properties, required = [], items, allOf, anyOf } = schema;
  const known = [schema.example, schema.default, schema.const, schema.enum?.[0]].find(
    (one) => one !== undefined,
  );
  if (known !== undefined) return known;
  if ($ref !== undefined)
    return exampleOf(schemas[$ref.slice("#/components/schemas/".length)] ?? {}, schemas);
  if (allOf !== undefined)
    return Object.assign({}, ...allOf.map((part) => exampleOf(part, schemas) as object));
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0], schemas);
  if (properties !== undefined) {
    const shown = Object.entries(properties).filter(([name]) => required.includes(name));
    return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field, schemas)]));
  }
  if (items !== undefined) return [exampleOf(items, schemas)];
  const [type] = [schema.type].flat();
  if (type === "integer" || type === "number") return schema.minimum ?? 0;
  if (type === "boolean") return false;
  if (type === "null") return null;
  return type === "string" ? "…" : {};
}

function capitalised(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
