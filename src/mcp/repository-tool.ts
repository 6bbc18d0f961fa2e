import { z } from "../lib/schema.js";
import { doubtsOf, freshnessOutput, repositorySchema, rowOf, rowSchema, trendSchema } from "./rows.js";
import { DETAIL_TEXT, day, foreignText, freshness, number, percent, signed, table } from "./text.js";
import { askFor, detailUrl, referenceSchema, type Tool, tool } from "./tool.js";

/** Most ranks, topics and doubts in a result. */
const MAX_LISTED = 12;
const REASON_TEXT = 200;

const WINDOWS = ["24h", "7d", "30d"] as const;

const doubtSchema = z.object({ kind: z.string(), measure: z.string(), at: z.string(), reason: z.string() });
const explainedTrend = trendSchema.extend({
  anomalies: z.array(doubtSchema.extend({ cleared: z.unknown().optional() })),
});

const detailSchema = z.object({
  data: repositorySchema.omit({ trend: true }).extend({
    asOf: z.string().nullable(),
    ageDays: z.number().nullable(),
    homepage: z.string().nullable(),
    license: z.string().nullable(),
    topics: z.array(z.string()),
    openIssues: z.number().nullable(),
    watchers: z.number().nullable(),
    createdAt: z.string().nullable(),
    pushedAt: z.string().nullable(),
    refreshedAt: z.string().nullable(),
    trends: z.object({
      "24h": explainedTrend.nullable(),
      "7d": explainedTrend.nullable(),
      "30d": explainedTrend.nullable(),
    }),
    ranks: z.array(
      z.object({
        ranking: z.string(),
        window: z.string().nullable(),
        scope: z.string(),
        name: z.string().nullable(),
        position: z.number(),
      }),
    ),
    previousFullNames: z.array(z.string()),
    dataQuality: z.object({
      snapshots: z.number(),
      firstSnapshotAt: z.string().nullable(),
      lastSnapshotAt: z.string().nullable(),
    }),
  }),
});
type Detail = z.output<typeof detailSchema>["data"];

const nullableNumber = z.number().nullable();

const growthSchema = z.object({
  window: z.enum(WINDOWS),
  from: z.string().describe("When the earlier snapshot compared was taken."),
  to: z.string(),
  starsGained: z.number().describe("The counted gain: without bursts and other doubtful movements."),
  starsChange: z.number().describe("The plain difference."),
  growthPercent: nullableNumber,
  forksGained: nullableNumber,
  countsRetainedStars: z
    .boolean()
    .describe("true: compares stars still held, as the forge reported them later, instead of totals."),
  confidence: z.number().describe("How well the growth is measured, from 0 to 1."),
  confidenceReasons: z.array(z.string()),
  reliable: z.boolean(),
  doubts: z.array(doubtSchema),
});

const output = z.object({
  ...rowSchema.pick({
    id: true,
    repository: true,
    url: true,
    page: true,
    description: true,
    language: true,
    stars: true,
    forks: true,
    doubts: true,
  }).shape,
  ...freshnessOutput,
  license: z.string().nullable(),
  topics: z.array(z.string()),
  openIssues: nullableNumber,
  watchers: nullableNumber,
  createdAt: z.string().nullable(),
  pushedAt: z.string().nullable(),
  countedAt: z.string().nullable().describe("When the counts were true."),
  growth: z.array(growthSchema).describe("One for each window with two comparable snapshots."),
  ranks: z.array(z.string()).describe("Its best positions, in words."),
  previousNames: z.array(z.string()),
  snapshots: z.object({ stored: z.number(), firstAt: z.string().nullable(), lastAt: z.string().nullable() }),
});

/** The tool for one repository: counts, growth, doubts, ranks and facts. */
export function repositoryTool(): Tool {
  return tool({
    name: "get_repository",
    title: "One repository",
    description:
      "Counts, growth over 24h, 7d and 30d with its confidence and what throws doubt on it, ranks, names and facts of one repository. Use it before you call growth real.",
    input: { repository: referenceSchema },
    required: ["repository"],
    output,
    run: async ({ repository }, { ask, baseUrl }) => {
      const request = { method: "GET", url: detailUrl(repository) } as const;
      const { data } = await askFor(ask, request, detailSchema);
      const result = resultOf(data, baseUrl);
      return { data: result, text: textOf(result) };
    },
  });
}

function growthOf(detail: Detail): z.output<typeof growthSchema>[] {
  return WINDOWS.flatMap((window) => {
    const trend = detail.trends[window];
    if (trend === null) return [];
    const { from, to, starsDelta, starsCounted, starsGrowth, forksCounted, basis } = trend;
    const { confidence, confidenceReasons, reliable, anomalies } = trend;
    const doubts = anomalies
      .filter(({ cleared }) => cleared === undefined)
      .slice(0, MAX_LISTED)
      .map(({ cleared: _, ...doubt }) => ({
        ...doubt,
        reason: foreignText(doubt.reason, REASON_TEXT) ?? "",
      }));
    return {
      window,
      from,
      to,
      starsGained: starsCounted,
      starsChange: starsDelta,
      growthPercent: percent(starsGrowth),
      forksGained: forksCounted,
      countsRetainedStars: basis === "RETAINED",
      confidence,
      confidenceReasons: confidenceReasons.slice(0, MAX_LISTED),
      reliable,
      doubts,
    };
  });
}

/** The best ranks in words, such as `3 in trending over 7d, language Rust`. */
function ranksOf({ ranks }: Detail): string[] {
  return [...ranks]
    .sort((a, b) => a.position - b.position)
    .slice(0, MAX_LISTED)
    .map(({ ranking, window, scope, name, position }) => {
      const over = window === null ? "" : ` over ${window}`;
      const within = scope === "overall" ? "overall" : `${scope} ${foreignText(name, 60)}`;
      return `${position} in ${ranking}${over}, ${within}`;
    });
}

function resultOf(detail: Detail, baseUrl: string): z.output<typeof output> {
  const { trends, asOf, ageDays, dataQuality } = detail;
  const row = rowOf({ ...detail, trend: trends["7d"] ?? trends["30d"] ?? trends["24h"] }, baseUrl);
  const { id, repository, url, page, language, stars, forks, doubts } = row;
  return {
    id,
    repository,
    url,
    page,
    description: foreignText(detail.description, DETAIL_TEXT),
    language,
    stars,
    forks,
    doubts: [...new Set([...doubts, ...WINDOWS.flatMap((window) => doubtsOf(trends[window]))])],
    asOf,
    ageDays,
    license: foreignText(detail.license, 100),
    topics: detail.topics.slice(0, MAX_LISTED).flatMap((topic) => foreignText(topic, 60) ?? []),
    openIssues: detail.openIssues,
    watchers: detail.watchers,
    createdAt: detail.createdAt,
    pushedAt: detail.pushedAt,
    countedAt: detail.refreshedAt,
    growth: growthOf(detail),
    ranks: ranksOf(detail),
    previousNames: detail.previousFullNames
      .slice(0, MAX_LISTED)
      .flatMap((name) => foreignText(name, 400) ?? []),
    snapshots: {
      stored: dataQuality.snapshots,
      firstAt: dataQuality.firstSnapshotAt,
      lastAt: dataQuality.lastSnapshotAt,
    },
  };
}

function textOf(result: z.output<typeof output>): string {
  const { repository, description, growth, ranks, topics, snapshots, doubts } = result;
  const known = (label: string, value: number | null) =>
    value === null ? [] : [`${number(value)} ${label}`];
  const counts = [
    ...known("stars", result.stars),
    ...known("forks", result.forks),
    ...known("open issues", result.openIssues),
    ...known("watchers", result.watchers),
  ].join(", ");
  const head = [
    "window",
    "stars gained (counted)",
    "plain change",
    "change in %",
    "forks gained",
    "confidence 0-1",
    "reliable",
  ];
  const rows = growth.map((one) => [
    one.window,
    one.starsGained,
    signed(one.starsChange),
    one.growthPercent,
    one.forksGained,
    one.confidence,
    one.reliable ? "yes" : "no",
  ]);
  const why = growth.flatMap(({ window, doubts: found, confidenceReasons }) => [
    ...found.map(
      ({ kind, measure, at, reason }) => `${window}: ${kind} of ${measure} on ${day(at)}: ${reason}`,
    ),
    ...(confidenceReasons.length === 0
      ? []
      : [`${window}: confidence lowered: ${confidenceReasons.join("; ")}`]),
  ]);
  return [
    `${repository}: ${counts || "no counts"}. ${freshness(result)}`,
    ...(description === null ? [] : [`Description (by its owner): ${description}`]),
    [
      `Language ${result.language ?? "unknown"}`,
      `license ${result.license ?? "unknown"}`,
      `created ${result.createdAt === null ? "unknown" : day(result.createdAt)}`,
      `last push ${result.pushedAt === null ? "unknown" : day(result.pushedAt)}`,
      ...(topics.length === 0 ? [] : [`topics ${topics.join(", ")}`]),
    ].join("; "),
    ...(growth.length === 0 ? ["Growth: fewer than two comparable snapshots."] : ["", table(head, rows), ""]),
    `Doubts: ${doubts.join(", ") || "none known"}`,
    ...why,
    ...(ranks.length === 0 ? [] : [`Ranks: ${ranks.join("; ")}`]),
    `Measured ${number(snapshots.stored)} times${snapshots.firstAt === null ? "" : ` since ${day(snapshots.firstAt)}`}.`,
    `Page: ${result.page} Forge: ${result.url}`,
  ].join("\n");
}
