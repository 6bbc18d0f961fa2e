/**
 * The most expensive known requests of every kind that limits allow, which the harness of limits sends.
 */
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { repositoryKey } from "../../src/lib/page-addresses.js";
import { createToken } from "../../src/lib/tokens.js";
import { followChanges, type Modules } from "../../src/modules.js";
import { listOf } from "../../test/support/lists.js";
import { unknownSession } from "../../test/support/members.js";
import { STORE_END } from "./stores.js";

/** A request in any number of variants: caches help only those that were sent before. */
export interface WorstRequest {
  name: string;
  method?: "GET" | "POST" | "OPTIONS";
  path: (i: number) => string;
  headers?: (i: number) => Record<string, string>;
  body?: (i: number) => string;
}

/** What the requests are about. */
export interface WorstSubject {
  /** Repositories with a history of years, as `owner/name` with their provider, and their ids. */
  old: readonly { key: string; id: number }[];
  /** Repositories with the most stars. */
  popular: readonly { key: string; id: number }[];
  languages: readonly string[];
  topics: readonly string[];
  /** The token of a full watchlist. */
  token: string;
}

/** Repositories with a long history, each with a snapshot every six hours for three years. */
const OLD = 6;
const OLD_DAYS = 3 * 365;

/** Adds to a copied store what the worst requests need, with histories of `days` days, and names what is in it. */
export async function prepareWorst(modules: Modules, days = OLD_DAYS): Promise<WorstSubject> {
  const { catalog, lists, rankings, watchlists } = modules;
  const snapshots = Array.from({ length: days * 4 }, (_, i) => ({
    capturedAt: STORE_END - (days * 4 - i) * 6 * HOUR_MS,
    stars: 1_000 + i * 3 + (i % 7),
    forks: 100 + i,
    openIssues: 50 + (i % 90),
    watchers: 10 + (i % 30),
    source: "IMPORTED" as const,
  }));
  await catalog.recordAll(
    Array.from({ length: OLD }, (_, i) => ({
      provider: "GITHUB",
      owner: "sidereal-worst",
      name: `old-${i}`,
      at: STORE_END - HOUR_MS,
      snapshots,
      facts: { stars: 20_000, forks: 4_000, createdAt: STORE_END - days * DAY_MS },
    })),
  );
  await followChanges(modules);
  const { rows } = await lists.read(listOf({ page: { limit: 1_000, offset: 0 } }));
  const old = await Promise.all(
    Array.from({ length: OLD }, async (_, i) => {
      const found = await catalog.findByName("GITHUB", `sidereal-worst/old-${i}`);
      if (found === undefined) throw new Error("a repository was not recorded");
      return { key: repositoryKey(found.repository), id: found.repository.id };
    }),
  );
  const facets = async (kind: "language" | "topic") => {
    const found = await rankings.facets({
      kind,
      window: "30d",
      sort: "repository-count",
      limit: 100,
      offset: 0,
    });
    return found.facets.map(({ name }) => name);
  };
  const popular = rows.map(({ repository }) => ({ key: repositoryKey(repository), id: repository.id }));
  const { token } = await watchlists.create(
    "worst",
    popular.slice(0, 500).map(({ id }) => id),
  );
  return { old, popular, languages: await facets("language"), topics: await facets("topic"), token };
}

const query = (parameters: readonly (readonly [string, string | number])[]) =>
  new URLSearchParams(
    parameters.map(([name, value]) => [name, String(value)] as [string, string]),
  ).toString();

/** Spreads consecutive numbers over 0 to `below` - 1. */
const spread = (i: number, below: number) => (i * 7_919) % below;

/** The requests, by what they do. */
export function worstRequests({ old, popular, languages, topics, token }: WorstSubject): WorstRequest[] {
  const one = (i: number) => popular[spread(i, popular.length)] ?? { key: "", id: 0 };
  const repos = (i: number, count: number) =>
    Array.from({ length: count }, (_, j) => ["repo", one(i * count + j).key] as const);
  const path = (key: string) => {
    const [provider = "", fullName = ""] = key.split(":");
    return `${provider}/${fullName.split("/").map(encodeURIComponent).join("/")}`;
  };
  const longest = old.map(({ key }) => ["repo", key] as const);
  const topicList = (count: number) => topics.slice(0, count).map((name) => ["topic", name] as const);
  const languageList = (count: number) =>
    languages.slice(0, count).map((name) => ["language", name] as const);
  const stars = (i: number) => ["minStars", spread(i, 40)] as const;
  const growth = ["trending", "rising", "new-hot", "stars-gained", "forks-gained"];
  const form = { "Content-Type": "application/json" };
  return [
    { name: "list, 1 row", path: (i) => `/api/repos?limit=1&minStars=${i}` },
    { name: "list, default", path: (i) => `/api/repos?minStars=${i}` },
    { name: "list, 100 rows", path: (i) => `/api/repos?limit=100&minStars=${i}` },
    {
      name: "list, 100 rows, deep",
      path: (i) => `/api/repos?limit=100&page=${100 - (i % 60)}&minStars=${i % 20}`,
    },
    {
      name: "list, 100 rows by cursor",
      path: (i) => `/api/repos?limit=100&page=${1 + (i % 100)}&order=asc&sort=stars`,
    },
    {
      name: "list, new-hot asc, filters",
      path: (i) =>
        `/api/repos?${query([["sort", "new-hot"], ["order", "asc"], ["limit", 100], ["page", 100 - (i % 9)], stars(i), ["excludeAnomalous", "true"], ["reliableOnly", "true"]])}`,
    },
    {
      name: "list, 20 topics, 20 languages",
      path: (i) =>
        `/api/repos?${query([...topicList(20), ...languageList(20), ["sort", growth[i % 5] ?? ""], ["order", "asc"], ["limit", 100], ["page", 1 + (i % 90)], stars(i)])}`,
    },
    { name: "list as CSV, 100 rows", path: (i) => `/api/repos?limit=100&format=csv&minStars=${i}` },
    { name: "trending, 100 rows", path: (i) => `/api/trending?limit=100&minStars=${i}` },
    { name: "feed, 100 entries", path: (i) => `/api/feeds/trending.atom?limit=100&minStars=${i}` },
    {
      name: "search, default",
      path: (i) => `/api/repos?q=${["react", "data", "lib", "web", "go"][i % 5]}&minStars=${i}`,
    },
    { name: "search, a+b", path: (i) => `/api/repos?q=a+b&minStars=${i}` },
    {
      name: "search, a+b, 20 topics",
      path: (i) =>
        `/api/repos?${query([["q", "a b"], ...topicList(20), ["sort", "rising"], ["order", "asc"], ["limit", 100], ["page", 100 - (i % 90)], stars(i)])}`,
    },
    {
      name: "search, many words",
      path: (i) =>
        `/api/repos?${query([["q", "a b c d e f g h i j k l m n o p"], ["limit", 100], stars(i)])}`,
    },
    {
      name: "search, long text with typos",
      path: (i) =>
        `/api/repos?${query([
          ["q", `${"reactx datq libz ".repeat(11)}${i}`.slice(0, 200)],
          ["limit", 100],
        ])}`,
    },
    {
      name: "suggest",
      path: (i) =>
        `/api/search/suggest?q=${["a", "co", "re", "lib"][i % 4]}${i % 26 === 0 ? "" : String.fromCharCode(97 + (i % 26))}`,
    },
    {
      name: "suggest, 20, one letter",
      path: (i) => `/api/search/suggest?limit=20&q=${String.fromCharCode(97 + (i % 26))}`,
    },
    { name: "suggest, typos", path: (i) => `/api/search/suggest?limit=20&q=reaktt${i % 50}` },
    { name: "detail", path: (i) => `/api/repos/${path(one(i).key)}` },
    { name: "summary", path: () => "/api/stats/summary" },
    { name: "home as data", path: () => "/api/home" },
    { name: "languages, 100", path: (i) => `/api/facets/languages?limit=100&page=${1 + (i % 3)}` },
    { name: "topics, 100", path: (i) => `/api/facets/topics?limit=100&page=${1 + (i % 20)}` },
    { name: "OpenAPI document", path: () => "/api/openapi.json" },
    { name: "limits", path: () => "/api/limits" },
    { name: "metrics, 30d", path: (i) => `/api/repos/${old[i % OLD]?.id}/metrics?window=30d` },
    { name: "metrics, 90d", path: (i) => `/api/repos/${old[i % OLD]?.id}/metrics?window=90d` },
    { name: "metrics, all", path: (i) => `/api/repos/${old[i % OLD]?.id}/metrics?window=all` },
    {
      name: "metrics, all, CSV",
      path: (i) => `/api/repos/${old[i % OLD]?.id}/metrics?window=all&format=csv`,
    },
    { name: "ranks, 30d", path: (i) => `/api/repos/${one(i).id}/ranks?window=30d` },
    { name: "ranks, all", path: (i) => `/api/repos/${one(i).id}/ranks?window=all` },
    {
      name: "chart data, 1",
      path: (i) => `/api/embed/chart?window=all&repo=${encodeURIComponent(old[i % OLD]?.key ?? "")}`,
    },
    {
      name: "chart data, 6",
      path: (i) => `/api/embed/chart?${query([...longest, ["window", "all"], ["width", 600 + (i % 600)]])}`,
    },
    {
      name: "chart.svg, 1",
      path: (i) => `/api/embed/chart.svg?${query([...repos(i, 1), ["width", 600 + (i % 600)]])}`,
    },
    {
      name: "chart.svg, 6 old",
      path: (i) =>
        `/api/embed/chart.svg?${query([...longest, ["window", "all"], ["width", 1_200 - (i % 600)], ["height", 800]])}`,
    },
    { name: "badge.svg", path: (i) => `/api/embed/badge.svg?${query(repos(i, 1))}` },
    { name: "card.png", path: (i) => `/api/embed/card.png?${query(repos(i, 1))}` },
    { name: "page: home", path: () => "/" },
    { name: "page: explore", path: (i) => `/explore?minStars=${i}` },
    { name: "page: explore, 100 rows", path: (i) => `/explore?limit=100&minStars=${i}` },
    {
      name: "page: explore, search",
      path: (i) =>
        `/explore?${query([["q", "a b"], ...topicList(20), ["sort", "rising"], ["order", "asc"], ["limit", 100], ["page", 100 - (i % 90)], stars(i)])}`,
    },
    { name: "page: languages", path: (i) => `/languages?page=${1 + (i % 3)}&window=24h` },
    { name: "page: topics", path: (i) => `/topics?page=${1 + (i % 20)}` },
    {
      name: "page: a language",
      path: (i) => `/languages/${encodeURIComponent(languages[i % languages.length] ?? "")}`,
    },
    { name: "page: a topic", path: (i) => `/topics/${encodeURIComponent(topics[i % topics.length] ?? "")}` },
    { name: "page: repository", path: (i) => `/repos/${path(one(i).key)}` },
    { name: "page: repository, old, all", path: (i) => `/repos/${path(old[i % OLD]?.key ?? "")}?range=all` },
    { name: "page: repository, unknown", path: (i) => `/repos/github/nobody-${i}/react-${i}` },
    { name: "page: compare, none", path: () => "/compare" },
    { name: "page: compare, 1", path: (i) => `/compare?${query(repos(i, 1))}` },
    {
      name: "page: compare, 6 old",
      path: (i) =>
        `/compare?${query([...longest, ["window", "all"], ["metric", ["stars", "forks"][i % 2] ?? ""]])}`,
    },
    {
      name: "page: compare, 20 names",
      path: (i) =>
        `/compare?${query([...repos(i, 6), ...Array.from({ length: 14 }, (_, j) => ["repo", `github:nobody-${i}/react${j}`] as const)])}`,
    },
    { name: "page: about", path: () => "/about" },
    { name: "page: docs", path: () => "/docs" },
    { name: "page: sign in", path: () => "/sign-in" },
    { name: "page: not found", path: (i) => `/nothing-${i}` },
    { name: "page: watchlist, visitor", path: () => "/watchlist" },
    {
      name: "page: watchlist by token",
      path: (i) => `/watchlists/${token}?page=${1 + (i % 5)}&limit=100&save=${i}`,
    },
    { name: "watchlist by token", path: () => `/api/watchlists/${token}` },
    {
      name: "watchlist rows, 100",
      path: (i) => `/api/watchlists/${token}/repositories?limit=100&page=${1 + (i % 5)}&sort=trending`,
    },
    { name: "watchlist series", path: () => `/api/watchlists/${token}/metrics` },
    { name: "watchlist, unknown token", path: () => `/api/watchlists/${createToken("sidw")}` },
    {
      name: "unknown key",
      path: () => "/api/stats/summary",
      headers: () => ({ "X-API-Key": createToken("sid") }),
    },
    {
      name: "unknown session",
      path: () => "/api/stats/summary",
      headers: (i) => ({ Cookie: unknownSession(i, "") }),
    },
    {
      name: "create watchlist, 500",
      method: "POST",
      path: () => "/api/watchlists",
      headers: () => form,
      body: () => JSON.stringify({ ids: popular.slice(0, 500).map(({ id }) => String(id)) }),
    },
    {
      name: "add item",
      method: "POST",
      path: () => `/api/watchlists/${token}/items`,
      headers: () => form,
      body: (i) => JSON.stringify({ repositoryId: String(one(i).id) }),
    },
    {
      name: "form: watchlist of unknown names",
      method: "POST",
      path: () => "/watchlists",
      headers: () => ({
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
      }),
      body: (i) =>
        query([
          ["name", "x"],
          ["repositories", Array.from({ length: 500 }, (_, j) => `nobody${i}/lib${j}`).join("\n")],
        ]),
    },
    {
      name: "form: copy watchlist",
      method: "POST",
      path: () => `/watchlists/${token}/copy`,
      headers: () => ({
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
      }),
      body: () => "a=b",
    },
    { name: "malformed address", path: () => "/api/%zz" },
    { name: "OPTIONS", method: "OPTIONS", path: () => "/api/stats/summary" },
    {
      name: "OPTIONS, page: not found",
      method: "OPTIONS",
      path: (i) => `/nothing-${i}`,
      headers: () => ({ Accept: "text/html" }),
    },
    { name: "health", path: () => "/healthz" },
    { name: "readiness", path: () => "/readyz" },
    { name: "robots.txt", path: () => "/robots.txt" },
    { name: "site map, part", path: (i) => `/sitemaps/repositories-${1 + (i % 10)}.xml` },
    { name: "asset", path: () => "/assets/old/sidereal.css" },
    { name: "asset, other versions", path: (i) => `/assets/v${i}/sidereal.css` },
  ];
}
