import { whole } from "./rules.js";

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

/** Requests per minute in one bucket; undefined for callers that do not have it. */
export type BucketLimits = Readonly<Record<CallerKind, number | undefined>> & {
  /** The ceiling of all keys and sessions of an account together; undefined: a multiple of the limit of one key. */
  readonly account?: number | undefined;
};
export type Limits = Readonly<Record<Bucket, BucketLimits>>;

const byAddress = (anonymous: number): BucketLimits => ({ anonymous, signed_in: undefined, key: undefined });

const DEFAULTS: Limits = {
  default: { anonymous: 120, signed_in: 400, key: 400 },
  search: { anonymous: 120, signed_in: 300, key: 300 },
  heavy: { anonymous: 20, signed_in: 60, key: 60 },
  write: { anonymous: 20, signed_in: 60, key: 60 },
  // Image proxies of large sites send the requests of many readers.
  embed: byAddress(300),
  auth: byAddress(10),
  lookup: byAddress(60),
  free: byAddress(3_000),
};

type Kind = CallerKind | "account";

const settingName = (bucket: Bucket, kind: Kind): string => `SIDEREAL_LIMIT_${bucket}_${kind}`.toUpperCase();

/** Whether the limit exists: an account has a ceiling where its keys have a limit. */
const exists = (bucket: Bucket, kind: Kind): boolean =>
  DEFAULTS[bucket][kind === "account" ? "key" : kind] !== undefined;

/** `SIDEREAL_LIMIT_<BUCKET>_<KIND>`, for each limit that exists. */
export const LIMIT_SETTINGS: readonly string[] = BUCKETS.flatMap((bucket) =>
  [...CALLER_KINDS, "account" as const]
    .filter((kind) => exists(bucket, kind))
    .map((kind) => settingName(bucket, kind)),
);

const limit = whole(1, 1_000_000);

/** The limits in force: those of the environment, else the defaults. Invalid settings are added to `problems`. */
export function readLimits(env: NodeJS.ProcessEnv, problems: string[]): Limits {
  const read = (bucket: Bucket, kind: Kind): number | undefined => {
    const name = settingName(bucket, kind);
    const given = env[name];
    if (!exists(bucket, kind) || given === undefined || given === "") return DEFAULTS[bucket][kind];
    const parsed = limit.safeParse(given);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) problems.push(`${name}: ${issue.message}`);
    return undefined;
  };
  const ofBucket = (bucket: Bucket): BucketLimits => {
    const account = read(bucket, "account");
    return {
      anonymous: read(bucket, "anonymous"),
      signed_in: read(bucket, "signed_in"),
      key: read(bucket, "key"),
      ...(account === undefined ? {} : { account }),
    };
  };
  return {
    default: ofBucket("default"),
    search: ofBucket("search"),
    heavy: ofBucket("heavy"),
    write: ofBucket("write"),
    embed: ofBucket("embed"),
    auth: ofBucket("auth"),
    lookup: ofBucket("lookup"),
    free: ofBucket("free"),
  };
}
