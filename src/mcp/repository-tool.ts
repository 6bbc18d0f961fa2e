import type { z } from "../schema.js";
import { detailUrl, referenceSchema } from "./reference.js";
import { type Detail, detailSchema, type growthSchema, output, WINDOWS } from "./repository-detail.js";
import { doubtsOf, rowOf } from "./rows.js";
import { DETAIL_TEXT, day, foreignText, freshness, number, percent, signed, table } from "./text.js";
import { askFor, type Tool, tool } from "./tool.js";

/** Most ranks, topics and doubts in a result. */
const MAX_LISTED = 12;
const REASON_TEXT = 200;

function growthOf(detail: Detail): z.output<typeof growthSchema>[] {
  return WINDOWS.flatMap((window) => {
    const trend = detail.trends[window];
    if (trend === null) return [];
    const { from, to, starsDelta, starsCounted, starsGrowth, forksCounted, basis } = trend;
    const { confidence, confidenceReasons, reliable, anomalies } = trend;
    const doubts = anomalies
      .filter(({ cleared }) => cleared === undefined)
      .slice(0, MAX_LISTED)
      .map(({ kind, measure, at, reason }) => ({
        kind,
        measure,
        at,
        reason: foreignText(reason, REASON_TEXT) ?? "",
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

/** The tool for one repository. */
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
