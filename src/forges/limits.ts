/**
 * Limits of a token: what a forge reports about them, and for how long that is believed. Deadlines are on the caller's clock:
 * monotonic in `Quota`, the wall clock in `SharedQuota`.
 */
import { DAY_MS } from "../lib/clock.js";

/** Longest wait that a forge may ask for. */
export const MAX_WAIT_MS = DAY_MS;
/** A request in flight for longer is considered lost: no response takes this long. */
export const OPEN_MS = 5 * 60_000;

/** What a request counts against. */
export interface Use {
  /** The forge's name of the limit, such as `core`. */
  readonly resource: string;
  /** Requests or points; default 1. */
  readonly cost?: number;
  /** A part of the resource that the forge also limits separately. A wait for it concerns no other request. */
  readonly part?: string | null;
}

/** What a response says about its token. Times in ms since 1970; absent: not reported. Invalid values are ignored. */
export interface QuotaReport {
  limit?: number;
  remaining?: number;
  /** When `remaining` returns to `limit`. */
  resetAt?: number;
  /** The token must not be used before then: for this part of the resource, or without one for anything. */
  blockedUntil?: number;
  /** Whether the token itself was accepted. */
  isRejected?: boolean;
  /** The forge's own words about a block; safe to show. */
  message?: string | null;
}

/**
 * Why a token must not be used for a while.
 *
 * - `rejected`: the forge does not accept it (401). Stays until the token works again.
 * - `slow_down`: the forge asked to slow down.
 * - `used_up`: nothing is left before the reset.
 * - `not_renewed`: no token could be obtained.
 */
export type BlockReason = "rejected" | "slow_down" | "used_up" | "not_renewed";

/** The remaining quota of one token, as the forge last reported it. Times in ms since 1970. */
export interface TokenQuota {
  /** `#1`, `#2` …, `app`, or `anonymous`; for `not_renewed` also `file` or `command`. Never the token itself. */
  token: string;
  /** The forge's name of the limit, such as `core`, `search`, `graphql`; `any` for a token that was not used yet. */
  resource: string;
  /** Requests or points per period; null while unknown. */
  limit: number | null;
  remaining: number | null;
  /** When `remaining` returns to `limit`. */
  resetAt: number | null;
  /** The token is not used before then, at most a day from now; null: it may be used. */
  blockedUntil: number | null;
  /** null: not blocked. A rejected token that may be tried again has a reason, but no end. */
  blockReason: BlockReason | null;
  /** The reason for the block in the forge's words or ours; contains no secret. */
  blockMessage: string | null;
}

/** How long a rejected token rests before its next try. `tries`: how often it has been rejected. */
export function rejectedMs(tries: number): number {
  return (tries === 1 ? 1 : tries === 2 ? 5 : 15) * 60_000;
}

/** How long a count without a reset time is valid. */
const UNDATED_MS = 60_000;
/** Two reset times no further apart than this are the same reset. */
const SAME_RESET_MS = 5_000;

/** The quota of one token for one resource. */
interface Allowance {
  limit: number | null;
  /** As last reported; excludes requests in flight. */
  remaining: number | null;
  resetAt: number;
}

/** A report of a response. Absent: not reported. */
type AllowanceReport = { [Key in keyof Allowance]: number | undefined };

/** What a forge has reported about the quota of one token, by resource. */
export class Allowances {
  readonly #byResource: Map<string, Allowance>;

  /** `known`: earlier reports by resource. */
  constructor(known: Iterable<readonly [string, Allowance]> = []) {
    this.#byResource = new Map(known);
  }

  /** All allowances by resource. */
  all(): (readonly [string, Readonly<Allowance>])[] {
    return [...this.#byResource];
  }

  /** The current allowance: full again after its reset. */
  of(resource: string, now: number): Readonly<Allowance> {
    const allowance = this.#byResource.get(resource) ?? newAllowance();
    if (allowance.resetAt <= now) allowance.remaining = allowance.limit;
    return allowance;
  }

  /** Applies a report; invalid counts are ignored. */
  learn(resource: string, { limit, remaining, resetAt }: AllowanceReport, now: number): void {
    const allowance = this.note(resource, now);
    if (isCount(limit)) allowance.limit = limit === 0 ? null : limit;
    const isSameReset = resetAt === undefined || Math.abs(resetAt - allowance.resetAt) <= SAME_RESET_MS;
    if (isCount(remaining)) {
      // Responses can arrive out of order: within a period the lowest count is the newest.
      const known = isSameReset ? (allowance.remaining ?? remaining) : remaining;
      allowance.remaining = Math.min(known, remaining);
      if (resetAt === undefined && allowance.resetAt <= now) allowance.resetAt = now + UNDATED_MS;
    }
    if (resetAt !== undefined) allowance.resetAt = resetAt;
  }

  /** Subtracts a cost that no response reported. */
  spend(resource: string, cost: number, now: number): void {
    const allowance = this.note(resource, now);
    if (allowance.remaining !== null) allowance.remaining = Math.max(0, allowance.remaining - cost);
  }

  /** The allowance, which `all` includes from now on. */
  note(resource: string, now: number): Allowance {
    const allowance: Allowance = this.of(resource, now);
    this.#byResource.set(resource, allowance);
    return allowance;
  }
}

function newAllowance(): Allowance {
  return { limit: null, remaining: null, resetAt: Number.NEGATIVE_INFINITY };
}

/** Whether the rest of a limit is enough for a request. One that costs more than the whole limit may go while it is untouched. */
export function isEnough(left: number, cost: number, limit: number | null): boolean {
  return left >= Math.max(1, Math.min(cost, limit ?? cost));
}

/** Whether a reported number is a count. */
export function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}
