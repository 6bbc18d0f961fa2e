/** Requests and lists as people see them: their state, what failed, and when a request is looked up. */
import { sql } from "kysely";
import type { Db, TrackRequestTable } from "../../database/database.js";
import type { FailureKind } from "../../forges/forges.js";
import { HOUR_MS } from "../../lib/clock.js";
import { tokenPrefix } from "../../lib/tokens.js";
import type { RepositoryAddress } from "../../repositories/repositories.js";

/**
 * What a request has come to. `WAITING`: for its turn. `FOUND`: recorded, and its history is next. `HISTORY`: part of its star
 * history is read. `FINISHED`: all of it is, or the rest is left to the backfill. `FAILED`: final; see the failure.
 */
export const TRACK_STATES = ["WAITING", "FOUND", "HISTORY", "FINISHED", "FAILED"] as const;
export type TrackState = (typeof TRACK_STATES)[number];

export const TRACK_FAILURES = [
  "NOT_FOUND",
  "BLOCKED",
  "MOVED",
  "UNREACHABLE",
  "REFUSED",
  "UNUSABLE",
] as const;

/** Why a request failed, for the person who sent it. */
export interface TrackFailure {
  reason: (typeof TRACK_FAILURES)[number];
  message: string;
}

/** A request to track a repository. Times in ms since 1970. */
export interface TrackRequest {
  /** Names the request in URLs; nobody can guess it. */
  id: string;
  provider: string;
  /** As requested. */
  fullName: string;
  state: TrackState;
  requestedAt: number;
  /** Its position among those that wait for the same forge, from 1; null: it does not wait. */
  position: number | null;
  /** Estimated time until it is looked up; null: it does not wait, or no worker has reported. */
  estimatedSeconds: number | null;
  /** Once it is recorded. */
  repositoryId: number | null;
  /** Pages of its star history read so far. */
  historyPages: number;
  failure: TrackFailure | null;
  finishedAt: number | null;
}

type Row = Pick<
  TrackRequestTable,
  | "public_id"
  | "provider"
  | "full_name"
  | "requested_at"
  | "repository_id"
  | "pages"
  | "failure"
  | "finished_at"
>;

/** A stored request. `waiting`: its position in the queue, if it waits. */
export function requestOf(
  row: Row,
  waiting?: Pick<TrackRequest, "position" | "estimatedSeconds">,
): TrackRequest {
  return {
    id: row.public_id,
    provider: row.provider,
    fullName: row.full_name,
    state: stateOf(row),
    requestedAt: row.requested_at,
    position: waiting?.position ?? null,
    estimatedSeconds: waiting?.estimatedSeconds ?? null,
    repositoryId: row.repository_id,
    historyPages: row.pages,
    failure: row.failure === null ? null : failureOf(row.failure),
    finishedAt: row.finished_at,
  };
}

function stateOf(row: Row): TrackState {
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

/** What a failure means for the person who sent the request. */
export function failureOf(kind: string): TrackFailure {
  return FAILURES[kind as FailureKind] ?? UNREACHABLE;
}

/** What the lane of a provider reported about its pace. */
export interface Pace {
  /** Time of the report. */
  at: number;
  /** When it can send the next request. */
  readyAt: number;
  /** Requests left of a quota, and when all of it is left again; null: not known. */
  remaining: number | null;
  quota: number | null;
  resetAt: number | null;
}

/** A report is renewed more often while anything waits. */
const RECENT_MS = 60_000;
/** Lookups take turns with other requests to the forge. */
const SHARE = 1 / 2;
const SECONDS_PER_LOOKUP = 1;

/**
 * Seconds until a request at this position, from 1, is looked up: a cautious estimate, as other work uses the same quota. null
 * while no worker reports.
 */
export function estimatedSeconds(position: number, pace: Pace | undefined, now: number): number | null {
  if (pace === undefined || pace.at < now - RECENT_MS) return null;
  const { readyAt, remaining, quota, resetAt } = pace;
  const readySeconds = Math.max(0, readyAt - now) / 1_000;
  const lookups = position * SECONDS_PER_LOOKUP;
  if (remaining === null || quota === null) return Math.ceil(readySeconds + lookups);
  const share = (requests: number) => Math.max(1, Math.floor(requests * SHARE));
  // What is left now, and then all of it, time and again. Only the first renewal is known.
  const free = readySeconds > 0 ? 0 : share(remaining);
  if (position <= free) return Math.ceil(lookups);
  const renewals = Math.ceil((position - free) / share(quota));
  const resetSeconds = Math.max(readySeconds, ((resetAt ?? now) - now) / 1_000);
  return Math.ceil(resetSeconds + ((renewals - 1) * HOUR_MS) / 1_000 + lookups);
}

/** Repositories that were requested together, and their states. Times in ms since 1970. */
export interface TrackList {
  /** Names the list in URLs; nobody can guess it. */
  id: string;
  /** The repository whose README has the links; null: they were pasted. */
  source: RepositoryAddress | null;
  requestedAt: number;
  /** Whether the links are known. Not yet where a README is to be read. */
  isRead: boolean;
  /** Why the README could not be read. */
  failure: TrackFailure | null;
  /** Linked repositories: all, those tracked already, and those left out because the queue was full. */
  found: number;
  known: number;
  leftOut: number;
  /** Of the rest: waiting to be looked up, recorded, and not found and so on. */
  waiting: number;
  recorded: number;
  failed: number;
  /** Those that failed, at most 20. */
  failures: { fullName: string; message: string }[];
}

/** Failed requests that a list shows. */
const SHOWN_FAILURES = 20;

/** The list with this id. Undefined for any other text, and after it has been removed. */
export async function findList(read: Db, publicId: string): Promise<TrackList | undefined> {
  if (tokenPrefix(publicId) !== "sidt") return undefined;
  const row = await read
    .selectFrom("track_lists")
    .selectAll()
    .where("public_id", "=", publicId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { rows } = await sql<{
    waiting: number | null;
    recorded: number | null;
    failed: number | null;
  }>`select
      sum(case when failure is null and repository_id is null and finished_at is null then 1 else 0 end) as waiting,
      sum(case when repository_id is not null then 1 else 0 end) as recorded,
      sum(case when failure is not null then 1 else 0 end) as failed
    from track_requests where list_id = ${row.id}`.execute(read);
  const failures = await read
    .selectFrom("track_requests")
    .select(["full_name", "failure"])
    .where("list_id", "=", row.id)
    .where("failure", "is not", null)
    .orderBy("id")
    .limit(SHOWN_FAILURES)
    .execute();
  const [counts] = rows;
  const { provider, full_name: fullName } = row;
  return {
    id: row.public_id,
    source: provider === null || fullName === null ? null : { provider, fullName },
    requestedAt: Number(row.requested_at),
    isRead: row.read_at !== null,
    failure: row.failure === null ? null : failureOf(row.failure),
    found: row.found,
    known: row.known,
    leftOut: row.left_out,
    waiting: Number(counts?.waiting ?? 0),
    recorded: Number(counts?.recorded ?? 0),
    failed: Number(counts?.failed ?? 0),
    failures: failures.map((one) => ({
      fullName: one.full_name,
      message: failureOf(one.failure ?? "").message,
    })),
  };
}
