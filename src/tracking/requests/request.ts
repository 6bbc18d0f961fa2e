/** Requests, lists and questions as people see them: their state, their failure, and when a request is looked up. */
import type { FailureKind, SoughtList } from "../../forges/forges.js";
import { HOUR_MS } from "../../lib/clock.js";
import type { RepositoryAddress } from "../../repositories/repositories.js";
import type { Wanted } from "./wanted.js";

/**
 * The state of a request. `WAITING`: for its turn. `FOUND`: recorded, and its history is next. `HISTORY`: part of its star
 * history is read. `FINISHED`: all of it is, or the missing part is left to the backfill. `FAILED`: final; see the failure.
 */
export const TRACK_STATES = ["WAITING", "FOUND", "HISTORY", "FINISHED", "FAILED"] as const;
type TrackState = (typeof TRACK_STATES)[number];

export const TRACK_FAILURES = [
  "NOT_FOUND",
  "BLOCKED",
  "MOVED",
  "UNREACHABLE",
  "REFUSED",
  "UNUSABLE",
] as const;

export interface TrackFailure {
  reason: (typeof TRACK_FAILURES)[number];
  message: string;
}

/** A request to track a repository. Times in ms since 1970. */
export interface TrackRequest {
  /** Names the request in URLs; nobody can guess it. */
  id: string;
  provider: string;
  fullName: string;
  state: TrackState;
  requestedAt: number;
  /** Its position among those that wait for the same forge, from 1; null: it does not wait. */
  position: number | null;
  /** Estimated time until it is looked up; null: it does not wait, or no worker has reported. */
  estimatedSeconds: number | null;
  /** When the forge permits the next request for it; null: now, or it has ended. */
  waitsUntil: number | null;
  /** Whether the forge does not respond at the moment; otherwise `waitsUntil` waits for its quota. */
  isUnreachable: boolean;
  repositoryId: number | null;
  historyPages: number;
  /** Snapshots that there are of it so far, and the time of the first; 0 and null before it is recorded. */
  points: number;
  pointsFrom: number | null;
  failure: TrackFailure | null;
  finishedAt: number | null;
}

/** The facts of a request besides its row. */
type Progress = Pick<
  TrackRequest,
  "position" | "estimatedSeconds" | "waitsUntil" | "isUnreachable" | "points" | "pointsFrom"
>;
const NO_PROGRESS: Progress = {
  position: null,
  estimatedSeconds: null,
  waitsUntil: null,
  isUnreachable: false,
  points: 0,
  pointsFrom: null,
};

export function requestOf(row: Wanted, progress: Partial<Progress>): TrackRequest {
  return {
    id: row.public_id,
    provider: row.provider,
    fullName: row.text,
    state: stateOf(row),
    requestedAt: row.requested_at,
    ...NO_PROGRESS,
    ...progress,
    repositoryId: row.repository_id,
    historyPages: row.pages,
    failure: row.failure === null ? null : failureOf(row.failure),
    finishedAt: row.finished_at,
  };
}

function stateOf(row: Wanted): TrackState {
  if (row.failure !== null) return "FAILED";
  if (row.finished_at !== null) return "FINISHED";
  if (row.repository_id === null) return "WAITING";
  return row.pages === 0 ? "FOUND" : "HISTORY";
}

const NOT_FOUND: TrackFailure = {
  reason: "NOT_FOUND",
  message: "The forge has no public repository with this name: it may be misspelled, deleted or private.",
};
const UNREACHABLE: TrackFailure = {
  reason: "UNREACHABLE",
  message: "The forge did not respond, also after several attempts. Try again later.",
};

/** `private` reads like `gone`: that a token of the operator can see a repository is nobody else's business. */
const FAILURES: Readonly<Record<FailureKind, TrackFailure>> = {
  gone: NOT_FOUND,
  private: NOT_FOUND,
  blocked: { reason: "BLOCKED", message: "The forge does not show this repository for legal reasons." },
  renamed: { reason: "MOVED", message: "The repository has moved to an address that cannot be followed." },
  refused: {
    reason: "REFUSED",
    message: "The forge refused the request. The operator of this service may have to check its access.",
  },
  malformed: { reason: "UNUSABLE", message: "The forge sent a record of it that cannot be used." },
  unreachable: UNREACHABLE,
  quota: UNREACHABLE,
  clock: UNREACHABLE,
};

const NO_OWNER: TrackFailure = {
  reason: "NOT_FOUND",
  message: "The forge has no owner with this name: it may be misspelled or deleted.",
};

/** A stored failure in words for the person who requested a repository or an owner. */
export function failureOf(kind: string, of: "repository" | "owner" = "repository"): TrackFailure {
  const failure = FAILURES[kind as FailureKind] ?? UNREACHABLE;
  return of === "owner" && failure === NOT_FOUND ? NO_OWNER : failure;
}

/** Repositories that were requested together, and their states. Times in ms since 1970. */
export interface TrackList {
  id: string;
  /** The repository whose README has the links; null: they were pasted. */
  source: RepositoryAddress | null;
  requestedAt: number;
  /** Whether the links are known. Not yet if a README is to be read. */
  isRead: boolean;
  failure: TrackFailure | null;
  /** Linked repositories: all, those tracked already, and those left out because of a limit. */
  found: number;
  known: number;
  leftOut: number;
  /** Those left out, as provider:owner/name, at most 1,000. */
  leftOutNames: string[];
  /** Words among the names that name no repository. */
  wrong: string[];
  /** Of the others: waiting to be looked up, recorded, and not found and so on. */
  waiting: number;
  recorded: number;
  failed: number;
  /** Those that were requested, first those that failed; at most 50. */
  requests: Pick<TrackRequest, "provider" | "fullName" | "state" | "failure">[];
}

/** The state of a list, as stored in its row. */
interface ListCounts {
  found: number;
  known: number;
  leftOut: number;
  leftOutNames: string[];
  wrong: string[];
}

const NO_COUNTS: ListCounts = { found: 0, known: 0, leftOut: 0, leftOutNames: [], wrong: [] };
/** Repositories left out of a list that it names. */
const MAX_NAMED = 1_000;
const SHOWN_REQUESTS = 50;

/** The counts of a list, for its row. `left`: the names of those that were left out. */
export function countsText(
  counts: Pick<ListCounts, "found" | "known" | "wrong">,
  left: readonly string[],
): string {
  const leftOutNames = left.slice(0, MAX_NAMED);
  return JSON.stringify({ ...counts, leftOut: left.length, leftOutNames } satisfies ListCounts);
}

/** A list with the requests that belong to it. */
export function listOf(row: Wanted, requests: readonly Wanted[]): TrackList {
  const { kind, provider, text: fullName, failure } = row;
  const shown = requests.map((one) => requestOf(one, {}));
  const [failed, others] = [shown.filter((one) => one.failure), shown.filter((one) => !one.failure)];
  const counts: ListCounts = row.answer === null ? NO_COUNTS : { ...NO_COUNTS, ...JSON.parse(row.answer) };
  return {
    id: row.public_id,
    source: kind === "links" ? null : { provider, fullName },
    requestedAt: row.requested_at,
    isRead: row.finished_at !== null,
    failure: failure === null ? null : failureOf(failure),
    ...counts,
    waiting: requests.filter((one) => one.finished_at === null && one.repository_id === null).length,
    recorded: requests.filter(({ repository_id }) => repository_id !== null).length,
    failed: failed.length,
    requests: [...failed, ...others].slice(0, SHOWN_REQUESTS),
  };
}

/** A question to forges and their answers so far. */
export interface Question {
  id: string;
  kind: "owner" | "name";
  text: string;
  /** In ms since 1970. */
  askedAt: number;
  /** Whether every forge has answered or failed. */
  isAnswered: boolean;
  answers: ForgeAnswer[];
}

/** A repository that a question may mean. */
export interface Candidate extends RepositoryAddress {
  stars: number;
  description: string | null;
}

export interface ForgeAnswer extends Wait {
  provider: string;
  state: "WAITING" | "ANSWERED" | "FAILED";
  failure: TrackFailure | null;
  /** Repositories that the forge counts; null: it does not say. */
  total: number | null;
  /** Most stars first: at most 100 of an owner, 10 with a name. */
  candidates: Candidate[];
}

type Answer = Pick<ForgeAnswer, "total" | "candidates">;
/** Characters of a description that are kept. */
const MAX_DESCRIPTION = 200;

/** The answer of a forge, for the row of the question. */
export function answerText(provider: string, { repositories, total }: SoughtList): string {
  const candidates = repositories.map(({ owner, name, stars, description }) => ({
    provider,
    fullName: `${owner}/${name}`,
    stars,
    description: description?.slice(0, MAX_DESCRIPTION) ?? null,
  }));
  return JSON.stringify({ total, candidates } satisfies Answer);
}

/** `wait`: the reason for waiting while it is open. */
export function answerOf({ provider, kind, failure, finished_at, answer }: Wanted, wait: Wait): ForgeAnswer {
  const given: Answer = answer === null ? { total: null, candidates: [] } : JSON.parse(answer);
  return {
    provider,
    state: finished_at === null ? "WAITING" : failure === null ? "ANSWERED" : "FAILED",
    failure: failure === null ? null : failureOf(failure, kind === "owner" ? "owner" : "repository"),
    ...wait,
    ...given,
  };
}

/** The worker's report about its pace of lookups. */
export interface Pace {
  /** When it can look up the next repository, and read the next page of a history that somebody waits for. */
  readyAt: number;
  historyAt?: number;
  /** When it can look for repositories of an owner or with a name. */
  searchAt?: number;
  /** Whether a search looks up new names. */
  isSearched?: boolean;
  /** Whether it waits because the forge fails, and not for its quota. */
  isResting?: boolean;
  /** Requests left of a quota, and when all of it is left again; null: not known. */
  remaining: number | null;
  quota: number | null;
  resetAt: number | null;
}

export interface ForgePace extends Pace {
  isUnreachable: boolean;
}

/** The wait of a request. */
export type Wait = Pick<TrackRequest, "waitsUntil" | "isUnreachable">;

/** `at`: when the forge accepts requests, if that is known. */
export const waitOf = (pace: ForgePace | undefined, at: number | undefined, now: number): Wait => ({
  waitsUntil: at !== undefined && at > now ? at : null,
  isUnreachable: pace?.isUnreachable ?? false,
});

/** Lookups take turns with other requests to the forge. */
const SHARE = 1 / 2;
const SECONDS_PER_LOOKUP = 1;

/** Seconds until a request at this position, from 1, is looked up: a cautious estimate, as other work uses the same quota. */
export function estimatedSeconds(
  position: number,
  { readyAt, remaining, quota, resetAt }: Pace,
  now: number,
): number {
  const readySeconds = Math.max(0, readyAt - now) / 1_000;
  const lookups = position * SECONDS_PER_LOOKUP;
  if (remaining === null || quota === null) return Math.ceil(readySeconds + lookups);
  const share = (requests: number) => Math.max(1, Math.floor(requests * SHARE));
  // The remaining quota now, and then all of it, time and again. Only the first renewal is known.
  const free = readySeconds > 0 ? 0 : share(remaining);
  if (position <= free) return Math.ceil(lookups);
  const renewals = Math.ceil((position - free) / share(quota));
  const resetSeconds = Math.max(readySeconds, ((resetAt ?? now) - now) / 1_000);
  return Math.ceil(resetSeconds + ((renewals - 1) * HOUR_MS) / 1_000 + lookups);
}
