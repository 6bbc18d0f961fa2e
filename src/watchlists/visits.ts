import { z } from "zod";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import { type Changes, changesSince, readListed, type Standing } from "./changes.js";

/** Who comes back after this time begins another visit. */
export const VISIT_MS = 30 * 60_000;
/** That somebody still looks is noted at most this often. */
const NOTE_MS = 60_000;

const ids = z.array(z.int());
const standingSchema = z.object({ archived: ids, unavailable: ids });

/** What became of personal watchlists between the visits of their owners. */
export class Visits {
  readonly #database: Database;
  readonly #clock: Clock;
  #noting: Promise<unknown> = Promise.resolve();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Notes that the owner looks at the list of these repositories now, and tells what has changed since the visit before;
   * undefined on the first one. Nobody waits for the note: where it is lost, the visit before is told again.
   */
  async look(accountId: string, repositoryIds: readonly number[]): Promise<Changes | undefined> {
    const row = await this.#database.read
      .selectFrom("account_visits")
      .select(["seen_at", "seen", "before_at", "before"])
      .where("account_id", "=", accountId)
      .executeTakeFirst();
    const now = this.#clock.now();
    const isNew = row !== undefined && now - row.seen_at >= VISIT_MS;
    const before = isNew ? { at: row.seen_at, text: row.seen } : { at: row?.before_at, text: row?.before };
    const since = before.at ?? undefined;
    const listed = await readListed(this.#database, repositoryIds, since);
    if (row === undefined || now - row.seen_at >= NOTE_MS)
      this.#note(accountId, {
        seen_at: now,
        seen: JSON.stringify(listed.standing),
        before_at: since ?? null,
        before: before.text ?? null,
      });
    if (since === undefined) return undefined;
    return changesSince(this.#database, repositoryIds, since, listed, standingOf(before.text ?? null));
  }

  /** Ends when the visits noted so far are written. */
  async settle(): Promise<void> {
    await this.#noting;
  }

  #note(
    accountId: string,
    values: { seen_at: number; seen: string; before_at: number | null; before: string | null },
  ): void {
    const write = () =>
      this.#database.write
        .insertInto("account_visits")
        .values({ account_id: accountId, ...values })
        .onConflict((conflict) => conflict.column("account_id").doUpdateSet(values))
        .execute();
    this.#noting = this.#noting.then(write).catch(() => undefined);
  }
}

/** What was stored; undefined where nothing was, or it cannot be read any more. */
function standingOf(text: string | null): Standing | undefined {
  if (text === null) return undefined;
  const parsed = standingSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}
