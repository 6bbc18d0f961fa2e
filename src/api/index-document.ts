import { json } from "../http/http.js";
import { DOCS_PAGE } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";

/** The main addresses, below the base URL. */
const RESOURCES = {
  repositories: "/api/repos",
  trending: "/api/trending",
  changes: "/api/changes",
  home: "/api/home",
  feed: "/api/feeds/trending.atom",
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

/** The text that language models read first: a summary of the service, with links to its documentation. */
export function llmsText(baseUrl: string): string {
  const link = (title: string, path: string, note: string) => `- [${title}](${baseUrl}${path}): ${note}`;
  return `# Sidereal

> Repositories of several forges, their snapshots over time, and rankings by measured growth. Reading needs no key.

## Documentation

${link("API", DOCS_PAGE, "every route with its parameters, requests and responses")}
${link("Rankings", `${DOCS_PAGE}/rankings`, "how growth is measured, and what each score means")}
${link("Clients", `${DOCS_PAGE}/client`, "a typed client; /docs/clients has generators of others")}
${link("Tools", `${DOCS_PAGE}/mcp`, "the tools below, and how to connect to them")}
${link("OpenAPI 3.1", "/api/openapi.json", "the same for programs")}
${link("Index", "/api", "the main addresses")}

## For agents

${link("Model Context Protocol", "/mcp", "the same data as tools, over Streamable HTTP; POST only")}
${link("Search", "/api/repos?q=react", "repositories by words, owner/name or address")}
${link("Trending", "/api/trending?window=7d", "what grows now; meta.asOf is the day that windows end")}
`;
}
