import { AppError } from "../errors.js";
import type { Bucket, Concurrency, Shedding } from "../limit-config.js";
import { type Caller, NETWORK_FACTOR } from "../metering/metering.js";

/** What a refusal names in place of a bucket. */
const NAME = "concurrency";
const RETRY_SECONDS = 1;

/** A request in flight. */
export interface Slot {
  /** Why the request is refused; undefined where it may go on. */
  readonly refusal: AppError | undefined;
  /** To be called once, at the end of the request. */
  release(): void;
}

const FREE: Slot = { refusal: undefined, release: () => {} };

/** Bounds the requests in flight of one caller, so that others need not wait for it. */
export class ConcurrencyLimiter {
  readonly #inFlight = new InFlight();
  readonly #limits: Concurrency | undefined;

  /** Undefined: no limit. */
  constructor(limits: Concurrency | undefined) {
    this.#limits = limits;
  }

  /** Whether a request that ends in the same turn of the event loop would get no slot. */
  isFull({ kind, name, network, account = name }: Caller): boolean {
    // Mostly nothing is in flight: requests that end in their turn take no slots.
    if (this.#limits === undefined || this.#inFlight.callers === 0) return false;
    const limit = this.#limits[kind === "anonymous" ? "anonymous" : "account"];
    if (this.#inFlight.of(`${kind} ${account}`) >= limit) return true;
    return network !== undefined && this.#inFlight.of(`network ${network}`) >= limit * NETWORK_FACTOR;
  }

  /** A slot for a request. An IPv6 caller takes one in its wider network too, which has NETWORK_FACTOR times as many. */
  enter({ kind, name, network, account = name }: Caller, isFree: boolean): Slot {
    if (this.#limits === undefined || isFree) return FREE;
    const limit = this.#limits[kind === "anonymous" ? "anonymous" : "account"];
    const release = this.#inFlight.take(`${kind} ${account}`, limit);
    if (release === undefined) return refused(limit);
    if (network === undefined) return { refusal: undefined, release };
    const releaseNetwork = this.#inFlight.take(`network ${network}`, limit * NETWORK_FACTOR);
    if (releaseNetwork === undefined) {
      release();
      return refused(limit * NETWORK_FACTOR);
    }
    const releaseBoth = () => {
      release();
      releaseNetwork();
    };
    return { refusal: undefined, release: releaseBoth };
  }
}

function refused(limit: number): Slot {
  const message = `at most ${limit} requests may be in flight; try again in ${RETRY_SECONDS} second`;
  const refusal = new AppError("RATE_LIMITED", `Too many concurrent requests: ${message}.`, {
    details: [{ parameter: "bucket", message, values: [NAME] }],
    headers: {
      "Retry-After": String(RETRY_SECONDS),
      "RateLimit-Policy": `"${NAME}";q=${limit};qu="concurrent-requests"`,
      RateLimit: `"${NAME}";r=0;t=${RETRY_SECONDS}`,
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Resource": NAME,
    },
  });
  return { refusal, release: () => {} };
}

/** Requests in flight per caller. Holds only callers that have some. */
export class InFlight {
  readonly #counts = new Map<string, number>();

  /** Callers with a request in flight. */
  get callers(): number {
    return this.#counts.size;
  }

  /** Requests of a caller. */
  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Takes a slot, unless the caller holds `limit` already. Returns what releases it, to be called once. */
  take(name: string, limit: number): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0;
    if (count >= limit) return undefined;
    this.#counts.set(name, count + 1);
    return () => this.#release(name);
  }

  #release(name: string): void {
    const count = (this.#counts.get(name) ?? 0) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}

/** The error for a request that is shed. */
export function overloaded(): AppError {
  return new AppError("UNAVAILABLE", "The service is overloaded. Try again, or send an API key.", {
    headers: { "Retry-After": "5" },
  });
}

/**
 * Sheds load when this process computes too many responses at the same time: first heavy requests of anonymous callers,
 * then all of theirs. Callers with a key or a session go on, and so does signing in; their own limits bound them.
 *
 * A response counts until the event loop turns. Where the store responds synchronously, as SQLite does, no two responses are
 * ever computed at the same time: the backlog is in the sockets, and shows in how many requests one turn of the loop finds there.
 */
export class LoadShedder {
  readonly #thresholds: Shedding | undefined;
  #computing = 0;
  #finished = 0;

  /** Undefined: nothing is shed. */
  constructor(thresholds: Shedding | undefined) {
    this.#thresholds = thresholds;
  }

  /**
   * Starts the work, unless it is shed; undefined then. Checking and counting happen in one step, or all requests that
   * arrive together would pass.
   */
  start<T>(caller: Caller, bucket: Bucket, work: () => Promise<T>): Promise<T> | undefined {
    return this.#isShed(caller, bucket) ? undefined : this.#count(work);
  }

  #isShed({ kind }: Caller, bucket: Bucket): boolean {
    if (this.#thresholds === undefined || kind !== "anonymous" || bucket === "auth") return false;
    return this.#computing >= (bucket === "heavy" ? this.#thresholds.heavy : this.#thresholds.anonymous);
  }

  async #count<T>(work: () => Promise<T>): Promise<T> {
    this.#computing++;
    try {
      return await work();
    } finally {
      if (this.#finished++ === 0) setImmediate(() => this.#forgetFinished());
    }
  }

  #forgetFinished(): void {
    this.#computing -= this.#finished;
    this.#finished = 0;
  }
}
