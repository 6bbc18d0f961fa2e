import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import type { Logger } from "../log.js";
import { Agents } from "./agents.js";
import { truncatedAddress } from "./callers.js";
import { storablePath } from "./request-path.js";
import { pruneUsage, writeUsage } from "./usage-rows.js";
import { TALLY_BOUNDS, type TalliedRequest, type TallyBounds, UsageTally } from "./usage-tally.js";
import { readUsage, type UsagePeriod, type UsageView } from "./usage-view.js";

/** What is counted is written at least so often; so much a crash can lose. */
export const FLUSH_MS = 5_000;
const PRUNE_EVERY_MS = 3_600_000;
/** A view waits so long for what was counted last, and is then answered without it. */
const VIEW_WAIT_MS = 1_000;

/** A request with a valid key, once it is answered. */
export interface KeyedRequest extends Omit<TalliedRequest, "at" | "micros" | "path" | "address" | "agent"> {
  /** As it was requested; kept only for failed requests, without its query and tokens. */
  path: string;
  /** Time that answering took. */
  durationMs: number;
  /** The name of the caller by address, as `Callers` gives it; only its network is kept. */
  caller: string;
  /** As it was sent; only its family is kept. */
  userAgent: string | null;
}

export interface UsageOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  bounds?: TallyBounds;
}

/**
 * What API keys were used for. Requests are counted in memory, within bounds, and written every five seconds as sums of
 * 1, 6 and 24 hours, a few keys at a time; several processes add to the same sums. What cannot be written is kept and tried
 * again.
 */
export class Usage {
  readonly #options: UsageOptions;
  readonly #bounds: TallyBounds;
  readonly #agents = new Agents();
  readonly #stopping = new AbortController();
  #tally: UsageTally;
  #flushing: Promise<boolean> = Promise.resolve(true);
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #hasFaulted = false;
  #isFlushAsked = false;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? TALLY_BOUNDS;
    this.#tally = new UsageTally(this.#bounds);
  }

  /** What is counted and not written yet; for tests of its bounds. */
  get pending(): UsageTally {
    return this.#tally;
  }

  /** How many user agents are remembered. */
  get rememberedAgents(): number {
    return this.#agents.size;
  }

  /** Counts a request. Takes some microseconds, and never throws. */
  record({ durationMs, caller, userAgent, path, ...request }: KeyedRequest): void {
    try {
      this.#tally.add({
        ...request,
        at: this.#options.clock.now(),
        micros: Math.round(durationMs * 1_000),
        path: request.status >= 400 ? storablePath(path) : null,
        address: truncatedAddress(caller),
        agent: this.#agents.familyOf(userAgent),
      });
      // While it cannot be written, asking more often would not help.
      if (this.#tally.isCrowded && !this.#isFailing && !this.#isFlushAsked) {
        this.#isFlushAsked = true;
        void this.flush();
      }
    } catch (error) {
      if (!this.#hasFaulted) this.#options.log.error({ err: error }, "a request could not be counted");
      this.#hasFaulted = true;
    }
  }

  /** Begins to write what is counted, and to take away what is too old, until `stop`. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ends the loop and writes what is left. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.flush();
  }

  /** Writes what was counted before the call. Whether that is stored now; else it is kept, and never throws. */
  flush(): Promise<boolean> {
    this.#flushing = this.#flushing.then(() => this.#flushOnce());
    return this.#flushing;
  }

  /**
   * What a key of the account was used for in a period, with all that this process has counted; what others have counted is
   * at most five seconds behind. Throws NOT_FOUND for a key that the account does not have.
   */
  async view(accountId: string, keyId: number, period: UsagePeriod): Promise<UsageView> {
    const { database, clock } = this.#options;
    const patience = new AbortController();
    await Promise.race([this.flush(), clock.sleep(VIEW_WAIT_MS, patience.signal)]);
    patience.abort();
    return readUsage(database.read, accountId, keyId, period, clock.now());
  }

  async #flushOnce(): Promise<boolean> {
    const { database, log } = this.#options;
    this.#isFlushAsked = false;
    const tally = this.#tally;
    if (tally.keys.size === 0 && tally.lost === 0) return true;
    this.#tally = new UsageTally(this.#bounds);
    try {
      await writeUsage(database, tally, this.#bounds);
    } catch (error) {
      tally.absorb(this.#tally);
      this.#tally = tally;
      if (!this.#isFailing) log.error({ err: error }, "usage cannot be written; it is kept and tried again");
      this.#isFailing = true;
      return false;
    }
    if (this.#isFailing) log.info("usage is written again");
    this.#isFailing = false;
    if (tally.lost > 0)
      log.error({ requests: tally.lost }, "requests of too many keys at once were not counted");
    return true;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    let prunedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      await clock.sleep(FLUSH_MS, signal);
      if (signal.aborted) return;
      await this.flush();
      if (clock.monotonic() - prunedAt < PRUNE_EVERY_MS) continue;
      await this.prune();
      prunedAt = clock.monotonic();
    }
  }

  /** Takes away what is older than 90 days. Never throws: what fails is tried again in an hour. */
  async prune(): Promise<void> {
    const { database, clock, log } = this.#options;
    try {
      await pruneUsage(database, clock.now(), this.#stopping.signal);
    } catch (error) {
      log.error({ err: error }, "old usage could not be taken away");
    }
  }
}
