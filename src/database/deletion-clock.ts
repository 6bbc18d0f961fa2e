/**
 * Deletion by age. A clock that is ahead makes everything old, and deleted rows do not come back. So ages are judged by a time that
 * a witness confirms: a forge, the database server, or a week of earlier runs without a jump, noted in the store. Without one, or if one
 * contradicts, nothing is old. Rows that only expire, such as sessions, are compared with the clock itself.
 */
import { sql } from "kysely";
import { type Clock, DAY_MS, HOUR_MS, isoTime, WEEK_MS } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { type Db, type Dialect, writeMark } from "./dialect.js";
import type { TableName } from "./schema/schema.js";

/** A run deletes at most this share of the stored rows, so that a mistake is noticed before all is gone. */
export const DELETED_SHARE = 1 / 20;

/** How far the clock may differ from a witness: rows deleted a day early were old anyway. */
const AGREES_MS = DAY_MS;
/** Two runs that are further apart are no evidence of a steady clock. Machines are off for weekends. */
const PAUSE_MS = 3 * DAY_MS;

/** The row of `marks` with the runs; that of a forge also has its name. */
const MARK = "clock";

/** Runs of this or another process, none of which was far from the one before. */
interface Runs {
  since: number;
  at: number;
  /** An operator has confirmed the clock. */
  isForced?: boolean | undefined;
}

/** The time by a forge, and ours. */
interface ForgeTime {
  time: number;
  at: number;
}

interface DeletionClockOptions {
  database: { write: Db; dialect: Dialect };
  clock: Clock;
  /** Absent: doubts are logged elsewhere. */
  log?: Logger;
}

export class DeletionClock {
  readonly #options: DeletionClockOptions;
  /** The times by forges since the last run. */
  readonly #forgeTimes = new Map<string, ForgeTime>();
  /** Why the clock was in doubt in the last run. */
  #reason: string | undefined;

  constructor(options: DeletionClockOptions) {
    this.#options = options;
  }

  /** Notes the time that a response of a forge has. */
  noteForge(name: string, time: number): void {
    this.#forgeTimes.set(name, { time, at: this.#options.clock.now() });
  }

  /** The time by which something may be old enough to delete, in ms since 1970; 0 while the clock is in doubt. Logs each doubt once. */
  async now(): Promise<number> {
    const { clock, log } = this.#options;
    const now = clock.now();
    const { reason, level = "warn" } = await this.#judge(now);
    if (reason !== this.#reason) {
      if (reason === undefined) log?.info("the clock is confirmed: deleting old data again");
      else log?.[level]({ reason }, "old data is kept until the clock is confirmed; work --force overrides");
    }
    this.#reason = reason;
    return reason === undefined ? now : 0;
  }

  /** Takes the clock as right, whatever witnesses say, until it jumps. */
  async force(): Promise<void> {
    const { database, clock } = this.#options;
    await note(database.write, MARK, { since: clock.now(), at: clock.now(), isForced: true });
  }

  /** Why the clock is in doubt, if it is. Notes the run. */
  async #judge(now: number): Promise<{ reason?: string; level?: "info" }> {
    const { write, dialect } = this.#options.database;
    for (const [name, said] of this.#forgeTimes) await note(write, `${MARK} of ${name}`, said);
    this.#forgeTimes.clear();
    const rows = await write.selectFrom("marks").selectAll().where("name", "like", `${MARK}%`).execute();
    const { [MARK]: earlier, ...forges } = Object.fromEntries(rows.map((row) => [row.name, row.value]));
    const last: Runs | undefined = earlier === undefined ? undefined : JSON.parse(earlier);
    const isSteady = last !== undefined && Math.abs(now - last.at) <= PAUSE_MS;
    const runs: Runs = isSteady ? { ...last, at: now } : { since: now, at: now };
    await note(write, MARK, runs);
    if (runs.isForced) return {};

    const witnesses = Object.entries(forges).map(([name, value]) => {
      const { time, at }: ForgeTime = JSON.parse(value);
      return { name: `the ${name}`, time, isFresh: Math.abs(now - at) <= AGREES_MS };
    });
    const server = await dialect.serverTime(write);
    if (server?.isRemote)
      witnesses.push({ name: "that of the database server", time: server.ms, isFresh: true });
    const agrees = ({ time }: { time: number }) => Math.abs(now - time) <= AGREES_MS;
    const against = witnesses.find((one) => one.isFresh && !agrees(one));
    if (against !== undefined)
      return { reason: `the clock is ${difference(now, against.time)} ${against.name}` };
    if (witnesses.some(agrees) || now - runs.since >= WEEK_MS) return {};
    if (last !== undefined && !isSteady)
      return { reason: `the clock is ${difference(now, last.at)} the last run, and nothing confirms it` };
    const until = isoTime(runs.since + WEEK_MS);
    return {
      reason: `no forge has confirmed the time yet; without one, deleting begins at ${until}`,
      level: "info",
    };
  }
}

const note = (db: Db, name: string, value: Runs | ForgeTime) => writeMark(db, name, JSON.stringify(value));

function difference(now: number, other: number): string {
  return `${Math.round(Math.abs(now - other) / HOUR_MS)} h ${now > other ? "ahead of" : "behind"}`;
}

interface OldRows {
  table: TableName;
  /** Has the time in ms; null: the row does not age. */
  column: string;
  before: number;
  /** Rows in one transaction. */
  batch?: number;
  signal?: AbortSignal;
}

/** Deletes rows with an `id` whose time is before another one, the oldest first, at most DELETED_SHARE of all that age. Returns their number. */
export async function deleteOld(
  db: Db,
  { table, column, before, batch = 1_000, signal }: OldRows,
): Promise<number> {
  const [rows, time] = [sql.table(table), sql.ref(column)];
  const old = sql`${time} < ${before}`;
  // Counts only if there is an old one.
  const counted = await sql<{ aging: number | string }>`select count(${time}) as aging from ${rows}
    where exists (select 1 from ${rows} where ${old})`.execute(db);
  let left = Math.ceil(Number(counted.rows[0]?.aging ?? 0) * DELETED_SHARE);
  let removed = 0;
  while (left > 0 && signal?.aborted !== true) {
    const limit = Math.min(batch, left);
    // Compared again, as a row may have been used since it was selected.
    const { numAffectedRows = 0n } = await sql`delete from ${rows} where ${old} and id in (
      select id from ${rows} where ${old} order by ${time} limit ${limit})`.execute(db);
    removed += Number(numAffectedRows);
    left = Number(numAffectedRows) < limit ? 0 : left - limit;
  }
  return removed;
}
