import { FIELD_NOTES } from "./openapi-notes.js";

/** Completes the schemas of an OpenAPI document: descriptions of fields, and examples of responses. */

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
interface Media {
  schema?: Schema;
  example?: unknown;
}
interface Body {
  content?: Record<string, Media>;
}
interface Operation {
  requestBody?: Body;
  responses: Record<string, Body>;
}
export interface CompletedDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const REFERENCE = "#/components/schemas/";

/** Changes the document, before its parts are shared. */
export function completeSchemas(document: CompletedDocument): void {
  const { schemas } = document.components;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const bodies = operations.flatMap(({ requestBody = {}, responses }) => [
    requestBody,
    ...Object.values(responses),
  ]);
  const media = bodies.flatMap(({ content = {} }) => Object.values(content));
  for (const schema of [...Object.values(schemas), ...media.flatMap(({ schema }) => schema ?? [])])
    describeFields(schema);
  for (const one of media)
    if (one.schema !== undefined && one.schema.format !== "binary")
      one.example ??= exampleOf(one.schema, schemas);
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
  if ($ref !== undefined) return exampleOf(schemas[$ref.slice(REFERENCE.length)] ?? {}, schemas);
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
