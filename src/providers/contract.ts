/** The contract between `tracking` and the providers: records, calls and failures. Free of any forge's own format. */
import type { Clock } from "../clock.js";
import type { ForgeKind, ProviderSettings, ProxySettings } from "../forges.js";

/** What all providers are opened with. */
export interface Opening {
  clock: Clock;
  userAgent: string;
  proxy: ProxySettings | undefined;
  /** Where pace and quotas are kept in common with other processes; absent: this one is alone. */
  shared?: SharedStates | undefined;
  /** Whether somebody waits for each response, so that requests are counted but wait for no turn among those of workers. */
  isUrgent?: boolean | undefined;
}

/** Where the states of forges are stored. */
export interface SharedStates {
  /**
   * Replaces the state of a forge by the one that `work` returns, while no other process can; `work` may run several times. null:
   * nothing is stored yet. Throws UpstreamFailure `quota` while the store cannot be reached.
   */
  change<T>(forge: string, work: (state: string | null) => { state: string; result: T }): Promise<T>;
  /** A name for a token from which nobody can tell the token without the secret of the service. */
  nameOf(token: string): Promise<string>;
}

/** A repository as its forge describes it. null: the forge does not say. Times in ms since 1970. */
export interface UpstreamRepository {
  /** The forge's own id, in the form that `isProviderId` permits: a number, a UUID and so on. Survives a rename. */
  providerId: string;
  /** Second id, for batched requests: GitHub's GraphQL node id. */
  nodeId: string | null;
  /** May contain slashes (nested groups on GitLab). */
  owner: string;
  name: string;
  url: string;
  /** Address of the owner's avatar, on whatever host. Absent or null: the forge does not say. */
  avatarUrl?: string | null;
  /** Absent: not part of this response; null: it has none. */
  description?: string | null;
  homepage?: string | null;
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
  | Found
  /** Concerns this repository alone, not the rest of the batch. */
  | { kind: "failed"; failure: UpstreamFailure }
  /** Not requested, as the batch took too long. */
  | { kind: "skipped" };

/** A response about a repository. `at`: when it came, in ms since 1970; absent: just now. */
export type Found =
  | { kind: "found"; repository: UpstreamRepository; etag: string | null; at?: number }
  /** Same as at the last refresh (304). */
  | { kind: "unchanged"; at?: number };

/** Characters of the cursor of a walk. */
export const MAX_CURSOR = 4_000;

/** One page of a walk over all repositories; may be empty, and may repeat repositories of earlier pages. */
export interface Discovered {
  repositories: UpstreamRepository[];
  /**
   * Cursor of the next page; null at the end of the walk. Opaque to everybody but the provider, at most MAX_CURSOR characters. A
   * provider may change its form between versions: it recognizes its own cursors, and one it does not know starts a new walk.
   */
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

/**
 * Why a token must not be used for a while.
 *
 * - `rejected`: the forge does not accept it (401). Stays until the token works again.
 * - `slow_down`: the forge asked to slow down.
 * - `used_up`: nothing is left before the reset.
 * - `not_renewed`: no token could be obtained.
 */
export const BLOCK_REASONS = ["rejected", "slow_down", "used_up", "not_renewed"] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

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
  /** The forge's own words about the block, or ours; contains no secret. */
  blockMessage: string | null;
}

/** A token that an operator entered, and its name in logs. */
export interface EnteredToken {
  readonly token: string;
  /** `page #3`. */
  readonly label: string;
}

/** What a forge says about a token that it accepts. null: it does not say. Times in ms since 1970. */
export interface TokenCheck {
  /** The account it belongs to, or the name of the token. */
  owner: string | null;
  /** The forge's names of what it permits; empty: nothing beyond reading what is public. */
  scopes: readonly string[] | null;
  /** Requests per hour. */
  limit: number | null;
  remaining: number | null;
  expiresAt: number | null;
}

/** Something an operator should know about a token. */
export interface TokenNotice {
  /** As in TokenQuota. */
  token: string;
  /** Whether the token stopped working or works again. */
  isWorking: boolean;
  /** Whether this is the first notice since that changed. */
  isNew: boolean;
  /** Whether another token took over, so that no call failed. */
  isReplaced: boolean;
  /** Contains no secret. */
  message: string;
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
  /** Whether the records of `discover` have every field that those of `refreshMany` have. */
  readonly listsAreComplete: boolean;

  /** The next page of the walk over all repositories with at least `minStars` stars. `cursor`: null starts a new walk. */
  discover(cursor: string | null, signal: AbortSignal): Promise<Discovered>;
  /**
   * One result per repository, in the same order. Renamed repositories are found under their new name. Ends within some minutes,
   * however slow the pace is.
   */
  refreshMany(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Refreshed[]>;
  /** Looks up a repository by name. Throws `gone` and so on. */
  refreshOne(fullName: string, signal: AbortSignal): Promise<UpstreamRepository>;
  /**
   * Reads one repository again, through another endpoint than `refreshMany`, so that a second reading does not repeat the
   * fault of the first. Throws `gone` and so on.
   */
  recheck(repository: RepositoryRef, signal: AbortSignal): Promise<UpstreamRepository>;
  /** A page of one repository's star history, newest first; null while the forge does not offer it. */
  history(repository: RepositoryRef, cursor: string | null, signal: AbortSignal): Promise<PastDays | null>;
  /** The text of a repository's README, in Markdown or another format. Throws `gone` without one, and so on. */
  readme(fullName: string, signal: AbortSignal): Promise<string>;
  /** Sends a request with one of the tokens, to find out what it permits. Throws `refused` for one that is not accepted. */
  checkToken(signal: AbortSignal): Promise<TokenCheck>;
  /** Replaces the tokens that operators entered; those of the settings stay. Takes effect with the next request. */
  useEntered(tokens: readonly EnteredToken[]): void;
  /** Names of the fields that the forge does not send at the moment, so that they are not requested; usually none. */
  withheld(): readonly string[];
  /** Remaining quota and blocks, one entry per token and limit. */
  quota(): TokenQuota[];
  /** What happened to the tokens since the last call. */
  notices(): TokenNotice[];
  /** Earliest time a call of this kind can be sent, in ms since 1970; in the past when it can be sent immediately. */
  readyAt(call: Call): number;
  /** Stores what other processes should know of the quota. Never rejects. */
  flush(): Promise<void>;
}

/**
 * Everything that can go wrong with a forge. The list is closed: `tracking` decides by the kind alone what a failure means
 * for the schedule and for the repository.
 *
 * - `gone`: the repository does not exist (404, 410), at least for us: unless a forge says `private`, a deleted repository
 *   looks like a hidden one.
 * - `private`: the forge says that it exists and is not public.
 * - `blocked`: unavailable for legal reasons (451).
 * - `renamed`: moved to an address that must not be followed, such as another host.
 * - `quota`: the rate limit is reached, or the forge asks to slow down; `until` says when to retry.
 * - `refused`: the token is invalid or lacks a permission (401, or 403 that is not a rate limit).
 * - `malformed`: an unusable response: not JSON, too long, nested too deeply, cut off, of the wrong shape, or, with `until`, one
 *   that the forge has not prepared yet.
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

/**
 * The only error a provider throws. The message is for the log and `status`; it ends with `reason`. Neither contains a secret:
 * `words.ts` removes our tokens and everything that looks like one from what a forge says.
 */
export class UpstreamFailure extends Error {
  readonly kind: FailureKind;
  /** Earliest time to retry, in ms since 1970; null when the forge did not say. */
  readonly until: number | null;
  /** The forge's own words, as one line of at most 200 characters without markup; null when it gave none. */
  readonly reason: string | null;
  readonly #own: string;

  constructor(
    kind: FailureKind,
    message: string,
    {
      until = null,
      reason = null,
      cause,
    }: { until?: number | null; reason?: string | null; cause?: unknown } = {},
  ) {
    super(reason === null ? message : `${message} (${reason})`, cause === undefined ? undefined : { cause });
    this.name = "UpstreamFailure";
    this.kind = kind;
    this.until = until;
    this.reason = reason;
    this.#own = message;
  }

  /** The same failure as another kind. */
  as(kind: FailureKind): UpstreamFailure {
    const { until, reason, cause } = this;
    return new UpstreamFailure(kind, this.#own, { until, reason, cause });
  }
}

/** Throws `malformed` if a response that was requested by id is about another repository. */
export function checkId(found: string, providerId: string): void {
  if (found !== providerId)
    throw new UpstreamFailure("malformed", "the response is about another repository");
}

/** Throws `gone` if a response that was requested by name is about another repository, which has the name now. */
export function checkNamed(found: string, providerId: string): void {
  if (found !== providerId) throw new UpstreamFailure("gone", "its name belongs to another repository");
}

/** The error as a result of one repository. Throws it again if it is not an UpstreamFailure, that is, a bug of ours. */
export function asFailed(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  if (error instanceof UpstreamFailure) return { kind: "failed", failure: error };
  throw error;
}
