import type { Database } from "../database/database.js";
import { BackgroundWrites } from "../lib/background-writes.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import type { LoggedEvent, SecurityEvent, Source } from "./security-events.js";
import { type EventQuery, insertEvents, pruneEvents, readEvents, type StoredEvent } from "./security-rows.js";

/** Time between two writes of counted events, and so the most that a crash can lose. */
const MINUTE_MS = 60_000;
/** Rows waiting to be written. Further ones are dropped and counted in the program's log. */
const MAX_PENDING = 1_000;
/** Longest time a list waits for the latest events to be written. */
const LIST_WAIT_MS = 1_000;

export interface SecurityLogOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Called before an event of an account is written. */
  notify?: (event: SecurityEvent) => Promise<void>;
}

/**
 * Records events of accounts and refused requests, for the owners and the operator. No response waits for it. Events of
 * accounts are written immediately, at most five alike in a minute; all others are counted, and written every minute. Holds
 * no secrets and no addresses but shortened ones.
 */
export class SecurityLog {
  readonly #options: SecurityLogOptions;
  readonly #writes: BackgroundWrites;
  readonly #tally = new EventTally();
  #pending = 0;
  #lost = 0;

  constructor(options: SecurityLogOptions) {
    this.#options = options;
    this.#writes = new BackgroundWrites(options.log);
  }

  /** Takes a few microseconds and never throws. */
  record(event: SecurityEvent): void {
    const row = this.#tally.add(event, this.#options.clock.now());
    if (row !== undefined) this.#write([row], () => this.#notify(event));
  }

  /** Records a sign-in with a method, such as link, and whether it created the account, or the browser was signed in before. */
  recordSignIn(
    { account, isNew, isAgain }: { account: { id: string }; isNew: boolean; isAgain: boolean },
    { method, source }: { method: string; source: Source },
  ): void {
    const accountId = account.id;
    if (isNew) this.record({ event: "account_created", source, accountId, detail: { method } });
    const event = isAgain ? "reauthenticated" : "signed_in";
    this.record({ event, source, accountId, detail: { method } });
  }

  /** Events, latest first, with those that this process has just recorded for accounts. */
  async list(query: EventQuery): Promise<StoredEvent[]> {
    const { clock, database } = this.#options;
    const patience = new AbortController();
    await Promise.race([this.#writes.flush(), clock.sleep(LIST_WAIT_MS, patience.signal)]);
    patience.abort();
    return readEvents(database.read, query);
  }

  /** Writes counted events every minute, until `signal` is aborted; `flush` writes the rest. */
  async start(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(MINUTE_MS, signal);
      if (!signal.aborted) await this.flush();
    }
  }

  /** Writes the counted events. Resolves when all pending writes have ended. */
  async flush(): Promise<void> {
    const { log } = this.#options;
    const counted = this.#tally.take();
    // The program's log has them too, for tools that watch it.
    for (const { at: _, detail, ...row } of counted) {
      const isRefused = /_refused$|^rate_limited$/.test(row.event);
      log.warn({ ...row, ...detail }, isRefused ? "refused" : "recorded");
    }
    if (counted.length > 0) this.#write(counted);
    if (this.#lost > 0) log.error({ events: this.#lost }, "security events were not recorded");
    this.#lost = 0;
    await this.#writes.flush();
  }

  /** Deletes events past their retention at the time `now`. Returns their number. */
  prune(now: number, signal: AbortSignal): Promise<number> {
    return pruneEvents(this.#options.database, { now, signal });
  }

  async #notify(event: SecurityEvent): Promise<void> {
    const { log, notify } = this.#options;
    await notify?.(event).catch((error: unknown) =>
      log.error({ err: error, event: event.event }, "the owner of an account could not be notified"),
    );
  }

  #write(rows: readonly LoggedEvent[], before = async () => {}): void {
    if (this.#pending >= MAX_PENDING) {
      for (const { times } of rows) this.#lost += times;
      return;
    }
    this.#pending += rows.length;
    this.#writes.add(
      () =>
        before()
          .then(() => insertEvents(this.#options.database.write, rows))
          .finally(() => {
            this.#pending -= rows.length;
          }),
      "security events could not be recorded",
      { events: rows.map(({ event }) => event).slice(0, 5) },
    );
  }
}

/** Events of one account and name that get a row each in a minute. Further ones are counted in one. */
const ROWS_EACH = 5;
/** Accounts and names whose events get rows of their own in a minute; those of further ones are counted: 2 MB. */
export const MAX_FOLLOWED = 20_000;
/** Rows of counted events in a minute, besides those of MIXED: one for each event. */
export const MAX_COUNTED = 200;
/** The network of events beyond the bound, which are counted together. */
export const MIXED = "several";

/** Counts the events of a minute in bounded memory: a flood of events is a few rows. */
export class EventTally {
  readonly #single = new Map<string, number>();
  readonly #counted = new Map<string, LoggedEvent>();

  /** The row of an event that gets its own; undefined for one that is counted until `take`. */
  add({ event, source, accountId, detail = {} }: SecurityEvent, at: number): LoggedEvent | undefined {
    const { network, agent } = source;
    if (accountId !== null) {
      const key = `${accountId} ${event}`;
      const known = this.#single.get(key) ?? 0;
      const isFollowed = known > 0 || this.#single.size < MAX_FOLLOWED;
      if (isFollowed) this.#single.set(key, known + 1);
      if (isFollowed && known < ROWS_EACH)
        return {
          at,
          accountId,
          event,
          network,
          detail: agent === "" ? detail : { agent, ...detail },
          times: 1,
        };
    }
    this.#count({ at, accountId, event, network, detail, times: 1 });
    return undefined;
  }

  /** The counted events of the minute that ends. */
  take(): LoggedEvent[] {
    const counted = [...this.#counted.values()];
    this.#counted.clear();
    this.#single.clear();
    return counted;
  }

  #count(row: LoggedEvent): void {
    const { accountId, event, network, detail } = row;
    const key = `${event} ${network} ${accountId ?? ""} ${JSON.stringify(detail)}`;
    const known = this.#counted.get(key);
    if (known !== undefined) known.times++;
    else if (network === MIXED || this.#counted.size < MAX_COUNTED) this.#counted.set(key, row);
    else this.#count({ ...row, accountId: null, network: MIXED, detail: {} });
  }
}
