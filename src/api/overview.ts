import { createRoute, z } from "@hono/zod-openapi";
import {
  count,
  EXACT_TOTAL,
  limitParameter,
  pageOffset,
  pageParameter,
  providerParameter,
  searchText,
  windowParameter,
} from "../lists/lists.js";
import { FACET_SORTS, type FacetKind } from "../rankings/rankings.js";
import { dataMetaResponse, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { linkPages } from "./repository-list.js";
import {
  facetSchema,
  facetView,
  pageMetaSchema,
  repositorySchema,
  repositoryView,
  summarySchema,
  summaryView,
} from "./views.js";

export const getSummary = endpoint(
  createRoute({
    method: "get",
    path: "/api/stats/summary",
    operationId: "getSummary",
    tags: ["Statistics"],
    summary: "Counters of the catalogue and of each provider",
    responses: { 200: dataResponse("The counters.", summarySchema), ...errorResponses() },
  }),
  async (context) => {
    const summary = await context.var.modules.rankings.summary();
    return context.json({ data: summaryView(summary, context.var.config.baseUrl) }, 200);
  },
  { bucket: "default" },
);

function facetEndpoint(kind: FacetKind, path: string, operationId: string, what: string) {
  return endpoint(
    createRoute({
      method: "get",
      path,
      operationId,
      tags: ["Facets"],
      summary: `The ${what} of listed repositories, the greatest first`,
      request: {
        query: z.object({
          provider: providerParameter.optional(),
          window: windowParameter,
          sort: z.enum(FACET_SORTS).default("repositories"),
          limit: limitParameter,
          page: pageParameter.openapi({
            description: "Number of the page. page × limit may be at most 10,000.",
          }),
        }),
      },
      responses: {
        200: dataMetaResponse(`A page of ${what}.`, z.array(facetSchema), pageMetaSchema),
        ...errorResponses("VALIDATION_FAILED"),
      },
    }),
    async (context) => {
      const { provider, window, sort, limit, page = 1 } = context.req.valid("query");
      const offset = pageOffset({ page, limit });
      const { facets, total, totalIsExact } = await context.var.modules.rankings.facets({
        kind,
        ...(provider === undefined ? {} : { provider }),
        window,
        sort,
        limit,
        offset,
      });
      const hasMore = offset + facets.length < total;
      const isReachable = hasMore && (page + 1) * limit <= EXACT_TOTAL;
      linkPages(context, { nextCursor: null, page, ...(isReachable ? { nextPage: page + 1 } : {}) });
      const meta = { page, limit, total, totalIsExact, hasMore, nextCursor: null };
      return context.json({ data: facets.map(facetView), meta }, 200);
    },
    { bucket: "default" },
  );
}

export const listLanguages = facetEndpoint("language", "/api/facets/languages", "listLanguages", "languages");
export const listTopics = facetEndpoint("topic", "/api/facets/topics", "listTopics", "topics");

const suggestedSchema = z.object({ name: z.string(), repositories: z.int() }).openapi("SuggestedFacet");

export const suggest = endpoint(
  createRoute({
    method: "get",
    path: "/api/search/suggest",
    operationId: "suggest",
    tags: ["Search"],
    summary: "Repositories, languages and topics that begin like this",
    description:
      "The beginning of a name, of an owner, of owner/name, or of a word inside a name. The popular ones first.",
    request: {
      query: z.object({
        q: searchText(64).default("").openapi({ description: "Empty: the popular ones." }),
        limit: count(1, 20).default(8).openapi({ description: "Of each kind.", default: 8 }),
      }),
    },
    responses: {
      200: dataResponse(
        "Suggestions of each kind.",
        z.object({
          repositories: z.array(
            repositorySchema.pick({
              id: true,
              provider: true,
              fullName: true,
              description: true,
              language: true,
              stars: true,
            }),
          ),
          languages: z.array(suggestedSchema),
          topics: z.array(suggestedSchema),
        }),
      ),
      ...errorResponses("VALIDATION_FAILED"),
    },
  }),
  async (context) => {
    const { q, limit } = context.req.valid("query");
    const { repositories, languages, topics } = await context.var.modules.search.suggest(q, limit);
    const data = {
      repositories: repositories.map((repository) => {
        const { id, provider, fullName, description, language, stars } = repositoryView(
          repository,
          undefined,
        );
        return { id, provider, fullName, description, language, stars };
      }),
      languages,
      topics,
    };
    return context.json({ data }, 200);
  },
  { bucket: "search" },
);
