/** Our own pace of requests to one forge, whichever lane sends them. Requests pass in order of arrival. Knows neither tokens nor limits. */
import type { ForgePace } from "../config/config.js";
import { type Clock, HOUR_MS } from "../lib/clock.js";
import { UpstreamFailure } from "./failures.js";

interface GateOptions {
  pace: ForgePace;
  /** The operator's limit; null: none. */
  requestsPerHour: number | null;
  hasTokens: () => boolean;
  clock: Clock;
}

/** A longer wait for a turn ends as `quota`, so that a batch is not held for hours. */
const MAX_TURN_MS = 60_000;

export class Gate {
  readonly #clock: Clock;
  /** Paces of all requests, and of those that the forge also limits separately. */
  readonly #all: readonly Pace[];
  readonly #byPart: ReadonlyMap<string, { anonymous: Pace; withToken: Pace }>;
  readonly #hasTokens: () => boolean;

  constructor({ pace, requestsPerHour, hasTokens, clock }: GateOptions) {
    this.#clock = clock;
    this.#all = [new Pace(pace.perHour), ...(requestsPerHour === null ? [] : [new Pace(requestsPerHour)])];
    this.#byPart = new Map(
      Object.entries(pace.parts ?? {}).map(([part, { anonymous, withToken }]) => [
        part,
        { anonymous: new Pace(anonymous), withToken: new Pace(withToken) },
      ]),
    );
    this.#hasTokens = hasTokens;
  }

  /**
   * Resolves when a request may be sent: after its turn in its part (see ForgePace; null: none), then its turn among all requests. Throws
   * UpstreamFailure: `quota` without waiting if a turn is more than MAX_TURN_MS away; `unreachable` if `signal` is aborted meanwhile.
   */
  async pass(part: string | null, signal: AbortSignal): Promise<void> {
    const own = this.#paceOf(part);
    // One after the other: a slow part must not hold up other requests.
    if (own !== undefined) await this.#turn([own], signal);
    await this.#turn(this.#all, signal);
  }

  /** Counts a request that must not wait, such as the renewal of a token that all others wait for. */
  count(): void {
    for (const pace of this.#all) pace.spend(this.#clock.monotonic());
  }

  /** When `pass` stops throwing `quota`, on the monotonic clock; may be in the past. */
  readyAt(part: string | null): number {
    const own = this.#paceOf(part);
    const ownReadyAt = latestOf(own === undefined ? this.#all : [own, ...this.#all]);
    return ownReadyAt - this.#clock.monotonic() > MAX_TURN_MS ? ownReadyAt : Number.NEGATIVE_INFINITY;
  }

  #paceOf(part: string | null): Pace | undefined {
    return this.#byPart.get(part ?? "")?.[this.#hasTokens() ? "withToken" : "anonymous"];
  }

  async #turn(paces: readonly Pace[], signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const at = Math.max(now, latestOf(paces));
    const waitMs = at - now;
    if (waitMs > MAX_TURN_MS) {
      const until = Math.ceil(this.#clock.now() + waitMs);
      const message = `our own pace allows no request before ${new Date(until).toJSON()}`;
      throw new UpstreamFailure("quota", message, { until });
    }
    // Taken now, so that later requests come after this one.
    for (const pace of paces) pace.spend(at);
    if (waitMs === 0) return;
    await this.#clock.sleep(waitMs, signal);
    if (signal.aborted) throw new UpstreamFailure("unreachable", "the request was aborted");
  }
}

function latestOf(paces: readonly Pace[]): number {
  return Math.max(...paces.map(({ readyAt }) => readyAt));
}

/** Upper bound of a burst, which otherwise is the number of requests per minute. */
const MAX_BURST = 10;

/** Allows at most `perHour` (at least 1) requests in any hour, evenly spaced but for a small burst after a pause. In ms. */
export class Pace {
  readonly #intervalMs: number;
  readonly #slackMs: number;
  /** When the next request is due if all are evenly spaced (GCRA). */
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(perHour: number) {
    const burst = Math.min(MAX_BURST, Math.max(1, Math.floor(perHour / 60)));
    // An hour holds the burst plus the evenly spaced rest, together `perHour`.
    this.#intervalMs = Math.ceil(HOUR_MS / (perHour - burst + 1));
    this.#slackMs = (burst - 1) * this.#intervalMs;
  }

  get readyAt(): number {
    return this.#dueAt - this.#slackMs;
  }

  /** Counts a request sent at `at`, which may be in the future. */
  spend(at: number): void {
    this.#dueAt = Math.max(at, this.#dueAt) + this.#intervalMs;
  }
}
