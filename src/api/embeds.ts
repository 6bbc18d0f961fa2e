import { createHash } from "node:crypto";
import { createRoute, z } from "@hono/zod-openapi";
import { AVAILABILITIES, type Repository, SNAPSHOT_SOURCES } from "../catalog/catalog.js";
import { DAY_MS, isoTime } from "../clock.js";
import {
  ALIGNMENTS,
  drawCard,
  drawHistories,
  drawRankBadge,
  drawStarsBadge,
  type History,
  METRICS,
  newestOf,
  pageAddress,
  RANGES,
  rankWords,
  readHistory,
  SCALES,
  snippetsOf,
  titleOf,
  UNREACHABLE,
} from "../embeds/embeds.js";
import { windowParameter } from "../lists/lists.js";
import { PLACES, RANKINGS, type Rank, WINDOWS } from "../rankings/rankings.js";
import {
  type ChartQuery,
  chartAddress,
  chartQuery,
  findNamed,
  repositoryReference,
  themeParameter,
} from "./embed-parameters.js";
import { type ApiContext, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { EMBED_CACHE, pictureErrors, svgAnswer, svgResponse } from "./pictures.js";

/** Pictures cost nothing, as those who see them did not ask for them; what each takes is bounded. */
const FREE = { bucket: "default", isFree: true } as const;

async function readHistories(context: ApiContext, { repo, metric, range }: ChartQuery): Promise<History[]> {
  const { modules } = context.var;
  const repositories = await findNamed(modules, repo);
  return Promise.all(repositories.map((one) => readHistory(modules.catalog, one, metric, range)));
}

export const getChart = endpoint(
  createRoute({
    method: "get",
    path: "/api/embed/chart.svg",
    operationId: "getChart",
    tags: ["Embeds"],
    summary: "A chart of one to six repositories, as a picture for any page",
    description:
      "Free of charge. Errors are pictures too, with their status; a repository with fewer than two snapshots gets one that says since when it is known.",
    request: { query: chartQuery },
    responses: { 200: svgResponse("The chart."), ...pictureErrors("VALIDATION_FAILED", "NOT_FOUND") },
  }),
  async (context) => {
    const query = context.req.valid("query");
    const histories = await readHistories(context, query);
    return svgAnswer(context, drawHistories(histories, query)) as never;
  },
  FREE,
);

const time = z.iso.datetime({ precision: 3 });

const chartSchema = z
  .object({
    title: z.string(),
    metric: z.enum(METRICS),
    range: z.enum(RANGES),
    scale: z.enum(SCALES),
    align: z.enum(ALIGNMENTS),
    series: z.array(
      z.object({
        repositoryId: z.string().regex(/^[1-9][0-9]{0,18}$/),
        provider: z.string(),
        fullName: z.string(),
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
            description: "Oldest first; the last snapshot of each hour, day or week where there are many.",
          }),
        gaps: z.array(z.object({ from: time, to: time, missing: z.int() })),
        from: time.nullable(),
        to: time.nullable(),
        gained: z.int().nullable().openapi({ description: "null where there are not two points." }),
      }),
    ),
    svgUrl: z.string(),
    pageUrl: z.string(),
    snippets: z.object({ markdown: z.string(), html: z.string() }),
    asOf: time.nullable(),
  })
  .openapi("Chart");

function seriesView({ repository, points, gaps, bornAt }: History, align: ChartQuery["align"]) {
  const [first, last] = [points[0], points.at(-1)];
  const ageDays = (at: number) => Math.round(((at - (bornAt ?? at)) / DAY_MS) * 100) / 100;
  return {
    repositoryId: String(repository.id),
    provider: repository.provider,
    fullName: repository.fullName,
    availability: repository.availability,
    points: points.map(({ at, value, source }) => ({
      at: isoTime(at),
      ageDays: align === "age" ? ageDays(at) : null,
      value,
      source,
    })),
    gaps: gaps.map(({ from, to, missing }) => ({ from: isoTime(from), to: isoTime(to), missing })),
    from: first === undefined ? null : isoTime(first.at),
    to: last === undefined ? null : isoTime(last.at),
    gained: first === undefined || last === undefined || points.length < 2 ? null : last.value - first.value,
  };
}

export const getChartData = endpoint(
  createRoute({
    method: "get",
    path: "/api/embed/chart",
    operationId: "getChartData",
    tags: ["Embeds"],
    summary: "What a chart shows, as data, with what is pasted to show it",
    description: "The same parameters as the picture. Free of charge.",
    request: { query: chartQuery },
    responses: {
      200: dataResponse("The chart.", chartSchema),
      ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const query = context.req.valid("query");
    const { metric, range, scale, align, width, height } = query;
    const { baseUrl } = context.var.config;
    const histories = await readHistories(context, query);
    const repositories = histories.map(({ repository }) => repository);
    const title = titleOf(histories, query);
    const svgUrl = chartAddress(baseUrl, repositories, query);
    const pageUrl = pageAddress(baseUrl, repositories);
    const asOf = newestOf(histories);
    context.header("Cache-Control", EMBED_CACHE);
    const data = {
      title,
      metric,
      range,
      scale,
      align,
      series: histories.map((history) => seriesView(history, align)),
      svgUrl,
      pageUrl,
      snippets: snippetsOf({ image: svgUrl, page: pageUrl, alt: title, width, height }),
      asOf: asOf === null ? null : isoTime(asOf),
    };
    return context.json({ data }, 200);
  },
  FREE,
);

const SCOPES = ["overall", "language"] as const;

const badgeQuery = z.object({
  repo: repositoryReference,
  kind: z.enum(["rank", "stars"]).default("rank"),
  ranking: z.enum(RANKINGS).default("trending"),
  window: windowParameter,
  scope: z.enum(SCOPES).default("overall").openapi({ description: "language: among those in its language." }),
  theme: themeParameter,
});

/** The only one of the repositories a name stands for. */
async function findOne(context: ApiContext, name: z.output<typeof repositoryReference>): Promise<Repository> {
  const [repository] = await findNamed(context.var.modules, [name]);
  if (repository === undefined) throw new Error("a name that was found stands for a repository");
  return repository;
}

function placeIn(
  ranks: readonly Rank[],
  ranking: Rank["ranking"],
  window: Rank["window"],
  name: string | null,
) {
  const scope = name === null ? "overall" : "language";
  return ranks.find(
    (rank) =>
      rank.ranking === ranking && rank.window === window && rank.scope === scope && rank.name === name,
  );
}

export const getBadge = endpoint(
  createRoute({
    method: "get",
    path: "/api/embed/badge.svg",
    operationId: "getBadge",
    tags: ["Embeds"],
    summary: "A badge with a repository's place in a ranking, or with its stars",
    description:
      "Free of charge. ranking and scope are of kind=rank; the ranking by stars has no window. Errors are badges too, with their status.",
    request: { query: badgeQuery },
    responses: { 200: svgResponse("The badge."), ...pictureErrors("VALIDATION_FAILED", "NOT_FOUND") },
  }),
  async (context) => {
    const { repo, kind, ranking, window, scope, theme } = context.req.valid("query");
    const { catalog, rankings } = context.var.modules;
    const repository = await findOne(context, repo);
    const { id, provider, fullName, stars, availability } = repository;
    const asOf = (await catalog.asOf(provider)) ?? null;
    const note = availability === "AVAILABLE" ? {} : { note: UNREACHABLE[availability] };
    if (kind === "stars") {
      const gained = (await rankings.trendsOf(id))[window]?.starsDelta ?? null;
      return svgAnswer(
        context,
        drawStarsBadge({ fullName, stars, gained, window, asOf, ...note }, theme),
      ) as never;
    }
    const over = ranking === "stars" ? null : window;
    const language = scope === "language" ? (repository.language ?? "its language") : null;
    const position = placeIn(await rankings.ranks(id), ranking, over, language)?.position ?? null;
    const facts = {
      fullName,
      ranking,
      window: over,
      language,
      position,
      places: PLACES[scope],
      asOf,
      ...note,
    };
    return svgAnswer(context, drawRankBadge(facts, theme)) as never;
  },
  FREE,
);

/** The place that says most for a repository: the one furthest up, overall where equal. */
function bestRank(ranks: readonly Rank[]): string | null {
  const told = ranks.filter(({ scope }) => scope === "overall" || scope === "language");
  const [best] = told.sort(
    (a, b) => a.position - b.position || Number(a.name !== null) - Number(b.name !== null),
  );
  return best === undefined ? null : rankWords({ ...best, language: best.name });
}

export const getCard = endpoint(
  createRoute({
    method: "get",
    path: "/api/embed/card.png",
    operationId: "getCard",
    tags: ["Embeds"],
    summary: "A card of a repository, 1200 × 630, for pages that show links",
    description:
      "Free of charge. So many are made at a time; beyond that the answer is 503 with Retry-After.",
    request: { query: z.object({ repo: repositoryReference }) },
    responses: {
      200: {
        description: "The card.",
        content: { "image/png": { schema: z.string().openapi({ format: "binary" }) } },
      },
      ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const { catalog, rankings } = context.var.modules;
    const repository = await findOne(context, context.req.valid("query").repo);
    const [history, trends, ranks] = await Promise.all([
      readHistory(catalog, repository, "stars", "1y"),
      rankings.trendsOf(repository.id),
      rankings.ranks(repository.id),
    ]);
    const svg = drawCard({
      ...repository,
      gained: WINDOWS.map((window) => ({ window, stars: trends[window]?.starsDelta ?? null })),
      rank: bestRank(ranks),
      points: history.points,
      asOf: history.asOf,
    });
    const png = new Uint8Array(await context.var.pictures.render(svg));
    // Strong, so that it is not compressed once more.
    const etag = `"${createHash("sha256").update(png).digest("base64url").slice(0, 22)}"`;
    return context.body(png, 200, {
      "Content-Type": "image/png",
      "Cache-Control": EMBED_CACHE,
      Vary: "Accept-Encoding",
      ETag: etag,
    }) as never;
  },
  FREE,
);
