import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import { bumpRevision, markOutdated } from "../outdated.js";
import type { RenameEvidence, RenameStatus } from "./evidence.js";

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

/** Most later names that are followed from one repository. */
const MAX_CHAIN = 5;

/** Stores suspicions: the earlier names are no longer listed, and the later ones have their growth. */
export async function addSuspicions(
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
export async function removeSuspicions(tx: Tx, dialect: Dialect, pairs: readonly Pair[]): Promise<void> {
  // Marked first: the chains are still known.
  await markChanged(tx, dialect, pairs);
  for (const { fromId, toId } of pairs)
    await tx.deleteFrom("renames").where("from_id", "=", fromId).where("to_id", "=", toId).execute();
  await setAvailability(tx, dialect, { ids: pairs.map(({ fromId }) => fromId), isRenamed: false });
}

/** Takes repositories from all lists, or lists those again that a rename alone has taken from them. */
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

/** Marks what follows from renames: both names, and those that continue the later one. */
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

/** What is stored about names that a detection looks at. */
export interface Held {
  /** Between an ended and a begun name: they are found again, or withdrawn. */
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

/** Stores what was found in place of what was held. */
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
