import {
  type BadgeFact,
  drawFactBadge,
  noteOn,
  notesOf,
  pageCard,
  rankWords,
  readHistory,
  repositoryCard,
} from "../charts/charts.js";
import { RANK_LIMITS, type Rank, rankingParameter, windowParameter } from "../discovery/discovery.js";
import { endOfGrowth, gainWords, type Trend, WINDOWS } from "../growth/growth.js";
import { pngReply } from "../http/http.js";
import { ageInDays } from "../lib/clock.js";
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

/** The best rank of a repository; overall rather than by language if equal. */
function bestRank(ranks: readonly Rank[]): string | null {
  const candidates = ranks.filter(({ scope }) => scope === "overall" || scope === "language");
  const [best] = candidates.sort(
    (a, b) => a.position - b.position || Number(a.name !== null) - Number(b.name !== null),
  );
  return best === undefined ? null : rankWords(best.position, { ...best, language: best.name });
}

const READING_LEAD = "Being read for the first time. Its stars are here in a moment.";

export const getCard = operation({
  id: "getCard",
  tags: ["Embeds"],
  summary: "A social card of a repository, 1200 × 630",
  description:
    "Counts by address in the bucket embed. Cards wait in a queue to be rendered. The response is 503 with Retry-After when the caller has too many waiting, or when the wait would be too long.",
  query: z.object({ repo: repositoryReference }),
  responses: {
    200: {
      description: "The card.",
      content: { "image/png": BINARY },
    },
  },
  errors: ["NOT_FOUND"],
  handle: async (request) => {
    const { modules, pictures } = request.services;
    const { repo } = request.query;
    if (
      (await modules.catalog.findByName(repo.provider, repo.fullName)) === undefined &&
      (await modules.trackRequests.isBeingRead(repo))
    ) {
      const card = pageCard({ title: repo.fullName, lead: READING_LEAD, rows: [], asOf: null });
      return pngReply(await pictures.render({ kind: "card", card }), { "Cache-Control": READING_CACHE });
    }
    const stats = await getStats(request.services, repo);
    const { repository, trends, growth, grown } = stats;
    const history = await readHistory(modules, repository, {
      ...{ metric: "stars", window: "1y", trends: growth },
    });
    const [{ points, gaps }, shown] = [history, notesOf(history)];
    const stars = points.at(-1)?.value ?? repository.stars;
    const gained = WINDOWS.map((window) => ({ window, ...gainOf(trends[window]) }));
    const rank = bestRank(stats.ranks);
    const card = repositoryCard({ ...repository, stars }, { gained, points, gaps, rank, shown, ...grown });
    const reply = pngReply(await pictures.render({ kind: "card", card }));
    return whileRead(request.services, [repository], reply);
  },
});
