import { extendZodWithOpenApi } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";

extendZodWithOpenApi(z);

/** Zod, extended with `.openapi()` for descriptions in the OpenAPI document. */
export { z };

/** A time as responses write it: ISO 8601 in UTC, to the millisecond. */
export const time = z.iso.datetime({ precision: 3 });

/** The id of a record, as responses write it. */
export const idSchema = z.string().regex(/^[1-9][0-9]{0,18}$/);

/** A record or null. The OpenAPI generator would make a record with a name null wherever it is used. */
export function orNull<T extends z.ZodType>(record: T) {
  return z.union([record, z.null()]);
}

/**
 * One of a few names, which are written like `new-hot`. Accepts each of them in any case and with `_` or nothing between its
 * words, such as `new_hot` and `newHot`, and returns the name itself. `others`: further spellings that are accepted.
 */
export function oneOf<const Name extends string>(
  names: readonly Name[],
  others: Readonly<Record<string, Name>> = {},
) {
  const known = new Map<string, Name>(Object.entries(others));
  for (const name of names) known.set(plainName(name), name);
  return z
    .string()
    .transform((text) => known.get(plainName(text)) ?? text)
    .pipe(z.enum(names))
    .openapi({ type: "string", enum: [...names] });
}

/** A name without case and the signs between its words. */
function plainName(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}
