import { AppError } from "../errors.js";
import type { Caller } from "../metering/metering.js";
import { InFlight, type Slot } from "./concurrency.js";

/** Streams in flight of one key, of all keys of an account, and of this process or thread. */
export const MAX_STREAMS = { key: 1, account: 2, process: 8 } as const;

const RETRY_SECONDS = 5;

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

const FREE: Slot = { refusal: undefined, release: () => {} };

const OF_KEY = overLimit("of this key", MAX_STREAMS.key);
const OF_ACCOUNT = overLimit("of this account", MAX_STREAMS.account);
const OF_ALL = new AppError("UNAVAILABLE", "Too many lists are being streamed; try again later.");

function overLimit(whose: string, limit: number): AppError {
  const message = `at most ${limit} ${whose} at a time; try again when one has ended`;
  return new AppError("RATE_LIMITED", `Too many streams: ${message}.`, {
    details: [{ parameter: "bucket", message, values: ["streams"] }],
    headers: {
      "Retry-After": String(RETRY_SECONDS),
      "RateLimit-Policy": `"streams";q=${limit};qu="concurrent-requests"`,
      RateLimit: `"streams";r=0;t=${RETRY_SECONDS}`,
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Resource": "streams",
    },
  });
}
