/**
 * Providers: what the forges say, in one form. Each configured instance of a forge answers a few calls; whatever goes
 * wrong is one of a closed list of failures. Answers are parsed and limited before they are believed.
 * It knows no database and keeps no schedule: `tracking` decides when to call, and what an answer changes.
 */
import type { UpstreamFailure } from "./failures.js";

export { FAILURE_KINDS, type FailureKind, isForNow, isOfForge, UpstreamFailure } from "./failures.js";
export { checkClock, type OpenProvider, openProvider } from "./open.js";

/** The kinds of forge that are spoken to. */
export const PROVIDER_KINDS = ["github", "gitlab", "forgejo"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** One configured instance. */
export interface ProviderSettings {
  /** As it is stored and shown, in capitals: `GITHUB`, `CODEBERG`, `WORK`. */
  name: string;
  kind: ProviderKind;
  /** Address of the site without a slash at the end, such as `https://codeberg.org`; where its API is follows from the kind. */
  url: string;
  /** May be empty: then requests are sent without one, within what the forge allows everybody. */
  tokens: readonly string[];
  /** Requests an hour that are sent at most, whatever the forge would allow; null: as the forge allows. */
  requestsPerHour: number | null;
  /** Repositories with fewer stars are not discovered. */
  minStars: number;
  /** Whether the address may be one of a private network. */
  mayBePrivate: boolean;
}

/** A repository as its forge tells it. null: the forge does not tell this here. */
export interface UpstreamRepository {
  /** The forge's own number, in digits; survives a rename. */
  providerId: string;
  /** Another name by which the forge finds it in a batch: GitHub's node id. */
  nodeId: string | null;
  /** May hold slashes (GitLab's groups). */
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
  /** ms since 1970. */
  createdAt: number | null;
  /** The last push, or the nearest that the forge tells of it. */
  pushedAt: number | null;
}

/** A repository as it is asked for. */
export interface RepositoryRef {
  providerId: string;
  nodeId: string | null;
  /** `owner/name` as last known. */
  fullName: string;
  /** The validator that came with its last answer, for a conditional request. */
  etag: string | null;
}

/** What a refresh has found out about one repository. */
export type Refreshed =
  | { kind: "found"; repository: UpstreamRepository; etag: string | null }
  /** As at the last refresh (304). */
  | { kind: "unchanged" }
  /** This repository alone cannot be had; the others of the batch are not concerned. */
  | { kind: "failed"; failure: UpstreamFailure };

/** One page of a walk over everything there is to discover; may be empty. A walk may tell a repository more than once. */
export interface Discovered {
  repositories: UpstreamRepository[];
  /** Where to go on, to be kept and handed back; null: the walk is at its end. At most 4,000 characters. */
  next: string | null;
}

/** Stars gained on single days, as the forge counts them today: stars given on that day and still held. */
export interface PastDays {
  /** `day`: begin of the day (UTC), in ms since 1970. In any order. */
  days: { day: number; gained: number }[];
  /** Where to go on (further into the past); null: that was all. */
  next: string | null;
}

/** What the calls cost is counted apart by some forges. */
export const CALLS = ["discover", "refresh", "history"] as const;
export type Call = (typeof CALLS)[number];

/** What one token may still do, as far as the forge has told. */
export interface TokenQuota {
  /** `#1`, `#2` …, or `anonymous`; never the token. */
  token: string;
  /** The forge's own name of the allowance, such as `core`, `search`, `graphql`. */
  resource: string;
  /** Requests or points in a period; null while not known. */
  limit: number | null;
  remaining: number | null;
  /** When `remaining` is `limit` again, in ms since 1970. */
  resetAt: number | null;
  /** Nothing is sent with this token before, as the forge asked for it. */
  blockedUntil: number | null;
}

/**
 * The calls. Every one sends as many requests as it must and usually one; it throws UpstreamFailure and nothing else
 * (`quota` without sending anything when no token may send now), and ends soon after `signal` is aborted.
 */
export interface Provider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly settings: ProviderSettings;
  /** How many repositories one call of `refreshMany` takes at most. */
  readonly batchSize: number;

  /** The next page of the walk over all repositories of at least `minStars` stars. `cursor`: null begins anew. */
  discover(cursor: string | null, signal: AbortSignal): Promise<Discovered>;
  /** One outcome for each repository, in their order. Those that have been renamed are found under their new name. */
  refreshMany(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Refreshed[]>;
  /** The repository of that name, for one that is not known yet. Throws `gone` and so on. */
  refreshOne(fullName: string, signal: AbortSignal): Promise<UpstreamRepository>;
  /** A page of the past of one repository, newest first; null where the forge does not offer it now. `cursor`: null begins. */
  history(repository: RepositoryRef, cursor: string | null, signal: AbortSignal): Promise<PastDays | null>;
  /** What is left, token by token. */
  quota(): TokenQuota[];
  /** When a call of this kind can be sent at the earliest, in ms since 1970; now or earlier: at once. */
  readyAt(call: Call): number;
}
