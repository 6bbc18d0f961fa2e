/** Turns results of a forge about known repositories into observations for the catalogue and rows for the schedule. Pure. */

import {
  type FailureKind,
  isTemporary,
  type Provider,
  type Refreshed,
  type UpstreamRepository,
} from "../forges/forges.js";
import {
  FALLEN_PARTS,
  type Gain,
  isRise,
  LEAST_COLLAPSED,
  LEAST_DOUBTED,
  MEASURED_COUNTS,
  type MeasuredCount,
} from "../growth/growth.js";
import { DAY_MS } from "../lib/clock.js";
import type { Availability, Observation } from "../repositories/repositories.js";
import { beforeEnd, detailsInterval, heatOf, retryAfter, scheduledInterval, spread } from "./cadence.js";
import { afterOwnRecord, historyDueOf, keptNodeId, type Tracked } from "./schedule.js";

export interface Outcome {
  /** The repository as it was when it was requested. */
  asked: Tracked;
  result: Exclude<Refreshed, { kind: "skipped" }>;
  /** true: a second endpoint reported the loss too; see losses.ts. */
  isConfirmed?: true;
}

export interface OutcomeContext {
  provider: Pick<Provider, "name" | "kind" | "listsAreComplete">;
  at: number;
  /** The repository as it is now. */
  row: Tracked;
  gains: readonly Gain[];
  stretch: number;
  chance: number;
}

export interface Update {
  before: Tracked;
  row: Tracked;
  /** Undefined: only the schedule changes. */
  observation?: Observation;
  /** Whether the counts have fallen so far that they are read a second time. */
  isDoubtful?: boolean;
  /** Whether a repository that was available becomes unavailable. */
  isLost?: boolean;
}

const AVAILABILITY_BY_FAILURE: Partial<Record<FailureKind, Availability>> = {
  gone: "GONE",
  renamed: "GONE",
  private: "PRIVATE",
  blocked: "BLOCKED",
};

/** Whether a failure says nothing about the repository, so that its due time stays. */
export function isPostponed(result: Outcome["result"]): boolean {
  return result.kind === "failed" && isTemporary(result.failure.kind);
}

/** Whether a forge says that the repository no longer exists or must not be shown. */
export function isLoss(result: Outcome["result"]): boolean {
  return result.kind === "failed" && AVAILABILITY_BY_FAILURE[result.failure.kind] !== undefined;
}

/**
 * A loss that is not recorded yet: the repository stays as it was and counts as missing, unless it was requested by name. Then it was
 * imported and never found, or counts as missing already because it has lost its id.
 */
export function heldBack({ before, row }: Update, at: number): Update {
  const since = before.providerId === null ? before.missingSince : (before.missingSince ?? at);
  return { before, row: { ...row, missingSince: since } };
}

export function updateOf(outcome: Outcome, context: OutcomeContext): Update {
  const { asked, result } = outcome;
  const { at, row, provider } = context;
  if (result.kind === "found") {
    const { repository, etag } = result;
    return {
      ...readUpdate(context, repository, etag),
      observation: { ...observationOf(provider.name, repository, at), repositoryId: row.repositoryId },
      isDoubtful: isDoubtful(row, repository),
    };
  }
  if (result.kind === "failed") return failedUpdate(outcome, result.failure.kind, context);
  // It confirms the counts that came with the ETag. If a list has changed those since, it is due without a condition.
  if (asked.etag !== row.etag) return { before: row, row: { ...row, dueAt: at, etag: null } };
  return { ...readUpdate(context, row, row.etag), observation: unchangedObservation(row, at) };
}

function readUpdate(
  { at, row, gains, stretch, chance, provider }: OutcomeContext,
  { stars, pushedAt, nodeId }: Pick<Tracked, "stars" | "pushedAt" | "nodeId">,
  etag: string | null,
): Update {
  const heat = heatOf({ before: row, stars: stars ?? 0, pushedAt, gains, at });
  const refreshInterval = scheduledInterval(heat, stretch);
  return {
    before: row,
    row: {
      ...row,
      dueAt: at + beforeEnd(refreshInterval, chance),
      refreshInterval,
      nodeId: keptNodeId(row.nodeId, nodeId),
      etag,
      failures: 0,
      missingSince: null,
      ...afterOwnRecord(provider, { at, stretch, chance }),
    },
  };
}

function failedUpdate(
  { isConfirmed, result }: Outcome,
  kind: FailureKind,
  { at, row, chance, provider }: OutcomeContext,
): Update {
  const failures = row.failures + 1;
  const dueAt = at + spread(retryAfter(failures), chance);
  const isGone = isLoss(result);
  const isLost = isGone && row.availability === "AVAILABLE";
  const availability = AVAILABILITY_BY_FAILURE[kind];
  const update: Update = {
    before: row,
    row: {
      ...row,
      dueAt,
      // The node id may be the cause, so the next refresh is by number.
      nodeId: isGone ? null : row.nodeId,
      etag: null,
      failures,
      missingSince: isGone ? null : row.missingSince,
      // Its own record was not read.
      detailsDue: provider.listsAreComplete ? null : dueAt,
    },
    ...(availability && { observation: namelessObservation(row, { availability }, at) }),
    isLost,
  };
  return isLost && isConfirmed !== true ? heldBack(update, at) : update;
}

/**
 * A list does not correct the own record for this long: search indexes and replicas lag by seconds to minutes, so a row may be older
 * than a record read before it. It is a quarter of the shortest interval, so it makes nothing late.
 */
const SETTLED_MS = 15 * 60_000;
/** Equal counts within this time are one reading: pages overlap, and walks are continued after a restart. */
export const REPEATED_MS = 30 * 60_000;

/** The update that follows from a row of a list; undefined: it is no news. */
export function listedUpdateOf(listed: UpstreamRepository, context: OutcomeContext): Update | undefined {
  const { provider, at, row, stretch, chance } = context;
  const isWithin = (time: number | null, ms: number) => time !== null && time <= at && at - time < ms;
  const isSame =
    row.availability === "AVAILABLE" &&
    row.owner === listed.owner &&
    row.name === listed.name &&
    COUNTS.every((count) => listed[count] === null || listed[count] === row[count]);
  if (isWithin(row.detailedAt, SETTLED_MS) || (isSame && isWithin(row.countedAt, REPEATED_MS)))
    return undefined;
  // Lists may show deleted repositories for weeks: only the own record, denied by the forge, can bring one back. It is read soon.
  if (row.availability !== "AVAILABLE" && row.failures > 0) {
    const soon = at + spread(Math.min(DAY_MS, retryAfter(row.failures)), chance);
    return { before: row, row: { ...row, dueAt: Math.min(row.dueAt ?? soon, soon) } };
  }
  const update = updateOf({ asked: row, result: { kind: "found", repository: listed, etag: null } }, context);
  let { detailsDue } = row;
  if (provider.listsAreComplete) detailsDue = null;
  else if (row.availability !== "AVAILABLE") detailsDue = at;
  else detailsDue ??= at + Math.round(chance * detailsInterval(stretch));
  return {
    ...update,
    row: {
      ...update.row,
      // A conditional request would confirm the counts of its ETag, not those of the list.
      etag: isSame ? row.etag : null,
      // Says nothing about the own record.
      failures: row.failures,
      detailedAt: row.detailedAt,
      detailsDue,
      historyDue: row.isScheduled
        ? row.historyDue
        : historyDueOf(provider.kind, row, { stars: listed.stars, now: at }),
    },
  };
}

const COUNTS = ["stars", "forks", "openIssues", "watchers"] as const;

/** A repository as its forge described it at a time. */
export function observationOf(provider: string, repository: UpstreamRepository, at: number): Observation {
  const { providerId, nodeId, owner, name, avatarUrl, topics, stars, forks, openIssues, watchers, ...facts } =
    repository;
  const known = Object.entries({ ...facts, forks, openIssues, watchers }).filter(
    ([, value]) => value !== null,
  );
  return {
    provider,
    providerId,
    owner,
    name,
    at,
    // null usually means that the response does not have it, which replaces nothing; but an empty text has been removed.
    facts: {
      ...Object.fromEntries(known),
      ...(facts.description === undefined ? {} : { description: facts.description }),
      ...(facts.homepage === undefined ? {} : { homepage: facts.homepage }),
      url: facts.url,
      stars,
      availability: "AVAILABLE",
      ...(topics === null ? {} : { topics }),
    },
    snapshots: [{ capturedAt: at, stars, forks, openIssues, watchers, source: "OBSERVED" }],
  };
}

/** Facts about a repository without its forge's word about the name. */
export function namelessObservation(
  { repositoryId, provider, providerId, owner, name }: Tracked,
  facts: Observation["facts"],
  at: Observation["at"],
): Observation {
  return {
    provider,
    ...(providerId === null ? {} : { providerId }),
    repositoryId,
    owner,
    name,
    at,
    isNameless: true,
    facts,
    snapshots: [],
  };
}

/** The same counts as at the last refresh, at a later time. */
function unchangedObservation(row: Tracked, at: number): Observation {
  const { stars, forks, openIssues, watchers } = row;
  return {
    ...namelessObservation(row, { stars, forks, openIssues, watchers, availability: "AVAILABLE" }, at),
    snapshots:
      stars === null ? [] : [{ capturedAt: at, stars, forks, openIssues, watchers, source: "OBSERVED" }],
  };
}

/** The counts of one reading; null: not reported. */
export type Counts = Readonly<Record<MeasuredCount, number | null>>;

/** Whether counts have moved so far that the forge may be at fault: by the limits of growth, which doubts such readings. */
export function isDoubtful(before: Counts, after: Counts): boolean {
  if (isRise(before, after)) return true;
  return MEASURED_COUNTS.some((measure) => {
    const [earlier, later] = [before[measure], after[measure]];
    if (earlier === null || later === null) return false;
    const least = later === 0 && measure !== "openIssues" ? LEAST_COLLAPSED : LEAST_DOUBTED;
    return earlier >= least && later <= FALLEN_PARTS[measure] * earlier;
  });
}
