/** The changes of a list: since a time, or since the last visit of its owner. */
import { sql } from "kysely";
import { z } from "zod";
import type { Database } from "../database/database.js";
import { gainSince, readSeveralSeries, windowMs } from "../growth/growth.js";
import type { BackgroundWrites } from "../lib/background-writes.js";
import type { Clock } from "../lib/clock.js";
import type { Repository } from "../repositories/repositories.js";

/** The repositories of a list that are archived or unavailable. */
interface ListState {
  archived: readonly number[];
  /** Gone, private or blocked. */
  unavailable: readonly number[];
}

/** The changes of the repositories of a list since a time. */
export interface Changes {
  since: number;
  /** Sum of the known gains of stars; null when none is known. */
  totalGained: number | null;
  /** Previous names of renamed repositories. */
  renamed: readonly { repositoryId: number; from: string }[];
  /** Newly archived; empty when the state before is unknown. */
  archived: readonly number[];
  /** Newly gone, private or blocked; empty when the state before is unknown. */
  unavailable: readonly number[];
}

/** What is read of a repository of a list. */
export type Listed = Pick<Repository, "id" | "archived" | "availability">;

function stateOf(listed: readonly Listed[]): ListState {
  const idsOf = (holds: (one: Listed) => boolean) => listed.filter(holds).map(({ id }) => id);
  return {
    archived: idsOf(({ archived }) => archived === true),
    unavailable: idsOf(({ availability }) => availability !== "AVAILABLE"),
  };
}

/** The changes since a time. `stateThen`: the state at that time, if known. Costs the decoding of the snapshots since. */
export async function changesSince(
  database: Database,
  listed: readonly Listed[],
  { since, now, stateThen }: { since: number; now: number; stateThen?: ListState | undefined },
): Promise<Changes> {
  const state = stateOf(listed);
  const ids = listed.map(({ id }) => id);
  const recentMs = now - since <= windowMs("30d") ? now - since : undefined;
  let totalGained: number | null = null;
  for await (const [, { series }] of readSeveralSeries(database, ids, recentMs)) {
    const gain = gainSince(series, since);
    if (gain !== null) totalGained = (totalGained ?? 0) + gain;
  }
  const added = (present: readonly number[], before: readonly number[] | undefined) =>
    before === undefined ? [] : present.filter((id) => !before.includes(id));
  return {
    since,
    totalGained,
    renamed: await renamedSince(database, ids, since),
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
  async record(accountId: string, listed: readonly Listed[]): Promise<Changes | undefined> {
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
    const values = {
      seen_at: now,
      seen_state: JSON.stringify(stateOf(listed)),
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
    const stateThen = parseState(previous.state);
    return changesSince(this.#database, listed, { since: previous.at, now, stateThen });
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
