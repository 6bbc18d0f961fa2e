/**
 * Joins the names of a repository in archives without ids, as a rule finds or an operator states: the snapshots and names of one
 * repository are added to another, and can be taken back. Both keep their ids and their own snapshots; the old one is RENAMED and in no
 * list. Owns the table `renames`, and the pairs of names that are not joined.
 */
import { sql } from "kysely";
import {
  type Db,
  type Dialect,
  type RepositoryTable,
  readMark,
  type Tx,
  writeMark,
} from "../database/database.js";
import { AppError } from "../lib/errors.js";
import { markOutdated, NEXT_REVISION, noteChanges } from "./changes.js";
import { lostAvailability } from "./record-rules.js";
import type { NamePair } from "./rename-rule.js";
import { fullNameKey, nameKey, type RepositoryRow } from "./repository.js";
import { removeEqual } from "./snapshots/removal.js";
import { appendSnapshots, Readings, readReadings } from "./snapshots/snapshots.js";

export interface StatedRename {
  provider: string;
  from: string;
  to: string;
}

/**
 * Joins two repositories, in the caller's transaction, which must hold the catalogue exclusively. If both have a snapshot at the
 * same time, that of the new name stays. Returns the number of snapshots joined. Throws NOT_FOUND, or CONFLICT if it cannot be a
 * rename. Costs both histories.
 */
export async function joinRenamed(
  tx: Tx,
  dialect: Dialect,
  { provider, from, to }: StatedRename,
): Promise<number> {
  const [old, present] = [await getNamed(tx, provider, from), await getNamed(tx, provider, to)];
  if ([old, present].some(({ availability }) => availability === "HIDDEN")) throw isHidden();
  if (old.id === present.id) throw new AppError("CONFLICT", `${from} and ${to} are one repository already.`);
  if (old.provider_id !== null)
    throw new AppError("CONFLICT", `The forge has given ${from} an id, so it reports a rename itself.`);
  if ((old.counted_at ?? 0) > (present.counted_at ?? 0))
    throw new AppError("CONFLICT", `${from} was seen after ${to}: the old name comes first.`);
  return joinRows(tx, dialect, old, present);
}

const isHidden = (): AppError => new AppError("CONFLICT", "It is hidden. Take that back first.");

/** The same for a pair of ids, unless they have changed since the search. Returns whether they are joined. */
export async function joinPair(tx: Tx, dialect: Dialect, { fromId, toId }: NamePair): Promise<boolean> {
  const rows = await tx
    .selectFrom("repositories")
    .selectAll()
    .where("id", "in", [fromId, toId])
    .where("availability", "=", "AVAILABLE")
    .where("name_key", "is not", null)
    .execute();
  const [old, present] = [fromId, toId].map((id) => rows.find((row) => row.id === id));
  if (old === undefined || present === undefined || old.provider_id !== null) return false;
  if ((old.counted_at ?? 0) > (present.counted_at ?? 0)) return false;
  await joinRows(tx, dialect, old, present);
  return true;
}

/** Joins two repositories of one provider. */
async function joinRows(
  tx: Tx,
  dialect: Dialect,
  old: RepositoryTable,
  present: RepositoryTable,
): Promise<number> {
  const { provider } = present;
  const [history, own] = [await historyOf(tx, dialect, old.id), await historyOf(tx, dialect, present.id)];
  const times = Array.from({ length: history.length }, (_, i) => history.at(i));
  const both = times.filter((at) => own.at(own.countBefore(at)) === at);
  await tx
    .insertInto("renames")
    .values({
      from_id: old.id,
      to_id: present.id,
      availability: old.availability,
      discovered_at: present.discovered_at,
      both_at: JSON.stringify(both),
    })
    .execute();
  for (const { name_key, full_name, until } of await namesOf(tx, old)) {
    if (name_key === present.name_key) continue;
    await tx
      .insertInto("previous_names")
      .values({ repository_id: present.id, provider, name_key, full_name, until, revision: NEXT_REVISION })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  await tx
    .updateTable("repositories")
    .set({ name_key: null, availability: "RENAMED" })
    .where("id", "=", old.id)
    .execute();
  await moveItems(tx, old.id, present.id);
  const discovered_at = Math.min(old.discovered_at, present.discovered_at);
  await tx.updateTable("repositories").set({ discovered_at }).where("id", "=", present.id).execute();
  const joining = { repositoryId: present.id, provider, readings: history };
  const { snapshots } = await appendSnapshots(tx, dialect, [joining]);
  await announce(tx, dialect, [old.id, present.id]);
  return snapshots;
}

/**
 * Takes back the rows that `joinRenamed` added for the repository with this old name, in the same way. A name that another repository has
 * taken since stays with that one. Returns the number of snapshots removed from the new name. Throws NOT_FOUND, or CONFLICT if the
 * new name was joined to a third one.
 */
export async function partRenamed(
  tx: Tx,
  dialect: Dialect,
  { provider, from }: Omit<StatedRename, "to">,
): Promise<number> {
  const renames = await tx
    .selectFrom("renames as n")
    .innerJoin("repositories as r", "r.id", "n.from_id")
    .selectAll("r")
    .select(["n.to_id", "n.both_at", "n.availability as before", "n.discovered_at as to_discovered_at"])
    .where("r.provider", "=", provider)
    .orderBy("n.from_id", "desc")
    .execute();
  const old = renames.find(({ owner, name }) => nameKey(owner, name) === fullNameKey(from));
  if (old === undefined) throw new AppError("NOT_FOUND", `${from} was joined to no other name.`);
  if (old.availability === "HIDDEN") throw isHidden();
  const next = renames.find(({ id }) => id === old.to_id);
  if (next !== undefined)
    throw new AppError("CONFLICT", `First undo the rename of ${next.owner}/${next.name}.`);
  for (const { name_key, until } of await namesOf(tx, old))
    await tx
      .deleteFrom("previous_names")
      .where("repository_id", "=", old.to_id)
      .where("name_key", "=", name_key)
      .where("until", "=", until)
      .execute();
  const holder = await findNamed(tx, provider, from);
  await tx
    .updateTable("repositories")
    // As for a reused name: without one it is found by its id alone.
    .set(
      holder === undefined
        ? { name_key: nameKey(old.owner, old.name), availability: old.before }
        : { availability: lostAvailability({ availability: old.before }) },
    )
    .where("id", "=", old.id)
    .execute();
  await tx
    .updateTable("repositories")
    .set({ discovered_at: old.to_discovered_at })
    .where("id", "=", old.to_id)
    // Unless an older file was imported since.
    .where("discovered_at", "=", old.discovered_at)
    .execute();
  const both = new Set<number>(JSON.parse(old.both_at));
  const history = await historyOf(tx, dialect, old.id);
  const readings = history.only((i) => !both.has(history.at(i)));
  const removed = readings.length === 0 ? 0 : await removeEqual(tx, dialect, old.to_id, readings);
  await tx.deleteFrom("renames").where("from_id", "=", old.id).execute();
  const unjoined = await readUnjoined(tx);
  await writeUnjoined(tx, { ...unjoined, parted: [...unjoined.parted, [old.id, old.to_id]] });
  await returnItems(tx, old.id, old.to_id);
  await announce(tx, dialect, [old.id, old.to_id]);
  return removed;
}

/** The ids of the repositories that joined ones continue as, by their ids; others are absent. */
export async function remainingIds(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("renames")
    .select(["from_id", "to_id"])
    .where(dialect.among(sql.ref("from_id"), ids))
    .execute();
  const next = await remainingIds(
    db,
    dialect,
    rows.map((row) => row.to_id),
  );
  return new Map(rows.map(({ from_id, to_id }) => [from_id, next.get(to_id) ?? to_id]));
}

/** Pairs of names that look like one repository and are not joined, by the ids of the old and the new one. */
export interface Unjoined {
  /** Those that an operator has parted, which are never joined by the rule. */
  parted: readonly IdPair[];
  /** Those that the rule is not sure about. */
  unsure: readonly IdPair[];
  /** The files of archives up to which names were compared. */
  files?: FilesSeen;
}
type IdPair = readonly [fromId: number, toId: number];

/** All files of archives that are recorded: their number, and when the last one was. */
export interface FilesSeen {
  count: number;
  importedAt: number;
}

const UNJOINED_MARK = "unjoined_names";

export async function readUnjoined(db: Db): Promise<Unjoined> {
  return JSON.parse((await readMark(db, UNJOINED_MARK)) ?? `{"parted":[],"unsure":[]}`);
}

/** In a transaction that holds the catalogue exclusively and has read it. */
export function writeUnjoined(tx: Tx, unjoined: Unjoined): Promise<void> {
  return writeMark(tx, UNJOINED_MARK, JSON.stringify(unjoined));
}

/** The names of each pair that an operator has parted and nobody joined since. */
export async function readParted(db: Db): Promise<StatedRename[]> {
  const { parted } = await readUnjoined(db);
  const found: StatedRename[] = [];
  for (const ids of parted) {
    const rows = await db
      .selectFrom("repositories")
      .select(["id", "provider", "owner", "name"])
      .where("id", "in", ids)
      .where("name_key", "is not", null)
      .execute();
    const [from, to] = ids.map((id) => rows.find((row) => row.id === id));
    if (from && to)
      found.push({
        provider: from.provider,
        from: `${from.owner}/${from.name}`,
        to: `${to.owner}/${to.name}`,
      });
  }
  return found;
}

/** Notes pairs that another catalogue has parted; those with an unknown name are left out. */
export async function recordParted(tx: Tx, pairs: readonly StatedRename[]): Promise<void> {
  const unjoined = await readUnjoined(tx);
  const parted = new Map(unjoined.parted.map((ids) => [ids.join(), ids]));
  for (const { provider, from, to } of pairs) {
    const [old, present] = [await findNamed(tx, provider, from), await findNamed(tx, provider, to)];
    if (old && present) parted.set(`${old.id},${present.id}`, [old.id, present.id]);
  }
  await writeUnjoined(tx, { ...unjoined, parted: [...parted.values()] });
}

/** Those of the repositories that continue another name, or may do so. */
export async function readContinuing(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const joined = await db
    .selectFrom("renames")
    .select("to_id")
    .where(dialect.among(sql.ref("to_id"), ids))
    .execute();
  const { unsure } = await readUnjoined(db);
  return new Set([...joined.map((row) => row.to_id), ...unsure.map(([, toId]) => toId)]);
}

/** Lets watchlists follow a rename; a list that has both keeps the present one. Their tables belong to watchlists. */
async function moveItems(tx: Tx, from: number, to: number): Promise<void> {
  await sql`update watchlists set version = version + 1
    where id in (select watchlist_id from watchlist_items where repository_id = ${from})`.execute(tx);
  await sql`insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at, from_id)
    select watchlist_id, cast(${to} as bigint), sort_order, added_at, coalesce(from_id, repository_id) from watchlist_items
      where repository_id = ${from}
    on conflict (watchlist_id, repository_id) do update
      set from_id = coalesce(watchlist_items.from_id, excluded.from_id)`.execute(tx);
  await sql`delete from watchlist_items where repository_id = ${from}`.execute(tx);
}

/** Puts a repository back on the lists that had it. The other one stays on them, as they may have had both. */
async function returnItems(tx: Tx, from: number, to: number): Promise<void> {
  const here = sql`repository_id = ${to} and from_id in (
    with recursive joined (id) as (
      select id from repositories where id = ${from}
      union select n.from_id from renames n join joined j on n.to_id = j.id)
    select id from joined)`;
  await sql`update watchlists set version = version + 1
    where id in (select watchlist_id from watchlist_items where ${here})`.execute(tx);
  await sql`insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at, from_id)
    select watchlist_id, cast(${from} as bigint), sort_order, added_at, nullif(from_id, ${from}) from watchlist_items
      where ${here}
    on conflict (watchlist_id, repository_id) do nothing`.execute(tx);
  await sql`update watchlist_items set from_id = null where ${here}`.execute(tx);
}

function findNamed(tx: Tx, provider: string, fullName: string) {
  return tx
    .selectFrom("repositories")
    .selectAll()
    .where("provider", "=", provider)
    .where("name_key", "=", fullNameKey(fullName))
    .executeTakeFirst();
}

async function getNamed(tx: Tx, provider: string, fullName: string) {
  const found = await findNamed(tx, provider, fullName);
  if (found === undefined)
    throw new AppError("NOT_FOUND", `No repository here has the name ${fullName} now.`);
  return found;
}

async function historyOf(tx: Tx, dialect: Dialect, id: number): Promise<Readings> {
  return (await readReadings(tx, dialect, { ids: [id] })).get(id) ?? Readings.ofLength(0);
}

/** The name of a repository, until it was counted last, and its previous ones. */
async function namesOf(tx: Tx, { id, owner, name, counted_at, discovered_at }: RepositoryRow) {
  const previous = await tx
    .selectFrom("previous_names")
    .select(["name_key", "full_name", "until"])
    .where("repository_id", "=", id)
    .execute();
  const until = counted_at ?? discovered_at;
  return [{ name_key: nameKey(owner, name), full_name: `${owner}/${name}`, until }, ...previous];
}

async function announce(tx: Tx, dialect: Dialect, ids: readonly [from: number, to: number]): Promise<void> {
  await markOutdated(tx, dialect, { rollups: ids });
  await noteChanges(tx, dialect, ids);
}
