import type { ForgeKind } from "../../../src/config/known-forges.js";

/** Maximum number of requests (or points) per window, with and without a token. */
export interface Allowance {
  limit: number;
  anonymous: number;
  windowMs: number;
}

/** By the forge's resource name. Other resources are not limited. */
export type Allowances = Record<string, Allowance>;

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

/** The limits of the public sites; Forgejo itself has none. */
export const ALLOWANCES: Readonly<Record<ForgeKind, Allowances>> = {
  github: {
    core: { limit: 5_000, anonymous: 60, windowMs: HOUR_MS },
    search: { limit: 30, anonymous: 10, windowMs: MINUTE_MS },
    graphql: { limit: 5_000, anonymous: 0, windowMs: HOUR_MS },
  },
  gitlab: { core: { limit: 2_000, anonymous: 500, windowMs: MINUTE_MS } },
  forgejo: {},
  gogs: {},
};

/** GitHub's limit on bursts, for one token. */
export interface SecondaryLimit {
  concurrent: number;
  pointsPerMinute: number;
  retryAfterSeconds: number;
}
export const SECONDARY_LIMIT: Readonly<SecondaryLimit> = {
  concurrent: 100,
  pointsPerMinute: 900,
  retryAfterSeconds: 60,
};

/**
 * A violation by a client. `spent`: sent a request after a response reported no quota left; `retry-after`: sent a request
 * before the requested time; `concurrent`, `points`: exceeded a secondary limit; `other-host`: followed a redirect to
 * another host.
 */
export interface Violation {
  kind: "spent" | "retry-after" | "concurrent" | "points" | "other-host";
  /** ms since 1970, by the clock of the forge. */
  at: number;
  token: string | null;
  resource: string;
  path: string;
}

/** The remaining quota. `resetAt` in ms since 1970, in whole seconds. */
export interface Quota {
  limit: number;
  remaining: number;
  used: number;
  resetAt: number;
}

interface Window extends Quota {
  from: number;
}

/** Counts the usage of tokens on the forge's clock, independent of real time. */
export class Limiter {
  /** May be changed at any time; open windows keep their limit. */
  allowances: Allowances;
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(now: () => number, allowances: Allowances) {
    this.#now = now;
    this.allowances = allowances;
  }

  /** Remaining quota of a token; null if the resource is not limited. */
  quota(token: string | null, resource: string): Quota | null {
    const allowance = this.allowances[resource];
    if (allowance === undefined) return null;
    const key = `${resource} ${token ?? ""}`;
    const now = this.#now();
    const open = this.#windows.get(key);
    if (open !== undefined && now < open.resetAt && now >= open.from) return open;
    const limit = token === null ? allowance.anonymous : allowance.limit;
    const resetAt = Math.ceil((now + allowance.windowMs) / 1000) * 1000;
    const window = { limit, remaining: limit, used: 0, resetAt, from: now };
    this.#windows.set(key, window);
    return window;
  }

  /** Uses one; false when none is left. */
  take(token: string | null, resource: string): boolean {
    const window = this.quota(token, resource);
    if (window === null) return true;
    if (window.remaining <= 0) return false;
    window.remaining--;
    window.used++;
    return true;
  }

  /** Returns one, for a free response. */
  giveBack(token: string | null, resource: string): void {
    const window = this.quota(token, resource);
    if (window === null || window.used === 0) return;
    window.remaining++;
    window.used--;
  }
}
