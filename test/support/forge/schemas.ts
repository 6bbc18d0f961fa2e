import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";
import addFormatsModule from "ajv-formats";

interface Response {
  $ref?: string;
  content?: Record<string, { schema: object }>;
}

/** The part of GitHub's REST API description that tests need. */
interface Description {
  components: { schemas: Record<string, object>; responses: Record<string, Response> };
  paths: Record<string, { get?: { responses: Record<string, Response> } }>;
}

let loaded: { description: Description; ajv: Ajv } | undefined;
const compiled = new Map<string, ValidateFunction>();

/** Loaded on demand, as it has twelve megabytes. */
function load() {
  if (loaded !== undefined) return loaded;
  const path = import.meta.resolve("@octokit/openapi/generated/api.github.com.json");
  const text = readFileSync(fileURLToPath(path), "utf8").replaceAll('"#/components/', '"github#/components/');
  const description: Description = JSON.parse(text);
  const ajv = new Ajv({ strict: false, allErrors: true });
  (addFormatsModule as unknown as (instance: Ajv) => void)(ajv);
  ajv.addSchema({ $id: "github", components: description.components });
  loaded = { description, ajv };
  return loaded;
}

/**
 * Fails unless GitHub's description has this body for a GET of that path (with its parameters in braces). An empty home
 * page is accepted: it violates the description, but GitHub really returns it.
 */
export function checkGithubBody(path: string, status: number, answered: unknown): void {
  const body: unknown = JSON.parse(JSON.stringify(answered).replaceAll('"homepage":""', '"homepage":null'));
  const { description, ajv } = load();
  const key = `${status} ${path}`;
  let validate = compiled.get(key);
  if (validate === undefined) {
    const named = description.paths[path]?.get?.responses[status];
    const response = description.components.responses[named?.$ref?.split("/").at(-1) ?? ""] ?? named;
    const schema = response?.content?.["application/json"]?.schema;
    assert.ok(schema, `${path} with ${status} is not described`);
    validate = ajv.compile(schema);
    compiled.set(key, validate);
  }
  assert.ok(validate(body), `${key}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
}
