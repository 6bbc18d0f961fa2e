import { json } from "../http/http.js";
import { DOCS_PAGE } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";

/** Where to begin, below the base URL. */
const RESOURCES = {
  repositories: "/api/repos",
  trending: "/api/trending",
  languages: "/api/facets/languages",
  topics: "/api/facets/topics",
  suggestions: "/api/search/suggest",
  summary: "/api/stats/summary",
  limits: "/api/limits",
} as const;

export const getIndex = operation({
  id: "getIndex",
  tags: ["Operation"],
  summary: "Addresses of the documentation and the main resources",
  responses: {
    200: dataResponse(
      "The addresses.",
      z.object({
        name: z.string(),
        documentation: z.string().openapi({ description: "The page that describes the API." }),
        openapi: z.string().openapi({ description: "The same for programs." }),
        resources: z.record(z.string(), z.string()),
      }),
    ),
  },
  handle: ({ services: { config } }) => {
    const address = (path: string) => `${config.baseUrl}${path}`;
    const resources = Object.fromEntries(
      Object.entries(RESOURCES).map(([name, path]) => [name, address(path)]),
    );
    return json({
      data: {
        name: "Sidereal",
        documentation: address(DOCS_PAGE),
        openapi: address("/api/openapi.json"),
        resources,
      },
    });
  },
});
