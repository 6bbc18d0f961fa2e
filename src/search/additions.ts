import { sql } from "kysely";
import type { BulkTable, Db } from "../database/database.js";
import { bytesOf, floatsOf } from "./layout.js";

/** A repository that was added to the index after it was built, or whose words have changed or are gone since. */
export interface Addition {
  id: number;
  /** The position it has now; -1: none, as it is no longer available. */
  position: number;
  /** The position it had before, which is not used again; -1: none. */
  replaced: number;
  /** Stars when it got the position; -1: unknown. */
  stars: number;
}

export const ADDITIONS: BulkTable = {
  table: "search_additions",
  columns: { first_block: "bigint", slot: "bigint", data: "bytea" },
  key: ["first_block", "slot"],
};

/** Numbers stored of each addition. */
const NUMBERS = 4;

export function encodeAdditions(additions: readonly Addition[]): Uint8Array {
  const numbers = new Float64Array(additions.length * NUMBERS);
  for (const [i, { id, position, replaced, stars }] of additions.entries())
    numbers.set([id, position, replaced, stars], i * NUMBERS);
  return bytesOf(numbers);
}

export function decodeAdditions(data: Uint8Array): Addition[] {
  const numbers = floatsOf(data);
  return Array.from({ length: numbers.length / NUMBERS }, (_, i) => {
    const [id = 0, position = -1, replaced = -1, stars = -1] = numbers.subarray(
      i * NUMBERS,
      (i + 1) * NUMBERS,
    );
    return { id, position, replaced, stars };
  });
}

/** All additions of an index, in the order in which they were made. */
export async function readAdditions(db: Db, firstBlock: number): Promise<Addition[]> {
  const { rows } = await sql<{ data: Uint8Array }>`select data from search_additions
    where first_block = ${firstBlock} order by slot`.execute(db);
  return rows.flatMap(({ data }) => decodeAdditions(data));
}
