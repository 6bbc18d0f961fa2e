import { extendZodWithOpenApi } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";

extendZodWithOpenApi(z);

/** Zod, extended with `.openapi()` for descriptions in the OpenAPI document. */
export { z };

/** A time as responses write it: ISO 8601 in UTC, to the millisecond. */
export const time = z.iso.datetime({ precision: 3 });

/** A record or null. The OpenAPI generator would make a record with a name null wherever it is used. */
export function orNull<T extends z.ZodType>(record: T) {
  return z.union([record, z.null()]);
}
