import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

/** What is counted apart from each other; `docs/API.md` says what each is for. */
export const BUCKETS = ["default", "search", "heavy", "write", "auth"] as const;
export type Bucket = (typeof BUCKETS)[number];

/** How a caller is known: by address alone, by a session, or by an API key. */
export const CALLER_KINDS = ["anonymous", "signed_in", "key"] as const;
export type CallerKind = (typeof CALLER_KINDS)[number];

/** Requests a minute; undefined for a bucket that such callers do not have. */
export type Limits = Readonly<Record<Bucket, Readonly<Record<CallerKind, number | undefined>>>>;

const DEFAULTS: Limits = {
  default: { anonymous: 120, signed_in: 600, key: 1_200 },
  search: { anonymous: 120, signed_in: 600, key: 1_200 },
  heavy: { anonymous: 20, signed_in: 60, key: 200 },
  write: { anonymous: 20, signed_in: 60, key: 120 },
  auth: { anonymous: 10, signed_in: undefined, key: undefined },
};

const settingName = (bucket: Bucket, kind: CallerKind): string =>
  `SIDEREAL_LIMIT_${bucket}_${kind}`.toUpperCase();

/** `SIDEREAL_LIMIT_<BUCKET>_<KIND>`, for each pair that there is. */
export const LIMIT_SETTINGS: readonly string[] = BUCKETS.flatMap((bucket) =>
  CALLER_KINDS.filter((kind) => DEFAULTS[bucket][kind] !== undefined).map((kind) =>
    settingName(bucket, kind),
  ),
);

const limit = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number)
  .pipe(z.number().min(1).max(1_000_000));

/** The limits that hold: those of the environment over the defaults. What is wrong is added to `problems`. */
export function readLimits(env: NodeJS.ProcessEnv, problems: string[]): Limits {
  const read = (bucket: Bucket, kind: CallerKind): number | undefined => {
    const name = settingName(bucket, kind);
    const given = env[name];
    if (DEFAULTS[bucket][kind] === undefined || given === undefined || given === "")
      return DEFAULTS[bucket][kind];
    const parsed = limit.safeParse(given);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) problems.push(`${name}: ${issue.message}`);
    return undefined;
  };
  const ofBucket = (bucket: Bucket) => ({
    anonymous: read(bucket, "anonymous"),
    signed_in: read(bucket, "signed_in"),
    key: read(bucket, "key"),
  });
  return {
    default: ofBucket("default"),
    search: ofBucket("search"),
    heavy: ofBucket("heavy"),
    write: ofBucket("write"),
    auth: ofBucket("auth"),
  };
}

/** How many requests of one caller may be under way at once. */
export interface Concurrency {
  /** Of an address. */
  anonymous: number;
  /** Of an account, by its keys and by its sessions. */
  account: number;
}

/** How many answers may be in the making in a process or thread before some are refused. */
export interface Shedding {
  /** From then on no heavy ones of callers without an account. */
  heavy: number;
  /** From then on none at all of such callers. */
  anonymous: number;
}

/** Addresses and networks (CIDR), with commas between. */
export const networkList = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((network) => network !== ""))
  .pipe(z.array(z.string().refine(isNetwork, "holds something else than addresses and networks")).max(1_000));

/** Whether a text is an address or a network in CIDR form. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const most = isIPv4(address) ? 32 : isIPv6(address) && !address.includes("%") ? 128 : -1;
  if (most === -1 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}
