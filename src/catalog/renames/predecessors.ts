import { sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";

/** Most earlier names that are followed from one repository. */
const MAX_CHAIN = 5;

/**
 * The suspected earlier names of repositories, by id, the latest first; repositories without one are absent. Those of an accepted
 * rename are not among them, as their snapshots have been joined. Costs one statement, and one more per step of the longest chain.
 */
export async function readPredecessors(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const chains = new Map<number, number[]>();
  let ends = new Map(ids.map((id) => [id, [id]]));
  for (let step = 0; step < MAX_CHAIN && ends.size > 0; step++) {
    const rows = await db
      .selectFrom("renames")
      .select(["from_id", "to_id"])
      .where("status", "=", "SUSPECTED")
      .where(dialect.among(sql.ref("to_id"), [...ends.keys()]))
      .orderBy("id")
      .execute();
    const next = new Map<number, number[]>();
    for (const { from_id, to_id } of rows) {
      for (const id of ends.get(to_id) ?? []) {
        const chain = chains.get(id) ?? [];
        // Two repositories may have exchanged their names.
        if (from_id === id || chain.includes(from_id)) continue;
        chains.set(id, [...chain, from_id]);
        next.set(from_id, [...(next.get(from_id) ?? []), id]);
      }
    }
    ends = next;
  }
  return chains;
}
