import { createRoute, z } from "@hono/zod-openapi";
import { DAY_MS, isoTime } from "../clock.js";
import { idParameter } from "../lists/lists.js";
import { RANKINGS, WINDOWS } from "../rankings/rankings.js";
import { fieldColumns, formatParameter, orCsv, sendCsv } from "./csv.js";
import { dataMetaResponse, endpoint, errorResponses } from "./endpoint.js";
import { seriesMetaSchema, snapshotSchema, snapshotView } from "./views.js";

const SERIES_WINDOWS = ["30d", "90d", "all"] as const;

export const seriesWindowParameter = z.enum(SERIES_WINDOWS).default("30d");

/** Begin of a series' window that ends at `asOf`; undefined for all. */
export function seriesStart(window: (typeof SERIES_WINDOWS)[number], asOf: number): number | undefined {
  return window === "all" ? undefined : asOf - (window === "30d" ? 30 : 90) * DAY_MS;
}

const SNAPSHOT_COLUMNS = fieldColumns(["capturedAt", "stars", "forks", "openIssues", "watchers", "source"]);

export const listMetrics = endpoint(
  createRoute({
    method: "get",
    path: "/api/repos/{id}/metrics",
    operationId: "listMetrics",
    tags: ["Repositories"],
    summary: "The snapshots of a repository over time",
    description:
      "Oldest first, at most 2,000 points; meta.resolution says how they were thinned. The window ends at the newest snapshot of the provider. Which snapshots there are depends on when the repository was discovered, how often it was refreshed, and how long snapshots are kept.",
    request: {
      params: z.object({ id: idParameter }),
      query: z.object({ window: seriesWindowParameter, format: formatParameter }),
    },
    responses: {
      200: orCsv(dataMetaResponse("The series.", z.array(snapshotSchema), seriesMetaSchema)),
      ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const { catalog } = context.var.modules;
    const { id } = context.req.valid("param");
    const { window, format } = context.req.valid("query");
    const repository = await catalog.get(id);
    const asOf = await catalog.asOf(repository.provider);
    const from = asOf === undefined ? undefined : seriesStart(window, asOf);
    const start =
      asOf === undefined || from === undefined ? 0 : await catalog.seriesStart(id, asOf, asOf - from);
    // Without a snapshot in the window, nothing is after its end.
    const series = await catalog.series(id, start ?? Number.MAX_SAFE_INTEGER);
    const data = series.points.map(snapshotView);
    if (format === "csv") return sendCsv(context, `sidereal-${id}-${window}`, SNAPSHOT_COLUMNS, data);
    const meta = {
      repositoryId: String(id),
      window,
      from: from === undefined ? null : isoTime(from),
      asOf: asOf === undefined ? null : isoTime(asOf),
      resolution: series.resolution,
      points: data.length,
      gaps: series.gaps.map((gap) => ({ ...gap, from: isoTime(gap.from), to: isoTime(gap.to) })),
      nextRefreshAt: repository.nextRefreshAt === null ? null : isoTime(repository.nextRefreshAt),
    };
    return context.json({ data, meta }, 200);
  },
  { bucket: "heavy" },
);

/** Places answered at most: all that are kept of 400 days in 16 rankings and two scopes. */
const MAX_RANKS = 12_800;

const pastRankSchema = z
  .object({
    date: z.iso.date(),
    ranking: z.enum(RANKINGS),
    window: z.enum(WINDOWS).nullable(),
    scope: z.enum(["overall", "language"]),
    position: z.int().min(1),
  })
  .openapi("PastRank");

export const listRanks = endpoint(
  createRoute({
    method: "get",
    path: "/api/repos/{id}/ranks",
    operationId: "listRanks",
    tags: ["Repositories"],
    summary: "Where a repository stood in the rankings, day by day",
    description:
      "Oldest first: overall among the first 1,000, and in its language among the first 200. The window ends at the newest snapshot of the provider. A day without an entry had no place for it.",
    request: { params: z.object({ id: idParameter }), query: z.object({ window: seriesWindowParameter }) },
    responses: {
      200: dataMetaResponse(
        "The places.",
        z.array(pastRankSchema),
        z.object({ repositoryId: z.string(), window: seriesWindowParameter, places: z.int() }),
      ),
      ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const { catalog, rankings } = context.var.modules;
    const { id } = context.req.valid("param");
    const { window } = context.req.valid("query");
    const repository = await catalog.get(id);
    const asOf = await catalog.asOf(repository.provider);
    const since = asOf === undefined ? 0 : (seriesStart(window, asOf) ?? 0);
    const data = (await rankings.rankHistory(id, since, MAX_RANKS)).map(
      ({ day, ranking, window: over, scope, position }) => ({
        date: isoTime(day).slice(0, 10),
        ranking,
        window: over,
        scope: scope === "language" ? ("language" as const) : ("overall" as const),
        position,
      }),
    );
    return context.json({ data, meta: { repositoryId: String(id), window, places: data.length } }, 200);
  },
  { bucket: "heavy" },
);
