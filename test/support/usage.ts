import type { UsageView, UsageWindow } from "../../src/accounts/usage-view.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";

/** One request with a key, as the script that sent it saw it. */
export interface Sent {
  at: number;
  /** null with the route `other`. */
  method: string | null;
  /** Path pattern, or `other`. */
  route: string;
  status: number;
  bytes: number;
  micros: number;
  code: string | null;
  /** As it is stored. */
  path: string;
  allowance: { bucket: string; limit: number; remaining: number } | undefined;
  address: string;
  family: string;
}

const STEPS: Readonly<Record<UsageWindow, readonly [number, number]>> = {
  "24h": [HOUR_MS, 25],
  "7d": [6 * HOUR_MS, 29],
  "30d": [DAY_MS, 31],
  "90d": [DAY_MS, 91],
};

/** What the view of a key must be, worked out from every single request: nothing is shared with what is tested. */
export function expectedView(
  keyId: number,
  sent: readonly Sent[],
  window: UsageWindow,
  now: number,
): UsageView {
  const [stepMs, steps] = STEPS[window];
  const from = now - (now % stepMs) - (steps - 1) * stepMs;
  const within = sent.filter(({ at }) => at >= from);
  const failed = (wanted: (status: number) => boolean) =>
    within
      .filter(({ status }) => status >= 400 && wanted(status))
      .sort((a, b) => b.at - a.at)
      .slice(0, 25)
      .map(({ at, method, route, status, code, allowance, path }) => {
        return { method, route, at, status, code, bucket: allowance?.bucket ?? null, path };
      });
  const addresses = [...new Set(within.map(({ address }) => address))];
  const families = [...new Set(within.map(({ family }) => family))];
  return {
    keyId,
    window,
    from,
    to: now,
    stepMs,
    totals: {
      ...sums(within),
      addressCount: addresses.filter((name) => name !== "other").length,
      addressCountIsExact: !addresses.includes("other"),
    },
    series: Array.from({ length: steps }, (_, i) => {
      const at = from + i * stepMs;
      return { at, ...sums(within.filter((one) => one.at >= at && one.at < at + stepMs)) };
    }),
    endpoints: [...Map.groupBy(within, ({ method, route }) => `${method} ${route}`).values()]
      .flatMap((own) => {
        const [first] = own;
        if (first === undefined) return [];
        const { method, route } = first;
        const answered = own.filter(({ status }) => status !== 429);
        const micros = answered.reduce((sum, one) => sum + one.micros, 0);
        const meanMs = answered.length === 0 ? null : Math.round(micros / answered.length) / 1_000;
        return [{ method, route, ...sums(own), meanMs }];
      })
      .sort((a, b) => b.requests - a.requests || order(`${a.route} ${a.method}`, `${b.route} ${b.method}`))
      .slice(0, 20),
    pressure: (["default", "search", "heavy", "write", "auth"] as const).flatMap((bucket) => {
      const own = within.flatMap(({ at, allowance }) =>
        allowance?.bucket === bucket ? [{ at, ...allowance }] : [],
      );
      const lowest = Math.min(...own.map(({ remaining }) => remaining));
      const first = own.find(({ remaining }) => remaining === lowest);
      const limit = own.at(-1)?.limit;
      if (first === undefined || limit === undefined) return [];
      return [{ bucket, limit, lowestRemaining: lowest, at: first.at }];
    }),
    recentErrors: failed((status) => status !== 429),
    recentBlocks: failed((status) => status === 429),
    addresses: addresses
      .map((address) => {
        const own = within.filter((one) => one.address === address);
        return { address, requests: own.length, lastSeenAt: Math.max(...own.map(({ at }) => at)) };
      })
      .sort((a, b) => b.lastSeenAt - a.lastSeenAt || order(a.address, b.address))
      .slice(0, 50),
    agents: families
      .map((family) => ({ family, requests: within.filter((one) => one.family === family).length }))
      .sort((a, b) => b.requests - a.requests || order(a.family, b.family))
      .slice(0, 20),
  };
}

function sums(sent: readonly Sent[]) {
  return {
    requests: sent.length,
    errors: sent.filter(({ status }) => status >= 400 && status !== 429).length,
    blocked: sent.filter(({ status }) => status === 429).length,
    bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
