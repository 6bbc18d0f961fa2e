/** The tools for counts over time: all counts of each repository, and one count of several next to each other. */
import {
  chartQuery,
  gapsSchema,
  getChartData,
  listSeveralMetrics,
  readChart,
  readSeveral,
  seriesPartsView,
  seriesQuery,
  snapshotSchema,
} from "../api/api.js";
import { count } from "../discovery/discovery.js";
import { ageInDays, isoDay, timeOrNull } from "../lib/clock.js";
import { chartPage, repositoryKey, repositoryPage } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import type { Days } from "../repositories/repositories.js";
import { freshnessOutput, rowSchema } from "./lists.js";
import { findNamed, findSome, missingOutput, repositoriesArgument } from "./named.js";
import { MAX_TOGETHER, percent } from "./text.js";
import { type Tool, tool } from "./tool.js";

const COMPARED_POINTS = 8;
const MAX_GAPS = 10;

const nullableNumber = z.number().nullable();

/** Evenly spaced items, with the first and the last. */
function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const indexes = Array.from({ length: most }, (_, i) => Math.round((i * (items.length - 1)) / (most - 1)));
  return indexes.flatMap((index) => items[index] ?? []);
}

const { repository, renamedFrom, url, page } = rowSchema.shape;

const seriesSchema = z.object({
  ...{ repository, renamedFrom, url, page },
  ...freshnessOutput,
  starsChange: nullableNumber.describe(
    "Stars gained from the first point that counts to the last, by the series that joins the star history and the totals; null without points. Not the counted gain: see get_repositories.",
  ),
  points: z
    .array(snapshotSchema)
    .describe("Oldest first, as they were read. BACKFILLED ones are of the star history of the forge."),
  pointsAvailable: z.number().describe("The number of points from which these were evenly chosen."),
  gaps: gapsSchema,
});
type Shown = z.output<typeof seriesSchema>;

/** The time that series are of, such as `30d` or `2026-01-01 to 2026-02-01`. */
const spanOutput = { window: z.string().describe("The time, as a window or as days.") };

function spanText(window: string, { from, to }: Days): string {
  const start = from === undefined ? window : isoDay(from);
  if (to !== undefined) return `${start} to ${isoDay(to)}`;
  return from === undefined ? start : `${start} to today`;
}

const { from, to } = seriesQuery.shape;

const seriesTool = tool({
  name: "get_series",
  title: "Repositories over time",
  description: `Stars, forks, open issues and watchers of 1 to ${MAX_TOGETHER} repositories over time, from their snapshots. The window ends at the newest snapshot of each.`,
  args: z.object({
    repositories: repositoriesArgument(1, MAX_TOGETHER),
    window: seriesQuery.shape.window.openapi({ description: "How far back." }),
    ...{ from, to },
    points: count(2, 100)
      .default(30)
      .openapi({ default: 30, description: "Maximum number of points of each, evenly chosen." }),
  }),
  output: z.object({
    ...spanOutput,
    resolution: z.string().describe("The step between available points; all: every snapshot."),
    repositories: z.array(seriesSchema),
    ...missingOutput,
  }),
  operation: listSeveralMetrics,
  run: async ({ repositories: given, window, points: most, ...days }, { services }) => {
    const { modules, config, clock } = services;
    const { found, missing } = await findSome(modules, given);
    const { several, units } = await readSeveral(modules, found, { window, ...days, step: "all" });
    const repositories = found.map((repository): Shown => {
      const series = several.of(repository.id);
      const { points, gaps } = seriesPartsView(series);
      return {
        ...repository,
        repository: repositoryKey(repository),
        page: config.baseUrl + repositoryPage(repository),
        asOf: timeOrNull(repository.countedAt),
        ageDays: ageInDays(repository.countedAt, clock.now()),
        starsChange: series.starsGained,
        points: spread(points, most),
        pointsAvailable: points.length,
        gaps: gaps.slice(0, MAX_GAPS),
      };
    });
    const data = { window: spanText(window, days), resolution: several.resolution, repositories, missing };
    return { data, units };
  },
});

const comparedSchema = z.object({
  ...{ repository, renamedFrom, page },
  from: z.string().nullable(),
  to: z.string().nullable(),
  first: nullableNumber.describe("The count at from."),
  last: nullableNumber.describe("The count at to."),
  change: nullableNumber.describe("The plain difference over the window; null with fewer than two points."),
  changePercent: nullableNumber.describe("change in percent of first."),
  changePerDay: nullableNumber,
  doubts: z.array(z.string()).describe("STALE or an availability; empty: none is known."),
  points: z.array(z.object({ at: z.string(), value: z.number() })).describe("Evenly chosen."),
});
type Compared = z.output<typeof comparedSchema>;

const comparisonOutput = z.object({
  ...freshnessOutput,
  metric: z.string(),
  ...spanOutput,
  page: z.string().describe("The comparison as a page for people."),
  repositories: z.array(comparedSchema),
});

type ChartSeries = Awaited<ReturnType<typeof readChart>>["series"][number];

function comparedOf(series: ChartSeries, baseUrl: string): Compared {
  const { points, gained, stale, availability, from, to } = series;
  const [first = null, last = null] = [points[0]?.value, points.at(-1)?.value];
  const days = from === null || to === null ? 0 : (Date.parse(to) - Date.parse(from)) / 86_400_000;

  return {
    ...series,
    repository: repositoryKey(series),
    page: baseUrl + repositoryPage(series),
    ...{ first, last },
    change: gained,
    changePercent: gained !== null && first !== null && first > 0 ? percent(gained / first) : null,
    changePerDay: gained !== null && days >= 1 ? Math.round((gained / days) * 100) / 100 : null,
    doubts: [...(stale ? ["STALE"] : []), ...(availability === "AVAILABLE" ? [] : [availability])],
    points: spread(points, COMPARED_POINTS),
  };
}

const comparisonTool = tool({
  name: "compare_repositories",
  title: "Compare repositories",
  description: `The stars or forks of 2 to ${MAX_TOGETHER} repositories over the same time: first and last count, plain change (not the counted gain), change per day, and a few points. Compare from before changes.`,
  args: z.object({
    repositories: repositoriesArgument(2, MAX_TOGETHER),
    metric: chartQuery.shape.metric.openapi({ description: "The count to show." }),
    window: chartQuery.shape.window.unwrap().default("90d").openapi({ description: "How far back." }),
    ...{ from: chartQuery.shape.from, to: chartQuery.shape.to },
  }),
  output: comparisonOutput,
  operation: getChartData,
  run: async ({ repositories: given, ...shown }, { services }) => {
    const { baseUrl } = services.config;
    const named = await findNamed(services.modules, given);
    const query = { ...chartQuery.omit({ repo: true }).parse({}), ...shown };
    const { asOf, ageDays, metric, series } = await readChart(services, named, query);
    const data = {
      ...{ asOf, ageDays, metric, window: spanText(query.window, query) },
      page: baseUrl + chartPage(series),
      repositories: series.map((one) => comparedOf(one, baseUrl)),
    };
    return { data };
  },
});

export const seriesTools: readonly Tool[] = [seriesTool, comparisonTool];
