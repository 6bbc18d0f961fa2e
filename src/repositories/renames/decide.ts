/** Decisions of operators about renames: joining and parting the histories and names of two repositories. */
import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import { AppError } from "../../lib/errors.js";
import { nameKey } from "../repository.js";
import {
  appendSnapshots,
  type Readings,
  readReadings,
  readSnapshotRanges,
  removeEqual,
} from "../snapshots/snapshots.js";
import type { RenameStatus } from "./read.js";
import { markChanged, type Pair, setAvailability } from "./store.js";

/** The decisions about a suspected rename. */
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
 * suspicion again. Returns false, and changes nothing, if that decision was made before. Throws NOT_FOUND, or CONFLICT if later
 * snapshots rule it out.
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

/** Maximum number of accepted renames that are followed from a repository. */
const MAX_CHAIN = 20;

/** A rename with the time before which snapshots of the earlier name are those of the later one. */
interface Join extends Pair {
  before: number;
}

/** Appends the snapshots of the earlier name to the later one, and to those that continue that one. */
async function joinHistory(tx: Tx, dialect: Dialect, join: Join): Promise<void> {
  const readings = await historyOf(tx, dialect, join);
  if (readings === undefined) return;
  const lists = [readings.snapshots()];
  const discoveredAt = await discoveryOf(tx, join.fromId);
  for (const { id: repositoryId, provider } of await continuing(tx, dialect, join.toId)) {
    await appendSnapshots(tx, dialect, [{ repositoryId, provider, lists }]);
    await tx
      .updateTable("repositories")
      .set({ discovered_at: discoveredAt })
      .where("id", "=", repositoryId)
      .where("discovered_at", ">", discoveredAt)
      .execute();
  }
}

/** Removes these snapshots again. */
async function partHistory(tx: Tx, dialect: Dialect, join: Join): Promise<void> {
  const readings = await historyOf(tx, dialect, join);
  if (readings === undefined) return;
  const discoveredAt = await discoveryOf(tx, join.fromId);
  for (const { id } of await continuing(tx, dialect, join.toId)) {
    await removeEqual(tx, dialect, { id, readings });
    const first = (await readSnapshotRanges(tx, dialect, [id])).get(id)?.firstSnapshotAt ?? null;
    if (first === null) continue;
    await tx
      .updateTable("repositories")
      .set({ discovered_at: first })
      .where("id", "=", id)
      .where("discovered_at", "=", discoveredAt)
      .execute();
  }
}

/** When a repository was first seen. */
async function discoveryOf(tx: Tx, id: number): Promise<number> {
  const row = await tx
    .selectFrom("repositories")
    .select("discovered_at")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return row.discovered_at;
}

/** The snapshots of the earlier name that belong to the later one; undefined without any. */
async function historyOf(tx: Tx, dialect: Dialect, { fromId, before }: Join): Promise<Readings | undefined> {
  const found = await readReadings(tx, dialect, { ids: [fromId], span: { until: before - 1 } });
  return found.get(fromId);
}

/** A repository, and those that continue it by accepted renames. */
async function continuing(tx: Tx, dialect: Dialect, id: number): Promise<{ id: number; provider: string }[]> {
  const ids = [id];
  for (let next: number | undefined = id; next !== undefined && ids.length < MAX_CHAIN; ) {
    const row = await tx
      .selectFrom("renames")
      .select("to_id")
      .where("from_id", "=", next)
      .where("status", "=", "ACCEPTED")
      .executeTakeFirst();
    next = row === undefined || ids.includes(row.to_id) ? undefined : row.to_id;
    if (next !== undefined) ids.push(next);
  }
  return tx
    .selectFrom("repositories")
    .select(["id", "provider"])
    .where(dialect.among(sql.ref("id"), ids))
    .orderBy("id")
    .execute();
}

interface FormerName {
  name_key: string;
  full_name: string;
  until: number;
}

/** Makes the names of the earlier repository previous names of the later one, so that they lead there. */
async function handOverNames(tx: Tx, dialect: Dialect, { fromId, toId }: Pair): Promise<void> {
  const names = await namesOf(tx, fromId);
  await tx.updateTable("repositories").set({ name_key: null }).where("id", "=", fromId).execute();
  for (const { id, provider } of await continuing(tx, dialect, toId)) {
    for (const { name_key, full_name, until } of names)
      await sql`insert into previous_names (repository_id, provider, name_key, full_name, until)
        select ${id}, ${provider}, ${name_key}, ${full_name}, ${until}
        where not exists (select 1 from repositories where id = ${id} and name_key = ${name_key})
        on conflict do nothing`.execute(tx);
  }
}

/** Gives the names back. A name that another repository has taken since stays with that one. */
async function takeNamesBack(tx: Tx, dialect: Dialect, { fromId, toId }: Pair): Promise<void> {
  const names = await namesOf(tx, fromId);
  for (const { id } of await continuing(tx, dialect, toId)) {
    for (const { name_key, until } of names)
      await tx
        .deleteFrom("previous_names")
        .where("repository_id", "=", id)
        .where("name_key", "=", name_key)
        .where("until", "=", until)
        .execute();
  }
  const { provider, owner, name } = await tx
    .selectFrom("repositories")
    .select(["provider", "owner", "name"])
    .where("id", "=", fromId)
    .executeTakeFirstOrThrow();
  const own = nameKey(owner, name);
  await sql`update repositories set name_key = ${own} where id = ${fromId}
    and not exists (select 1 from repositories where provider = ${provider} and name_key = ${own})`.execute(
    tx,
  );
}

/** The present name of a repository, until it was counted last, and its previous ones. */
async function namesOf(tx: Tx, id: number): Promise<FormerName[]> {
  const { owner, name, counted_at, discovered_at } = await tx
    .selectFrom("repositories")
    .select(["owner", "name", "counted_at", "discovered_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const previous = await tx
    .selectFrom("previous_names")
    .select(["name_key", "full_name", "until"])
    .where("repository_id", "=", id)
    .execute();
  const own = {
    name_key: nameKey(owner, name),
    full_name: `${owner}/${name}`,
    until: counted_at ?? discovered_at,
  };
  return [own, ...previous];
}
