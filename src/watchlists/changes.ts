import { sql } from "kysely";
import { type Readings, readReadings } from "../catalog/catalog.js";
import type { Database } from "../database/database.js";

/** The repositories of a list that are archived or unavailable. */
export interface ListState {
  archived: readonly number[];
  /** Gone, private or blocked. */
  unavailable: readonly number[];
}

/** What happened to the repositories of a list since a time. */
export interface Changes {
  since: number;
  /** Stars gained by repository id; null where the total is unknown, then or now. */
  gained: ReadonlyMap<number, number | null>;
  /** Sum of the known gains; null when none is known. */
  totalGained: number | null;
  /** Previous names of renamed repositories. */
  renamed: readonly { repositoryId: number; from: string }[];
  /** Newly archived; empty when the state before is unknown. */
  archived: readonly number[];
  /** Newly gone, private or blocked; empty when the state before is unknown. */
  unavailable: readonly number[];
}

export interface CurrentState {
  state: ListState;
  gained: Map<number, number | null>;
}

/**
 * The present state of repositories, and what they gained since a time (nothing when `since` is undefined). Costs one row and
 * one block per repository.
 */
export async function readCurrent(
  { read, dialect }: Database,
  ids: readonly number[],
  since: number | undefined,
): Promise<CurrentState> {
  const state = { archived: [] as number[], unavailable: [] as number[] };
  const gained = new Map<number, number | null>();
  if (ids.length === 0) return { state, gained };
  const rows = await read
    .selectFrom("repositories")
    .select(["id", "stars", "archived", "availability"])
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  const before =
    since === undefined
      ? new Map<number, Readings>()
      : await readReadings(read, dialect, {
          ids,
          span: { from: since, until: since, withBaseline: true },
          // A gain that cannot be computed is unknown.
          onDamaged: () => {},
        });
  for (const { id, stars, archived, availability } of rows) {
    if (archived === 1) state.archived.push(id);
    if (availability !== "AVAILABLE") state.unavailable.push(id);
    const own = before.get(id);
    // The present count is a total, which stars still held cannot be compared with.
    const starsBefore = own === undefined || own.isRetained(0) ? null : own.stars(0);
    gained.set(id, stars === null || starsBefore === null ? null : stars - starsBefore);
  }
  return { state, gained };
}

/** What changed since a time. `stateThen`: the state at that time, where known. */
export async function changesSince(
  database: Database,
  { state, gained }: CurrentState,
  { since, stateThen }: { since: number; stateThen?: ListState | undefined },
): Promise<Changes> {
  const known = [...gained.values()].filter((value) => value !== null);
  const added = (now: readonly number[], before: readonly number[] | undefined) =>
    before === undefined ? [] : now.filter((id) => !before.includes(id));
  return {
    since,
    gained,
    totalGained: known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0),
    renamed: await renamedSince(database, [...gained.keys()], since),
    archived: added(state.archived, stateThen?.archived),
    unavailable: added(state.unavailable, stateThen?.unavailable),
  };
}

/** The names that renamed repositories had at that time. */
export async function renamedSince(
  { read, dialect }: Database,
  ids: readonly number[],
  since: number,
): Promise<Changes["renamed"]> {
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom("previous_names")
    .select(["repository_id", "full_name"])
    .where(dialect.among(sql.ref("repository_id"), ids))
    .where("until", ">", since)
    .orderBy("until", "desc")
    .execute();
  // Later entries of a map win: of several names, the earliest remains, which is the one the owner saw.
  return [...new Map(rows.map((row) => [row.repository_id, row.full_name]))].map(([repositoryId, from]) => ({
    repositoryId,
    from,
  }));
}
