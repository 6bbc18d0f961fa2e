import type { Dialect, Tx } from "../../database/database.js";
import { AppError } from "../../errors.js";
import type { RenameStatus } from "./evidence.js";
import { handOverNames, takeNamesBack } from "./hand-over.js";
import { joinHistory, partHistory } from "./join.js";
import { markChanged, type Pair, setAvailability } from "./store.js";

/** What an operator can do with a suspected rename. */
export const RENAME_DECISIONS = ["accept", "reject", "undo"] as const;
export type RenameDecision = (typeof RENAME_DECISIONS)[number];

interface StoredRename extends Pair {
  id: number;
  status: RenameStatus;
  continuesAt: number;
  joinedBefore: number | null;
}

/**
 * Decides a rename, in the caller's transaction, which must hold the catalogue exclusively. `accept` joins the snapshots of the
 * earlier name to the later one, and the earlier name leads there from now on. `reject` lists both names. `undo` makes it a
 * suspicion again. Returns false, and changes nothing, if it is already decided so. Throws NOT_FOUND, or CONFLICT if what was
 * recorded since rules it out.
 */
export async function decideRename(
  tx: Tx,
  dialect: Dialect,
  { id, decision, now }: { id: number; decision: RenameDecision; now: number },
): Promise<boolean> {
  const rename = await getRename(tx, id);
  const status = STATUS_BY_DECISION[decision];
  if (rename.status === status) return false;
  if (status !== "REJECTED" && rename.status !== "ACCEPTED") await refuseContradicted(tx, rename);
  // Marked before and after, as a chain is found by its renames.
  await markChanged(tx, dialect, [rename]);
  if (rename.status === "ACCEPTED") await part(tx, dialect, rename);
  const joinedBefore = status === "ACCEPTED" ? rename.continuesAt : null;
  await tx
    .updateTable("renames")
    .set({ status, decided_at: status === "SUSPECTED" ? null : now, joined_before: joinedBefore })
    .where("id", "=", id)
    .execute();
  if (joinedBefore !== null) {
    await joinHistory(tx, dialect, { ...rename, before: joinedBefore });
    await handOverNames(tx, dialect, rename);
  }
  await setAvailability(tx, dialect, { ids: [rename.fromId], isRenamed: status !== "REJECTED" });
  await markChanged(tx, dialect, [rename]);
  return true;
}

const STATUS_BY_DECISION: Readonly<Record<RenameDecision, RenameStatus>> = {
  accept: "ACCEPTED",
  reject: "REJECTED",
  undo: "SUSPECTED",
};

async function part(tx: Tx, dialect: Dialect, rename: StoredRename): Promise<void> {
  await partHistory(tx, dialect, { ...rename, before: rename.joinedBefore ?? rename.continuesAt });
  await takeNamesBack(tx, dialect, rename);
}

async function getRename(tx: Tx, id: number): Promise<StoredRename> {
  const row = await tx.selectFrom("renames").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("NOT_FOUND", `There is no rename ${id}.`);
  return {
    id,
    fromId: row.from_id,
    toId: row.to_id,
    status: row.status as RenameStatus,
    continuesAt: row.continues_at,
    joinedBefore: row.joined_before,
  };
}

/** Throws if the earlier name was seen again, or seems to continue as yet another one. */
async function refuseContradicted(tx: Tx, { id, fromId, continuesAt }: StoredRename): Promise<void> {
  const from = await tx
    .selectFrom("repositories")
    .select(["counted_at"])
    .where("id", "=", fromId)
    .executeTakeFirstOrThrow();
  if ((from.counted_at ?? 0) > continuesAt)
    throw new AppError("CONFLICT", `Rename ${id} cannot be one: the earlier name was seen again since.`);
  const other = await tx
    .selectFrom("renames")
    .select("id")
    .where("from_id", "=", fromId)
    .where("id", "<>", id)
    .where("status", "<>", "REJECTED")
    .executeTakeFirst();
  if (other !== undefined)
    throw new AppError(
      "CONFLICT",
      `The earlier name continues as another by rename ${other.id}; reject that first.`,
    );
}
