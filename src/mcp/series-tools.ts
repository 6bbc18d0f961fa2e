/** The tools for counts over time: of one repository, and of several beside each other. */
import { invalidParameter } from "../lib/errors.js";
import { chartPage, repositoryKey, repositoryPage } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import { freshnessOutput } from "./rows.js";
import { day, foreignText, freshness, percent, signed, table } from "./text.js";
import { askFor, detailUrl, pickInput, referenceSchema, type Tool, tool } from "./tool.js";

/** Points of a series: by default, and at most. */
const DEFAULT_POINTS = 30;
const MAX_POINTS = 100;
/** Points of each series in a comparison. */
const COMPARED_POINTS = 8;
const MAX_COMPARED = 6;
/** Gaps in a result. */
const MAX_GAPS = 10;

const nullableNumber = z.number().nullable();

/** Evenly spaced items, with the first and the last. */
export function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from(
    { length: most },
    (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))],
  ).filter((item): item is T => item !== undefined);
}

const nameSchema = z.object({
  data: z.object({ id: z.string(), provider: z.string(), fullName: z.string(), url: z.string() }),
});

const snapshotSchema = z.object({
  capturedAt: z.string(),
  stars: nullableNumber,
  forks: nullableNumber,
  openIssues: nullableNumber,
  watchers: nullableNumber,
  source: z.string(),
});

const gapSchema = z.object({ from: z.string(), to: z.string(), missing: z.number() });
const seamSchema = z.object({ from: z.string(), to: z.string() });

const metricsSchema = z.object({
  data: z.array(snapshotSchema),
  meta: z.object({
    window: z.string(),
    asOf: z.string().nullable(),
    ageDays: nullableNumber,
    resolution: z.string(),
    gaps: z.array(gapSchema),
    seams: z.array(seamSchema),
  }),
});

const seriesOutput = z.object({
  repository: z.string(),
  url: z.string(),
  page: z.string(),
  ...freshnessOutput,
  window: z.string(),
  starsChange: nullableNumber.describe(
    "The plain difference between the first and the last point; null if they do not count the same stars. Not the counted gain: see get_repository.",
  ),
  points: z
    .array(snapshotSchema)
    .describe("Oldest first. BACKFILLED points count stars still held, the others all stars."),
  pointsAvailable: z.number().describe("How many points these were chosen from, evenly."),
  resolution: z.string().describe("The step between those points; all: every snapshot."),
  gaps: z.array(gapSchema).describe("Where refreshes are missing."),
  seams: z
    .array(seamSchema)
    .describe("Neighbouring points that count different stars: the step between them is no growth."),
});

function seriesTool(): Tool {
  const { window } = pickInput("listMetrics", ["window"]);
  return tool({
    name: "get_series",
    title: "A repository over time",
    description:
      "Stars, forks, open issues and watchers of one repository over time, from its snapshots. The window ends at the newest snapshot. For several repositories use compare_repositories.",
    input: {
      repository: referenceSchema,
      window: { ...window, description: "How far back." },
      points: {
        type: "integer",
        minimum: 2,
        maximum: MAX_POINTS,
        default: DEFAULT_POINTS,
        description: "Maximum number of points, evenly chosen.",
      },
    },
    required: ["repository"],
    output: seriesOutput,
    run: async ({ repository, window: over = "30d", points = DEFAULT_POINTS }, { ask, baseUrl }) => {
      const named = await askFor(ask, { method: "GET", url: detailUrl(repository) }, nameSchema);
      const { id, url } = named.data;
      const query = new URLSearchParams({ window: String(over) });
      const request = { method: "GET", url: `/api/repos/${id}/metrics?${query}` } as const;
      const { data, meta } = await askFor(ask, request, metricsSchema);
      const [first, last] = [data[0], data.at(-1)];
      const isComparable = meta.seams.length === 0 && data.length > 1;
      const result = {
        repository: foreignText(repositoryKey(named.data), 400) ?? "",
        url,
        page: baseUrl + repositoryPage(named.data),
        asOf: meta.asOf,
        ageDays: meta.ageDays,
        window: meta.window,
        starsChange: isComparable ? difference(first?.stars, last?.stars) : null,
        points: spread(data, Number(points)),
        pointsAvailable: data.length,
        resolution: meta.resolution,
        gaps: meta.gaps.slice(0, MAX_GAPS),
        seams: meta.seams.slice(0, MAX_GAPS),
      };
      return { data: result, text: seriesText(result) };
    },
  });
}

function difference(from: number | null | undefined, to: number | null | undefined): number | null {
  return typeof from === "number" && typeof to === "number" ? to - from : null;
}

function seriesText(result: z.output<typeof seriesOutput>): string {
  const { repository, window, points, pointsAvailable, starsChange, gaps, seams } = result;
  const rows = points.map((one) => [
    `${one.capturedAt.slice(0, 16)}Z`,
    one.stars,
    one.forks,
    one.openIssues,
    one.watchers,
    one.source,
  ]);
  return [
    `${repository} over ${window}: ${points.length} of ${pointsAvailable} points. ${freshness(result)}`,
    `Plain change of stars: ${signed(starsChange)} (not the counted gain).`,
    ...(rows.length === 0
      ? []
      : ["", table(["time (UTC)", "stars", "forks", "open issues", "watchers", "source"], rows), ""]),
    ...gaps.map(({ from, to, missing }) => `Gap ${day(from)} to ${day(to)}: ${missing} refreshes missing.`),
    ...seams.map(({ from, to }) => `Seam ${day(from)} to ${day(to)}: the step is no growth.`),
    `Page: ${result.page} Forge: ${result.url}`,
  ].join("\n");
}

const chartSchema = z.object({
  data: z.object({
    asOf: z.string().nullable(),
    ageDays: nullableNumber,
    metric: z.string(),
    window: z.string(),
    series: z.array(
      z.object({
        provider: z.string(),
        fullName: z.string(),
        availability: z.string(),
        points: z.array(z.object({ at: z.string(), value: z.number(), source: z.string() })),
        seams: z.array(seamSchema),
        gained: nullableNumber,
        gainedBasis: z.string().nullable(),
        lastSeenAt: z.string().nullable(),
        stale: z.boolean(),
      }),
    ),
  }),
});

const comparisonOutput = z.object({
  ...freshnessOutput,
  metric: z.string(),
  window: z.string(),
  page: z.string().describe("The comparison as a page for people."),
  repositories: z.array(
    z.object({
      repository: z.string(),
      page: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      first: nullableNumber.describe("The count at from."),
      last: nullableNumber.describe("The count at to."),
      change: nullableNumber.describe(
        "The plain difference over the window, between points that count the same; null with fewer than two. Not the counted gain: see get_repository.",
      ),
      changePercent: nullableNumber.describe(
        "change in percent of first; null if the points count different stars.",
      ),
      changePerDay: nullableNumber,
      doubts: z.array(z.string()).describe("STALE, SEAM or an availability; empty: none is known."),
      points: z.array(z.object({ at: z.string(), value: z.number() })).describe("A few, evenly chosen."),
    }),
  ),
});
type Compared = z.output<typeof comparisonOutput>["repositories"][number];

function comparedOf(
  series: z.output<typeof chartSchema>["data"]["series"][number],
  baseUrl: string,
): Compared {
  const { points, gained, seams, stale, availability } = series;
  const [first, last] = [points[0], points.at(-1)];
  const hasSeam = seams.length > 0;
  const days = first && last ? (Date.parse(last.at) - Date.parse(first.at)) / 86_400_000 : 0;
  const isWhole = gained !== null && !hasSeam;
  return {
    repository: foreignText(repositoryKey(series), 400) ?? "",
    page: baseUrl + repositoryPage(series),
    from: first?.at ?? null,
    to: last?.at ?? null,
    first: first?.value ?? null,
    last: last?.value ?? null,
    change: gained,
    changePercent: isWhole && first !== undefined && first.value > 0 ? percent(gained / first.value) : null,
    changePerDay: isWhole && days >= 1 ? Math.round((gained / days) * 100) / 100 : null,
    doubts: [
      ...(hasSeam ? ["SEAM"] : []),
      ...(stale ? ["STALE"] : []),
      ...(availability === "AVAILABLE" ? [] : [availability]),
    ],
    points: spread(points, COMPARED_POINTS).map(({ at, value }) => ({ at, value })),
  };
}

function comparisonTool(): Tool {
  const { metric, window } = pickInput("getChartData", ["metric", "window"]);
  return tool({
    name: "compare_repositories",
    title: "Compare repositories",
    description: `The stars or forks of 2 to ${MAX_COMPARED} repositories over the same time: first and last count, change, change per day, and a few points.`,
    input: {
      repositories: {
        type: "array",
        minItems: 2,
        maxItems: MAX_COMPARED,
        items: referenceSchema,
        description: "The repositories, as provider:owner/name.",
      },
      metric: { ...metric, description: "Which count." },
      window: { ...window, default: "90d" },
    },
    required: ["repositories"],
    output: comparisonOutput,
    run: async ({ repositories, metric: count = "stars", window: over = "90d" }, { ask, baseUrl }) => {
      const names = Array.isArray(repositories) ? repositories.map(String) : [];
      if (names.length < 2 || names.length > MAX_COMPARED)
        throw invalidParameter(
          "repositories",
          `must be 2 to ${MAX_COMPARED} of the form provider:owner/name`,
        );
      const query = new URLSearchParams({ metric: String(count), window: String(over) });
      for (const name of names) query.append("repo", name.toWellFormed());
      const { data } = await askFor(ask, { method: "GET", url: `/api/embed/chart?${query}` }, chartSchema);
      const result = {
        asOf: data.asOf,
        ageDays: data.ageDays,
        metric: data.metric,
        window: data.window,
        page: baseUrl + chartPage(data.series),
        repositories: data.series.map((series) => comparedOf(series, baseUrl)),
      };
      return { data: result, text: comparisonText(result) };
    },
  });
}

function comparisonText({
  metric,
  window,
  page,
  repositories,
  ...times
}: z.output<typeof comparisonOutput>): string {
  const head = [
    "repository",
    "from",
    "first",
    "to",
    "last",
    "plain change",
    "change in %",
    "per day",
    "doubts",
  ];
  const rows = repositories.map((one) => [
    one.repository,
    one.from === null ? null : day(one.from),
    one.first,
    one.to === null ? null : day(one.to),
    one.last,
    signed(one.change),
    one.changePercent,
    one.changePerDay,
    one.doubts.join(", ") || "none",
  ]);
  return [
    `${metric} over ${window}. ${freshness(times)}`,
    "",
    table(head, rows),
    "",
    "Changes are plain differences, not counted gains. Compare `from` before you compare changes.",
    `For people: ${page}`,
  ].join("\n");
}

/** The tools for series. */
export function seriesTools(): readonly Tool[] {
  return [seriesTool(), comparisonTool()];
}
