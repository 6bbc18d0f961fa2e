/** Turns the results of refreshes into observations for the catalogue and appointments for the schedule. Pure. */

import {
  type FailureKind,
  isTemporary,
  type Provider,
  type Refreshed,
  type UpstreamFailure,
  type UpstreamRepository,
} from "../forges/forges.js";
import {
  FALLEN_PARTS,
  LEAST_COLLAPSED,
  LEAST_DOUBTED,
  MEASURED_COUNTS,
  type MeasuredCount,
  type Trend,
} from "../growth/growth.js";
import type { Availability, Observation, Repository } from "../repositories/repositories.js";
import { beforeEnd, heatOf, retryAfter, scheduledInterval, spread } from "./cadence.js";
import { type Claim, keptNodeId } from "./claims.js";
import { type Appointment, afterOwnRecord } from "./schedule.js";

/** A claimed repository and the result of its refresh. */
export interface Outcome {
  claim: Claim;
  result: Exclude<Refreshed, { kind: "skipped" }>;
  /** true: a second endpoint reported the loss too; see losses.ts. */
  isConfirmed?: true;
}

/** Everything besides the outcome that decides its update. */
export interface OutcomeContext {
  provider: Pick<Provider, "name" | "kind" | "listsAreComplete">;
  /** Time of the response. */
  at: number;
  /** The repository as it was before. */
  before: Repository;
  /** Its recent trends; none if unknown. */
  trends: readonly Trend[];
  /** Factor of all intervals; see nextStretch. */
  stretch: number;
  /** From 0 to 1, for spreading due times. */
  chance: number;
}

/** What to write for one outcome. */
export interface Update {
  /** Undefined: only the schedule changes. */
  observation: Observation | undefined;
  appointment: Appointment;
  /** Whether the counts have fallen so far that they are read a second time. */
  isDoubtful: boolean;
  starsBefore: number;
  /** The ETag that the forge confirmed, which must still belong to the stored counts. */
  confirmedEtag: string | null;
  /** Whether a repository that was available becomes unavailable. */
  isLost: boolean;
  /** The provider's id that it was claimed with; null: by name. */
  claimedId: string | null;
}

/** The availability that a failure implies; absent: none. */
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
export function heldBack(update: Update, at: number): Update {
  const { missingSince: _, ...appointment } = update.appointment;
  return {
    ...update,
    observation: undefined,
    isLost: false,
    appointment: { ...appointment, ...(update.claimedId !== null && { missingSince: at }) },
  };
}

/** The update that follows from an outcome. */
export function updateOf({ claim, result, isConfirmed }: Outcome, context: OutcomeContext): Update {
  const { at, before, trends, stretch, chance } = context;
  const provider = context.provider.name;
  const { repositoryId } = claim;
  const starsBefore = before.stars ?? 0;
  if (result.kind === "failed") {
    const failures = claim.failures + 1;
    const dueAt = at + spread(retryAfter(failures), chance);
    const isGone = isLoss(result);
    const isNews = isGone && before.availability === "AVAILABLE";
    // The node id may be the cause, so the next refresh is by number.
    const nodeId = isGone ? null : claim.nodeId;
    const update: Update = {
      observation: failedObservation(claim, result.failure, context),
      appointment: {
        repositoryId,
        provider,
        dueAt,
        nodeId,
        etag: null,
        failures,
        ...(isGone && { missingSince: null }),
        // Its own record was not read.
        detailsDue: context.provider.listsAreComplete ? null : dueAt,
      },
      isDoubtful: false,
      starsBefore,
      isLost: isNews,
      claimedId: claim.providerId,
      confirmedEtag: null,
    };
    return isNews && isConfirmed !== true ? heldBack(update, at) : update;
  }
  const isFound = result.kind === "found";
  const stars = isFound ? result.repository.stars : starsBefore;
  const pushedAt = isFound ? result.repository.pushedAt : before.pushedAt;
  const heat = heatOf({ before: claim, stars, pushedAt, trends, at });
  const refreshInterval = scheduledInterval(heat, stretch);
  const observation = isFound
    ? observationOf(provider, result.repository, at)
    : unchangedObservation(before, claim.providerId ?? "", at);
  return {
    observation: { ...observation, repositoryId },
    appointment: {
      repositoryId,
      provider,
      dueAt: at + beforeEnd(refreshInterval, chance),
      refreshInterval,
      nodeId: keptNodeId(claim.nodeId, isFound ? result.repository.nodeId : null),
      etag: isFound ? result.etag : claim.etag,
      failures: 0,
      missingSince: null,
      ...afterOwnRecord(context.provider, context),
    },
    isDoubtful: isFound && isDoubtful(before, result.repository),
    starsBefore,
    isLost: false,
    claimedId: claim.providerId,
    confirmedEtag: isFound ? null : claim.etag,
  };
}

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
    // null usually means that the response lacks it, which replaces nothing; but an empty text has been removed.
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

/** The claimed repository is gone: another one has its name now. */
export function replacedObservation({ provider, owner, name, repositoryId, at }: Observation): Observation {
  return {
    provider,
    owner,
    name,
    at,
    ...(repositoryId === undefined ? {} : { repositoryId }),
    isNameless: true,
    facts: { availability: "GONE" },
    snapshots: [],
  };
}

/** The same counts as at the last refresh, at a later time. */
function unchangedObservation(repository: Repository, providerId: string, at: number): Observation {
  const { provider, owner, name, stars, forks, openIssues, watchers } = repository;
  return {
    provider,
    providerId,
    owner,
    name,
    at,
    isNameless: true,
    facts: { stars, forks, openIssues, watchers, availability: "AVAILABLE" },
    snapshots:
      stars === null ? [] : [{ capturedAt: at, stars, forks, openIssues, watchers, source: "OBSERVED" }],
  };
}

function failedObservation(
  { repositoryId, providerId }: Claim,
  { kind }: UpstreamFailure,
  { provider: { name: provider }, at, before: { owner, name } }: OutcomeContext,
): Observation | undefined {
  const availability = AVAILABILITY_BY_FAILURE[kind];
  if (availability === undefined) return undefined;
  return {
    provider,
    ...(providerId === null ? {} : { providerId }),
    repositoryId,
    owner,
    name,
    at,
    isNameless: true,
    facts: { availability },
    snapshots: [],
  };
}

/** The counts of one reading; null: not reported. */
export type Counts = Readonly<Record<MeasuredCount, number | null>>;

/**
 * Whether counts have fallen so far since the last reading that the forge may be at fault. The limits are those of rankings, which
 * doubt such readings.
 */
export function isDoubtful(before: Counts, after: Counts): boolean {
  return MEASURED_COUNTS.some((measure) => {
    const [earlier, later] = [before[measure], after[measure]];
    if (earlier === null || later === null) return false;
    const least = later === 0 && measure !== "openIssues" ? LEAST_COLLAPSED : LEAST_DOUBTED;
    return earlier >= least && later <= FALLEN_PARTS[measure] * earlier;
  });
}
