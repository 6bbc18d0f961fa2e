/** Updates from the rows of a list about known repositories. Pure. */

import type { UpstreamRepository } from "../forges/forges.js";
import { DAY_MS } from "../lib/clock.js";
import type { Facts, Repository } from "../repositories/repositories.js";
import { detailsInterval, retryAfter, spread } from "./cadence.js";
import { type Known, keptNodeId } from "./claims.js";
import { type OutcomeContext, observationOf, type Update, updateOf } from "./outcomes.js";
import { historyOf } from "./schedule.js";

/**
 * A list does not correct the own record for this long: search indexes and replicas lag by seconds to minutes, so a row may be older
 * than a record read before it. It is a quarter of the shortest interval, so it makes nothing late.
 */
const SETTLED_MS = 15 * 60_000;
/** Equal counts within this time are one reading: pages overlap, and walks are continued after a restart. */
const REPEATED_MS = 30 * 60_000;

const COUNTS = ["stars", "forks", "openIssues", "watchers"] as const;
const FACTS = [
  ...COUNTS,
  "url",
  "description",
  "homepage",
  "language",
  "license",
  "topics",
  "fork",
  "archived",
  "availability",
  "createdAt",
  "pushedAt",
] as const satisfies readonly (keyof Facts)[];

/** A row of a list, and its repository. */
export interface Listed {
  known: Known;
  before: Repository;
  row: UpstreamRepository;
}

/** Whether a row has news: its own record was not read just before, and it does not repeat another row. */
export function isNews({ known, before, row }: Listed, at: number): boolean {
  const isWithin = (time: number | null, ms: number) => time !== null && time <= at && at - time < ms;
  if (isWithin(known.detailedAt, SETTLED_MS)) return false;
  if (!isWithin(known.countedAt, REPEATED_MS)) return true;
  const isSame =
    before.availability === "AVAILABLE" &&
    before.fullName === `${row.owner}/${row.name}` &&
    COUNTS.every((count) => row[count] === null || row[count] === before[count]);
  return !isSame;
}

/**
 * The update that follows from a row. Where a forge denied the repository's own record, only that record can bring it back: lists may
 * show deleted repositories for weeks. `failures` stays, as a row says nothing about the own record.
 */
export function listedUpdateOf(listed: Listed, context: OutcomeContext): Update {
  const { known, before, row } = listed;
  const { provider, at, stretch, chance } = context;
  const update = updateOf({ claim: known, result: { kind: "found", repository: row, etag: null } }, context);
  const { detailedAt: _, detailsDue: __, ...appointment } = update.appointment;
  if (known.isDenied) return deniedUpdateOf(listed, context, update);
  // A conditional request would confirm the counts of its ETag, not those of the list.
  const { facts } = observationOf(provider.name, row, at);
  const hasChanged = FACTS.some((fact) => facts[fact] !== undefined && !isEqual(facts[fact], before[fact]));
  let detailsDue: number | null | undefined;
  if (provider.listsAreComplete) detailsDue = null;
  else if (before.availability !== "AVAILABLE") detailsDue = at;
  else if (known.detailsDue === null) detailsDue = at + Math.round(chance * detailsInterval(stretch));
  return {
    ...update,
    appointment: {
      ...appointment,
      nodeId: keptNodeId(known.nodeId, row.nodeId),
      etag: hasChanged ? null : known.etag,
      failures: known.failures,
      ...(detailsDue !== undefined && detailsDue !== known.detailsDue && { detailsDue }),
      ...(known.isScheduled ? { keepsLease: true } : historyOf(provider.kind, row.stars, at)),
    },
  };
}

/** Only brings the next reading of the own record forward, to within a day. */
function deniedUpdateOf({ known }: Listed, { at, chance }: OutcomeContext, update: Update): Update {
  const { repositoryId, nodeId, etag, failures } = known;
  const { provider } = update.appointment;
  const soon = at + spread(Math.min(DAY_MS, retryAfter(failures)), chance);
  const dueAt = Math.min(known.dueAt ?? soon, soon);
  return {
    ...update,
    observation: undefined,
    isDoubtful: false,
    appointment: { repositoryId, provider, dueAt, nodeId, etag, failures, keepsLease: true },
  };
}

function isEqual(one: Facts[keyof Facts], other: Facts[keyof Facts]): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return one === other;
  const ordered = (topics: readonly string[]) => topics.map((topic) => topic.toLowerCase()).sort();
  return ordered(one).join() === ordered(other).join();
}
