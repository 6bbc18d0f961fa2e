import { nearestName } from "../lib/nearest-name.js";
import { z } from "../lib/schema.js";
import type { CsvColumn } from "./csv.js";
import { detailSchema } from "./repository-detail.js";
import { snapshotSchema } from "./series-views.js";
import { repositorySchema, watchedRepositorySchema } from "./views.js";

/** The parameter `fields`: which fields of its records a response has. */

const MAX_NAMES = 60;
const MAX_LENGTH = 1_000;

type JsonRecord = Readonly<Record<string, unknown>>;

/** Fields of a record: for each whether all of it is wanted, or which fields of it. */
interface Tree {
  [name: string]: Tree | "all";
}

/** The requested fields of a record. */
export interface Selection {
  /** A copy of a record with nothing else, in the order of the record. */
  pick(row: object): JsonRecord;
  /** Columns for them, in the order of the request, those of a nested record one after the other. */
  columns: readonly CsvColumn<object>[];
}

/** The parameter for records of a schema. Its names are those of the schema, dotted where records are nested. */
function fieldsParameter(schema: z.ZodType) {
  const known = namesIn(schema);
  const leaves = leavesOf(known);
  return z
    .string()
    .max(MAX_LENGTH)
    .transform((text, context): Selection => {
      const names = [...new Set(text.split(",").map((name) => name.trim()))];
      const unknown = names.find((name) => !known.has(name));
      if (names.length <= MAX_NAMES && unknown === undefined) return selectionOf(names, leaves);
      const message =
        unknown === undefined ? `must have at most ${MAX_NAMES} names` : unknownMessage(unknown, known);
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .optional()
    .openapi({
      type: "string",
      maxLength: MAX_LENGTH,
      example: leaves.slice(0, 2).join(),
      description: "Only these fields: up to 60 names, separated by commas, dotted where nested.",
    });
}

/** Fields of a repository alone. */
export const detailFields = fieldsParameter(detailSchema);
/** Fields of the points of a series, with those of the repository that rows of CSV have. */
const pickedPoint = snapshotSchema
  .extend({ repositoryId: z.string(), provider: z.string(), fullName: z.string() })
  .partial()
  .openapi("PartialSnapshot", { description: "The requested fields of a point, see the parameter fields." });
export const pointFields = fieldsParameter(pickedPoint);
/** A point of a series, or the fields of it that were requested. */
export const pointSchema = z.union([snapshotSchema, pickedPoint]);
/** Fields of the repositories of a list. */
export const repositoryFields = fieldsParameter(repositorySchema);
/** Of those of a watchlist. */
export const watchedFields = fieldsParameter(watchedRepositorySchema);

function unknownMessage(name: string, known: ReadonlySet<string>): string {
  const shown = name.slice(0, 60);
  const nested = [...known].find((one) => one.endsWith(`.${name}`));
  const nearest = nested ?? nearestName(name, known);
  return nearest === undefined
    ? `has no field "${shown}"`
    : `has no field "${shown}"; the nearest is ${nearest}`;
}

/** The names of the fields of a schema, nested ones with those they are in. */
function namesIn(schema: z.ZodType, prefix = ""): Set<string> {
  const names = new Set<string>();
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject)) return names;
  for (const [name, field] of Object.entries<z.ZodType>(inner.shape)) {
    names.add(prefix + name);
    for (const nested of namesIn(field, `${prefix}${name}.`)) names.add(nested);
  }
  return names;
}

/** The names of fields that have no fields of their own, which would follow them. */
function leavesOf(known: ReadonlySet<string>): string[] {
  const names = [...known];
  return names.filter((name, i) => !names[i + 1]?.startsWith(`${name}.`));
}

/** A schema without what is around it: null, absence, a default, a list. */
function unwrapped(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    return unwrapped(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) {
    const [first, ...others] = (schema.options as z.ZodType[]).filter((one) => !(one instanceof z.ZodNull));
    return first !== undefined && others.length === 0 ? unwrapped(first) : schema;
  }
  return schema instanceof z.ZodArray ? unwrapped(schema.element as z.ZodType) : schema;
}

function selectionOf(names: readonly string[], leaves: readonly string[]): Selection {
  const tree: Tree = {};
  for (const name of names) {
    const parts = name.split(".");
    let at = tree;
    for (const [i, part] of parts.entries()) {
      const below = i === parts.length - 1 ? "all" : (at[part] ?? {});
      at[part] = below;
      if (below === "all") break;
      at = below;
    }
  }
  const columns = names.flatMap((name) => {
    const within = leaves.filter((leaf) => leaf === name || leaf.startsWith(`${name}.`));
    return within.map((leaf): CsvColumn<object> => {
      const parts = leaf.split(".");
      return { name: leaf, isForeign: true, value: (row) => cellOf(valueAt(row, parts)) };
    });
  });
  return { pick: (row) => pickFrom(row as JsonRecord, tree), columns };
}

function pickFrom(row: JsonRecord, tree: Tree): JsonRecord {
  const picked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const below = tree[name];
    if (below === undefined) continue;
    picked[name] = below === "all" ? value : pickNested(value, below);
  }
  return picked;
}

function pickNested(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) return value.map((one) => pickNested(one, tree));
  return typeof value === "object" && value !== null ? pickFrom(value as JsonRecord, tree) : value;
}

function valueAt(value: unknown, parts: readonly string[]): unknown {
  const [part, ...rest] = parts;
  if (part === undefined || value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map((one) => valueAt(one, parts));
  return valueAt((value as JsonRecord)[part], rest);
}

/** A value as a cell; several are separated by semicolons. */
function cellOf(value: unknown): string | number | boolean | null {
  if (Array.isArray(value)) return value.map((one) => cellOf(one) ?? "").join(";");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
