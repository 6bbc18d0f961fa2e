import { createHash } from "node:crypto";
import { z } from "zod";
import { AppError } from "../errors.js";

/** Where a page ended: the sort key and id of its last row. */
export interface Position {
  key: number;
  id: number;
}

const CURSOR = z.tuple([z.string(), z.int(), z.int().min(0)]);

/** A short name of a query: cursors of one query do not fit another. */
function fingerprint(query: unknown): string {
  return createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 12);
}

/** An opaque text for the place after `position` in the answer to `query`. */
export function encodeCursor(query: unknown, { key, id }: Position): string {
  return Buffer.from(JSON.stringify([fingerprint(query), key, id])).toString("base64url");
}

/** The place a cursor stands for. Throws INVALID_REQUEST for one that was not made for this query. */
export function decodeCursor(query: unknown, cursor: string): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    value = undefined;
  }
  const parsed = CURSOR.safeParse(value);
  if (!parsed.success || parsed.data[0] !== fingerprint(query)) {
    throw new AppError("INVALID_REQUEST", "cursor: not a cursor of this query; begin again without one", {
      details: [{ parameter: "cursor", message: "not a cursor of this query; begin again without one" }],
    });
  }
  return { key: parsed.data[1], id: parsed.data[2] };
}
