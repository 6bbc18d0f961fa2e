/** The changes of a list: since a time, or since the last visit of its owner. */
import { sql } from "kysely";
import { z } from "zod";
import type { Database } from "../database/database.js";
import { gainSince, readSeveralSeries, windowMs } from "../growth/growth.js";
import type { BackgroundWrites } from "../lib/background-writes.js";
import type { Clock } from "../lib/clock.js";

/** The repositories of a list that are archived or unavailable. */
interface ListState {
  archived: readonly number[];
  /** Gone, private or blocked. */
  unavailable: readonly number[];
}

/** The changes of the repositories of a list since a time. */
export interface Changes {
  since: number;
  /** Stars gained by repository id; null if the total is unknown, then or now. */
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

interface CurrentState {
  state: ListState;
  gained: Map<number, number | null>;
}

/** The present state of repositories, and their gains until `now` since a time, if given. Costs the decoding of their snapshots since. */
export async function readCurrent(
  database: Database,
  ids: readonly number[],
  { since, now }: { since: number | undefined; now: number },
): Promise<CurrentState> {
  const state = { archived: [] as number[], unavailable: [] as number[] };
  if (ids.length === 0) return { state, gained: new Map() };
  const rows = await database.read
    .selectFrom("repositories")
    .select(["id", "archived", "availability"])
    .where(database.dialect.among(sql.ref("id"), ids))
    .execute();
  const gained = new Map<number, number | null>(rows.map(({ id }) => [id, null]));
  if (since !== undefined) {
    const recentMs = now - since <= windowMs("30d") ? now - since : undefined;
    for await (const [id, { series }] of readSeveralSeries(database, ids, recentMs))
      gained.set(id, gainSince(series, since));
  }
  for (const { id, archived, availability } of rows) {
    if (archived === 1) state.archived.push(id);
    if (availability !== "AVAILABLE") state.unavailable.push(id);
  }
  return { state, gained };
}

/** The changes since a time. `stateThen`: the state at that time, if known. */
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

/** A visit ends when the owner has been away for this long. */
export const VISIT_MS = 30 * 60_000;
/** Within a visit, the time is written at most this often. */
const WRITE_INTERVAL_MS = 60_000;

const ids = z.array(z.int());
const stateSchema = z.object({ archived: ids, unavailable: ids });

/** The visits of account holders to their lists, and the changes between them. */
export class Visits {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #writes: BackgroundWrites;

  constructor({ database, clock, writes }: { database: Database; clock: Clock; writes: BackgroundWrites }) {
    this.#database = database;
    this.#clock = clock;
    this.#writes = writes;
  }

  /**
   * Records that the owner is looking at these repositories, and returns the changes since the previous visit; undefined on
   * the first one. Responses do not wait for the write: if it fails, the next visit shows the same changes again.
   */
  async record(accountId: string, repositoryIds: readonly number[]): Promise<Changes | undefined> {
    const row = await this.#database.read
      .selectFrom("watchlist_visits")
      .select(["seen_at", "seen_state", "previous_seen_at", "previous_state"])
      .where("account_id", "=", accountId)
      .executeTakeFirst();
    const now = this.#clock.now();
    const isNewVisit = row !== undefined && now - row.seen_at >= VISIT_MS;
    const previous = isNewVisit
      ? { at: row.seen_at, state: row.seen_state }
      : { at: row?.previous_seen_at ?? undefined, state: row?.previous_state ?? null };
    const current = await readCurrent(this.#database, repositoryIds, { since: previous.at, now });
    const values = {
      seen_at: now,
      seen_state: JSON.stringify(current.state),
      previous_seen_at: previous.at ?? null,
      previous_state: previous.state,
    };
    const write = () =>
      this.#database.write
        .insertInto("watchlist_visits")
        .values({ account_id: accountId, ...values })
        .onConflict((conflict) => conflict.column("account_id").doUpdateSet(values))
        .execute();
    if (row === undefined || now - row.seen_at >= WRITE_INTERVAL_MS)
      this.#writes.add(write, "a visit to a watchlist could not be recorded");
    if (previous.at === undefined) return undefined;
    const since = { since: previous.at, stateThen: parseState(previous.state) };
    return changesSince(this.#database, current, since);
  }

  /** When the owner last looked at the list, to the minute; undefined: never. */
  async lastAt(accountId: string): Promise<number | undefined> {
    const row = await this.#database.read
      .selectFrom("watchlist_visits")
      .select("seen_at")
      .where("account_id", "=", accountId)
      .executeTakeFirst();
    return row?.seen_at;
  }
}

/** A stored state; undefined if absent or in another format. */
function parseState(text: string | null): ListState | undefined {
  if (text === null) return undefined;
  const parsed = stateSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}
