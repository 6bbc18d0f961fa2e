import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";

/** The used parts of an OpenAPI document. */
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: object; responses?: Record<string, Response>; parameters?: Record<string, object> };
}

type Referable<T> = T | { $ref: string };

interface Operation {
  parameters?: Referable<object>[];
  responses: Record<string, Referable<Response>>;
}

interface Response {
  headers?: unknown;
}

/** The file with the types, from the folder of the project. */
export const CLIENT_TYPES = "client/src/schema.ts";

/** The generator is installed in the folder of the client, as it needs another version of TypeScript than everything else. */
const GENERATOR = "client/node_modules/openapi-typescript/bin/cli.js";
const OPTIONS = ["--default-non-nullable=false", "--root-types", "--root-types-no-schema-prefix"];

/** The types of all successful requests and responses of a document, as a TypeScript file. Takes about two seconds. */
export function clientTypes(document: object): string {
  const input = inputOf(document);
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [GENERATOR, ...OPTIONS], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`openapi-typescript failed: ${stderr}`, { cause: error });
  const types = stdout.slice(stdout.indexOf("export interface paths"));
  return `/**
 * The types of the API, generated from its OpenAPI document by openapi-typescript. Run \`npm run client\` after a change of the API.
 * Failures and response headers are left out: the client throws the former, and returns the latter as they are.
 *
 * Document: ${digest(input)}
 * Types: ${digest(types)}
 */
${types}`;
}

/** Whether a file of types was made of this document, and not changed since. Needs no generator. */
export function isCurrent(file: string, document: object): boolean {
  const types = file.slice(file.indexOf("export interface paths"));
  return (
    file.includes(` Document: ${digest(inputOf(document))}\n`) && file.includes(` Types: ${digest(types)}\n`)
  );
}

/** The document without failures, response headers and examples, and with schemas as its only components. */
function inputOf(document: object): string {
  const { paths, components, ...rest } = document as Document;
  const successesOf = ({ parameters = [], responses, ...operation }: Operation): Operation => ({
    ...operation,
    parameters: parameters.map((one) => resolved(one, components.parameters)),
    responses: Object.fromEntries(
      Object.entries(responses).flatMap(([status, response]) => {
        if (!status.startsWith("2")) return [];
        const { headers, ...kept } = resolved(response, components.responses);
        return [[status, kept]];
      }),
    ),
  });
  const input = {
    ...rest,
    paths: mapValues(paths, (item) => mapValues(item, successesOf)),
    components: { schemas: components.schemas },
  };
  return JSON.stringify(input, (key, value) => (key === "example" || key === "examples" ? undefined : value));
}

/** The target of a reference to one of these components. */
function resolved<T extends object>(value: Referable<T>, components: Record<string, T> = {}): T {
  if (!("$ref" in value)) return value;
  const component = components[value.$ref.slice(value.$ref.lastIndexOf("/") + 1)];
  if (component === undefined) throw new Error(`The document has no ${value.$ref}.`);
  return component;
}

function mapValues<T>(record: Record<string, T>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
