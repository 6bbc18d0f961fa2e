import {
  ALIGNMENTS,
  alignedAt,
  CHART_WINDOWS,
  drawHistories,
  type History,
  isByDate,
  longestPart,
  METRICS,
  type Metric,
  newestOf,
  readHistory,
  SCALES,
  snippetsOf,
  spansOf,
  titleOfHistories,
  viewOf,
} from "../charts/charts.js";
import { WINDOWS } from "../growth/growth.js";
import { json } from "../http/http.js";
import { DAY_MS, isoTime, timeOrNull } from "../lib/clock.js";
import { chartPage } from "../lib/page-addresses.js";
import { time, z } from "../lib/schema.js";
import { AVAILABILITIES, BASES, SNAPSHOT_SOURCES } from "../repositories/repositories.js";
import { csv, fieldColumns, formatParameter, orCsv, REPOSITORY_NAME_COLUMNS } from "./csv.js";
import { type ChartQuery, chartAddress, chartQuery, getNamed } from "./embed-parameters.js";
import { freshnessFields, freshnessView } from "./freshness.js";
import { type ApiServices, dataResponse, operation } from "./operation.js";
import { checkDays } from "./parameters.js";
import { svg, svgResponse } from "./pictures.js";
import { seamsSchema, seamsView } from "./series-views.js";
import { renamedView } from "./views.js";

type ChartServices = Pick<ApiServices, "modules" | "config" | "clock">;

/** A history, with the earlier name by which its repository was requested. */
type NamedHistory = History & { renamedFrom?: string };

/** The histories that a chart shows. Throws VALIDATION_FAILED for days in the wrong order. */
async function readHistories(
  { modules }: ChartServices,
  { repo, metric, window, from, to }: ChartQuery,
): Promise<NamedHistory[]> {
  checkDays({ from, to });
  const repositories = await getNamed(modules, repo);
  const { catalog } = modules;
  return Promise.all(
    repositories.map(async ({ renamedFrom, ...one }) => ({
      ...(await readHistory(catalog, one, { metric, window, from, to })),
      ...renamedView(renamedFrom),
    })),
  );
}

/** What is unusual about the histories, to be shaded. */
async function readSpans({ modules }: ChartServices, histories: readonly History[], metric: Metric) {
  const ids = histories.map(({ repository }) => repository.id);
  const trends = await Promise.all(WINDOWS.map((window) => modules.rankings.trends(ids, window)));
  return spansOf(
    histories,
    ids.map((id) => trends.map((byId) => byId.get(id))),
    metric,
  );
}

export const getChart = operation({
  id: "getChart",
  tags: ["Embeds"],
  summary: "A chart of one to six repositories, as a picture for any page",
  description:
    "Counts by address in the bucket embed. Errors are pictures too, with their status; for a repository with fewer than two snapshots the picture says when it was first seen.",
  query: chartQuery,
  responses: { 200: svgResponse("The chart.") },
  errors: ["NOT_FOUND"],
  handle: async ({ query, services }) => {
    const histories = await readHistories(services, query);
    const spans = isByDate(query.align) ? await readSpans(services, histories, query.metric) : [];
    const request = { ...query, ...alignedAt(histories, query), view: viewOf(query), spans };
    return svg(drawHistories(histories, { ...request, now: services.clock.now() }));
  },
});

const chartSchema = z
  .object({
    title: z.string(),
    metric: z.enum(METRICS),
    window: z.enum(CHART_WINDOWS),
    scale: z.enum(SCALES),
    align: z.enum(ALIGNMENTS),
    series: z.array(
      z.object({
        repositoryId: z.string().regex(/^[1-9][0-9]{0,18}$/),
        provider: z.string(),
        fullName: z.string(),
        renamedFrom: z.string().optional().openapi({ description: "See Repository." }),
        availability: z.enum(AVAILABILITIES),
        points: z
          .array(
            z.object({
              at: time,
              ageDays: z.number().nullable().openapi({ description: "null unless aligned by age." }),
              value: z.int(),
              source: z.enum(SNAPSHOT_SOURCES),
            }),
          )
          .openapi({
            description: "Oldest first; a long series has only the last snapshot of each step of time.",
          }),
        gaps: z.array(z.object({ from: time, to: time, missing: z.int() })),
        seams: seamsSchema,
        from: time.nullable(),
        to: time.nullable(),
        lastSeenAt: time.nullable(),
        stale: z.boolean().openapi({ description: "See Repository." }),
        gained: z.int().nullable().openapi({
          description:
            "From the first to the last point of `gainedBasis`, the basis that covers more of the time; null with fewer than two points.",
        }),
        gainedBasis: z.enum(BASES).nullable().openapi({ description: "See Trend.basis." }),
      }),
    ),
    svgUrl: z.string(),
    pageUrl: z.string(),
    snippets: z.object({ markdown: z.string(), html: z.string() }),
    ...freshnessFields,
  })
  .openapi("Chart");

function seriesView(
  { repository, renamedFrom, points, gaps, seams, bornAt, isStale }: NamedHistory,
  align: ChartQuery["align"],
) {
  const [first, last] = [points[0], points.at(-1)];
  const part = points.length < 2 ? undefined : longestPart(points);
  const ageDays = (at: number) =>
    align === "age" && bornAt !== null ? Math.round(((at - bornAt) / DAY_MS) * 100) / 100 : null;
  return {
    repositoryId: String(repository.id),
    provider: repository.provider,
    fullName: repository.fullName,
    ...renamedView(renamedFrom),
    availability: repository.availability,
    points: points.map(({ at, value, source }) => ({
      at: isoTime(at),
      ageDays: ageDays(at),
      value,
      source,
    })),
    gaps: gaps.map(({ from, to, missing }) => ({ from: isoTime(from), to: isoTime(to), missing })),
    seams: seamsView(seams),
    from: timeOrNull(first?.at),
    to: timeOrNull(last?.at),
    lastSeenAt: timeOrNull(repository.countedAt),
    stale: isStale,
    gained: part === undefined ? null : part.last.value - part.first.value,
    gainedBasis: part?.basis ?? null,
  };
}

/** The data of a chart. Throws VALIDATION_FAILED for days in the wrong order, and NOT_FOUND. */
export async function readChart(services: ChartServices, query: ChartQuery) {
  const histories = await readHistories(services, query);
  const { baseUrl } = services.config;
  const { metric, window, scale, align, width, height } = query;
  const repositories = histories.map(({ repository }) => repository);
  const title = titleOfHistories(histories, {
    ...query,
    ...alignedAt(histories, query),
    view: viewOf(query),
  });
  const svgUrl = chartAddress(baseUrl, repositories, query);
  const pageUrl = baseUrl + chartPage(repositories);
  return {
    title,
    metric,
    window,
    scale,
    align,
    series: histories.map((history) => seriesView(history, align)),
    svgUrl,
    pageUrl,
    snippets: snippetsOf({ image: svgUrl, page: pageUrl, alt: title, width, height }),
    ...freshnessView(newestOf(histories), services.clock.now()),
  };
}

const POINT_COLUMNS = [
  ...fieldColumns(["at", "ageDays", "metric", "value", "source"]),
  ...REPOSITORY_NAME_COLUMNS,
];

export const getChartData = operation({
  id: "getChartData",
  tags: ["Embeds"],
  summary: "The data of a chart, with snippets that embed it",
  description:
    "Takes the parameters of the picture. Each repository costs as much as a request for its metrics.",
  query: chartQuery.extend({ format: formatParameter }),
  responses: { 200: orCsv(dataResponse("The chart.", chartSchema)) },
  errors: ["NOT_FOUND"],
  handle: async ({ query: { format, ...query }, services }) => {
    const chart = await readChart(services, query);
    if (format === "json") return json({ data: chart });
    const { metric, series } = chart;
    const rows = series.flatMap(({ points, ...repository }) =>
      points.map((point) => ({ ...repository, ...point, metric })),
    );
    return csv(`sidereal-chart-${metric}`, POINT_COLUMNS, rows);
  },
});
