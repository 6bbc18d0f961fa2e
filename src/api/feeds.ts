import { listPage, listQuery } from "../discovery/discovery.js";
import { WINDOWS } from "../growth/growth.js";
import { content } from "../http/http.js";
import { oneOf, z } from "../lib/schema.js";
import { atomFeed, FEEDS, feedResponse } from "./feed-document.js";
import { operation } from "./operation.js";

/** The filters of a list. The default window is a week: people do not read daily rank changes. */
export const feedQuery = listQuery.omit({ sort: true, order: true, page: true, cursor: true }).extend({
  window: z.enum(WINDOWS).default("7d").openapi({
    description: "The window over which growth is measured, and how often a repository gets a new entry.",
  }),
});

const DEFAULT_LIMIT = feedQuery.shape.limit.parse(undefined);

export const getFeed = operation({
  id: "getFeed",
  tags: ["Rankings"],
  summary: "A ranking as an Atom feed",
  description:
    "RFC 4287. A repository has one entry a day, week (from Monday) or month (UTC), for windows of 24h, 7d and 30d; its id and time stay the same until the next. The stars feed keeps one permanent entry.",
  params: z.object({
    ranking: z
      .string()
      // The parameter is the whole segment.
      .transform((segment) => segment.replace(/\.atom$/, ""))
      .pipe(oneOf(FEEDS))
      .openapi({ type: "string", enum: [...FEEDS] }),
  }),
  query: feedQuery,
  responses: { 200: feedResponse },
  handle: async ({ params: { ranking: feed }, query, services: { modules, config } }) => {
    const { window, limit, ...filters } = query;
    const ranked = { ...filters, window, limit, sort: feed, order: "desc" } as const;
    const page = await listPage(modules, ranked);
    const request = { feed, filters, window, limit, defaultLimit: DEFAULT_LIMIT };
    const body = atomFeed({ ...request, baseUrl: config.baseUrl }, page);
    return content("application/atom+xml; charset=utf-8", body);
  },
});
