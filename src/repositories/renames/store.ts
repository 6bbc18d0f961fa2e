/** The stored suspicions: adding and withdrawing them, with what follows for lists and growth. */
import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import { bumpRevision, markOutdated } from "../outdated.js";
import type { RenameEvidence, RenameStatus } from "./read.js";

/** Changes that a detection made. */
export interface RenameReport {
  suspected: number;
  /** Suspicions that are no longer held, mostly because the earlier name was seen again. */
  withdrawn: number;
}

/** Two repositories that seem to be one. */
export interface Pair {
  fromId: number;
  toId: number;
}

/** A suspicion, as detection finds it. */
export interface Suspicion extends Pair {
  evidence: RenameEvidence;
}

/** Maximum number of later names that are followed from a repository. */
const MAX_CHAIN = 5;

/** Stores suspicions: the earlier names are no longer listed, and the later ones have their growth. */
async function addSuspicions(
  tx: Tx,
  dialect: Dialect,
  { suspicions, now }: { suspicions: readonly Suspicion[]; now: number },
): Promise<void> {
  for (const { fromId, toId, evidence } of suspicions) {
    const values = {
      from_id: fromId,
      to_id: toId,
      status: "SUSPECTED" satisfies RenameStatus,
      evidence: JSON.stringify(evidence),
      continues_at: evidence.to.at,
      suspected_at: now,
    };
    await tx.insertInto("renames").values(values).execute();
  }
  await setAvailability(tx, dialect, { ids: suspicions.map(({ fromId }) => fromId), isRenamed: true });
  await markChanged(tx, dialect, suspicions);
}

/** Removes suspicions; the earlier names are listed again. */
async function removeSuspicions(tx: Tx, dialect: Dialect, pairs: readonly Pair[]): Promise<void> {
  // Marked first: the chains are still known.
  await markChanged(tx, dialect, pairs);
  for (const { fromId, toId } of pairs)
    await tx.deleteFrom("renames").where("from_id", "=", fromId).where("to_id", "=", toId).execute();
  await setAvailability(tx, dialect, { ids: pairs.map(({ fromId }) => fromId), isRenamed: false });
}

/** Removes repositories from all lists, or lists those again that only a rename has removed. */
export async function setAvailability(
  tx: Tx,
  dialect: Dialect,
  { ids, isRenamed }: { ids: readonly number[]; isRenamed: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  const [before, after] = isRenamed ? ["AVAILABLE", "RENAMED"] : ["RENAMED", "AVAILABLE"];
  await tx
    .updateTable("repositories")
    .set({ availability: after })
    .where("availability", "=", before)
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
}

/** Marks the derived data of both names, and of those that continue the later one. */
export async function markChanged(tx: Tx, dialect: Dialect, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  const ids = new Set(pairs.flatMap(({ fromId, toId }) => [fromId, toId]));
  let ends = pairs.map(({ toId }) => toId);
  for (let step = 0; step < MAX_CHAIN && ends.length > 0; step++) {
    const rows = await tx
      .selectFrom("renames")
      .select("to_id")
      .where(dialect.among(sql.ref("from_id"), ends))
      .execute();
    ends = rows.map((row) => row.to_id).filter((id) => !ids.has(id));
    for (const id of ends) ids.add(id);
  }
  await markOutdated(tx, dialect, { rollups: ids, words: pairs.map(({ fromId }) => fromId) });
  await bumpRevision(tx);
}

/** The stored renames of the names that a detection looks at. */
interface Held {
  /** Between an ended and a begun name: found again, or withdrawn. */
  suspicions: Suspicion[];
  /** Whether an ended name continues as one that is not looked at, or by a decision. */
  isTaken(fromId: number): boolean;
  /** Whether a begun name continues one that is not looked at, or by a decision. */
  isDecided(toId: number): boolean;
  isRejected(pair: Pair): boolean;
}

interface Identified {
  id: number;
}

export async function readHeld(
  tx: Tx,
  dialect: Dialect,
  { begun, ended }: { begun: readonly Identified[]; ended: readonly Identified[] },
): Promise<Held> {
  const [fromIds, toIds] = [new Set(ended.map(({ id }) => id)), new Set(begun.map(({ id }) => id))];
  const isFrom = dialect.among(sql.ref("from_id"), [...fromIds]);
  const isTo = dialect.among(sql.ref("to_id"), [...toIds]);
  const rows = await tx
    .selectFrom("renames")
    .selectAll()
    .where(sql<boolean>`(${isFrom} or ${isTo})`)
    .execute();
  const suspicions: Suspicion[] = [];
  const [taken, decided, rejected] = [new Set<number>(), new Set<number>(), new Set<string>()];
  for (const { from_id: fromId, to_id: toId, status, evidence } of rows) {
    if (status === "REJECTED") rejected.add(`${fromId} ${toId}`);
    else if (status === "SUSPECTED" && fromIds.has(fromId) && toIds.has(toId))
      suspicions.push({ fromId, toId, evidence: JSON.parse(evidence) });
    else {
      taken.add(fromId);
      decided.add(toId);
    }
  }
  return {
    suspicions,
    isTaken: (id) => taken.has(id),
    isDecided: (id) => decided.has(id),
    isRejected: ({ fromId, toId }) => rejected.has(`${fromId} ${toId}`),
  };
}

/** Replaces the held suspicions by those found. */
export async function replaceSuspicions(
  tx: Tx,
  dialect: Dialect,
  { now, held, found }: { now: number; held: readonly Suspicion[]; found: readonly Suspicion[] },
): Promise<RenameReport> {
  const keyOf = ({ fromId, toId, evidence }: Suspicion) => `${fromId} ${toId} ${JSON.stringify(evidence)}`;
  const [heldKeys, foundKeys] = [new Set(held.map(keyOf)), new Set(found.map(keyOf))];
  const removed = held.filter((suspicion) => !foundKeys.has(keyOf(suspicion)));
  const added = found.filter((suspicion) => !heldKeys.has(keyOf(suspicion)));
  await removeSuspicions(tx, dialect, removed);
  await addSuspicions(tx, dialect, { suspicions: added, now });
  return { suspected: added.length, withdrawn: removed.length };
}

/**
 * Withdraws suspicions that later snapshots contradict: the earlier name was seen again, or the later one turned out to be
 * older.
 */
export async function withdrawContradicted(tx: Tx, dialect: Dialect): Promise<RenameReport> {
  const rows = await tx
    .selectFrom("renames")
    .innerJoin("repositories as f", "f.id", "renames.from_id")
    .innerJoin("repositories as t", "t.id", "renames.to_id")
    .select(["from_id", "to_id", "evidence", "continues_at"])
    .select(["f.counted_at as last_at", "f.availability"])
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
