/**
 * Shared quota: permission to send a request, from a state that all processes have in common. It follows the decisions of this
 * process' own `Gate` and `Quota`, so it only ever adds waits. One change of the state per request: that which takes the next
 * permission also reports the last response, unless others should know of it sooner.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.js";
import { type SharedStates, UpstreamFailure } from "./contract.js";
import type { QuotaReport } from "./quota.js";
import {
  applyReport,
  MAX_TURN_MS,
  type NamedPace,
  openRequest,
  paceReadyAt,
  type Refusal,
  readState,
  refusalOf,
  type SharedReport,
  type SharedState,
  type SharedUse,
  spendPaces,
  tidyState,
} from "./shared-state.js";

/** After a shorter wait the quota need not be looked at again. */
const SOON_MS = 100;

/** Permission for one request. */
export interface SharedLease extends SharedUse {
  id: string;
  /** What is left besides the requests in flight; null: not known. */
  left: number | null;
}

export interface SharedQuotaOptions {
  states: SharedStates;
  /** Name of the provider. */
  forge: string;
  clock: Clock;
  /**
   * Whether somebody waits for the response: such a request counts, but waits for no turn, and may be sent with a token that was
   * rejected before.
   */
  isUrgent?: boolean;
}

type Turns = readonly (readonly NamedPace[])[];
type Step =
  | { kind: "waits"; waitMs: number; turns: Turns }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "granted"; waitMs: number; left: number | null };

export class SharedQuota {
  readonly #options: SharedQuotaOptions;
  /** Not stored yet. */
  #reports: SharedReport[] = [];
  /** Paces of requests that were sent without permission, and when. */
  #sent: { paces: readonly NamedPace[]; at: number }[] = [];

  constructor(options: SharedQuotaOptions) {
    this.#options = options;
  }

  /**
   * Waits until the paces allow a request, one after the other, then takes permission for it. Returns why the token may not be
   * used, if so. Throws UpstreamFailure: `quota` if its turn is more than a minute away, or while the state cannot be read;
   * `unreachable` if `signal` is aborted while waiting.
   */
  async take(use: SharedUse, paces: Turns, signal: AbortSignal): Promise<SharedLease | Refusal> {
    const { clock } = this.#options;
    const id = randomUUID();
    for (let turns = paces; ; ) {
      const step = await this.#change((state, now) => this.#step(state, now, { id, use, turns }));
      if (step.kind === "refused") return step.refusal;
      if (step.waitMs > 0) await clock.sleep(step.waitMs, signal);
      if (signal.aborted) {
        if (step.kind === "granted") this.#reports.push({ id, ...use, report: {} });
        throw new UpstreamFailure("unreachable", "the request was aborted");
      }
      if (step.kind === "granted") return { id, left: step.left, ...use };
      turns = step.turns;
    }
  }

  /** Reports a response. Resolves when others know of it, where they should soon, and otherwise immediately. Never rejects. */
  async report(lease: SharedLease, report: QuotaReport): Promise<void> {
    this.#reports.push({ ...lease, report });
    const { remaining, blockedUntil, isRejected } = report;
    const isNews = lease.left === null ? remaining !== undefined : (remaining ?? lease.left) < lease.left;
    if (isNews || blockedUntil !== undefined || isRejected === true) await this.flush();
  }

  /** Counts a request that must not wait. */
  count(paces: readonly NamedPace[]): void {
    this.#sent.push({ paces, at: this.#options.clock.now() });
  }

  /** Stores what is not stored yet. Never rejects: what cannot be stored now is kept for the next time. */
  async flush(): Promise<void> {
    if (this.#reports.length === 0 && this.#sent.length === 0) return;
    await this.#change(() => undefined).catch(() => {});
  }

  /** Takes turns until one of them is some time away, then permission. Once waited for, a turn is not in `turns` any more. */
  #step(
    state: SharedState,
    now: number,
    { id, use, turns }: { id: string; use: SharedUse; turns: Turns },
  ): Step {
    const { isUrgent = false } = this.#options;
    const refusal = refusalOf(state, use, { now, mayBeRejected: isUrgent });
    if (refusal !== undefined) return { kind: "refused", refusal };
    let at = now;
    for (const [i, turn] of turns.entries()) {
      at = isUrgent ? now : Math.max(at, paceReadyAt(state, turn, now));
      if (at - now > MAX_TURN_MS) {
        const message = `the pace of all workers allows no request before ${new Date(Math.ceil(at)).toJSON()}`;
        throw new UpstreamFailure("quota", message, { until: Math.ceil(at) });
      }
      spendPaces(state, turn, at);
      if (at - now > SOON_MS) return { kind: "waits", waitMs: at - now, turns: turns.slice(i + 1) };
    }
    return { kind: "granted", waitMs: at - now, left: openRequest(state, use, { id, now: at }) };
  }

  /** Changes the state, after everything that is not stored yet. */
  async #change<T>(work: (state: SharedState, now: number) => T): Promise<T> {
    const { states, forge, clock } = this.#options;
    const [reports, sent] = [this.#reports, this.#sent];
    this.#reports = [];
    this.#sent = [];
    try {
      return await states.change(forge, (text) => {
        const now = clock.now();
        const state = readState(text);
        for (const { paces, at } of sent) spendPaces(state, paces, at);
        for (const report of reports) applyReport(state, report, now);
        tidyState(state, now);
        const result = work(state, now);
        return { state: JSON.stringify(state), result };
      });
    } catch (error) {
      this.#reports = [...reports, ...this.#reports];
      this.#sent = [...sent, ...this.#sent];
      throw error;
    }
  }
}
