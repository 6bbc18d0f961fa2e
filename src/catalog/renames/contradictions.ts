import type { Dialect, Tx } from "../../database/database.js";
import type { RenameEvidence } from "./evidence.js";
import { type RenameReport, removeSuspicions } from "./store.js";

/**
 * Withdraws suspicions that do not fit what was recorded since: the earlier name was seen again, or the later one turned out to
 * be older.
 */
export async function withdrawContradicted(tx: Tx, dialect: Dialect): Promise<RenameReport> {
  const rows = await tx
    .selectFrom("renames")
    .innerJoin("repositories as f", "f.id", "renames.from_id")
    .innerJoin("repositories as t", "t.id", "renames.to_id")
    .select(["from_id", "to_id", "evidence", "continues_at"])
    .select(["f.counted_at as last_at", "f.availability", "t.discovered_at as first_at"])
    .where("status", "=", "SUSPECTED")
    .where(({ eb, or }) =>
      or([
        eb("f.availability", "=", "AVAILABLE"),
        eb("f.counted_at", ">", eb.ref("continues_at")),
        eb("f.counted_at", ">", eb.ref("t.discovered_at")),
      ]),
    )
    .execute();
  const contradicted = rows.filter(({ availability, last_at, continues_at, evidence }) => {
    const isSeenAgain = availability === "AVAILABLE" || (last_at ?? 0) > continues_at;
    return isSeenAgain || !(JSON.parse(evidence) as RenameEvidence).isReturn;
  });
  const pairs = contradicted.map(({ from_id, to_id }) => ({ fromId: from_id, toId: to_id }));
  await removeSuspicions(tx, dialect, pairs);
  return { suspected: 0, withdrawn: pairs.length };
}
