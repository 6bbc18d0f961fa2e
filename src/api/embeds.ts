import {
  ALIGNMENTS,
  alignedAt,
  CHART_WINDOWS,
  chartPoints,
  drawHistories,
  gainOfLine,
  type History,
  headlineText,
  isByDate,
  LEAST_RANKED,
  METRICS,
  newestOf,
  readHistory,
  SCALES,
  snippetsOf,
  spansOf,
  titleOfHistories,
  viewOf,
} from "../charts/charts.js";
import { json, pngReply } from "../http/http.js";
import { DAY_MS, isoTime, timeOrNull } from "../lib/clock.js";
import { publicHost } from "../lib/host-names.js";
import { chartPage } from "../lib/page-addresses.js";
import { idSchema, time, z } from "../lib/schema.js";
import { AVAILABILITIES, BASES, basisOf, SNAPSHOT_SOURCES } from "../repositories/repositories.js";
import { csv, fieldColumns, formatParameter, orCsv, REPOSITORY_NAME_COLUMNS } from "./csv.js";
import {
  type ChartQuery,
  chartAddress,
  chartQuery,
  chartSize,
  getNamed,
  type Named,
  pngQuery,
  whileRead,
  zoomOf,
} from "./embed-parameters.js";
import { type ApiServices, BINARY, dataResponse, operation } from "./operation.js";
import { checkDays } from "./parameters.js";
import { svg, svgResponse } from "./pictures.js";
import { gapsSchema, gapsView } from "./series-views.js";
import { freshnessFields, freshnessView, historySchema, historyView, renamedView } from "./views.js";

type ChartServices = Pick<ApiServices, "modules" | "config" | "clock">;

/** A history, with the earlier name by which its repository was requested. */
type NamedHistory = History & { renamedFrom?: string };

type ShownQuery = Omit<ChartQuery, "repo">;

/** The histories that a chart shows. Throws VALIDATION_FAILED for days in the wrong order. */
async function readHistories(
  { modules }: ChartServices,
  repositories: readonly Named[],
  { metric, window, from, to }: Pick<ChartQuery, "metric" | "window" | "from" | "to">,
): Promise<NamedHistory[]> {
  checkDays({ from, to });
  return Promise.all(
    repositories.map(async ({ renamedFrom, ...one }) => {
      const trends = Object.values(await modules.rankings.trendsOf(one.id));
      return {
        ...(await readHistory(modules, one, { metric, window, from, to, trends })),
        ...renamedView(renamedFrom),
      };
    }),
  );
}

/** The headline of a single repository, as its page has it. */
async function sentenceOf(
  { modules: { rankings } }: ChartServices,
  [only, ...others]: readonly History[],
): Promise<string | undefined> {
  if (only === undefined || others.length > 0) return undefined;
  const [{ trends, ranks }, { repositories }] = await Promise.all([
    rankings.standing(only.repository.id),
    rankings.counters(),
  ]);
  const points = chartPoints(only.series, "stars");
  return headlineText(trends, repositories < LEAST_RANKED ? [] : ranks, points);
}

/** A chart as SVG, and the repositories in it. Throws VALIDATION_FAILED for days in the wrong order, and NOT_FOUND. */
async function drawn(services: ChartServices, { repo, background, ...query }: ChartQuery) {
  const size = chartSize(query);
  const histories = await readHistories(services, await getNamed(services.modules, repo), query);
  const spans = isByDate(query.align) ? spansOf(histories, query.metric) : [];
  const request = { ...query, ...size, ...alignedAt(histories, query), view: viewOf(query), spans };
  const site = publicHost(services.config.baseUrl);
  const isClear = background === "clear";
  const sentence = query.metric === "stars" ? await sentenceOf(services, histories) : undefined;
  return {
    drawing: drawHistories(histories, { ...request, isClear, site, sentence, now: services.clock.now() }),
    repositories: histories.map(({ repository }) => repository),
  };
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
    const { drawing, repositories } = await drawn(services, query);
    return whileRead(services, repositories, svg(drawing));
  },
});

export const getChartPng = operation({
  id: "getChartPng",
  tags: ["Embeds"],
  summary: "The same chart as PNG, for posts and the clipboard",
  description:
    "Takes the parameters of the SVG; the theme auto is light. Counts by address in the bucket embed, eight times as much, and 32 times as a sketch. Pictures wait in a queue to be rendered, as cards do: 503 with Retry-After when too many wait.",
  query: pngQuery,
  responses: { 200: { description: "The chart.", content: { "image/png": BINARY } } },
  errors: ["NOT_FOUND"],
  handle: async ({ query: { zoom, ...query }, services }) => {
    const scale = zoomOf({ zoom, ...query });
    const theme = query.theme === "auto" ? "light" : query.theme;
    const { drawing, repositories } = await drawn(services, { ...query, theme });
    const png = await services.pictures.render(drawing, scale);
    return whileRead(services, repositories, pngReply(png));
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
        repositoryId: idSchema,
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
        gaps: gapsSchema,
        from: time.nullable(),
        to: time.nullable(),
        lastSeenAt: time.nullable(),
        stale: z.boolean().openapi({ description: "See Repository." }),
        history: historySchema,
        gained: z.int().nullable().openapi({
          description:
            "The difference between the first and the last point: over 30d as in the trend. null with fewer than two points.",
        }),
        gainedBasis: z
          .enum(BASES)
          .nullable()
          .openapi({ description: "Of the first point; see Trend.basis." }),
      }),
    ),
    svgUrl: z.string(),
    pageUrl: z.string(),
    snippets: z.object({ markdown: z.string(), html: z.string() }),
    ...freshnessFields,
  })
  .openapi("Chart");

function seriesView(
  { repository, renamedFrom, points, gaps, bornAt, isStale, historyState }: NamedHistory,
  align: ChartQuery["align"],
  now: number,
) {
  const [first, last] = [points[0], points.at(-1)];
  const gain = gainOfLine(points);
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
    gaps: gapsView(gaps),
    from: timeOrNull(first?.at),
    to: timeOrNull(last?.at),
    lastSeenAt: timeOrNull(repository.countedAt),
    stale: isStale,
    history: historyView(historyState, now),
    gained: gain?.gained ?? null,
    gainedBasis: gain === undefined ? null : basisOf(gain.first.source),
  };
}

/** The data of a chart. Throws VALIDATION_FAILED for days in the wrong order. */
export async function readChart(services: ChartServices, named: readonly Named[], query: ShownQuery) {
  const size = chartSize(query);
  const histories = await readHistories(services, named, query);
  const { baseUrl } = services.config;
  const now = services.clock.now();
  const { metric, window, scale, align } = query;
  const repositories = histories.map(({ repository }) => repository);
  const shown = { ...query, ...alignedAt(histories, query), view: viewOf(query) };
  const title = query.title ?? titleOfHistories(histories, shown);
  const svgUrl = chartAddress(baseUrl, repositories, query);
  const pageUrl = baseUrl + chartPage(repositories);
  return {
    title,
    metric,
    window,
    scale,
    align,
    series: histories.map((history) => seriesView(history, align, now)),
    svgUrl,
    pageUrl,
    snippets: snippetsOf({ image: svgUrl, page: pageUrl, alt: title, ...size }),
    ...freshnessView(newestOf(histories), now),
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
  responses: { 200: orCsv(dataResponse("The chart.", chartSchema), POINT_COLUMNS) },
  errors: ["NOT_FOUND"],
  handle: async ({ query: { repo, format, ...query }, services }) => {
    const chart = await readChart(services, await getNamed(services.modules, repo), query);
    if (format === "json") return json({ data: chart });
    const { metric, series } = chart;
    const rows = series.flatMap(({ points, ...repository }) =>
      points.map((point) => ({ ...repository, ...point, metric })),
    );
    return csv(`sidereal-chart-${metric}`, POINT_COLUMNS, rows);
  },
});
