import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { openApiDocument } from "../../src/api/openapi.js";
import { decodedText } from "./answers.js";

/** The contract that all answers of the suite are held against. */
interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
  components: { schemas: Record<string, object> } & Record<string, Record<string, object>>;
}

/** The document is derived from the routes alone; making it takes 200 ms, so a run of many files makes it once. */
export const document: Document = withParts(
  JSON.parse(
    process.env.TEST_OPENAPI === undefined ? documentText() : readFileSync(process.env.TEST_OPENAPI, "utf8"),
  ),
);

/** Replaces references to shared parameters and responses by what they refer to. Those to schemas stay. */
function withParts(document: Document): Document {
  const { components, paths } = document;
  const text = JSON.stringify(paths).replaceAll(
    /\{"\$ref":"#\/components\/(parameters|responses)\/([^"]+)"\}/g,
    (_, kind, name) => JSON.stringify(components[kind]?.[name]),
  );
  return { ...document, paths: JSON.parse(text) };
}

export function documentText(): string {
  return JSON.stringify(openApiDocument("https://sidereal.example"));
}

/** Validates by the schemas of the document. */
class Validators {
  readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  readonly #known = new Map<object, ValidateFunction>();

  constructor() {
    (addFormatsModule as unknown as (instance: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema(this.#prepared({ $id: "document", components: document.components }));
  }

  compile(schema: object): ValidateFunction {
    const known = this.#known.get(schema) ?? this.ajv.compile(this.#prepared(schema));
    this.#known.set(schema, known);
    return known;
  }

  /** References inside the document, as ajv finds them. */
  #prepared(schema: object): object {
    return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
  }
}
const validators = new Validators();

/** Fails unless each schema of the document is a JSON Schema. */
export function checkSchemas(): void {
  for (const [name, schema] of Object.entries(document.components.schemas))
    assert.ok(validators.ajv.validateSchema(schema), `${name}: ${JSON.stringify(validators.ajv.errors)}`);
}

/** Paths of the contract as expressions, those without parameters first. */
const patterns = Object.keys(document.paths)
  .sort((a, b) => a.split("{").length - b.split("{").length)
  .map((path) => {
    const source = path
      .replaceAll(".", "\\.")
      .replaceAll(/\{(\w+)\}/g, (_, name) => (["fullName", "file"].includes(name) ? ".+" : "[^/]+"));
    return { path, expression: new RegExp(`^${source}$`) };
  });

/** How many answers have been held against the contract. */
export let checkedAnswers = 0;

/** Fails unless the contract has this answer: its path, method, status, type, and the body itself. */
export async function checkAnswer(request: Request, response: Response): Promise<void> {
  const path = new URL(request.url).pathname;
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const isJson = isJsonType(type) && request.method !== "HEAD";
  const text = isDocumented(path) && isJson ? await decodedText(response) : "";
  checkDocumented({ method: request.method, path, status: response.status, type, text });
}

/** An answer, with what it was the answer to. */
export interface DocumentedAnswer {
  method: string;
  /** As it was sent, escapes included. */
  path: string;
  status: number;
  /** Content-Type without parameters. */
  type: string;
  /** Empty where it is not looked at: an answer to HEAD, or no JSON. */
  text: string;
}

/** Whether a body of this type is one JSON text; lines of JSON are not. */
function isJsonType(type: string): boolean {
  return /[/+]json$/.test(type);
}

function isDocumented(path: string): boolean {
  return (
    (path.startsWith("/api/") || path === "/healthz" || path === "/readyz") && path !== "/api/openapi.json"
  );
}

/** The path of the contract that a request leads to; undefined for one that is malformed, or leads nowhere. */
function entryOf(path: string): string | undefined {
  try {
    const decoded = decodeURI(path);
    return patterns.find(({ expression }) => expression.test(decoded))?.path;
  } catch {
    return undefined;
  }
}

/** The same for an answer as plain data. Returns false for a path that the contract does not cover. */
export function checkDocumented({ method: sent, path, status, type, text }: DocumentedAnswer): boolean {
  if (!isDocumented(path)) return false;
  checkedAnswers++;
  const body = isJsonType(type) && text !== "" ? JSON.parse(text) : undefined;
  const entry = entryOf(path);
  const method = sent === "HEAD" ? "get" : sent.toLowerCase();
  const operation = entry === undefined ? undefined : document.paths[entry]?.[method];
  if (operation === undefined) {
    // Nothing at this address, or not with this method: the shared error schemas still hold.
    assert.ok(
      [204, 400, 401, 404, 405, 414, 415, 421, 429, 431].includes(status),
      `${sent} ${path} answered ${status}`,
    );
    const { Error: plain = {}, Problem: problem = {} } = document.components.schemas;
    if (body !== undefined) check(type === "application/json" ? plain : problem, body, path);
    return true;
  }
  if (status === 304) return true;
  const documented =
    operation.responses[String(status)] ?? (status >= 400 ? operation.responses.default : undefined);
  assert.ok(documented, `${method} ${entry} answered ${status}, which the document does not have`);
  const schema = documented.content?.[type]?.schema;
  if (body === undefined) {
    // Of what is no JSON the contract has the type only.
    const isUnknown = type !== "" && !isJsonType(type) && !documented.content?.[type];
    assert.ok(!isUnknown, `${method} ${entry} answered ${type}, which the document does not have`);
    return true;
  }
  assert.ok(schema, `${method} ${entry} answered ${status} as ${type}, which the document does not have`);
  check(schema, body, path);
  return true;
}

/** Fails unless the schema allows the value. */
export function check(schema: object, body: unknown, where: string): void {
  const validate = validators.compile(schema);
  assert.ok(validate(body), `${where}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
}
