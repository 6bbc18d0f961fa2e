import { setImmediate } from "node:timers/promises";
import { HOUR_MS } from "../lib/clock.js";
import { storablePath } from "../lib/tokens.js";
import type { AccountsContext } from "./context.js";
import { writeUsage } from "./usage-rows.js";
import { UsageTally } from "./usage-tally.js";
import { OTHER, OTHER_AGENT, readUsage, type UsageView, type UsageWindow } from "./usage-view.js";

/** Longest time between writes, and so the most that a crash can lose. */
const FLUSH_MS = 5_000;
/** Rows waiting to be written. Half of them are written early; beyond all of them, requests are not counted. */
const MAX_ROWS = 50_000;
/** Rows of one transaction. On SQLite it blocks responses. */
const ROWS_PER_WRITE = 500;
/** Longest time a view waits for the latest counts to be written. */
const VIEW_WAIT_MS = 1_000;
/** Addresses, and families of user agents, that a key has rows for in an hour; the others share one. */
const MAX_NAMES = { address: 100, agent: 20 };
/** The same for all keys together. */
const MAX_ALL_NAMES = 100_000;

/** A request with a valid key and its response. */
export interface KeyedRequest {
  keyId: number;
  /** null with the route `other`. */
  method: string | null;
  /** The path pattern of the route; `other` if none matched. */
  route: string;
  status: number;
  bytes: number;
  durationMs: number;
  /** The key's allowance as reported in the response; undefined if the request counted against another one. */
  allowance: { bucket: string; limit: number; remaining: number } | undefined;
  /** The error code of the response; null if it had none. */
  code: string | null;
  /** As requested; stored only for failed requests, without query and tokens. */
  path: string;
  source: { address: string; agent: string };
}

/**
 * Usage of API keys. Requests are counted in bounded memory, and written every five seconds as sums of an hour, which several
 * processes add to. Failed writes are kept and retried.
 */
export class Usage {
  readonly #stopping = new AbortController();
  #tally = new UsageTally();
  /** The hour of `#names`. */
  #hour = 0;
  /** Addresses and families of this hour, by key and kind. */
  readonly #names = new Map<string, Set<string>>();
  #nameCount = 0;
  #lost = 0;
  #flushing: Promise<boolean> = Promise.resolve(true);
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isFlushRequested = false;

  constructor(private readonly context: AccountsContext) {}

  /** Counts a request. Takes a few microseconds. */
  record(request: KeyedRequest): void {
    const { keyId: key_id, route, status, bytes, allowance, code } = request;
    const tally = this.#tally;
    if (tally.size >= MAX_ROWS) {
      this.#lost++;
      return;
    }
    const at = this.context.clock.now();
    const from_at = at - (at % HOUR_MS);
    const method = request.method ?? "";
    const micros = Math.round(request.durationMs * 1_000);
    tally.addRoute({
      key_id,
      from_at,
      method,
      route,
      outcome: outcomeOf(status),
      requests: 1,
      bytes,
      micros,
    });
    if (allowance !== undefined) {
      const { bucket, limit, remaining: lowest } = allowance;
      tally.addAllowance({ key_id, from_at, bucket, allowance: limit, lowest, lowest_at: at });
    }
    if (from_at !== this.#hour) {
      this.#hour = from_at;
      this.#names.clear();
      this.#nameCount = 0;
    }
    for (const [kind, given, other] of [
      ["address", request.source.address, OTHER],
      ["agent", request.source.agent, OTHER_AGENT],
    ] as const) {
      const name = given === other || this.#hasRow(key_id, kind, given) ? given : other;
      tally.addCaller({ key_id, from_at, kind, name, requests: 1, last_at: at });
    }
    if (status >= 400) {
      const path = storablePath(request.path);
      const bucket = allowance?.bucket ?? null;
      tally.addEvent({ key_id, at, method: request.method, route, status, code, bucket, path });
    }
    // While writes fail, flushing more often would not help.
    if (tally.size > MAX_ROWS / 2 && !this.#isFailing && !this.#isFlushRequested) {
      this.#isFlushRequested = true;
      void this.flush();
    }
  }

  /** Whether an address or family has its own row in this hour. Bounded, as a caller invents as many as it likes. */
  #hasRow(keyId: number, kind: keyof typeof MAX_NAMES, name: string): boolean {
    const owner = `${keyId} ${kind}`;
    const names = this.#names.get(owner) ?? new Set();
    if (names.has(name)) return true;
    if (names.size >= MAX_NAMES[kind] || this.#nameCount >= MAX_ALL_NAMES) return false;
    this.#names.set(owner, names.add(name));
    this.#nameCount++;
    return true;
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

  /** The usage of a key; counts of other processes are at most 5 s behind. Throws NOT_FOUND for a key of another account. */
  async view(accountId: string, keyId: number, window: UsageWindow): Promise<UsageView> {
    const patience = new AbortController();
    await Promise.race([this.flush(), this.context.clock.sleep(VIEW_WAIT_MS, patience.signal)]);
    patience.abort();
    return readUsage(this.context.database.read, { accountId, keyId, window, now: this.context.clock.now() });
  }

  async #flushOnce(): Promise<boolean> {
    this.#isFlushRequested = false;
    const tally = this.#tally;
    this.#tally = new UsageTally();
    // In parts, so that requests are served in between.
    for (;;) {
      const part = tally.take(ROWS_PER_WRITE);
      if (Object.values(part).every((rows) => rows.length === 0)) break;
      try {
        await writeUsage(this.context.database, part);
      } catch (error) {
        for (const rows of [part, tally.take(Infinity)]) this.#tally.putBack(rows);
        if (!this.#isFailing)
          this.context.log.error({ err: error }, "usage cannot be written; it is kept and retried");
        this.#isFailing = true;
        return false;
      }
      await setImmediate();
    }
    if (this.#isFailing) this.context.log.info("usage is written again");
    this.#isFailing = false;
    if (this.#lost > 0)
      this.context.log.error({ requests: this.#lost }, "too many requests to keep were not counted");
    this.#lost = 0;
    return true;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.context.clock.sleep(FLUSH_MS, signal);
      if (!signal.aborted) await this.flush();
    }
  }
}

/** Statuses by class, and 429 on its own. */
function outcomeOf(status: number): string {
  if (status === 429) return "blocked";
  return status < 300 ? "2xx" : status < 400 ? "3xx" : status < 500 ? "4xx" : "5xx";
}
