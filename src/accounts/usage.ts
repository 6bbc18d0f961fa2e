import type { Database } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { Agents } from "./agents.js";
import { truncatedAddress } from "./callers.js";
import { pruneUsage, writeUsage } from "./usage-rows.js";
import { TALLY_BOUNDS, type TalliedRequest, type TallyBounds, UsageTally } from "./usage-tally.js";
import { readUsage, type UsageView, type UsageWindow } from "./usage-view.js";

/** Longest time between writes, and so the most that a crash can lose. */
export const FLUSH_MS = 5_000;
/** Callers whose networks are remembered. */
const REMEMBERED_ADDRESSES = 1_000;
/** Longest time a view waits for the latest counts to be written. */
const VIEW_WAIT_MS = 1_000;

/** A request with a valid key and its response. */
export interface KeyedRequest extends Omit<TalliedRequest, "at" | "micros" | "path" | "address" | "agent"> {
  /** As requested; stored only for failed requests, without query and tokens. */
  path: string;
  /** Response time. */
  durationMs: number;
  /** The name of the caller by address, from `Callers`; only its network is stored. */
  caller: string;
  /** As sent; only its family is stored. */
  userAgent: string | null;
}

export interface UsageOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  bounds?: TallyBounds;
}

/**
 * Usage of API keys. Requests are counted in memory, within bounds, and written every five seconds as sums of 1, 6 and 24
 * hours, a few keys at a time. Several processes add to the same sums. Failed writes are kept and retried.
 */
export class Usage {
  readonly #options: UsageOptions;
  readonly #bounds: TallyBounds;
  readonly #agents = new Agents();
  readonly #addresses = new Map<string, string>();
  readonly #stopping = new AbortController();
  #tally: UsageTally;
  #flushing: Promise<boolean> = Promise.resolve(true);
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #hasFailed = false;
  #isFlushRequested = false;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? TALLY_BOUNDS;
    this.#tally = new UsageTally(this.#bounds);
  }

  /** Counts a request. Takes a few microseconds and never throws. */
  record(request: KeyedRequest): void {
    const { keyId, method, route, status, bytes, allowance, code } = request;
    try {
      // Written out, as copying the rest of an object takes longer than counting.
      this.#tally.add({
        keyId,
        method,
        route,
        status,
        bytes,
        allowance,
        code,
        at: this.#options.clock.now(),
        micros: Math.round(request.durationMs * 1_000),
        path: status >= 400 ? storablePath(request.path) : null,
        address: this.#addressOf(request.caller),
        agent: this.#agents.familyOf(request.userAgent),
      });
      // While writes fail, flushing more often would not help.
      if (this.#tally.isCrowded && !this.#isFailing && !this.#isFlushRequested) {
        this.#isFlushRequested = true;
        void this.flush();
      }
    } catch (error) {
      if (!this.#hasFailed) this.#options.log.error({ err: error }, "a request could not be counted");
      this.#hasFailed = true;
    }
  }

  #addressOf(caller: string): string {
    const known = this.#addresses.get(caller);
    if (known !== undefined) return known;
    const address = truncatedAddress(caller);
    if (this.#addresses.size >= REMEMBERED_ADDRESSES) this.#addresses.clear();
    this.#addresses.set(caller, address);
    return address;
  }

  /** Starts writing counts, until `stop`. */
  start(): void {
    this.#running = this.#run();
  }

  /** Stops the loop and writes the remaining counts. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.flush();
  }

  /** Writes everything counted before the call. Returns whether it is stored; if not, it is kept. Never throws. */
  flush(): Promise<boolean> {
    this.#flushing = this.#flushing.then(() => this.#flushOnce());
    return this.#flushing;
  }

  /**
   * The usage of a key in a window, including everything this process has counted; counts of other processes are at most five
   * seconds behind. Throws NOT_FOUND for a key of another account.
   */
  async view(accountId: string, keyId: number, window: UsageWindow): Promise<UsageView> {
    const { database, clock } = this.#options;
    const patience = new AbortController();
    await Promise.race([this.flush(), clock.sleep(VIEW_WAIT_MS, patience.signal)]);
    patience.abort();
    return readUsage(database.read, { accountId, keyId, window, now: clock.now() });
  }

  async #flushOnce(): Promise<boolean> {
    const { database, log } = this.#options;
    this.#isFlushRequested = false;
    const tally = this.#tally;
    if (tally.keys.size === 0 && tally.lost === 0) return true;
    this.#tally = new UsageTally(this.#bounds);
    try {
      await writeUsage(database, tally, this.#bounds);
    } catch (error) {
      tally.absorb(this.#tally);
      this.#tally = tally;
      if (!this.#isFailing) log.error({ err: error }, "usage cannot be written; it is kept and retried");
      this.#isFailing = true;
      return false;
    }
    if (this.#isFailing) log.info("usage is written again");
    this.#isFailing = false;
    if (tally.lost > 0) log.error({ requests: tally.lost }, "requests of too many keys were not counted");
    return true;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(FLUSH_MS, signal);
      if (signal.aborted) return;
      await this.flush();
    }
  }

  /** Deletes rows past their retention at the time `now`. Returns their number. */
  prune(now: number, signal: AbortSignal): Promise<number> {
    return pruneUsage(this.#options.database, now, signal);
  }
}

const MAX_LENGTH = 200;
/** Percent-encoding is undone this often, so that an encoded token is recognised too. */
const MAX_DECODINGS = 3;

/** Tokens of this service: API keys, sign-in links and watchlist tokens. */
const TOKEN = /sid[a-z]?_[0-9A-Za-z]*/gi;
/** The token of a watchlist, however it is mistyped. */
const WATCHLIST = /(\/watchlists\/)[^/]+/gi;

/**
 * The path of a failed request as it may be stored: decoded, without its query, at most 200 characters. Tokens become `…`, and
 * control and invisible characters are removed.
 */
export function storablePath(path: string): string {
  let text = path.replace(/[?#].*$/s, "");
  for (let i = 0; i < MAX_DECODINGS && text.includes("%"); i++) text = decoded(text);
  return text
    .replaceAll(/\p{C}/gu, "")
    .replace(TOKEN, "…")
    .replace(WATCHLIST, "$1…")
    .slice(0, MAX_LENGTH)
    .toWellFormed();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
