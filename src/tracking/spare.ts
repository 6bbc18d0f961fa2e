import type { Provider } from "../providers/providers.js";
import type { Pace } from "../track-requests/track-requests.js";

/** Requests of the quota that reading star histories leaves to other work: half of a small quota. */
const RESERVED = 500;

/** The quota of lookups, all tokens together; null: not known. */
export function lookupQuota(
  provider: Pick<Provider, "quota">,
): Pick<Pace, "remaining" | "quota" | "resetAt"> {
  const known = provider.quota().filter(({ resource }) => resource === "core");
  const sum = (values: readonly (number | null)[]) =>
    values.length === 0 ? null : values.reduce((a, b) => (a === null || b === null ? null : a + b), 0);
  return {
    remaining: sum(known.map(({ remaining }) => remaining)),
    quota: sum(known.map(({ limit }) => limit)),
    resetAt: known.reduce<number | null>(
      (last, { resetAt }) => ((resetAt ?? 0) > (last ?? 0) ? resetAt : last),
      null,
    ),
  };
}

/** Whether reading star histories leaves enough of the quota to refreshes and lookups. */
export function hasSpare(provider: Pick<Provider, "quota">): boolean {
  const { remaining, quota } = lookupQuota(provider);
  return remaining === null || quota === null || remaining > Math.min(RESERVED, quota / 2);
}
