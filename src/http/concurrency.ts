/** What is in flight: how many requests, connections and streams a caller may have, and whether any work is unfinished. */
import type { Concurrency } from "../config/config.js";
import { AppError } from "../lib/errors.js";
import { type Caller, NETWORK_FACTOR } from "./limiter.js";

/** Streams in flight of one key, of all keys of an account, and of this process or thread. */
export const MAX_STREAMS = { key: 1, account: 2, process: 8 } as const;

/** A request in flight. */
export interface Slot {
  /** Why the request is refused: for each limit always the same object. Undefined where it may go on. */
  readonly refusal: AppError | undefined;
  /** To be called once, at the end of the request. */
  release(): void;
}

const FREE: Slot = { refusal: undefined, release: () => {} };

/** Bounds the requests in flight of one caller, so that others need not wait for it. */
export class ConcurrencyLimiter {
  readonly #inFlight = new InFlight();
  readonly #limits: Concurrency | undefined;
  /** By the limit that is exceeded. */
  readonly #refusals = new Map<number, Slot>();

  /** Undefined: no limit. */
  constructor(limits: Concurrency | undefined) {
    this.#limits = limits;
  }

  /** A slot for a request; see `InFlight.takeWithNetwork`. */
  enter({ kind, name, network, account = name }: Caller, isFree: boolean): Slot {
    if (this.#limits === undefined || isFree) return FREE;
    const limit = this.#limits[kind === "anonymous" ? "anonymous" : "account"];
    const taken = this.#inFlight.takeWithNetwork({ name: `${kind} ${account}`, network }, limit);
    return typeof taken === "number" ? this.#refuse(taken) : { refusal: undefined, release: taken };
  }

  #refuse(limit: number): Slot {
    const known = this.#refusals.get(limit);
    if (known !== undefined) return known;
    const message = `at most ${limit} requests may be in flight; try again in 1 second`;
    const title = "Too many concurrent requests";
    const refusal = tooMany({ name: "concurrency", limit, title, message, retrySeconds: 1 });
    const slot = { refusal, release: () => {} };
    this.#refusals.set(limit, slot);
    return slot;
  }
}

/**
 * Bounds the responses that are streamed, each of which holds some memory and reads the database as long as its client takes. Only
 * holders of keys get them, so nobody else takes a slot.
 */
export class StreamSlots {
  readonly #inFlight = new InFlight();

  /** A slot for a request; on one with a refusal the request ends, and does not count. */
  enter({ kind, name, account = name }: Caller): Slot {
    if (kind !== "key") return FREE;
    const taken: (() => void)[] = [];
    const release = () => {
      for (const give of taken.splice(0)) give();
    };
    for (const [slots, most, refusal] of [
      [`key ${name}`, MAX_STREAMS.key, OF_KEY],
      [`account ${account}`, MAX_STREAMS.account, OF_ACCOUNT],
      ["all", MAX_STREAMS.process, OF_ALL],
    ] as const) {
      const give = this.#inFlight.take(slots, most);
      if (give === undefined) {
        release();
        return { refusal, release };
      }
      taken.push(give);
    }
    return { refusal: undefined, release };
  }
}

const OF_KEY = tooManyStreams("of this key", MAX_STREAMS.key);
const OF_ACCOUNT = tooManyStreams("of this account", MAX_STREAMS.account);
const OF_ALL = new AppError("UNAVAILABLE", "Too many lists are being streamed; try again later.");

function tooManyStreams(whose: string, limit: number): AppError {
  const message = `at most ${limit} ${whose} at a time; try again when one has ended`;
  return tooMany({ name: "streams", limit, title: "Too many streams", message, retrySeconds: 5 });
}

interface Excess {
  /** Instead of a bucket. */
  name: string;
  limit: number;
  title: string;
  message: string;
  retrySeconds: number;
}

/** A refusal with the same headers as one over a rate limit. */
function tooMany({ name, limit, title, message, retrySeconds }: Excess): AppError {
  return new AppError("RATE_LIMITED", `${title}: ${message}.`, {
    details: [{ parameter: "bucket", message, values: [name] }],
    headers: {
      "Retry-After": String(retrySeconds),
      "RateLimit-Policy": `"${name}";q=${limit};qu="concurrent-requests"`,
      RateLimit: `"${name}";r=0;t=${retrySeconds}`,
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Resource": name,
    },
  });
}

/** Requests in flight, or open connections, per caller. Holds only callers that have some. */
export class InFlight {
  readonly #counts = new Map<string, number>();

  /** Callers with a request in flight. */
  get callers(): number {
    return this.#counts.size;
  }

  /** Takes a slot, unless the caller holds `limit` already. Returns what releases it, to be called once. */
  take(name: string, limit: number): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0;
    if (count >= limit) return undefined;
    this.#counts.set(name, count + 1);
    return () => this.#release(name);
  }

  /**
   * Takes a slot of a caller, and on IPv6 one of its wider network, which has NETWORK_FACTOR times as many. Returns what releases
   * them, or the limit that is exceeded.
   */
  takeWithNetwork(
    { name, network }: { name: string; network: string | undefined },
    limit: number,
  ): (() => void) | number {
    const release = this.take(name, limit);
    if (release === undefined) return limit;
    if (network === undefined) return release;
    const releaseNetwork = this.take(`network ${network}`, limit * NETWORK_FACTOR);
    if (releaseNetwork === undefined) {
      release();
      return limit * NETWORK_FACTOR;
    }
    return () => {
      release();
      releaseNetwork();
    };
  }

  #release(name: string): void {
    const count = (this.#counts.get(name) ?? 0) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}

/** Counts unfinished work, so that what it needs is closed after it. */
export class Unfinished {
  #count = 0;
  #ended = Promise.withResolvers<void>();

  /** Runs work, and counts it until it has settled. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await work();
    } finally {
      if (--this.#count === 0) {
        this.#ended.resolve();
        this.#ended = Promise.withResolvers();
      }
    }
  }

  /** Resolves when no work is left. */
  async none(): Promise<void> {
    while (this.#count > 0) await this.#ended.promise;
  }
}
