/** The tool for single repositories: counts, growth, doubts, ranks and facts. */
import { detailSchema, getRepositoryByFullName, readDetail, renamedView, trendSchema } from "../api/api.js";
import { WINDOWS, type Window } from "../growth/growth.js";
import { z } from "../lib/schema.js";
import { doubtsOf, freshnessOutput, rowOf, rowSchema } from "./lists.js";
import { findSome, missingOutput, repositoriesArgument } from "./named.js";
import { foreignText, MAX_TOGETHER, percent } from "./text.js";
import { type Tool, tool } from "./tool.js";

/** Characters of a description. */
const DETAIL_TEXT = 400;
/** Most ranks, topics and doubts in a result. */
const MAX_LISTED = 12;
const REASON_TEXT = 200;

const { window, from, to, confidenceReasons, reliable, anomalies } = trendSchema.shape;

const growthSchema = z.object({
  ...{ window, from, to },
  starsGained: z.number().describe("The counted gain: without bursts and other doubtful movements."),
  starsChange: z.number().describe("The plain difference."),
  growthPercent: z.number().nullable(),
  forksGained: z.number().nullable(),
  countsRetainedStars: z
    .boolean()
    .describe("true: begins in the star history of the forge, instead of at a total."),
  confidence: z.number().describe("How far the growth can be trusted, 0 to 1."),
  ...{ confidenceReasons, reliable },
  doubts: z.array(anomalies.element.pick({ kind: true, measure: true, at: true, reason: true })),
});

const { license, topics, openIssues, watchers, createdAt, pushedAt } = detailSchema.shape;
const { firstSnapshotAt, lastSnapshotAt } = detailSchema.shape.dataQuality.shape;
const { starsGained, starsChange, growthPercent, forksGained, confidence, ...facts } = rowSchema.shape;

const resultSchema = z.object({
  ...facts,
  ...freshnessOutput,
  ...{ license, topics, openIssues, watchers, createdAt, pushedAt },
  countedAt: z.string().nullable().describe("When the counts were true."),
  growth: z.array(growthSchema).describe("One per window with two comparable snapshots."),
  ranks: z.array(z.string()).describe("Its best ranks, in words."),
  history: z.string(),
  previousNames: z.array(z.string()),
  snapshots: z.object({ stored: z.number(), firstAt: firstSnapshotAt, lastAt: lastSnapshotAt }),
});
type Detail = Awaited<ReturnType<typeof readDetail>>;

export const repositoryTool: Tool = tool({
  name: "get_repositories",
  title: "Repositories in detail",
  description: `Counts, growth over 24h, 7d and 30d with its confidence and doubts, ranks, names and facts of 1 to ${MAX_TOGETHER} repositories. Use it before you call growth real.`,
  args: z.object({ repositories: repositoriesArgument(1, MAX_TOGETHER) }),
  output: z.object({ repositories: z.array(resultSchema), ...missingOutput }),
  operation: getRepositoryByFullName,
  surcharge: { parameter: "repo", counts: "values", included: 1, step: 1, most: MAX_TOGETHER },
  run: async ({ repositories: given }, { services }) => {
    const { catalog } = services.modules;
    const repositories: z.output<typeof resultSchema>[] = [];
    const { found, missing } = await findSome(services.modules, given);
    for (const { id, renamedFrom } of found) {
      const described = await catalog.describeById(id);
      if (described === undefined) continue;
      const detail = await readDetail(described, { services, query: { explain: "false", window: "7d" } });
      repositories.push(resultOf({ ...detail, ...renamedView(renamedFrom) }, services.config.baseUrl));
    }
    return { data: { repositories, missing } };
  },
});

function growthOf(trend: Detail["trends"][Window]): z.output<typeof growthSchema>[] {
  if (trend === null) return [];
  const doubts = trend.anomalies.slice(0, MAX_LISTED);
  return [
    {
      ...trend,
      starsGained: trend.starsCounted,
      starsChange: trend.starsDelta,
      growthPercent: percent(trend.starsGrowth),
      forksGained: trend.forksDelta,
      countsRetainedStars: trend.basis === "RETAINED",
      confidenceReasons: trend.confidenceReasons.slice(0, MAX_LISTED),
      doubts: doubts.map((one) => ({ ...one, reason: foreignText(one.reason, REASON_TEXT) ?? "" })),
    },
  ];
}

/** The best ranks in words, such as `3 in trending over 7d, language Rust`. */
function ranksOf({ ranks }: Detail): string[] {
  const best = ranks.toSorted((a, b) => a.position - b.position).slice(0, MAX_LISTED);
  return best.map(({ ranking, window, scope, name, position }) => {
    const over = window === null ? "" : ` over ${window}`;
    return `${position} in ${ranking}${over}, ${scope === "overall" ? scope : `${scope} ${name}`}`;
  });
}

function resultOf(detail: Detail, baseUrl: string): z.output<typeof resultSchema> {
  const { trends, dataQuality } = detail;
  const row = rowOf({ ...detail, trend: trends["7d"] ?? trends["30d"] ?? trends["24h"] }, baseUrl);
  return {
    ...detail,
    ...row,
    description: foreignText(detail.description, DETAIL_TEXT),
    doubts: [...new Set([...row.doubts, ...WINDOWS.flatMap((window) => doubtsOf(trends[window]))])],
    topics: detail.topics.slice(0, MAX_LISTED),
    countedAt: detail.refreshedAt,
    growth: WINDOWS.flatMap((window) => growthOf(trends[window])),
    ranks: ranksOf(detail),
    history: detail.history.state,
    previousNames: detail.previousFullNames.slice(0, MAX_LISTED),
    snapshots: {
      stored: dataQuality.snapshots,
      firstAt: dataQuality.firstSnapshotAt,
      lastAt: dataQuality.lastSnapshotAt,
    },
  };
}
