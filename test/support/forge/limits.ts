import type { ForgeKind } from "../../../src/forges.js";

/** So many requests (or points) are allowed within a window, with a token and without one. */
export interface Allowance {
  limit: number;
  anonymous: number;
  windowMs: number;
}

/** By resource, in the forge's words. What is not named is not limited. */
export type Allowances = Record<string, Allowance>;

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

/** As the public sites have them; Forgejo itself has none. */
export const ALLOWANCES: Readonly<Record<ForgeKind, Allowances>> = {
  github: {
    core: { limit: 5_000, anonymous: 60, windowMs: HOUR_MS },
    search: { limit: 30, anonymous: 10, windowMs: MINUTE_MS },
    graphql: { limit: 5_000, anonymous: 0, windowMs: HOUR_MS },
  },
  gitlab: { core: { limit: 2_000, anonymous: 500, windowMs: MINUTE_MS } },
  forgejo: {},
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
 * What a client did that it must not: `spent`: sent although it had been told that nothing is left; `retry-after`: sent
 * before the time it had been told to wait for; `concurrent`, `points`: too much at once; `other-host`: came with the
 * name of another host, so a redirect was followed that must not be.
 */
export interface Violation {
  kind: "spent" | "retry-after" | "concurrent" | "points" | "other-host";
  /** ms since 1970, by the clock of the forge. */
  at: number;
  token: string | null;
  resource: string;
  path: string;
}

/** What is left of one allowance. `resetAt` in ms since 1970, whole seconds. */
export interface Quota {
  limit: number;
  remaining: number;
  used: number;
  resetAt: number;
}

interface Window extends Quota {
  from: number;
}

/** Counts what tokens have used, by the forge's own clock. Real time plays no part. */
export class Limiter {
  /** May be changed at any time; windows that are open keep their limit. */
  allowances: Allowances;
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(now: () => number, allowances: Allowances) {
    this.#now = now;
    this.allowances = allowances;
  }

  /** What is left for a token; null where the resource is not limited. */
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

  /** Takes one of what is left; false where nothing is. */
  take(token: string | null, resource: string): boolean {
    const window = this.quota(token, resource);
    if (window === null) return true;
    if (window.remaining <= 0) return false;
    window.remaining--;
    window.used++;
    return true;
  }

  /** Gives one back, for an answer that costs nothing. */
  giveBack(token: string | null, resource: string): void {
    const window = this.quota(token, resource);
    if (window === null || window.used === 0) return;
    window.remaining++;
    window.used--;
  }

  /** As if so much had been used; for tests that begin near the end of an allowance. */
  spend(token: string | null, resource: string, count: number): void {
    for (let i = 0; i < count; i++) this.take(token, resource);
  }
}
