import { idParameter, instantParameter } from "../discovery/discovery.js";
import { readStored, type StoredPoint, WINDOWS } from "../growth/growth.js";
import { json } from "../http/http.js";
import { DAY_MS, isoDay, timeOrNull } from "../lib/clock.js";
import { z } from "../lib/schema.js";
import {
  type Days,
  endOf,
  isStale,
  type Repository,
  type Step,
  spanOfTimes,
} from "../repositories/repositories.js";
import { type CsvColumn, csv, fieldColumns, formatParameter, orCsv, REPOSITORY_NAME_COLUMNS } from "./csv.js";
import { type ApiServices, dataMetaResponse, operation } from "./operation.js";
import { checkDays } from "./parameters.js";
import { movedFrom, movedResponse } from "./repositories.js";
import {
  seriesMetaSchema,
  seriesPartsView,
  snapshotSchema,
  snapshotView,
  stepParameter,
} from "./series-views.js";
import { freshnessFields, freshnessView, historyView, rankingSchema } from "./views.js";

const SERIES_WINDOWS = ["30d", "90d", "all"] as const;

export const seriesWindowParameter = z.enum(SERIES_WINDOWS).default("30d");

type SeriesWindow = (typeof SERIES_WINDOWS)[number];

/** Length of the window of a series; undefined for all. */
export function seriesWindowMs(window: SeriesWindow): number | undefined {
  return window === "all" ? undefined : (window === "30d" ? 30 : 90) * DAY_MS;
}

/** Start of the window of a series that ends at `asOf`; undefined for all. */
export function seriesStart(window: SeriesWindow, asOf: number): number | undefined {
  const lengthMs = seriesWindowMs(window);
  return lengthMs === undefined ? undefined : asOf - lengthMs;
}

export const SNAPSHOT_COLUMNS: readonly CsvColumn<SnapshotRow>[] = [
  ...fieldColumns(["capturedAt", "stars", "forks", "openIssues", "watchers", "source", "counts"]),
  ...REPOSITORY_NAME_COLUMNS,
];

export type SnapshotRow = ReturnType<typeof snapshotRow>;

export function snapshotRow({ id, provider, fullName }: Repository, snapshot: StoredPoint) {
  return { ...snapshotView(snapshot), repositoryId: String(id), provider, fullName };
}

export const seriesQuery = z.object({
  window: seriesWindowParameter,
  from: instantParameter("first").optional().openapi({ description: "First day (UTC) or time, not window." }),
  to: instantParameter("last")
    .optional()
    .openapi({ description: "Last day or time; alone, the end of the window." }),
  step: stepParameter,
});

/** A request for a series costs one unit for each of these points, or part of them. */
export const POINTS_PER_UNIT = 2_000;

/** The days that were requested, or else the window, for the names of files. */
export function spanName({ window, from, to }: Days & { window: SeriesWindow }): string {
  const days = [from ?? window, to].flatMap((part) =>
    typeof part === "number" ? isoDay(part) : (part ?? []),
  );
  return days.join("-");
}

export const listMetrics = operation({
  id: "listMetrics",
  tags: ["Repositories"],
  summary: "The snapshots of a repository over time",
  description:
    "Oldest first, at most 2,000 points, or 10,000 with from or to; meta.resolution is their step. The window ends with the newest counts of the repository. Costs one unit for each 2,000 points. The available snapshots depend on when the repository was discovered, how often it was refreshed, and how long snapshots are kept.",
  params: z.object({ id: idParameter }),
  query: seriesQuery.extend({ format: formatParameter }),
  responses: {
    200: orCsv(dataMetaResponse("The series.", z.array(snapshotSchema), seriesMetaSchema), SNAPSHOT_COLUMNS),
    301: movedResponse,
  },
  errors: ["NOT_FOUND"],
  handle: async ({ params: { id }, query: { format, ...query }, services, http }) => {
    checkDays(query);
    const repository = await services.modules.catalog.get(id);
    const moved = await movedFrom(repository, "/metrics", { services, http });
    if (moved !== undefined) return { ...moved, units: 1 };
    const { points, data, meta } = await readSeries(repository, services, query);
    const units = Math.max(1, Math.ceil(points.length / POINTS_PER_UNIT));
    if (format === "csv") {
      const rows = points.map((point) => snapshotRow(repository, point));
      return { ...csv(`sidereal-${id}-${spanName(query)}`, SNAPSHOT_COLUMNS, rows), units };
    }
    return { ...json({ data, meta }), units };
  },
});

/** The snapshots of a repository in some days, or in a window that ends with its newest counts: as records, and as in the response. */
async function readSeries(
  repository: Repository,
  { modules: { catalog, database }, clock }: Pick<ApiServices, "modules" | "clock">,
  { window, step, ...days }: Days & { window: SeriesWindow; step: Step },
) {
  const { id, countedAt: asOf, nextRefreshAt } = repository;
  const [recency, historyState] = await Promise.all([catalog.recency(), catalog.historyState(id)]);
  const now = clock.now();
  const span = spanOfTimes(days, seriesWindowMs(window));
  const from = span.from ?? (asOf === null ? undefined : seriesStart(window, asOf));
  const series = await readStored(database, id, { ...span, step });
  const { points: data, gaps } = seriesPartsView(series);
  const meta = {
    repositoryId: String(id),
    window: days.from === undefined ? window : null,
    from: timeOrNull(from ?? null),
    to: timeOrNull(endOf(days.to) ?? null),
    ...freshnessView(asOf, now),
    lastSeenAt: timeOrNull(asOf),
    stale: isStale(repository, recency),
    history: historyView(historyState, now),
    resolution: series.resolution,
    thinned: series.resolution !== step,
    pointCount: data.length,
    gaps,
    nextRefreshAt: timeOrNull(nextRefreshAt),
  };
  return { points: series.points, data, meta };
}

const RANK_COLUMNS = [
  ...fieldColumns(["date", "ranking", "window", "scope", "position"]),
  ...REPOSITORY_NAME_COLUMNS,
];

/** Maximum number of ranks in a response: 400 days in 19 rankings and two scopes. */
const MAX_RANKS = 15_200;

const pastRankSchema = z
  .object({
    date: z.iso.date(),
    ranking: rankingSchema,
    window: z.enum(WINDOWS).nullable(),
    scope: z.enum(["overall", "language"]),
    position: z.int().min(1),
  })
  .openapi("PastRank");

export const listRanks = operation({
  id: "listRanks",
  tags: ["Repositories"],
  summary: "The ranks of a repository, day by day",
  description:
    "Oldest first: ranks up to 1,000 overall and up to 200 in its language. The window ends with the newest counts of the repository. Days without a rank have no entry.",
  params: z.object({ id: idParameter }),
  query: z.object({ window: seriesWindowParameter, format: formatParameter }),
  responses: {
    200: orCsv(
      dataMetaResponse(
        "The ranks.",
        z.array(pastRankSchema),
        z.object({
          repositoryId: z.string(),
          window: seriesWindowParameter,
          rankCount: z.int(),
          ...freshnessFields,
        }),
      ),
      RANK_COLUMNS,
    ),
    301: movedResponse,
  },
  errors: ["NOT_FOUND"],
  handle: async (request) => {
    const { catalog, rankings } = request.services.modules;
    const { id } = request.params;
    const { window, format } = request.query;
    const repository = await catalog.get(id);
    const moved = await movedFrom(repository, "/ranks", request);
    if (moved !== undefined) return moved;
    const { countedAt: asOf } = repository;
    const since = asOf === null ? 0 : (seriesStart(window, asOf) ?? 0);
    const data = (await rankings.rankHistory(id, since, MAX_RANKS)).map(
      ({ day, ranking, window: over, scope, position }) => ({
        date: isoDay(day),
        ranking,
        window: over,
        scope: scope === "language" ? ("language" as const) : ("overall" as const),
        position,
      }),
    );
    if (format === "csv") {
      const { provider, fullName } = repository;
      const rows = data.map((rank) => ({ ...rank, repositoryId: String(id), provider, fullName }));
      return csv(`sidereal-ranks-${id}-${window}`, RANK_COLUMNS, rows);
    }
    const freshness = freshnessView(asOf, request.services.clock.now());
    return json({ data, meta: { repositoryId: String(id), window, rankCount: data.length, ...freshness } });
  },
});
