/** Values for JSON Schemas: those that keep one, and those that just miss it. */
import type { Random } from "../../../bench/synthetic/random.js";
import { changed, hostile } from "./values.js";

/** The keywords of JSON Schema that the contract uses for requests. */
export interface Schema {
  type?: string;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  anyOf?: readonly Schema[];
}

/** Gives a good value for a name, or undefined where the schema alone must do. */
export type Known = (name: string) => string | undefined;

/** A text that keeps the schema of a parameter. */
export function validText(random: Random, schema: Schema, name: string, known: Known): string {
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.type === "integer") {
    const min = schema.minimum ?? 0;
    // Boundaries more often than chance would have them.
    const max = Math.min(schema.maximum ?? 1_000, name === "page" ? 20 : Number.MAX_SAFE_INTEGER);
    const drawn = random.between(min, max);
    return String(random.weighted([[min, 1] as const, [max, 1] as const, [drawn, 6] as const]));
  }
  const { items } = schema;
  if (items !== undefined) return validText(random, items, name, known);
  return known(name) ?? random.pick(["a", "web", "data tool", "x".repeat(schema.minLength ?? 1)]);
}

/** A text near the schema of a parameter, most often outside of it. */
export function nearText(random: Random, schema: Schema, name: string, known: Known): string {
  const bounds = [
    ...(schema.minimum === undefined ? [] : [schema.minimum - 1, schema.minimum, schema.minimum + 0.5]),
    ...(schema.maximum === undefined ? [] : [schema.maximum, schema.maximum + 1, -schema.maximum]),
  ].map(String);
  const lengths = [schema.minLength, schema.maxLength].flatMap((length) =>
    length === undefined || length > 4_000
      ? []
      : ["y".repeat(Math.max(0, length - 1)), "y".repeat(length), "é".repeat(length), "y".repeat(length + 1)],
  );
  const edges = [...bounds, ...lengths];
  if (edges.length > 0 && random.chance(0.4)) return random.pick(edges);
  return random.chance(0.5) ? changed(random, validText(random, schema, name, known)) : hostile(random);
}

/** A JSON value that keeps a schema. */
export function validJson(random: Random, schema: Schema, name: string, known: Known): unknown {
  if (schema.anyOf !== undefined) return validJson(random, random.pick(schema.anyOf), name, known);
  if (schema.type === "array") {
    const { items = {} } = schema;
    const most = Math.min(schema.maxItems ?? 5, random.chance(0.05) ? 500 : 5);
    const values = Array.from({ length: random.between(schema.minItems ?? 0, most) }, () =>
      validJson(random, items, name, known),
    );
    return [...new Set(values)];
  }
  if (schema.properties === undefined) return validText(random, schema, name, known);
  return Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([key]) => schema.required?.includes(key) || random.chance(0.7))
      .map(([key, value]) => [key, validJson(random, value, key, known)]),
  );
}

const VALUES: readonly unknown[] = [null, true, 0, -1, 1.5, 1e300, "", [], {}, [[]], [null], { length: 1 }];

/** The text of a JSON body that is near a schema, or near JSON. */
export function nearJson(random: Random, schema: Schema, known: Known): string {
  const value = validJson(random, schema, "", known);
  const object: Record<string, unknown> =
    typeof value === "object" && value !== null ? { ...value } : { value };
  const names = Object.keys(object);
  const name = names.length > 0 ? random.pick(names) : "name";
  const text = () => JSON.stringify(object);
  switch (random.between(0, 11)) {
    case 0:
      object[name] = random.pick(VALUES);
      return text();
    case 1:
      object[name] = hostile(random);
      return text();
    case 2:
      delete object[name];
      return text();
    case 3:
      object[hostile(random) || "more"] = random.pick(VALUES);
      return text();
    case 4:
      return `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${text().slice(1)}`;
    case 5:
      return JSON.stringify(random.pick(VALUES));
    case 6: {
      const depth = random.pick([5, 50, 2_000, 7_000]);
      return random.chance(0.5) ? `${'{"a":'.repeat(depth / 5)}1` : "[".repeat(depth) + "]".repeat(depth);
    }
    case 7:
      object[name] = Array.from({ length: random.pick([1, 500, 501, 1_000]) }, (_, i) => String(i + 1));
      return text();
    case 8:
      return random.pick([
        "",
        " ",
        "\ufeff{}",
        "{",
        "}",
        "[1,]",
        '{"a":1,}',
        "NaN",
        "'x'",
        "{} {}",
        '"\\ud800"',
      ]);
    case 9:
      return `${text().slice(0, -1)},${text().slice(1)}`;
    case 10:
      object[name] = "z".repeat(random.pick([100, 101, 16_000, 20_000, 70_000]));
      return text();
    default:
      return changed(random, text());
  }
}
