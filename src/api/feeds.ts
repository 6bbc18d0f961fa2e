import { createRoute, z } from "@hono/zod-openapi";
import { listPage, listQuery } from "../lists/lists.js";
import { WINDOWS } from "../rankings/rankings.js";
import { endpoint, errorResponses } from "./endpoint.js";
import { atomFeed, FEEDS, rankingOfFeed } from "./feed-document.js";
import { LIST_LIMIT } from "./repository-list.js";

/** The filters of a list. Without a window it is a week: daily changes of rank are more than people read. */
const feedQuery = listQuery.omit({ sort: true, order: true, page: true, cursor: true }).extend({
  window: z.enum(WINDOWS).default("7d").openapi({
    description: "The window over which growth is measured, and how often an entry comes again.",
  }),
});

const DEFAULT_LIMIT = feedQuery.shape.limit.parse(undefined);

export const getFeed = endpoint(
  createRoute({
    method: "get",
    path: "/api/feeds/{ranking}.atom",
    operationId: "getFeed",
    tags: ["Rankings"],
    summary: "A ranking as an Atom feed",
    description:
      "RFC 4287. A repository has one entry a day, week (from Monday) or month (UTC), for windows of 24h, 7d and 30d; its id and time stay the same until the next. In stars it has one for good.",
    request: {
      params: z.object({
        ranking: z
          .string()
          // The router's pattern takes the whole segment.
          .transform((segment) => segment.replace(/\.atom$/, ""))
          .pipe(z.enum(FEEDS))
          .openapi({ type: "string", enum: [...FEEDS] }),
      }),
      query: feedQuery,
    },
    responses: {
      200: { description: "The feed.", content: { "application/atom+xml": { schema: z.string() } } },
      ...errorResponses("VALIDATION_FAILED"),
    },
  }),
  async (context) => {
    const { modules, config } = context.var;
    const { ranking: feed } = context.req.valid("param");
    const { window, limit, ...filters } = context.req.valid("query");
    const sort = rankingOfFeed(feed);
    const page = await listPage(modules, { ...filters, window, limit, sort, order: "desc" });
    const request = { feed, filters, window, limit, defaultLimit: DEFAULT_LIMIT };
    const body = atomFeed({ ...request, baseUrl: config.baseUrl }, page);
    return context.body(body, 200, { "Content-Type": "application/atom+xml; charset=utf-8" });
  },
  { ...LIST_LIMIT, pattern: "/api/feeds/:ranking{[^/]+\\.atom}" },
);
