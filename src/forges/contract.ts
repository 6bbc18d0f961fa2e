/** The contract between `tracking` and the providers: calls, records and their results. Free of any forge's own format. */

import type { ForgeKind, ProviderSettings, ProxySettings } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { asFailed, concernsForge, isTemporary, type UpstreamFailure } from "./failures.js";

export interface Opening {
  clock: Clock;
  userAgent: string;
  proxy: ProxySettings | undefined;
  /** Called with the time that each response has, in ms since 1970. */
  onDate?: ((name: string, time: number) => void) | undefined;
  log: Logger;
  /** Time until a response is complete, if somebody waits for it; absent: that of the transport. */
  responseMs?: number;
}

/** A repository as its forge describes it. null: not reported. Times in ms since 1970. */
export interface UpstreamRepository {
  /** The forge's own id: one word, at most 100 characters. Survives a rename. */
  providerId: string;
  /** Second id, for batched requests: GitHub's GraphQL node id. */
  nodeId: string | null;
  /** May contain slashes (nested groups on GitLab). */
  owner: string;
  name: string;
  url: string;
  /** Address of the owner's avatar, on any host. Absent or null: not reported. */
  avatarUrl?: string | null;
  /** Absent: not part of this response; null: it has none. */
  description?: string | null;
  homepage?: string | null;
  language: string | null;
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

export interface RepositoryRef {
  providerId: string;
  nodeId: string | null;
  /** `owner/name` as last known. */
  fullName: string;
  etag: string | null;
}

export type Refreshed =
  | Found
  /** Concerns this repository alone, not others of the batch. */
  | { kind: "failed"; failure: UpstreamFailure }
  /** Not requested, as the batch took too long. */
  | { kind: "skipped" };

/** A response about a repository. `at`: when it came, in ms since 1970; absent: just now. */
export type Found =
  | { kind: "found"; repository: UpstreamRepository; etag: string | null; at?: number }
  | { kind: "unchanged"; at?: number };

/** One page of a walk over all repositories; may be empty, and may repeat repositories of earlier pages. */
export interface Discovered {
  repositories: UpstreamRepository[];
  /**
   * Cursor of the next page; null at the end of the walk. Opaque to everybody but the provider, at most 4,000 characters. A
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

/** A search for repositories: by their owner, or by a part of their names. */
export type Sought = { owner: string } | { name: string };

/** Public repositories that were looked for, most stars first: at most SOUGHT_ROWS of an owner, NAMED_ROWS with a name. */
export interface SoughtList {
  repositories: UpstreamRepository[];
  /** All that the forge counts; null: it does not say. */
  total: number | null;
}
export const SOUGHT_ROWS = 100;
export const NAMED_ROWS = 10;

/** Calls that a forge may count against separate limits. */
const CALLS = ["discover", "refresh", "recheck", "history"] as const;
export type Call = (typeof CALLS)[number];

export interface EnteredToken {
  readonly token: string;
  /** `page #3`. */
  readonly label: string;
}

/** The report of a forge about a token that it accepts. null: not reported. Times in ms since 1970. */
export interface TokenCheck {
  /** The account it belongs to, or the name of the token. */
  owner: string | null;
  /** The forge's names of its permissions; empty: it only reads public data. */
  scopes: readonly string[] | null;
  /** Requests per hour. */
  limit: number | null;
  remaining: number | null;
  expiresAt: number | null;
}

/**
 * Why a token must not be used for a while.
 *
 * - `rejected`: the forge does not accept it (401). Stays until the token works again.
 * - `no_access`: refused for all owners so far. Requests go without it, but for one an hour, until it works again.
 * - `slow_down`: the forge requested fewer calls.
 * - `used_up`: nothing is left before the reset.
 * - `not_renewed`: no token could be obtained.
 */
export type BlockReason = "rejected" | "no_access" | "slow_down" | "used_up" | "not_renewed";

/** The remaining quota of one token, as the forge last reported it. Times in ms since 1970. */
export interface TokenQuota {
  /** `#1`, `#2` …, `app`, or `anonymous`; for `not_renewed` also `file` or `command`. Never the token itself. */
  token: string;
  /** The forge's name of the limit, such as `core`, `search`, `graphql`; `any` for a token that was not used yet. */
  resource: string;
  /** Requests or points per period; null while unknown. */
  limit: number | null;
  remaining: number | null;
  resetAt: number | null;
  /** The token is not used before then, at most a day from now; null: it may be used. */
  blockedUntil: number | null;
  /** null: not blocked. A rejected token that may be tried again has a reason, but no end. */
  blockReason: BlockReason | null;
  /** The reason for the block in the forge's words or ours; contains no secret. */
  blockMessage: string | null;
}

export interface TokenNotice {
  token: string;
  isWorking: boolean;
  /** Whether this is the first notice since that changed. */
  isNew: boolean;
  /** Whether another token took over, so that no call failed. */
  isReplaced: boolean;
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
  /** One result per repository, in the same order; renamed ones under their new name. Ends within minutes at any pace. */
  refreshMany(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Refreshed[]>;
  /** Looks up a repository by name. Throws `gone` and so on. */
  refreshOne(fullName: string, signal: AbortSignal): Promise<UpstreamRepository>;
  /** Most names that one `findNamed` takes; 0: there is no such search, or no need for it. */
  readonly namesPerSearch: number;
  /** Looks for the first of these present names by one search. Returns how many these were; a repository may be missing. */
  findNamed(
    fullNames: readonly string[],
    signal: AbortSignal,
  ): Promise<{ asked: number; repositories: UpstreamRepository[] }>;
  /**
   * Reads one repository again, through another endpoint than `refreshMany`, so that a second reading does not repeat the
   * fault of the first. Throws `gone` and so on.
   */
  recheck(repository: RepositoryRef, signal: AbortSignal): Promise<UpstreamRepository>;
  /**
   * Reads a document that no repository is part of, such as the forge's version. Throws unless the API returns it: if it does,
   * the API works, and its statements about repositories may be believed.
   */
  checkWorks(signal: AbortSignal): Promise<void>;
  /** A page of one repository's star history, newest first. Throws `gone` if the forge has none of it. */
  history(repository: RepositoryRef, cursor: string | null, signal: AbortSignal): Promise<PastDays>;
  /** Looks for repositories. Throws `gone` for an owner that does not exist, and so on. */
  seek(sought: Sought, signal: AbortSignal): Promise<SoughtList>;
  /** The text of a repository's README, in Markdown or another format. Throws `gone` without one, and so on. */
  readme(fullName: string, signal: AbortSignal): Promise<string>;
  /** Sends a request with one of the tokens to find out its permissions. Throws `refused` if it is not accepted. */
  checkToken(signal: AbortSignal): Promise<TokenCheck>;
  /** Replaces the tokens that operators entered, from the next request on, which also tries rejected tokens again. */
  useEntered(tokens: readonly EnteredToken[]): void;
  /** Names of the fields that the forge withholds at the moment, which are not requested; usually none. */
  withheld(): readonly string[];
  /** Remaining quota and blocks, one entry per token and limit. */
  quota(): TokenQuota[];
  /** The events of the tokens since the last call. */
  notices(): TokenNotice[];
  /** Earliest time a call of this kind can be sent, in ms since 1970; in the past when it can be sent immediately. */
  readyAt(call: Call): number;
}

/** After this time the remaining repositories of a batch are left for later. */
const BATCH_MS = 2 * 60_000;
/** After this many consecutive requests without a response, the remaining repositories of a batch are not tried. */
const MAX_UNREACHABLE = 2;

/**
 * Reads one repository after the other; a failure is the result of its repository alone. Once the forge as a whole fails, the rest
 * fails in the same way. What is left BATCH_MS after `beganAt` (monotonic; default: now) is skipped. One result per repository.
 */
export async function oneByOne<T>(
  repositories: readonly T[],
  read: (repository: T) => Promise<Refreshed>,
  { clock, beganAt = clock.monotonic() }: { clock: Clock; beganAt?: number },
): Promise<Refreshed[]> {
  const results: Refreshed[] = [];
  let rest: Refreshed = { kind: "skipped" };
  let unreachable = 0;
  for (const repository of repositories) {
    if (clock.monotonic() - beganAt >= BATCH_MS) break;
    const result = await read(repository).catch(asFailed);
    results.push(result.kind === "found" || result.kind === "unchanged" ? at(result, clock) : result);
    const kind = result.kind === "failed" ? result.failure.kind : null;
    unreachable = kind === "unreachable" ? unreachable + 1 : 0;
    if ((kind !== null && isTemporary(kind)) || unreachable === MAX_UNREACHABLE) {
      rest = result;
      break;
    }
  }
  return repositories.map((_, i) => results[i] ?? rest);
}

const at = <T extends Found>(result: T, clock: Clock): T => ({ ...result, at: clock.now() });

/** The first failure, if the forge responded about none of the repositories; null otherwise. */
export function failureOfAll(results: readonly Refreshed[]): UpstreamFailure | null {
  const tried = results.filter(({ kind }) => kind !== "skipped");
  const failures = tried.flatMap((result) =>
    result.kind === "failed" && concernsForge(result.failure.kind) ? [result.failure] : [],
  );
  return failures.length === tried.length ? (failures[0] ?? null) : null;
}
