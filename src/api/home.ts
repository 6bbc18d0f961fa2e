import { isoTime } from "../clock.js";
import { json } from "../http/http.js";
import type { Modules } from "../modules.js";
import type { RankedList } from "../rankings/rankings.js";
import { z } from "../schema.js";
import { dataResponse, errorResponses, operation } from "./operation.js";
import {
  facetSchema,
  facetView,
  repositorySchema,
  repositoryView,
  summarySchema,
  summaryView,
} from "./views.js";

const listSchema = z
  .object({
    window: z.enum(["24h", "7d"]),
    isFallback: z
      .boolean()
      .openapi({ description: "true: there is less than a day of data, so the window is 7 days." }),
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
  { catalog, rankings }: Modules,
  { window, isFallback, ids }: RankedList,
): Promise<z.output<typeof listSchema>> {
  const [repositories, trends] = await Promise.all([catalog.findMany(ids), rankings.trends(ids, window)]);
  return {
    window,
    isFallback,
    repositories: repositories.map((repository) => repositoryView(repository, trends.get(repository.id))),
  };
}

export const getHome = operation({
  id: "getHome",
  tags: ["Rankings"],
  summary: "The data of the home page, prepared in advance",
  description:
    "Ten repositories of each ranking over 24 hours, or over 7 days (isFallback) while the data is too young.",
  params: null,
  query: null,
  body: null,
  responses: { 200: dataResponse("The home page.", homeSchema), ...errorResponses() },
  handle: async ({ services: { modules, config } }) => {
    const { rankings } = modules;
    const home = await rankings.home();
    const [trending, rising, newHot, forkGrowth] = await Promise.all([
      listView(modules, home.trending),
      listView(modules, home.rising),
      listView(modules, home.newHot),
      listView(modules, home.forkGrowth),
    ]);
    const data = {
      trending,
      rising,
      newHot,
      forkGrowth,
      languages: home.languages.map(facetView),
      topics: home.topics.map(facetView),
      summary: summaryView(await rankings.summary(), config.baseUrl),
      generatedAt: isoTime(home.generatedAt),
    };
    return json({ data });
  },
});
