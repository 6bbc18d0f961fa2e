import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { openApiDocument } from "../../src/api/api.js";
import { decodedText } from "./answers.js";

/** The contract that all answers of the suite are held against. */
interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
  components: { schemas: Record<string, object> };
}

/** The document is derived from the routes alone; making it takes 200 ms, so a run of many files makes it once. */
export const document: Document = JSON.parse(
  process.env.TEST_OPENAPI === undefined ? documentText() : readFileSync(process.env.TEST_OPENAPI, "utf8"),
);

export function documentText(): string {
  return JSON.stringify(openApiDocument("https://sidereal.example"));
}

// The schemas themselves are validated once, by the tests of the conventions.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
(addFormatsModule as unknown as (instance: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: "document", components: document.components });

const validators = new Map<object, ValidateFunction>();

/** References inside the document, as ajv finds them. */
function compile(schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const validate = ajv.compile(JSON.parse(text));
  validators.set(schema, validate);
  return validate;
}

/** Fails unless each schema of the document is a JSON Schema. */
export function checkSchemas(): void {
  for (const [name, schema] of Object.entries(document.components.schemas))
    assert.ok(ajv.validateSchema(schema), `${name}: ${JSON.stringify(ajv.errors)}`);
}

/** Paths of the contract as expressions, those without parameters first. */
const patterns = Object.keys(document.paths)
  .sort((a, b) => a.split("{").length - b.split("{").length)
  .map((path) => {
    const source = path
      .replaceAll(".", "\\.")
      .replaceAll(/\{(\w+)\}/g, (_, name) => (name === "fullName" ? ".+" : "[^/]+"));
    return { path, expression: new RegExp(`^${source}$`) };
  });

/** How many answers have been held against the contract. */
export let checkedAnswers = 0;

/** Fails unless the contract has this answer: its path, method, status, type, and the body itself. */
export async function checkAnswer(request: Request, response: Response): Promise<void> {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith("/api/") && !["/healthz", "/readyz"].includes(pathname)) return;
  if (pathname === "/api/openapi.json") return;
  checkedAnswers++;
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const hasBody = type.endsWith("json") && request.method !== "HEAD";
  const body = hasBody ? JSON.parse(await decodedText(response)) : undefined;
  const entry = patterns.find(({ expression }) => expression.test(decodeURI(pathname)));
  const method = request.method === "HEAD" ? "get" : request.method.toLowerCase();
  const operation = entry === undefined ? undefined : document.paths[entry.path]?.[method];
  if (operation === undefined) {
    // Nothing at this address, or not with this method: the shared error schemas still hold.
    assert.ok(
      [204, 400, 401, 404, 405, 415, 429].includes(response.status),
      `${request.method} ${pathname} answered ${response.status}`,
    );
    const { Error: plain = {}, Problem: problem = {} } = document.components.schemas;
    if (body !== undefined) check(type === "application/json" ? plain : problem, body, pathname);
    return;
  }
  if (response.status === 304) return;
  const documented = operation.responses[String(response.status)];
  assert.ok(
    documented,
    `${method} ${entry?.path} answered ${response.status}, which the document does not have`,
  );
  if (body === undefined) {
    // Of what is no JSON the contract has the type only.
    if (type !== "" && !type.endsWith("json"))
      assert.ok(
        documented.content?.[type],
        `${method} ${entry?.path} answered ${type}, which the document does not have`,
      );
    return;
  }
  const schema = documented.content?.[type]?.schema;
  assert.ok(
    schema,
    `${method} ${entry?.path} answered ${response.status} as ${type}, which the document does not have`,
  );
  check(schema, body, pathname);
}

function check(schema: object, body: unknown, where: string): void {
  const validate = compile(schema);
  assert.ok(validate(body), `${where}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
}
