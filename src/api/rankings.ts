import { createRoute, z } from "@hono/zod-openapi";
import { isoTime } from "../clock.js";
import { listQuery, type Sort } from "../lists/lists.js";
import type { RankedList } from "../rankings/rankings.js";
import { formatParameter, orCsv } from "./csv.js";
import { type ApiContext, dataMetaResponse, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { answerList, LIST_LIMIT, sendPage } from "./repository-list.js";
import {
  facetSchema,
  facetView,
  repositoryPageMetaSchema,
  repositorySchema,
  repositoryView,
  summarySchema,
  summaryView,
} from "./views.js";

/** The file that a list of repositories is as CSV. */
const FILE = "sidereal-repositories";
const withFormat = { format: formatParameter };

export const listRepositories = endpoint(
  createRoute({
    method: "get",
    path: "/api/repos",
    operationId: "listRepositories",
    tags: ["Repositories"],
    summary: "List repositories, filtered, searched and sorted",
    description:
      "Sorts by growth hold only repositories that have a trend in the window. A search that is sorted by anything but relevance looks at its 10,000 most popular matches.",
    request: { query: listQuery.extend(withFormat) },
    responses: {
      200: orCsv(
        dataMetaResponse("A page of repositories.", z.array(repositorySchema), repositoryPageMetaSchema),
      ),
      ...errorResponses("VALIDATION_FAILED"),
    },
  }),
  async (context) => {
    const { format, ...query } = context.req.valid("query");
    return sendPage(context, await answerList(context, query), format, FILE);
  },
  LIST_LIMIT,
);

/** A list whose sort is fixed; all other parameters are those of /api/repos. */
function rankingEndpoint(path: string, operationId: string, sort: Sort, summary: string) {
  return endpoint(
    createRoute({
      method: "get",
      path,
      operationId,
      tags: ["Rankings"],
      summary,
      description: `The same list as /api/repos?sort=${sort}. How scores come about is told in the documents of the project and, for one repository, by explain=true in its detail.`,
      request: { query: listQuery.omit({ sort: true }).extend(withFormat) },
      responses: {
        200: orCsv(
          dataMetaResponse("A page of repositories.", z.array(repositorySchema), repositoryPageMetaSchema),
        ),
        ...errorResponses("VALIDATION_FAILED"),
      },
    }),
    async (context) => {
      const { format, ...query } = context.req.valid("query");
      const file = `sidereal-${path.slice("/api/".length)}`;
      return sendPage(context, await answerList(context, { ...query, sort }), format, file);
    },
    LIST_LIMIT,
  );
}

export const listTrending = rankingEndpoint(
  "/api/trending",
  "listTrending",
  "trending",
  "Broad recent momentum: stars, growth, forks, activity",
);
export const listRising = rankingEndpoint(
  "/api/rising",
  "listRising",
  "rising",
  "Fast growth relative to size",
);
export const listNewHot = rankingEndpoint(
  "/api/new-hot",
  "listNewHot",
  "new_hot",
  "Repositories younger than 90 days with early momentum",
);
export const listForkGrowth = rankingEndpoint(
  "/api/fork-growth",
  "listForkGrowth",
  "forks_gained",
  "Most forks gained",
);

const listSchema = z
  .object({
    window: z.enum(["24h", "7d"]),
    isFallback: z
      .boolean()
      .openapi({ description: "true: too little is known of 24 hours yet, so 7 days are shown." }),
    repositories: z.array(repositorySchema),
  })
  .openapi("HomeList");

const homeSchema = z
  .object({
    trending: listSchema,
    rising: listSchema,
    newHot: listSchema,
    forkGrowth: listSchema,
    languages: z.array(facetSchema),
    topics: z.array(facetSchema),
    summary: summarySchema,
    generatedAt: z.iso.datetime({ precision: 3 }),
  })
  .openapi("Home");

async function listView(
  context: ApiContext,
  { window, isFallback, ids }: RankedList,
): Promise<z.output<typeof listSchema>> {
  const { catalog, rankings } = context.var.modules;
  const [repositories, trends] = await Promise.all([catalog.findMany(ids), rankings.trends(ids, window)]);
  return {
    window,
    isFallback,
    repositories: repositories.map((repository) => repositoryView(repository, trends.get(repository.id))),
  };
}

export const getHome = endpoint(
  createRoute({
    method: "get",
    path: "/api/home",
    operationId: "getHome",
    tags: ["Rankings"],
    summary: "All that the first page shows, prepared beforehand",
    description:
      "Ten repositories of each ranking over 24 hours, or over 7 days while the data is too young; then isFallback is true.",
    responses: { 200: dataResponse("The first page.", homeSchema), ...errorResponses() },
  }),
  async (context) => {
    const { rankings } = context.var.modules;
    const home = await rankings.home();
    const [trending, rising, newHot, forkGrowth] = await Promise.all([
      listView(context, home.trending),
      listView(context, home.rising),
      listView(context, home.newHot),
      listView(context, home.forkGrowth),
    ]);
    const data = {
      trending,
      rising,
      newHot,
      forkGrowth,
      languages: home.languages.map(facetView),
      topics: home.topics.map(facetView),
      summary: summaryView(await rankings.summary(), context.var.config.baseUrl),
      generatedAt: isoTime(home.generatedAt),
    };
    return context.json({ data }, 200);
  },
  { bucket: "default" },
);
