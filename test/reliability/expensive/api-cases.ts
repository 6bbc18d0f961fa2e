import { createToken } from "../../../src/lib/tokens.js";
import { PLANTED } from "../../support/dumps.js";
import {
  address,
  deepPage,
  idsOf,
  jsonHeaders,
  NESTED_JSON,
  pathOf,
  references,
  repositoryOf,
} from "./case-parts.js";
import type { CaseContext, ExpensiveCase, Sent } from "./cases.js";
import { MCP_CASES } from "./mcp-cases.js";
import { SEARCH_TEXTS } from "./parameters.js";

type Send = (context: CaseContext, round: number) => Sent | Promise<Sent>;

const make = (name: string, send: Send, status = 200): ExpensiveCase => ({ name, status, send });
const get = (name: string, path: (context: CaseContext, round: number) => string, status = 200) =>
  make(name, (context, round) => ({ method: "GET", path: path(context, round) }), status);

/** Lists: many matches, many filters, and a deep page in the order that is stored the other way around. */
function listCases(path: string, sorts: readonly (string | undefined)[]): ExpensiveCase[] {
  const all = sorts.flatMap((sort) => [
    ...["a b", "a", SEARCH_TEXTS[6] ?? ""].map((q) =>
      get(`q=${q.slice(0, 10)}, 20 topics, ${sort}, asc, deep`, ({ facts }, round) =>
        address(path, { q, topic: facts.topics, sort, order: "asc", page: deepPage(round), limit: 100 }),
      ),
    ),
    get(`q=s, ${sort}, any, CSV`, (_, round) =>
      address(path, {
        ...{ q: "s", sort, fork: "any", archived: "any" },
        ...{ page: deepPage(round), limit: 100, format: "csv" },
      }),
    ),
  ]);
  // Without a search there is no relevance.
  const plain = sorts
    .filter((sort) => sort !== "relevance")
    .flatMap((sort) => [
      get(`20 topics, 20 languages, ${sort}, asc, deep`, ({ facts: { topics, languages } }, round) =>
        address(path, {
          ...{ topic: topics, language: languages, sort, order: "asc" },
          ...{ minStars: round, page: deepPage(round), limit: 100 },
        }),
      ),
      get(`${sort}, asc, deep`, (_, round) =>
        address(path, { sort, order: "asc", minStars: round, page: deepPage(round), limit: 100 }),
      ),
    ]);
  return [...all, ...plain];
}

const SORTS = ["relevance", "trending", "rising", "new-hot", "stars-gained", "stars", "created"];

/** Where a route has no `sort` of its own. */
const OWN_SORT = [undefined];

const facetCases = [
  get("by gains, last page", (_, round) =>
    address("/api/facets/topics", {
      sort: "stars-gained",
      window: "30d",
      limit: 100,
      page: deepPage(round),
    }),
  ),
];

const chart = (path: string): ExpensiveCase[] =>
  ["stars", "openIssues"].flatMap((metric) =>
    [
      ["date", "total"],
      ["date", "per-day"],
      ["age", "total"],
    ].map(([align, view]) =>
      get(`most repositories, ${metric}, by ${align}, ${view}, all, largest`, ({ facts }, round) =>
        address(path, {
          repo: references(facts, 6, (round * 6) % 480),
          metric,
          window: "all",
          scale: "log",
          align,
          view,
          width: 1_200 - round,
          height: 800,
        }),
      ),
    ),
  );

const list =
  (rest = "") =>
  ({ token }: CaseContext) =>
    `/api/watchlists/${token}${rest}`;
const feed = ({ shareToken }: CaseContext) => `/api/watchlists/${shareToken}/feed.atom?window=30d`;

export const API_CASES: Readonly<Record<string, readonly ExpensiveCase[]>> = {
  "GET /api/repos": [
    ...listCases("/api/repos", SORTS),
    ...SEARCH_TEXTS.map((q) =>
      get(`q=${q.slice(0, 20)}, relevance`, (_, round) =>
        address("/api/repos", { q, limit: 100, page: deepPage(round) }),
      ),
    ),
    ...["json", "csv"].flatMap((format) => [
      get(`100 ids, ${format}`, ({ facts }, round) =>
        address("/api/repos", { id: idsOf(facts).slice(round, round + 100), window: "30d", format }),
      ),
      get(`100 full names, ${format}`, ({ facts }, round) =>
        address("/api/repos", {
          fullName: references(facts, 100, round).map((text) => text.slice(text.indexOf(":") + 1)),
          window: "30d",
          format,
        }),
      ),
    ]),
  ],
  "GET /api/trending": listCases("/api/trending", OWN_SORT),
  "GET /api/rising": listCases("/api/rising", OWN_SORT),
  "GET /api/new-hot": listCases("/api/new-hot", OWN_SORT),
  "GET /api/feeds/{ranking}.atom": [
    get("a search with 20 topics", ({ facts }, round) =>
      address("/api/feeds/rising.atom", { q: "a b", topic: facts.topics, minStars: round, limit: 100 }),
    ),
    get("20 topics and 20 languages", ({ facts }, round) =>
      address("/api/feeds/new-hot.atom", {
        topic: facts.topics,
        language: facts.languages,
        minStars: round,
        window: "30d",
        limit: 100,
      }),
    ),
  ],
  "GET /api/home": [get("as it is", () => "/api/home")],
  "GET /api/search/suggest": ["a", "s", "e", "re", "a b", SEARCH_TEXTS[5] ?? "", "kubernetse opratr"].map(
    (q) => get(`q=${q.slice(0, 20)}`, () => address("/api/search/suggest", { q: q.slice(0, 64), limit: 20 })),
  ),
  "GET /api": [get("as it is", () => "/api")],
  "GET /api/changes": [
    get("everything, in one part", () =>
      address("/api/changes", {
        since: "start",
        include: "record",
        limit: 100,
      }),
    ),
  ],
  "GET /openapi.json": [get("as it is", () => "/openapi.json", 301)],
  "GET /llms.txt": [get("as it is", () => "/llms.txt")],
  "GET /api/repos/{id}": [
    get("explained", ({ facts }, round) =>
      address(`/api/repos/${repositoryOf(facts, round).id}`, { explain: "true", window: "30d" }),
    ),
  ],
  "GET /api/repos/{provider}/by-full-name": [
    get("explained", ({ facts }, round) => {
      const { provider, fullName } = repositoryOf(facts, round);
      return address(`/api/repos/${provider}/by-full-name`, { fullName, explain: "true" });
    }),
  ],
  "GET /api/repos/{provider}/by-full-name/{fullName*}": [
    get("explained", ({ facts }, round) => {
      const { provider, fullName } = repositoryOf(facts, round);
      return address(`/api/repos/${provider}/by-full-name/${fullName}`, { explain: "true" });
    }),
  ],
  "GET /api/metrics": ["json", "csv"].flatMap((format) =>
    ["30d", "all"].map((window) =>
      get(`100 repositories, ${window}, ${format}`, ({ facts }, round) =>
        address("/api/metrics", { repo: idsOf(facts).slice(round, round + 100), window, format }),
      ),
    ),
  ),
  "GET /api/repos/{id}/metrics": ["json", "csv"].map((format) =>
    get(`all, ${format}`, ({ facts }, round) =>
      address(`/api/repos/${repositoryOf(facts, round).id}/metrics`, { window: "all", format }),
    ),
  ),
  "GET /api/repos/{id}/ranks": [
    get("all", ({ facts }, round) =>
      address(`/api/repos/${repositoryOf(facts, round).id}/ranks`, { window: "all" }),
    ),
  ],
  "GET /api/repos/{provider}/{owner}/{name}": [
    get("explained", ({ facts }, round) =>
      address(`/api/repos/${pathOf(facts, round)}`, { explain: "true" }),
    ),
  ],
  "GET /api/stats/summary": [get("as it is", () => "/api/stats/summary")],
  "GET /api/facets/languages": [
    get("by gains", () =>
      address("/api/facets/languages", { sort: "stars-gained", window: "30d", limit: 100 }),
    ),
  ],
  "GET /api/facets/topics": facetCases,
  "GET /api/embed/chart.svg": chart("/api/embed/chart.svg"),
  "GET /api/embed/chart.png": chart("/api/embed/chart.png"),
  "GET /api/embed/chart": chart("/api/embed/chart"),
  "GET /api/embed/badge.svg": [
    get("a rank", ({ facts }, round) =>
      address("/api/embed/badge.svg", { repo: references(facts, 1, round), kind: "rank", scope: "language" }),
    ),
  ],
  "GET /api/embed/card.png": [
    get("the longest text", ({ facts }, round) =>
      address("/api/embed/card.png", { repo: references(facts, 1, round) }),
    ),
  ],
  "GET /api/dumps": [get("as it is", () => "/api/dumps")],
  "GET /api/dumps/{file}": [
    get("a whole file", () => `/api/dumps/${PLANTED}`),
    get("an unknown file", (_, round) => `/api/dumps/${PLANTED}${round}`, 404),
  ],
  "GET /api/openapi.json": [get("as it is", () => "/api/openapi.json")],
  "POST /mcp": MCP_CASES,
  "GET /api/limits": [get("as it is", () => "/api/limits")],
  "GET /healthz": [get("as it is", () => "/healthz")],
  "GET /readyz": [get("as it is", () => "/readyz")],

  "POST /api/watchlists": [
    make(
      "500 repositories",
      ({ facts }) => ({
        method: "POST",
        path: "/api/watchlists",
        headers: jsonHeaders(),
        body: JSON.stringify({ name: "✨".repeat(100), ids: idsOf(facts) }),
      }),
      201,
    ),
    make(
      "500 unknown ids",
      (_, round) => ({
        method: "POST",
        path: "/api/watchlists",
        headers: jsonHeaders(),
        body: JSON.stringify({ ids: Array.from({ length: 500 }, (_, i) => String(1e15 + i + 500 * round)) }),
      }),
      400,
    ),
    make(
      "deeply nested JSON",
      () => ({ method: "POST", path: "/api/watchlists", headers: jsonHeaders(), body: NESTED_JSON }),
      400,
    ),
  ],
  "GET /api/watchlists/{token}": [get("500 repositories", list())],
  "PATCH /api/watchlists/{token}": [
    make("500 repositories", ({ token }, round) => ({
      method: "PATCH",
      path: `/api/watchlists/${token}`,
      headers: jsonHeaders(),
      body: JSON.stringify({ name: `${round} ${"✨".repeat(90)}` }),
    })),
  ],
  "DELETE /api/watchlists/{token}": [
    make(
      "500 repositories",
      async ({ newList }) => ({ method: "DELETE", path: `/api/watchlists/${await newList()}` }),
      204,
    ),
  ],
  "GET /api/watchlists/{token}/repositories": ["added", "trending", "stars-gained", "created"].flatMap(
    (sort) =>
      ["json", "csv"].map((format) =>
        get(`${sort}, ${format}`, ({ token }, round) =>
          address(`/api/watchlists/${token}/repositories`, {
            sort,
            format,
            limit: 100,
            page: 1 + (round % 5),
            window: "30d",
          }),
        ),
      ),
  ),
  "GET /api/watchlists/{token}/metrics": ["30d", "90d", "all"].map((window) =>
    get(`500 repositories, ${window}`, list(`/metrics?window=${window}`)),
  ),
  "GET /api/watchlists/{token}/feed.atom": [get("500 repositories", feed)],
  "POST /api/watchlists/{token}/items": [
    make("one more of 500", ({ token, facts }) => ({
      method: "POST",
      path: `/api/watchlists/${token}/items`,
      headers: jsonHeaders(),
      body: JSON.stringify({ repositoryId: String(repositoryOf(facts).id) }),
    })),
  ],
  "POST /api/watchlists/{token}/removals": [
    make("500 ids and 100 names", async ({ newList, facts }, round) => ({
      method: "POST",
      path: `/api/watchlists/${await newList()}/removals`,
      headers: jsonHeaders(),
      body: JSON.stringify({ ids: idsOf(facts), fullNames: references(facts, 100, round) }),
    })),
  ],
  "DELETE /api/watchlists/{token}/items": [
    make(
      "500 repositories",
      async ({ newList }) => ({ method: "DELETE", path: `/api/watchlists/${await newList()}/items` }),
      204,
    ),
  ],
  "DELETE /api/watchlists/{token}/items/{repositoryId}": [
    make(
      "one that is not in it",
      ({ token }) => ({ method: "DELETE", path: `/api/watchlists/${token}/items/999999999` }),
      204,
    ),
  ],

  "POST /api/track": [
    make(
      "a name that is unknown",
      (_, round) => ({
        method: "POST",
        path: "/api/track",
        headers: jsonHeaders(),
        body: JSON.stringify({ repository: `https://github.com/o/n${round}/${"%2F".repeat(600)}` }),
      }),
      202,
    ),
    make(
      "the longest address of no repository",
      () => ({
        method: "POST",
        path: "/api/track",
        headers: jsonHeaders(),
        body: JSON.stringify({ repository: `https://${"a.".repeat(990)}` }),
      }),
      400,
    ),
  ],
  "GET /api/track/{requestId}": [get("an unknown one", () => `/api/track/${createToken("sidt")}`, 404)],

  "POST /api/auth/magic-link": [
    make(
      "a link",
      ({ origin }, round) => ({
        method: "POST",
        path: "/api/auth/magic-link",
        headers: jsonHeaders(origin),
        body: JSON.stringify({ email: `visitor${round}-${"x".repeat(50)}@example.org` }),
      }),
      202,
    ),
  ],
  "POST /api/auth/verify": [
    make(
      "an unknown token",
      ({ origin }) => ({
        method: "POST",
        path: "/api/auth/verify",
        headers: jsonHeaders(origin),
        body: JSON.stringify({ requestToken: "x".repeat(43), token: createToken("sidl") }),
      }),
      400,
    ),
  ],
  "POST /api/auth/passkey/options": [
    make("a challenge", ({ origin }) => ({
      method: "POST",
      path: "/api/auth/passkey/options",
      headers: { origin },
    })),
  ],
  "POST /api/auth/passkey/verify": [
    make(
      "the longest fields of nobody",
      ({ origin }) => ({
        method: "POST",
        path: "/api/auth/passkey/verify",
        headers: jsonHeaders(origin),
        body: JSON.stringify({
          credential: {
            id: "a".repeat(1_364),
            response: {
              clientDataJSON: "a".repeat(2_000),
              authenticatorData: "a".repeat(2_000),
              signature: "a".repeat(2_000),
            },
          },
        }),
      }),
      400,
    ),
  ],
  "POST /api/auth/sign-in/{site}": [
    make(
      "with GitHub",
      ({ origin }) => ({
        method: "POST",
        path: "/api/auth/sign-in/github",
        headers: jsonHeaders(origin),
        body: "{}",
      }),
      200,
    ),
  ],
  "GET /api/auth/callback/{site}": [
    get(
      "of nobody",
      () => address("/api/auth/callback/github", { code: "x".repeat(2_000), state: "y" }),
      302,
    ),
  ],
  "POST /api/auth/sign-out": [
    make(
      "of nobody",
      ({ origin }) => ({ method: "POST", path: "/api/auth/sign-out", headers: { origin } }),
      204,
    ),
  ],
};
