import { createHash } from "node:crypto";
import { isStale } from "../catalog/catalog.js";
import { ageInDays } from "../clock.js";
import { drawCard, drawRankBadge, drawStarsBadge, noteOn, rankWords, readHistory } from "../embeds/embeds.js";
import { content } from "../http/http.js";
import { rankingParameter, windowParameter } from "../lists/lists.js";
import type { RepositoryName } from "../page-addresses.js";
import { gainWords, RANK_LIMITS, type Rank, type Trend, WINDOWS } from "../rankings/rankings.js";
import { z } from "../schema.js";
import { getNamed, repositoryReference, themeParameter } from "./embed-parameters.js";
import { type ApiServices, errorResponses, operation } from "./operation.js";
import { pictureErrors, svg, svgResponse } from "./pictures.js";

const SCOPES = ["overall", "language"] as const;

const badgeQuery = z.object({
  repo: repositoryReference,
  kind: z.enum(["rank", "stars"]).default("rank"),
  ranking: rankingParameter,
  window: windowParameter,
  scope: z
    .enum(SCOPES)
    .default("overall")
    .openapi({ description: "language: among the repositories in its language." }),
  theme: themeParameter,
});

/** A repository with its growth and ranks. Throws NOT_FOUND. */
async function getStats({ modules, clock }: ApiServices, name: RepositoryName) {
  const { catalog, rankings } = modules;
  const [repository] = await getNamed(modules, [name]);
  if (repository === undefined) throw new Error("getNamed returned no repository");
  const [asOf = null, { trends, ranks }, recency] = await Promise.all([
    catalog.asOf(repository.provider),
    rankings.standing(repository.id),
    catalog.recency(),
  ]);
  const note = noteOn(repository, isStale(repository, recency));
  const age = { asOf, ageDays: ageInDays(asOf, clock.now()) };
  return { repository, trends, ranks, age, noted: note === undefined ? {} : { note } };
}

/** The stars gained in a trend, and what of them counts if that is not all; null: unknown. */
function gainOf(trend: Trend | null): { stars: number | null; counted?: string } {
  if (trend === null) return { stars: null };
  const words = gainWords(trend, "stars");
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
  summary: "A badge with a repository's rank, or with its stars",
  description:
    "Counts by address in the bucket embed. ranking and scope apply to kind=rank; the ranking by stars has no window. Errors are badges too, with their status.",
  params: null,
  query: badgeQuery,
  body: null,
  responses: { 200: svgResponse("The badge."), ...pictureErrors("VALIDATION_FAILED", "NOT_FOUND") },
  handle: async (request) => {
    const { repo, kind, ranking, window, scope, theme } = request.query;
    const { repository, ranks, trends, age, noted } = await getStats(request.services, repo);
    const { fullName, stars } = repository;
    if (kind === "stars") {
      const { stars: gained, ...counted } = gainOf(trends[window]);
      return svg(drawStarsBadge({ fullName, stars, gained, ...counted, window, ...age, ...noted }, theme));
    }
    const over = ranking === "stars" ? null : window;
    const language = scope === "language" ? (repository.language ?? "its language") : null;
    const rank = findRank(ranks, { ranking, window: over, name: language })?.position ?? null;
    const facts = {
      fullName,
      ranking,
      window: over,
      language,
      rank,
      depth: RANK_LIMITS[scope],
      ...age,
      ...noted,
    };
    return svg(drawRankBadge(facts, theme));
  },
});

/** The best rank of a repository; overall rather than by language if equal. */
function bestRank(ranks: readonly Rank[]): string | null {
  const candidates = ranks.filter(({ scope }) => scope === "overall" || scope === "language");
  const [best] = candidates.sort(
    (a, b) => a.position - b.position || Number(a.name !== null) - Number(b.name !== null),
  );
  return best === undefined ? null : rankWords({ ...best, rank: best.position, language: best.name });
}

export const getCard = operation({
  id: "getCard",
  tags: ["Embeds"],
  summary: "A social card of a repository, 1200 × 630",
  description:
    "Counts by address in the bucket embed. Cards wait in a queue to be rendered. The response is 503 with Retry-After when the caller has too many waiting, or when the wait would be too long.",
  params: null,
  query: z.object({ repo: repositoryReference }),
  body: null,
  responses: {
    200: {
      description: "The card.",
      content: { "image/png": { schema: z.string().openapi({ format: "binary" }) } },
    },
    ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
  },
  handle: async (request) => {
    const { modules, pictures } = request.services;
    const stats = await getStats(request.services, request.query.repo);
    const { points } = await readHistory(modules.catalog, stats.repository, {
      metric: "stars",
      window: "1y",
    });
    const gained = WINDOWS.map((window) => ({ window, ...gainOf(stats.trends[window]) }));
    const drawing = drawCard({
      ...stats.repository,
      gained,
      rank: bestRank(stats.ranks),
      points,
      ...stats.age,
      ...stats.noted,
    });
    const png = new Uint8Array(await request.http.offThread(() => pictures.render(drawing)));
    // Strong, so that the picture is not compressed again.
    const etag = `"${createHash("sha256").update(png).digest("base64url").slice(0, 22)}"`;
    return content("image/png", png, { headers: { Vary: "Accept-Encoding", ETag: etag } });
  },
});
