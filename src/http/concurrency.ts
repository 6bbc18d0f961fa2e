import type { Concurrency } from "../config/config.js";
import { AppError } from "../errors.js";
import { type Caller, NETWORK_FACTOR } from "../metering/metering.js";

/** What a refusal names in place of a bucket. */
const NAME = "concurrency";
const RETRY_SECONDS = 1;

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
    const slot = this.#refusals.get(limit) ?? refused(limit);
    this.#refusals.set(limit, slot);
    return slot;
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
