import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { readState } from "./layout.js";
import { Placement } from "./placement.js";

/** Up to this many repositories, the order is exact. */
const EXACT_UP_TO = 10_000;
/** Beyond, a repository may be off by this part of its position ... */
const TOLERANCE = 1 / 8;
/** ... and this part of all repositories by more. */
const DISPLACED = 0.01;
const READ = 20_000;

/**
 * Whether the order of the index differs from that by stars: at all in a small catalogue; in a large one, where exact order
 * makes no difference to a reader, for more than 1 % of the repositories.
 */
export async function isOutOfOrder({ write }: Database): Promise<boolean> {
  const state = await readState(write);
  if (state === undefined) return false;
  const ranks = new Map<number, number>();
  for (const id of (await Placement.read(write, state)).ids()) ranks.set(id, ranks.size);
  const isExact = ranks.size <= EXACT_UP_TO;
  let displaced = 0;
  let rank = 0;
  for (let after = { stars: Number.MAX_SAFE_INTEGER, id: 0 }; ; ) {
    const next = await sql<{
      stars: number;
      id: number;
    }>`select coalesce(stars, -1) as stars, id from repositories
      where availability = 'AVAILABLE' and (coalesce(stars, -1), id) < (${after.stars}, ${after.id})
      order by coalesce(stars, -1) desc, id desc limit ${READ}`.execute(write);
    for (const { id } of next.rows) {
      const known = ranks.get(id);
      // A repository that is not indexed yet is marked, and gets its position then.
      if (known === undefined) continue;
      if (Math.abs(known - rank) > (isExact ? 0 : known * TOLERANCE + 1)) displaced++;
      rank++;
    }
    const last = next.rows.at(-1);
    if (last === undefined) break;
    after = last;
  }
  return displaced > (isExact ? 0 : ranks.size * DISPLACED);
}
