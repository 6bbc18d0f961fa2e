import type { TrackRequestTable } from "../database/database.js";
import type { FailureKind } from "../providers/providers.js";

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
