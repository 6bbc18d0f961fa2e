import type { ListRow, RankedList } from "../discovery/discovery.js";
import { json } from "../http/http.js";
import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";
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
      .openapi({ description: "true: there is too little data for 24 hours, so the window is 7 days." }),
    repositories: z.array(repositorySchema),
  })
  .openapi("HomeList");

const homeSchema = z
  .object({
    trending: listSchema,
    rising: listSchema,
    newHot: listSchema,
    languages: z.array(facetSchema),
    topics: z.array(facetSchema),
    summary: summarySchema,
    generatedAt: time,
  })
  .openapi("Home");

function listView(
  { window, isFallback }: RankedList,
  rows: readonly ListRow[] = [],
): z.output<typeof listSchema> {
  const repositories = rows.map(repositoryView);
  return { window, isFallback, repositories };
}

export const getHome = operation({
  id: "getHome",
  tags: ["Rankings"],
  summary: "The data of the home page, prepared in advance",
  description:
    "Ten repositories of each list over 24 hours, or over 7 days (isFallback) while there is too little data.",
  responses: { 200: dataResponse("The home page.", homeSchema) },
  handle: async ({ services: { modules, config } }) => {
    const { lists, rankings } = modules;
    const [home, summary] = await Promise.all([rankings.home(), rankings.summary()]);
    const { trending, rising, newHot } = home;
    const rows = await lists.rowsOfEach([trending, rising, newHot]);
    const data = {
      trending: listView(trending, rows[0]),
      rising: listView(rising, rows[1]),
      newHot: listView(newHot, rows[2]),
      languages: home.languages.map(facetView),
      topics: home.topics.map(facetView),
      summary: summaryView(summary, config.baseUrl),
      generatedAt: isoTime(summary.generatedAt),
    };
    return json({ data });
  },
});
