import { openIssuesRule } from "../config/config.js";
import { type CountedGroup, type CurrentSummary, type Facet, SORTS } from "../discovery/discovery.js";
import { ANOMALY_KINDS, MEASURED_COUNTS, RANKINGS, type Trend, WINDOWS } from "../growth/growth.js";
import { ageInDays, HOUR_MS, isoDay, isoTime, timeOrNull } from "../lib/clock.js";
import { START_TRACKING_PAGE } from "../lib/page-addresses.js";
import { idSchema, orNull, time, z } from "../lib/schema.js";
import {
  AVAILABILITIES,
  BASES,
  CATALOGUE_KINDS,
  HISTORY_REFUSALS,
  HISTORY_STATES,
  type HistoryState,
  type Repository,
  SNAPSHOT_SOURCES,
} from "../repositories/repositories.js";
import type { Watchlist } from "../watchlists/watchlists.js";

/** Records as JSON: the schema of each and the function that creates it. `null` always means unknown. */

const number = z.int().nullable();

/** How recent the growth in a response is: next to every growth, so that nobody takes old growth for that of today. */
export const freshnessFields = {
  asOf: time.nullable().openapi({
    description:
      "When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.",
  }),
  ageDays: z.int().nullable().openapi({ description: "Days in UTC from asOf to the response." }),
};

/** These fields. `now`: of the response. */
export function freshnessView(
  asOf: number | null,
  now: number,
): { asOf: string | null; ageDays: number | null } {
  return { asOf: timeOrNull(asOf), ageDays: ageInDays(asOf, now) };
}

export const historySchema = z
  .object({
    state: z.enum(HISTORY_STATES).openapi({
      description:
        "NOT_OFFERED: none is to be read, as the forge has none or the repository is not tracked. WAITING: nothing is read yet. READING: a part is read, newest first. WHOLE: all of it is. REFUSED: the forge has not given the next part.",
    }),
    readTo: z.iso
      .date()
      .nullable()
      .openapi({ description: "The oldest day that was read, if older ones are missing; otherwise null." }),
    why: z.enum(HISTORY_REFUSALS).nullable().openapi({
      description:
        "REFUSED only. NONE: the forge gives none of this repository. NOT_READY: it has not prepared it yet. UNUSABLE: what it sent cannot be used. null also if it is not known.",
    }),
    nextTryAt: time
      .nullable()
      .openapi({ description: "The earliest time of the next request for it; null: none, or in its turn." }),
  })
  .openapi("StarHistory", {
    description:
      "How much of its star history was read from its forge. While it is not WHOLE, series and charts begin later than the stars did.",
  });

/** `now`: of the response. */
export const historyView = (
  { state, readTo, why, nextAt }: HistoryState,
  now: number,
): z.output<typeof historySchema> => ({
  state,
  readTo: readTo === null ? null : isoDay(readTo),
  why,
  nextTryAt: nextAt !== null && nextAt > now ? isoTime(nextAt) : null,
});

/** When the counts of several repositories were taken. */
export const measuredFields = {
  measured: z
    .array(z.object({ from: time, to: time, repositoryCount: z.int() }).openapi("MeasuredGroup"))
    .openapi({
      description:
        "How many repositories were counted when, newest first: at most four groups with an hour or more between them, the last with all before it.",
    }),
};

export function measuredView(
  measured: readonly CountedGroup[],
): z.output<(typeof measuredFields)["measured"]> {
  return measured.map(({ from, to, repositories }) => ({
    from: isoTime(from),
    to: isoTime(to),
    repositoryCount: repositories,
  }));
}

export const rankingSchema = z.enum(RANKINGS).openapi("RankingName");

const scoreSchema = z
  .number()
  .min(0)
  .nullable()
  .openapi({ description: "At least 0; null if it cannot be computed.", example: 24 });

const anomalySchema = z
  .object({
    kind: z.enum(ANOMALY_KINDS),
    at: time.openapi({ description: "Capture time of the first snapshot that shows it." }),
    reason: z.string(),
    measure: z.enum(MEASURED_COUNTS).openapi({ description: "The count that moved." }),
    until: time.openapi({ description: "Capture time of the last snapshot that it concerns." }),
    before: z.int().openapi({ description: "The count before." }),
    after: z.int(),
    counted: z.int().optional().openapi({ description: "BURST only: the part of the gain that counts." }),
  })
  .openapi("Anomaly", {
    description:
      "An unusual movement that makes growth unreliable. It does not imply that anyone did anything wrong.",
  });

export const trendSchema = z
  .object({
    window: z.enum(WINDOWS),
    from: time.openapi({ description: "Time of the earlier count." }),
    to: time.openapi({ description: "Time of the newest confirmed count." }),
    fromSource: z
      .enum(SNAPSHOT_SOURCES)
      .openapi({ description: "Source of the count at `from`; see Snapshot." }),
    basis: z.enum(BASES).openapi({
      description:
        "The kind of stars at `from`. TOTAL: all stars at that time. RETAINED: stars of the star history, before the first total of a repository.",
    }),
    hours: z.number().openapi({
      description: "Hours from `from` to `to`: half to 2.25 times the window, less of what is younger.",
    }),
    parts: z.array(z.object({ basis: z.enum(BASES), from: time, to: time, gained: z.int() })).openapi({
      description:
        "The gains that add up to starsDelta, oldest first, each between two counts of one basis. Two if the window begins in the star history and ends in totals.",
    }),
    starsDelta: z.int(),
    forksDelta: number,
    openIssuesDelta: number,
    starsCounted: z.int().openapi({
      description:
        "The part of starsDelta that counts in rankings: all of it without an anomaly. Lists by stars-gained are in its order.",
    }),
    newSince: z.enum(["CREATED", "FIRST_SEEN"]).nullable().openapi({
      description:
        "Start of the age in newHot. FIRST_SEEN: the first snapshot, as the date of creation is not known. null without that score.",
    }),
    starsGrowth: z
      .number()
      .nullable()
      .openapi({ description: "starsDelta divided by the stars at `from`: 0.02 is 2 %." }),
    usualPerDay: z.number().nullable().openapi({
      description:
        "Stars gained on a usual day before `from`: the median of up to 30 days; null with fewer than 3.",
    }),
    scores: z
      .object({
        trending: scoreSchema,
        rising: scoreSchema,
        newHot: scoreSchema,
      })
      .openapi({
        description: "At least 0; null if a score cannot be computed.",
      }),
    confidence: z.number().min(0).max(1),
    confidenceReasons: z
      .array(z.string())
      .readonly()
      .openapi({ description: "Reasons for less confidence, as short phrases." }),
    reliable: z.boolean(),
    anomalies: z.array(anomalySchema),
  })
  .openapi("Trend", {
    description: "Growth between two counts of one series; null if there is no count to begin with.",
  });

type TrendView = z.output<typeof trendSchema>;

// The views of rows name each field: that is several times faster than copying objects.
export function trendView(trend: Trend): TrendView {
  return {
    window: trend.window,
    from: isoTime(trend.from),
    to: isoTime(trend.to),
    fromSource: trend.fromSource,
    basis: trend.basis,
    hours: Math.round((trend.to - trend.from) / (HOUR_MS / 100)) / 100,
    parts: trend.parts.map(({ basis, from, to, starsDelta }) => ({
      basis,
      from: isoTime(from),
      to: isoTime(to),
      gained: starsDelta,
    })),
    starsDelta: trend.starsDelta,
    forksDelta: trend.forksDelta,
    openIssuesDelta: trend.openIssuesDelta,
    starsCounted: trend.starsCounted,
    newSince: trend.firstSeenAt !== null ? "FIRST_SEEN" : trend.scores.newHot === null ? null : "CREATED",
    starsGrowth: trend.starsGrowth,
    usualPerDay: trend.usualPerDay,
    scores: trend.scores,
    confidence: trend.confidence,
    confidenceReasons: trend.confidenceReasons,
    reliable: trend.reliable,
    anomalies: trend.anomalies.map((anomaly) => ({
      ...anomaly,
      at: isoTime(anomaly.at),
      until: isoTime(anomaly.until),
    })),
  };
}

export const repositorySchema = z
  .object({
    id: idSchema,
    provider: z.string(),
    owner: z.string().openapi({ description: "May contain slashes (GitLab groups)." }),
    name: z.string(),
    fullName: z.string(),
    url: z.string(),
    description: z.string().nullable(),
    homepage: z.string().nullable(),
    language: z.string().nullable(),
    license: z.string().nullable().openapi({ description: "SPDX expression." }),
    topics: z.array(z.string()).readonly(),
    stars: number,
    forks: number,
    openIssues: number.openapi({ description: openIssuesRule() }),
    watchers: number,
    fork: z.boolean().nullable(),
    archived: z.boolean().nullable(),
    availability: z.enum(AVAILABILITIES).openapi({
      description:
        "HIDDEN: this service does not show it. It is on watchlists that had it, without name and numbers, and nowhere else.",
    }),
    createdAt: time.nullable(),
    pushedAt: time.nullable(),
    discoveredAt: time,
    refreshedAt: time.nullable(),
    nextRefreshAt: time.nullable(),
    lastSeenAt: time.nullable().openapi({ description: "When its counts were last seen; null: never." }),
    stale: z.boolean().openapi({
      description:
        "Whether that is too long ago for its growth to count: more than two of its refresh intervals, or its archive's newest undamaged file no longer has it.",
    }),
    trend: orNull(trendSchema),
    renamedFrom: z.string().optional().openapi({
      description:
        "The earlier full name by which it was requested, searched for or added to a watchlist. Absent: it was found under its present name, or by its filters.",
    }),
  })
  .openapi("Repository");

export const watchedRepositorySchema = repositorySchema
  .extend({ addedAt: time.openapi({ description: "When it was added to the list." }) })
  .openapi("WatchedRepository");

export type RepositoryView = z.output<typeof repositorySchema>;

/** The data of a repository's view, such as a row of a list. */
interface Shown {
  repository: Repository;
  trend: Trend | undefined;
  isStale: boolean;
  renamedFrom?: string | undefined;
}

export function repositoryView({ repository, trend, isStale, renamedFrom }: Shown): RepositoryView {
  const view: RepositoryView = {
    id: String(repository.id),
    provider: repository.provider,
    owner: repository.owner,
    name: repository.name,
    fullName: repository.fullName,
    url: repository.url,
    description: repository.description,
    homepage: repository.homepage,
    language: repository.language,
    license: repository.license,
    topics: repository.topics,
    stars: repository.stars,
    forks: repository.forks,
    openIssues: repository.openIssues,
    watchers: repository.watchers,
    fork: repository.fork,
    archived: repository.archived,
    availability: repository.availability,
    createdAt: timeOrNull(repository.createdAt),
    pushedAt: timeOrNull(repository.pushedAt),
    discoveredAt: isoTime(repository.discoveredAt),
    refreshedAt: timeOrNull(repository.refreshedAt),
    nextRefreshAt: timeOrNull(repository.nextRefreshAt),
    lastSeenAt: timeOrNull(repository.countedAt),
    stale: isStale,
    trend: trend === undefined ? null : trendView(trend),
  };
  if (renamedFrom !== undefined) view.renamedFrom = renamedFrom;
  return view;
}

/** The field `renamedFrom` of a record; absent without a name. */
export const renamedView = (renamedFrom: string | undefined) =>
  renamedFrom === undefined ? {} : { renamedFrom };

export const pageMetaSchema = z.object({
  page: z.int().nullable().openapi({ description: "null with a cursor." }),
  limit: z.int(),
  total: z.int(),
  totalIsExact: z.boolean().openapi({ description: "false: the list has more than `total` entries." }),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
});

export const repositoryPageMetaSchema = pageMetaSchema
  .extend({
    window: z.enum(WINDOWS),
    sort: z.enum([...SORTS, "added", "requested"]),
    ...freshnessFields,
    ...measuredFields,
    corrected: z.string().nullable().openapi({
      description:
        "The corrected text, if `q` had few matches and seems to have a typing error. verbatim=true prevents correction.",
    }),
    unmatched: z
      .array(
        z.object({
          parameter: z.enum(["provider", "language", "topic", "license"]),
          value: z.string(),
          nearest: z.string().nullable().openapi({ description: "The nearest known name." }),
          message: z.string(),
        }),
      )
      .optional()
      .openapi({
        description: "Of an empty list: filter values that no repository has. Absent if there are none.",
      }),
    renamed: z
      .object({
        fullName: z.string(),
        to: z.object({ id: idSchema, provider: z.string(), fullName: z.string() }),
      })
      .optional()
      .openapi({
        description:
          "If `q` is the previous full name of a repository: that repository, whose present name is searched for instead.",
      }),
    requested: z
      .int()
      .optional()
      .openapi({ description: "With id or fullName: the number of values given." }),
    missing: z
      .object({ ids: z.array(z.string()), fullNames: z.array(z.string()) })
      .optional()
      .openapi({ description: "With id or fullName: the values that lead to no repository, as given." }),
  })
  .openapi("RepositoryPageMeta");

export const facetSchema = z
  .object({
    name: z.string(),
    repositoryCount: z.int(),
    stars: z.int(),
    starsGained: z.int().openapi({
      description: "In the requested window: the sum of starsDelta.",
    }),
    measuredCount: z.int().openapi({
      description: "Repositories whose growth in the window is known. The others add nothing to starsGained.",
    }),
  })
  .openapi("Facet");

export function facetView(facet: Facet): z.output<typeof facetSchema> {
  const { name, repositories, stars, starsGained, measured } = facet;
  return { name, repositoryCount: repositories, stars, starsGained, measuredCount: measured };
}

const counters = {
  repositoryCount: z.int(),
  snapshots: z.int(),
  snapshots24h: z.int(),
  refreshed24h: z.int(),
  overdueRefreshes: z.int(),
  freshRepositories: z.int().openapi({
    description:
      "Repositories whose counts are recent. Of a provider with many, this and staleRepositories are counted once an hour.",
  }),
  staleRepositories: z.int().openapi({ description: "Repositories that are stale; see Repository." }),
};

export const summarySchema = z
  .object({
    ...counters,
    languageCount: z.int(),
    topicCount: z.int(),
    providers: z.array(
      z.object({ provider: z.string(), ...counters, ...freshnessFields, ...measuredFields }),
    ),
    newestFiles: z
      .array(
        z.object({ source: z.string(), file: z.string(), capturedAt: time, ageDays: z.int().nullable() }),
      )
      .openapi({ description: "The newest undamaged file of each archive that was imported." }),
    ...freshnessFields,
    ...measuredFields,
    generatedAt: time,
    catalogue: z.enum(CATALOGUE_KINDS).openapi({
      description:
        "Origin of the data. real: recorded or imported. sample: the bundled sample of real history, up to asOf. synthetic: generated, no real repositories.",
    }),
    startTracking: z.string().nullable().openapi({
      description: "Address of the instructions for tracking repositories; null for a real catalogue.",
    }),
  })
  .openapi("Summary");

export function summaryView(
  { repositories, languages, topics, ...summary }: CurrentSummary,
  baseUrl: string,
): z.output<typeof summarySchema> {
  return {
    repositoryCount: repositories,
    languageCount: languages,
    topicCount: topics,
    ...summary,
    providers: summary.providers.map(
      ({ provider, repositories, asOf, measured, newestAt: _, ...counters }) => ({
        provider,
        repositoryCount: repositories,
        ...counters,
        asOf: timeOrNull(asOf),
        measured: measuredView(measured),
      }),
    ),
    newestFiles: summary.newestFiles.map((one) => ({ ...one, capturedAt: isoTime(one.capturedAt) })),
    asOf: timeOrNull(summary.asOf),
    measured: measuredView(summary.measured),
    generatedAt: isoTime(summary.generatedAt),
    startTracking: summary.catalogue === "real" ? null : `${baseUrl}${START_TRACKING_PAGE}`,
  };
}

export const watchlistSchema = z
  .object({
    token: z.string().openapi({ description: "The token of the request." }),
    name: z.string(),
    ids: z.array(idSchema),
    items: z.array(z.object({ repositoryId: idSchema, addedAt: time })),
    canEdit: z.boolean(),
    createdAt: time,
    updatedAt: time,
  })
  .openapi("Watchlist");

export const createdWatchlistSchema = watchlistSchema
  .extend({
    shareToken: z
      .string()
      .openapi({ description: "Can read the list but not change it. Returned only here." }),
  })
  .openapi("CreatedWatchlist");

export function watchlistView(watchlist: Watchlist, token: string): z.output<typeof watchlistSchema> {
  return {
    token,
    name: watchlist.name,
    ids: watchlist.items.map((item) => String(item.repositoryId)),
    items: watchlist.items.map((item) => ({
      repositoryId: String(item.repositoryId),
      addedAt: isoTime(item.addedAt),
    })),
    canEdit: watchlist.canEdit,
    createdAt: isoTime(watchlist.createdAt),
    updatedAt: isoTime(watchlist.updatedAt),
  };
}
