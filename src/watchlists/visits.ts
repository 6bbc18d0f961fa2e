import { z } from "zod";
import type { BackgroundWrites } from "../background-writes.js";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import { type Changes, changesSince, type ListState, readCurrent } from "./changes.js";

/** A visit ends when the owner has been away for this long. */
export const VISIT_MS = 30 * 60_000;
/** Within a visit, the time is written at most this often. */
const WRITE_INTERVAL_MS = 60_000;

const ids = z.array(z.int());
const stateSchema = z.object({ archived: ids, unavailable: ids });

/** The visits of account holders to their lists, and what changed between them. */
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
   * Records that the owner is looking at these repositories, and returns what changed since the previous visit; undefined on
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
    const current = await readCurrent(this.#database, repositoryIds, previous.at);
    if (row === undefined || now - row.seen_at >= WRITE_INTERVAL_MS)
      this.#write(accountId, {
        seen_at: now,
        seen_state: JSON.stringify(current.state),
        previous_seen_at: previous.at ?? null,
        previous_state: previous.state,
      });
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

  #write(
    accountId: string,
    values: {
      seen_at: number;
      seen_state: string;
      previous_seen_at: number | null;
      previous_state: string | null;
    },
  ): void {
    const write = () =>
      this.#database.write
        .insertInto("watchlist_visits")
        .values({ account_id: accountId, ...values })
        .onConflict((conflict) => conflict.column("account_id").doUpdateSet(values))
        .execute();
    this.#writes.add(write, "a visit to a watchlist could not be recorded");
  }
}

/** A stored state; undefined if absent or in another format. */
function parseState(text: string | null): ListState | undefined {
  if (text === null) return undefined;
  const parsed = stateSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}
