import { createHash } from "node:crypto";
import { createRoute, z } from "@hono/zod-openapi";
import type { Repository } from "../catalog/catalog.js";
import {
  drawCard,
  drawRankBadge,
  drawStarsBadge,
  type Named,
  rankWords,
  readHistory,
  UNREACHABLE,
} from "../embeds/embeds.js";
import { windowParameter } from "../lists/lists.js";
import type { Modules } from "../modules.js";
import { RANK_LIMITS, RANKINGS, type Rank, WINDOWS } from "../rankings/rankings.js";
import { findNamed, repositoryReference, themeParameter } from "./embed-parameters.js";
import { endpoint, errorResponses } from "./endpoint.js";
import { EMBED_CACHE, FREE, pictureErrors, svgAnswer, svgResponse } from "./pictures.js";

const SCOPES = ["overall", "language"] as const;

const badgeQuery = z.object({
  repo: repositoryReference,
  kind: z.enum(["rank", "stars"]).default("rank"),
  ranking: z.enum(RANKINGS).default("trending"),
  window: windowParameter,
  scope: z.enum(SCOPES).default("overall").openapi({ description: "language: among those in its language." }),
  theme: themeParameter,
});

/** A repository with its growth and its places. Throws NOT_FOUND. */
async function readStanding(modules: Modules, name: Named) {
  const { catalog, rankings } = modules;
  const [repository] = await findNamed(modules, [name]);
  if (repository === undefined) throw new Error("a name that was found stands for a repository");
  const [asOf, trends, ranks] = await Promise.all([
    catalog.asOf(repository.provider),
    rankings.trendsOf(repository.id),
    rankings.ranks(repository.id),
  ]);
  return { repository, asOf: asOf ?? null, trends, ranks };
}

/** What a reader must know of it before its numbers. */
function noteOn({ availability }: Repository): { note?: string } {
  return availability === "AVAILABLE" ? {} : { note: UNREACHABLE[availability] };
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
    const { repository, asOf, ranks, trends } = await context.var.gate.pass(() =>
      readStanding(context.var.modules, repo),
    );
    const { fullName, stars } = repository;
    const note = noteOn(repository);
    if (kind === "stars") {
      const gained = trends[window]?.starsDelta ?? null;
      return svgAnswer(
        context,
        drawStarsBadge({ fullName, stars, gained, window, asOf, ...note }, theme),
      ) as never;
    }
    const over = ranking === "stars" ? null : window;
    const language = scope === "language" ? (repository.language ?? "its language") : null;
    const position = placeIn(ranks, ranking, over, language)?.position ?? null;
    const facts = {
      fullName,
      ranking,
      window: over,
      language,
      position,
      places: RANK_LIMITS[scope],
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
    const { modules, gate, pictures } = context.var;
    const svg = await gate.pass(async () => {
      const standing = await readStanding(modules, context.req.valid("query").repo);
      const { points, asOf } = await readHistory(modules.catalog, standing.repository, "stars", "1y");
      const gained = WINDOWS.map((window) => ({
        window,
        stars: standing.trends[window]?.starsDelta ?? null,
      }));
      return drawCard({
        ...standing.repository,
        gained,
        rank: bestRank(standing.ranks),
        points,
        asOf,
        ...noteOn(standing.repository),
      });
    });
    const png = new Uint8Array(await pictures.render(svg));
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
