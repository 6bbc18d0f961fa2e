/** The contract between `tracking` and the providers: records, calls and failures. Free of any forge's own format. */
import type { ForgeKind, ProviderSettings } from "../forges.js";

/** A repository as its forge describes it. null: the forge does not say. Times in ms since 1970. */
export interface UpstreamRepository {
  /** The forge's own number, in digits; survives a rename. */
  providerId: string;
  /** Second id, for batched requests: GitHub's GraphQL node id. */
  nodeId: string | null;
  /** May contain slashes (nested groups on GitLab). */
  owner: string;
  name: string;
  url: string;
  description: string | null;
  homepage: string | null;
  language: string | null;
  /** SPDX identifier. */
  license: string | null;
  topics: readonly string[] | null;
  stars: number;
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  fork: boolean | null;
  archived: boolean | null;
  createdAt: number | null;
  /** The last push, or the closest time the forge reports. */
  pushedAt: number | null;
}

/** Identifies a repository in a request. */
export interface RepositoryRef {
  providerId: string;
  nodeId: string | null;
  /** `owner/name` as last known. */
  fullName: string;
  /** ETag of the last response, for a conditional request. */
  etag: string | null;
}

/** The result of refreshing one repository. */
export type Refreshed =
  | { kind: "found"; repository: UpstreamRepository; etag: string | null }
  /** Same as at the last refresh (304). */
  | { kind: "unchanged" }
  /** Concerns this repository alone, not the rest of the batch. */
  | { kind: "failed"; failure: UpstreamFailure };

/** One page of a walk over all repositories; may be empty, and may repeat repositories of earlier pages. */
export interface Discovered {
  repositories: UpstreamRepository[];
  /** Cursor of the next page, at most 4,000 characters; null at the end of the walk. */
  next: string | null;
}

/** Stars gained per day, as the forge counts them today: given on that day and not withdrawn since. */
export interface PastDays {
  /** In any order. `day`: start of the day (UTC), in ms since 1970. */
  days: { day: number; gained: number }[];
  /** Cursor of the next, older page; null at the end. */
  next: string | null;
}

/** Calls that a forge may count against separate limits. */
export const CALLS = ["discover", "refresh", "recheck", "history"] as const;
export type Call = (typeof CALLS)[number];

/** The remaining quota of one token, as the forge last reported it. Times in ms since 1970. */
export interface TokenQuota {
  /** `#1`, `#2` …, or `anonymous`; never the token itself. */
  token: string;
  /** The forge's name of the limit, such as `core`, `search`, `graphql`. */
  resource: string;
  /** Requests or points per period; null while unknown. */
  limit: number | null;
  remaining: number | null;
  /** When `remaining` returns to `limit`. */
  resetAt: number | null;
  /** The forge asked not to use this token before then. */
  blockedUntil: number | null;
}

/**
 * One forge instance. A call usually sends one request, but as many as it needs. It throws nothing but UpstreamFailure
 * (`quota`, without sending anything, while no token may be used), and ends soon after `signal` is aborted.
 */
export interface Provider {
  readonly name: string;
  readonly kind: ForgeKind;
  readonly settings: ProviderSettings;
  /** Maximum number of repositories in one call of `refreshMany`. */
  readonly batchSize: number;

  /** The next page of the walk over all repositories with at least `minStars` stars. `cursor`: null starts a new walk. */
  discover(cursor: string | null, signal: AbortSignal): Promise<Discovered>;
  /** One result per repository, in the same order. Renamed repositories are found under their new name. */
  refreshMany(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Refreshed[]>;
  /** Looks up a repository by name. Throws `gone` and so on. */
  refreshOne(fullName: string, signal: AbortSignal): Promise<UpstreamRepository>;
  /**
   * Reads one repository again, through another endpoint than `refreshMany`, so that a second reading does not repeat the fault of
   * the first. Throws `gone` and so on.
   */
  recheck(repository: RepositoryRef, signal: AbortSignal): Promise<UpstreamRepository>;
  /** A page of one repository's star history, newest first; null while the forge does not offer it. */
  history(repository: RepositoryRef, cursor: string | null, signal: AbortSignal): Promise<PastDays | null>;
  /** Remaining quota, one entry per token and limit. */
  quota(): TokenQuota[];
  /** Earliest time a call of this kind can be sent, in ms since 1970; in the past when it can be sent immediately. */
  readyAt(call: Call): number;
}

/**
 * Everything that can go wrong with a forge. The list is closed: `tracking` decides by the kind alone what a failure means for the
 * schedule and for the repository.
 *
 * - `gone`: the repository does not exist (404, 410), at least for us: unless a forge says `private`, a deleted repository
 *   looks like a hidden one.
 * - `private`: the forge says that it exists and is not public.
 * - `blocked`: unavailable for legal reasons (451).
 * - `renamed`: moved to an address that must not be followed, such as another host.
 * - `quota`: the rate limit is reached, or the forge asks to slow down; `until` says when to retry.
 * - `refused`: the token is invalid or lacks a permission (401, or 403 that is not a rate limit).
 * - `malformed`: an unusable response: not JSON, too long, nested too deeply, cut off, or of the wrong shape.
 * - `clock`: the forge's clock and ours differ by more than an hour. Snapshots are only as good as their times, so nothing
 *   is accepted until they agree.
 * - `unreachable`: no response: connection error, timeout, status 500 and above, or an address that must not be contacted.
 */
export const FAILURE_KINDS = [
  "gone",
  "private",
  "blocked",
  "renamed",
  "quota",
  "refused",
  "malformed",
  "clock",
  "unreachable",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Whether a failure is temporary for all requests to the forge and says nothing about any repository. */
export function isTemporary(kind: FailureKind): boolean {
  return kind === "quota" || kind === "clock";
}

/** Whether a failure concerns the forge as a whole rather than the requested repository. */
export function concernsForge(kind: FailureKind): boolean {
  return isTemporary(kind) || kind === "unreachable" || kind === "refused";
}

/** The only error a provider throws. The message is for the log; it contains no token and no part of a response body. */
export class UpstreamFailure extends Error {
  readonly kind: FailureKind;
  /** Earliest time to retry, in ms since 1970; null when the forge did not say. */
  readonly until: number | null;

  constructor(kind: FailureKind, message: string, options: { until?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UpstreamFailure";
    this.kind = kind;
    this.until = options.until ?? null;
  }
}

/** The record, if it is that of the repository with this id. Throws `malformed`. */
export function sameRepository(found: UpstreamRepository, { providerId }: RepositoryRef): UpstreamRepository {
  if (found.providerId === providerId) return found;
  throw new UpstreamFailure("malformed", "the response is about another repository");
}

/** The error as a result of one repository. Throws it again if it is not an UpstreamFailure, that is, a bug of ours. */
export function asFailed(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  if (error instanceof UpstreamFailure) return { kind: "failed", failure: error };
  throw error;
}
