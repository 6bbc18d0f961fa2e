import {
  type BadgeFact,
  bestPlace,
  chartPoints,
  dayGains,
  drawFactBadge,
  headlineOf,
  LEAST_RANKED,
  milestonesOf,
  noteOn,
  notesOf,
  pageCard,
  rankWords,
  readHistory,
  repositoryCard,
  strongest,
} from "../charts/charts.js";
import { RANK_LIMITS, type Rank, rankingParameter, windowParameter } from "../discovery/discovery.js";
import { endOfGrowth, gainWords, type Trend, WINDOWS, type Window } from "../growth/growth.js";
import { pngReply } from "../http/http.js";
import { ageInDays } from "../lib/clock.js";
import { publicHost } from "../lib/host-names.js";
import type { RepositoryName } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import { isStale } from "../repositories/repositories.js";
import { getNamed, repositoryReference, themeParameter, whileRead } from "./embed-parameters.js";
import { type ApiServices, BINARY, operation } from "./operation.js";
import { READING_CACHE, svg, svgResponse } from "./pictures.js";

const SCOPES = ["overall", "language"] as const;
const BADGE_KINDS = ["rank", "stars", "gain", "trending"] as const;

const badgeQuery = z.object({
  repo: repositoryReference,
  kind: z.enum(BADGE_KINDS).default("rank"),
  ranking: rankingParameter,
  window: windowParameter,
  scope: z
    .enum(SCOPES)
    .default("overall")
    .openapi({ description: "language: among the repositories in its language." }),
  theme: themeParameter,
  label: z
    .string()
    .max(40)
    .optional()
    .openapi({ description: "Instead of the text at the left.", example: "my rank" }),
});
type BadgeQuery = z.output<typeof badgeQuery>;

/** A repository with its growth and ranks. Throws NOT_FOUND. */
async function getStats({ modules, clock }: ApiServices, name: RepositoryName) {
  const { catalog, rankings } = modules;
  const [repository] = await getNamed(modules, [name]);
  if (repository === undefined) throw new Error("getNamed returned no repository");
  const [{ trends, ranks }, recency] = await Promise.all([
    rankings.standing(repository.id),
    catalog.recency(),
  ]);
  const note = noteOn(repository, isStale(repository, recency));
  const growth = Object.values(trends);
  const ageAt = (asOf: number | null) => ({
    ...{ asOf, ageDays: ageInDays(asOf, clock.now()) },
    ...(note === undefined ? {} : { note }),
  });
  const { countedAt } = repository;
  return {
    repository,
    trends,
    growth,
    ranks,
    counted: ageAt(countedAt),
    grown: ageAt(endOfGrowth(growth, countedAt)),
  };
}

/** The stars gained in a trend, and the part that counts if that is not all; null: unknown. */
function gainOf(trend: Trend | null): { stars: number | null; counted?: string } {
  if (trend === null) return { stars: null };
  const words = gainWords(trend);
  return { stars: trend.starsDelta, ...(words === undefined ? {} : { counted: words.short }) };
}

/** The rank overall, or in the language `name`. */
function findRank(
  ranks: readonly Rank[],
  { ranking, window, name }: Pick<Rank, "ranking" | "window" | "name">,
): Rank | undefined {
  const scope = name === null ? "overall" : "language";
  return ranks.find(
    (rank) =>
      rank.ranking === ranking && rank.window === window && rank.scope === scope && rank.name === name,
  );
}

export const getBadge = operation({
  id: "getBadge",
  tags: ["Embeds"],
  summary: "A badge with a repository's rank, stars or gain, or whether it is trending",
  description:
    "Counts by address in the bucket embed. ranking applies to kind=rank, scope also to trending; the ranking by stars has no window. Old data has its date. Errors are badges too, with status 200; callers that accept JSON get the status.",
  query: badgeQuery,
  responses: { 200: svgResponse("The badge.") },
  errors: ["NOT_FOUND"],
  handle: async ({ query, services }) => {
    const stats = await getStats(services, query.repo);
    const { theme, label } = query;
    const fact = factOf(stats, query);
    const isCount = fact.kind === "stars" || (fact.kind === "rank" && fact.window === null);
    const age = isCount ? stats.counted : stats.grown;
    const badge = drawFactBadge({ fullName: stats.repository.fullName, ...age, theme, label }, fact);
    return whileRead(services, [stats.repository], svg(badge));
  },
});

type Stats = Awaited<ReturnType<typeof getStats>>;

function factOf({ repository, ranks, trends }: Stats, query: BadgeQuery): BadgeFact {
  const { kind, ranking, window, scope } = query;
  if (kind === "stars") return { kind, stars: repository.stars };
  if (kind === "gain") {
    const { stars: gained, ...counted } = gainOf(trends[window]);
    return { kind, gained, ...counted, window };
  }
  const language = scope === "language" ? (repository.language ?? "its language") : null;
  const rankIn = (one: Pick<Rank, "ranking" | "window">) =>
    findRank(ranks, { ...one, name: language })?.position ?? null;
  if (kind === "trending") return { kind, window, language, rank: rankIn({ ranking: "trending", window }) };
  const named = { ranking, window: ranking === "stars" ? null : window };
  return { kind, ...named, language, depth: RANK_LIMITS[scope], rank: rankIn(named) };
}

/** The place that the page names, or else the best one by stars, overall rather than by language if equal. */
function bestRank(ranks: readonly Rank[], window: Window): string | null {
  const candidates = ranks.filter(
    ({ scope, ranking }) => (scope === "overall" || scope === "language") && ranking !== "forks-gained",
  );
  const [first] = candidates.sort(
    (a, b) => a.position - b.position || Number(a.name !== null) - Number(b.name !== null),
  );
  const best = bestPlace(candidates, window) ?? first;
  return best === undefined ? null : rankWords(best.position, { ...best, language: best.name });
}

const READING_LEAD = "Being read for the first time. Its stars are here in a moment.";

export const getCard = operation({
  id: "getCard",
  tags: ["Embeds"],
  summary: "A social card of a repository, 1200 × 630",
  description:
    "Counts by address in the bucket embed. Cards wait in a queue to be rendered. The response is 503 with Retry-After when the caller has too many waiting, or when the wait would be too long.",
  query: z.object({
    repo: repositoryReference,
    theme: z
      .enum(["light", "dark"])
      .default("light")
      .openapi({ description: "The colours of the card.", example: "dark" }),
  }),
  responses: {
    200: {
      description: "The card.",
      content: { "image/png": BINARY },
    },
  },
  errors: ["NOT_FOUND"],
  handle: async (request) => {
    const { modules, pictures, config } = request.services;
    const { repo, theme } = request.query;
    const look = { theme, site: publicHost(config.baseUrl) };
    if (
      (await modules.catalog.findByName(repo.provider, repo.fullName)) === undefined &&
      (await modules.trackRequests.isBeingRead(repo))
    ) {
      const card = pageCard({ ...look, title: repo.fullName, lead: READING_LEAD, rows: [], asOf: null });
      return pngReply(await pictures.render(card), { "Cache-Control": READING_CACHE });
    }
    const stats = await getStats(request.services, repo);
    const { stars, ...card } = await cardOf(modules, stats);
    const drawing = repositoryCard({ ...stats.repository, stars }, { ...look, ...card });
    return whileRead(request.services, [stats.repository], pngReply(await pictures.render(drawing)));
  },
});

/** The content of a card: the sentence of the page, the best rank, the gains, and the whole life. */
async function cardOf(modules: ApiServices["modules"], { repository, trends, growth, ...stats }: Stats) {
  const life = await readHistory(modules, repository, { metric: "stars", window: "all", trends: growth });
  const points = chartPoints(life.series, "stars");
  const passed = milestonesOf({ metric: "stars", align: "date", series: [{ points }] }).at(-1);
  const { repositories } = await modules.rankings.counters();
  const ranks = repositories < LEAST_RANKED ? [] : stats.ranks;
  const window = strongest(trends, ranks);
  const headline = headlineOf(trends[window], { days: dayGains(points), passed });
  const { note, ...age } = stats.grown;
  return {
    ...age,
    stars: points.at(-1)?.value ?? repository.stars,
    notes: [note, notesOf(life)].filter((one) => one !== undefined),
    headline: headline && `${headline.gain} ${headline.words}`.trim(),
    rank: bestRank(ranks, window),
    gained: WINDOWS.map((window) => ({ window, ...gainOf(trends[window]) })),
    life,
  };
}
