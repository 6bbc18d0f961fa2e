import { z } from "zod";
import { didYouMean } from "../lib/nearest-name.js";

/** Groups of requests that are counted separately; `docs/API.md` describes them. */
export const BUCKETS = ["default", "search", "heavy", "write", "embed", "auth", "lookup", "free"] as const;
export type Bucket = (typeof BUCKETS)[number];

const BY_ADDRESS: ReadonlySet<Bucket> = new Set(["embed", "auth", "lookup", "free"]);

/** Whether a bucket counts by address alone, whatever key or session a request carries. */
export function isByAddress(bucket: Bucket): boolean {
  return BY_ADDRESS.has(bucket);
}

/** How a caller is identified: by its address, a session, or an API key. */
export const CALLER_KINDS = ["anonymous", "signed_in", "key"] as const;
export type CallerKind = (typeof CALLER_KINDS)[number];

/** The limits of `SIDEREAL_LIMITS`, with their defaults and the use of each. */
export const LIMITS = {
  default: [120, "All other requests of an address, a minute"],
  "default.account": [400, "Those of an API key, and of all sessions of an account, a minute"],
  search: [120, "Searches of an address, a minute"],
  "search.account": [300, "Those of a key or an account, a minute"],
  heavy: [20, "Series, ranks and chart data for an address, a minute"],
  "heavy.account": [60, "Those for a key or an account, a minute"],
  write: [20, "Changes by an address, a minute"],
  "write.account": [60, "Those by a key or an account, a minute"],
  // Image proxies of large sites send the requests of many readers.
  embed: [300, "Pictures for other sites, for an address, a minute"],
  auth: [10, "Signing in and out, revoking keys and ending sessions, from an address, a minute"],
  lookup: [60, "Unknown API keys and sessions of an address that are looked up, a minute"],
  free: [
    3_000,
    "Requests that cost nothing elsewhere, for an address, a minute: 304 responses, files, health checks",
  ],
  watchlists: [100, "Watchlists without an owner that an address or account creates, a day (UTC)"],
  "watchlist-items": [10_000, "Repositories that it adds to such lists, a day"],
  mails: [1_000, "Mails that are sent, an hour (UTC), see [limits of mail](#limits-of-mail)"],
  tracked: [20, "Repositories that it requests to be tracked, a day"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;
type LimitName = keyof typeof LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[];

/** Requests per minute in each bucket; undefined for callers that do not have it. */
export type Limits = Readonly<Record<Bucket, Readonly<Record<CallerKind, number | undefined>>>>;

const MOST = 100_000_000;

function defaults(): Record<LimitName, number> {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, LIMITS[name][0]])) as Record<LimitName, number>;
}

/** `false`, or some of LIMITS as `name=number`, separated by commas; undefined: nothing is limited. */
export const limitList = z.string().transform((text, context): Record<LimitName, number> | undefined => {
  if (text === "false") return undefined;
  const found = defaults();
  for (const part of text === "true" ? [] : text.split(",").filter((one) => one.trim() !== "")) {
    const [name = "", value = ""] = part.split("=").map((one) => one.trim());
    const known = LIMIT_NAMES.find((one) => one === name);
    const number = Number(value);
    if (known === undefined)
      context.addIssue({
        code: "custom",
        message: `${name.slice(0, 40)}: no such limit${didYouMean(name, LIMIT_NAMES)}`,
      });
    else if (!/^\d{1,9}$/.test(value) || number < 1 || number > MOST)
      context.addIssue({ code: "custom", message: `${known}: must be a whole number from 1 to ${MOST}` });
    else found[known] = number;
  }
  return found;
});

/** The limits of requests among them. */
export function limitsOf(found: Readonly<Record<LimitName, number>>): Limits {
  const ofBucket = (bucket: Bucket) => {
    const name = LIMIT_NAMES.find((one) => one === `${bucket}.account`);
    const account = name && found[name];
    return [bucket, { anonymous: found[bucket], signed_in: account, key: account }] as const;
  };
  return Object.fromEntries(BUCKETS.map(ofBucket)) as Limits;
}

/** The limits if nothing is set. */
export const DEFAULT_LIMITS: Limits = limitsOf(defaults());
