/** The tool for single repositories: counts, growth, doubts, ranks and facts. */
import { getRepositoryByFullName, readDetail, renamedView } from "../api/api.js";
import { WINDOWS, type Window } from "../growth/growth.js";
import { z } from "../lib/schema.js";
import { doubtsOf, freshnessOutput, renamedOf, renamedText, rowOf, rowSchema } from "./lists.js";
import { findSome, MAX_TOGETHER, missingOutput, missingText, repositoriesArgument } from "./named.js";
import {
  type Columns,
  DETAIL_TEXT,
  day,
  foreignText,
  freshness,
  number,
  percent,
  signed,
  table,
} from "./text.js";
import { type Tool, tool } from "./tool.js";

/** Most ranks, topics and doubts in a result. */
const MAX_LISTED = 12;
const REASON_TEXT = 200;

const nullableNumber = z.number().nullable();
const nullableText = z.string().nullable();

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
  confidence: z.number().describe("How far the growth can be trusted, from 0 to 1."),
  confidenceReasons: z.array(z.string()),
  reliable: z.boolean(),
  doubts: z.array(z.object({ kind: z.string(), measure: z.string(), at: z.string(), reason: z.string() })),
});

const { id, repository, renamedFrom, url, page, description, language, stars, forks, doubts } =
  rowSchema.shape;
const detailSchema = z.object({
  ...{ id, repository, renamedFrom, url, page, description, language, stars, forks, doubts },
  ...freshnessOutput,
  license: nullableText,
  topics: z.array(z.string()),
  openIssues: nullableNumber,
  watchers: nullableNumber,
  createdAt: nullableText,
  pushedAt: nullableText,
  countedAt: nullableText.describe("When the counts were true."),
  growth: z.array(growthSchema).describe("One per window with two comparable snapshots."),
  ranks: z.array(z.string()).describe("Its best ranks, in words."),
  previousNames: z.array(z.string()),
  snapshots: z.object({ stored: z.number(), firstAt: nullableText, lastAt: nullableText }),
});
type Result = z.output<typeof detailSchema>;
type Detail = Awaited<ReturnType<typeof readDetail>>;

export const repositoryTool: Tool = tool({
  name: "get_repositories",
  title: "Repositories in detail",
  description: `Counts, growth over 24h, 7d and 30d with its confidence and doubts, ranks, names and facts of 1 to ${MAX_TOGETHER} repositories. Use it before you call growth real.`,
  args: z.object({ repositories: repositoriesArgument(1, MAX_TOGETHER) }),
  output: z.object({ repositories: z.array(detailSchema), ...missingOutput }),
  operation: getRepositoryByFullName,
  surcharge: { parameter: "repo", counts: "values", included: 1, step: 1, most: MAX_TOGETHER },
  run: async ({ repositories: given }, { services }) => {
    const { catalog } = services.modules;
    const repositories: Result[] = [];
    const { found, missing } = await findSome(services.modules, given);
    for (const { id, renamedFrom } of found) {
      const described = await catalog.describeById(id);
      if (described === undefined) continue;
      const detail = await readDetail(described, { services, query: { explain: "false", window: "7d" } });
      repositories.push(resultOf({ ...detail, ...renamedView(renamedFrom) }, services.config.baseUrl));
    }
    const texts = repositories.map(textOf);
    if (missing.length > 0) texts.push(missingText(missing));
    return { data: { repositories, missing }, text: texts.join("\n\n") };
  },
});

function growthOf(trend: Detail["trends"][Window]): z.output<typeof growthSchema>[] {
  if (trend === null) return [];
  const { window, from, to, starsDelta, starsCounted, starsGrowth, forksCounted, basis } = trend;
  const { confidence, confidenceReasons, reliable, anomalies } = trend;
  const doubts = anomalies.filter(({ cleared }) => cleared === undefined).slice(0, MAX_LISTED);
  return [
    {
      ...{ window, from, to, confidence, reliable },
      starsGained: starsCounted,
      starsChange: starsDelta,
      growthPercent: percent(starsGrowth),
      forksGained: forksCounted,
      countsRetainedStars: basis === "RETAINED",
      confidenceReasons: confidenceReasons.slice(0, MAX_LISTED),
      doubts: doubts.map(({ kind, measure, at, reason }) => ({
        ...{ kind, measure, at },
        reason: foreignText(reason, REASON_TEXT) ?? "",
      })),
    },
  ];
}

/** The best ranks in words, such as `3 in trending over 7d, language Rust`. */
function ranksOf({ ranks }: Detail): string[] {
  const best = ranks.toSorted((a, b) => a.position - b.position).slice(0, MAX_LISTED);
  return best.map(({ ranking, window, scope, name, position }) => {
    const over = window === null ? "" : ` over ${window}`;
    const within = scope === "overall" ? "overall" : `${scope} ${foreignText(name, 60)}`;
    return `${position} in ${ranking}${over}, ${within}`;
  });
}

function resultOf(detail: Detail, baseUrl: string): Result {
  const { trends, asOf, ageDays, dataQuality, openIssues, watchers, createdAt, pushedAt } = detail;
  const row = rowOf({ ...detail, trend: trends["7d"] ?? trends["30d"] ?? trends["24h"] }, baseUrl);
  const { id, repository, url, page, language, stars, forks, doubts } = row;
  const listed = (texts: readonly string[], length: number) =>
    texts.slice(0, MAX_LISTED).flatMap((text) => foreignText(text, length) ?? []);
  return {
    ...{ id, repository, url, page, language, stars, forks },
    ...renamedOf(row),
    ...{ asOf, ageDays, openIssues, watchers, createdAt, pushedAt },
    description: foreignText(detail.description, DETAIL_TEXT),
    doubts: [...new Set([...doubts, ...WINDOWS.flatMap((window) => doubtsOf(trends[window]))])],
    license: foreignText(detail.license, 100),
    topics: listed(detail.topics, 60),
    countedAt: detail.refreshedAt,
    growth: WINDOWS.flatMap((window) => growthOf(trends[window])),
    ranks: ranksOf(detail),
    previousNames: listed(detail.previousFullNames, 400),
    snapshots: {
      stored: dataQuality.snapshots,
      firstAt: dataQuality.firstSnapshotAt,
      lastAt: dataQuality.lastSnapshotAt,
    },
  };
}

const COLUMNS: Columns<Result["growth"][number]> = {
  window: ({ window }) => window,
  "stars gained (counted)": ({ starsGained }) => starsGained,
  "plain change": ({ starsChange }) => signed(starsChange),
  "change in %": ({ growthPercent }) => growthPercent,
  "forks gained": ({ forksGained }) => forksGained,
  "confidence 0-1": ({ confidence }) => confidence,
  reliable: ({ reliable }) => (reliable ? "yes" : "no"),
};

function textOf(result: Result): string {
  const { repository, description, growth, ranks, topics, snapshots, doubts } = result;
  const counts = [
    [result.stars, "stars"],
    [result.forks, "forks"],
    [result.openIssues, "open issues"],
    [result.watchers, "watchers"],
  ].flatMap(([value, label]) => (typeof value === "number" ? `${number(value)} ${label}` : []));
  const why = growth.flatMap(({ window, doubts: found, confidenceReasons }) => [
    ...found.map(
      ({ kind, measure, at, reason }) => `${window}: ${kind} of ${measure} on ${day(at)}: ${reason}`,
    ),
    ...(confidenceReasons.length === 0
      ? []
      : [`${window}: confidence lowered: ${confidenceReasons.join("; ")}`]),
  ]);
  const { createdAt, pushedAt } = result;
  return [
    ...renamedText(result),
    `${repository}: ${counts.join(", ") || "no counts"}. ${freshness(result)}`,
    ...(description === null ? [] : [`Description (by its owner): ${description}`]),
    [
      `Language ${result.language ?? "unknown"}`,
      `license ${result.license ?? "unknown"}`,
      `created ${createdAt === null ? "unknown" : day(createdAt)}`,
      `last push ${pushedAt === null ? "unknown" : day(pushedAt)}`,
      ...(topics.length === 0 ? [] : [`topics ${topics.join(", ")}`]),
    ].join("; "),
    ...(growth.length === 0
      ? ["Growth: fewer than two comparable snapshots."]
      : ["", table(growth, COLUMNS), ""]),
    `Doubts: ${doubts.join(", ") || "none known"}`,
    ...why,
    ...(ranks.length === 0 ? [] : [`Ranks: ${ranks.join("; ")}`]),
    `Measured ${number(snapshots.stored)} times${snapshots.firstAt === null ? "" : ` since ${day(snapshots.firstAt)}`}.`,
    `Page: ${result.page} Forge: ${result.url}`,
  ].join("\n");
}
