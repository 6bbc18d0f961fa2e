import { AppError } from "../errors.js";
import type { Concurrency } from "../limit-config.js";
import { type Caller, NETWORK_FACTOR, UnderWay } from "../metering/metering.js";

/** What a refusal names in place of a bucket. */
const NAME = "concurrency";
const RETRY_SECONDS = 1;

/** One request under way, until it leaves. */
export interface Place {
  /** Why it may not go on; undefined where it may. */
  readonly refusal: AppError | undefined;
  leave(): void;
}

const FREE: Place = { refusal: undefined, leave: () => {} };

/** Keeps one caller from having so many requests under way that others wait for it. */
export class Crowd {
  readonly #underWay = new UnderWay();
  readonly #concurrency: Concurrency | undefined;

  /** Undefined: nobody is kept from anything. */
  constructor(concurrency: Concurrency | undefined) {
    this.#concurrency = concurrency;
  }

  /**
   * A place for a request; `isFree`: for one that is let through in any case. A caller with a wider network takes one there
   * too, of as many times more as its allowance has.
   */
  enter({ kind, name, network, account = name }: Caller, isFree: boolean): Place {
    if (this.#concurrency === undefined || isFree) return FREE;
    const most = this.#concurrency[kind === "anonymous" ? "anonymous" : "account"];
    const leave = this.#underWay.begin(`${kind} ${account}`, most);
    if (leave === undefined) return refused(most);
    if (network === undefined) return { refusal: undefined, leave };
    const leaveNetwork = this.#underWay.begin(`network ${network}`, most * NETWORK_FACTOR);
    if (leaveNetwork === undefined) {
      leave();
      return refused(most * NETWORK_FACTOR);
    }
    const leaveBoth = () => {
      leave();
      leaveNetwork();
    };
    return { refusal: undefined, leave: leaveBoth };
  }
}

function refused(most: number): Place {
  return { refusal: refusal(most), leave: () => {} };
}

function refusal(most: number): AppError {
  const message = `at most ${most} requests may be under way; try again in ${RETRY_SECONDS}`;
  return new AppError("RATE_LIMITED", `Too many requests at once: ${message}.`, {
    details: [{ parameter: "bucket", message, values: [NAME] }],
    headers: {
      "Retry-After": String(RETRY_SECONDS),
      "RateLimit-Policy": `"${NAME}";q=${most};qu="concurrent-requests"`,
      RateLimit: `"${NAME}";r=0;t=${RETRY_SECONDS}`,
      "X-RateLimit-Limit": String(most),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Resource": NAME,
    },
  });
}
