import { createHash } from "node:crypto";
import { createToken } from "../../../src/lib/tokens.js";
import { assetPath } from "../../../src/web/assets.js";
import {
  address,
  deepPage,
  formHeaders,
  pathOf,
  references,
  repositoryOf,
  unknownLines,
} from "./case-parts.js";
import type { CaseContext, ExpensiveCase } from "./cases.js";
import { SEARCH_TEXTS } from "./parameters.js";

const page = (
  name: string,
  path: (context: CaseContext, round: number) => string,
  status = 200,
): ExpensiveCase => ({
  name,
  status,
  send: (context, round) => ({
    method: "GET",
    path: path(context, round),
    headers: { accept: "text/html" },
  }),
});

const form = (
  name: string,
  path: (context: CaseContext, round: number) => string | Promise<string>,
  {
    status,
    fields,
  }: { status: number; fields: (context: CaseContext, round: number) => Record<string, string> },
): ExpensiveCase => ({
  name,
  status,
  send: async (context, round) => ({
    method: "POST",
    path: await path(context, round),
    headers: formHeaders(context.origin),
    body: new URLSearchParams(fields(context, round)).toString(),
  }),
});

/** The cookie of somebody who saw the list long ago; anybody can write it. */
function seenCookie(token: string): string {
  const list = createHash("sha256").update(`seen ${token}`).digest("hex").slice(0, 12);
  return `sidereal.seen=${list}-1700000000-1600000000`;
}

const nothing = () => ({});

const facetPage = (path: string) =>
  ["trending", "rising", "stars"].map((sort) =>
    page(`the largest, ${sort}, deep`, ({ facts }, round) => {
      const [name = ""] = path === "/languages" ? facts.languages : facts.topics;
      return address(`${path}/${encodeURIComponent(name)}`, { sort, window: "7d", page: 1 + (round % 10) });
    }),
  );

const facetsPage = (path: string) => [
  page("cards", (_, round) => address(path, { window: ["24h", "7d", "30d"][round % 3] ?? "" })),
  page("by gains, last page", (_, round) =>
    address(path, { sort: "stars-gained", window: "30d", page: 1 + round }),
  ),
];

const compared = (name: string, count: number): ExpensiveCase[] =>
  [
    ["stars", "date", "per-day"],
    ["stars", "age", "total"],
    ["openIssues", "age", "total"],
  ].map(([metric, align, view]) =>
    page(
      `${name}, ${metric}, by ${align}, ${view}`,
      ({ facts }, round) =>
        address("/compare", {
          repo: references(facts, count, (round * count) % (500 - count)),
          metric,
          range: "all",
          align,
          view,
          scale: "log",
        }),
      count > 6 ? 400 : 200,
    ),
  );

export const PAGE_CASES: Readonly<Record<string, readonly ExpensiveCase[]>> = {
  "GET /": [
    page("as it is", () => "/"),
    page("another window", () => address("/", { window: "30d" })),
    page("a language", ({ facts }, round) =>
      address("/", { window: "30d", language: facts.languages[round % facts.languages.length] }),
    ),
  ],
  "GET /explore": [
    ...["trending", "rising", "new-hot", "stars"].flatMap((sort) =>
      ["a b", SEARCH_TEXTS[6] ?? "", undefined].map((q) =>
        page(`q=${q?.slice(0, 10)}, 20 topics and languages, ${sort}, deep`, ({ facts }, round) =>
          address("/explore", {
            q,
            topic: facts.topics,
            language: facts.languages,
            sort,
            order: "asc",
            limit: 100,
            minStars: round,
            page: deepPage(round),
          }),
        ),
      ),
    ),
    page("every kind of filter, none of which leaves few", ({ facts }, round) =>
      address("/explore", {
        topic: facts.topics,
        language: facts.languages,
        provider: "github",
        minStars: round,
        createdAfter: "2000-01-01",
        pushedAfter: "2000-01-01",
        sort: "stars",
      }),
    ),
    page("the longest address", (_, round) =>
      address("/explore", {
        language: Array.from({ length: 19 }, (_, i) => `${round} ${i} ${"x".repeat(90)}`),
        topic: Array.from({ length: 19 }, (_, i) => `${round} ${i} ${"y".repeat(90)}`),
        sort: "stars",
      }),
    ),
    page("no match", (_, round) => address("/explore", { q: `no ${"such ".repeat(4)}repository${round}` })),
    page("a typing error", (_, round) =>
      address("/explore", { q: "kubernetse opratr", minStars: round, limit: 100 }),
    ),
  ],
  "GET /languages": facetsPage("/languages"),
  "GET /languages/{name}": facetPage("/languages"),
  "GET /topics": facetsPage("/topics"),
  "GET /topics/{name}": facetPage("/topics"),
  "GET /repos/{provider}/{fullName*}": [
    page("all, openIssues", ({ facts }, round) =>
      address(`/repos/${pathOf(facts, round)}`, { range: "all", metric: "openIssues" }),
    ),
    page("all, stars per day", ({ facts }, round) =>
      address(`/repos/${pathOf(facts, round)}`, { from: "1970-01-01", to: "9999-12-31", view: "per-day" }),
    ),
    page("one that is unknown", (_, round) => `/repos/github/reakt-native/komponent${round}`, 404),
  ],
  "GET /compare": [
    ...compared("6 repositories", 6),
    ...compared("20 repositories", 20),
    page(
      "20 misspelt names",
      (_, round) =>
        address("/compare", {
          repo: Array.from({ length: 20 }, (_, i) => `reakt-native/komponent${round}-${i}`),
        }),
      400,
    ),
  ],
  "GET /embed": [
    page("6 charts", ({ facts }, round) =>
      address("/embed", { repo: references(facts, 6, round), range: "all", label: "x".repeat(40) }),
    ),
    page(
      "20 misspelt names",
      (_, round) =>
        address("/embed", {
          repo: Array.from({ length: 20 }, (_, i) => `reakt-native/komponent${round}-${i}`),
        }),
      400,
    ),
  ],
  "GET /about": [page("as it is", () => "/about")],
  "GET /track": [page("a long address", () => address("/track", { repository: "x".repeat(2_000) }))],
  "POST /track": [
    form("a name that is unknown", () => "/track", {
      status: 303,
      fields: (_, round) => ({ repository: `https://github.com/o/p${round}/${"%2F".repeat(600)}` }),
    }),
    form("a text with 300 links", () => "/track", {
      status: 303,
      fields: (_, round) => ({
        repository: Array.from({ length: 300 }, (_, i) => `https://github.com/l${round}/r${i}`).join(" "),
      }),
    }),
    form("the longest address of no repository", () => "/track", {
      status: 400,
      fields: () => ({ repository: `https://${"a.".repeat(990)}` }),
    }),
  ],
  "GET /track/lists/{listId}": [page("an unknown one", () => `/track/lists/${createToken("sidt")}`, 404)],
  "GET /track/questions/{questionId}": [
    page("an unknown one", () => `/track/questions/${createToken("sidt")}`, 404),
  ],
  "POST /track/questions/{questionId}": [
    form("an unknown one", () => `/track/questions/${createToken("sidt")}`, {
      status: 404,
      fields: () => ({ most: "300" }),
    }),
  ],
  "POST /sample/dismiss": [form("as it is", () => "/sample/dismiss", { status: 303, fields: nothing })],
  "GET /operator": [page("of nobody", () => "/operator", 404)],
  "GET /operator/enter": [page("of nobody", () => "/operator/enter", 404)],
  "GET /operator/tokens": [page("of nobody", () => "/operator/tokens", 404)],
  "POST /operator/leave": [form("of nobody", () => "/operator/leave", { status: 404, fields: nothing })],
  "POST /operator/tokens": [
    form("of nobody", () => "/operator/tokens", {
      status: 404,
      fields: () => ({ forge: "GITHUB", token: "x".repeat(4_000) }),
    }),
  ],
  "POST /operator/tokens/{id}/remove": [
    form("of nobody", () => "/operator/tokens/1/remove", { status: 404, fields: nothing }),
  ],
  "GET /operator/untrack": [page("of nobody", () => "/operator/untrack?repository=o/n", 404)],
  "GET /operator/hidden": [page("of nobody", () => "/operator/hidden?target=github:o/n", 404)],
  "POST /operator/hidden": [
    form("of nobody", () => "/operator/hidden", { status: 404, fields: () => ({ target: "github:o/n" }) }),
  ],
  "POST /operator/hidden/remove": [
    form("of nobody", () => "/operator/hidden/remove", {
      status: 404,
      fields: () => ({ target: "github:o/n" }),
    }),
  ],
  "GET /operator/log": [page("of nobody", () => "/operator/log", 404)],
  "GET /operator/accounts": [page("of nobody", () => "/operator/accounts?text=a", 404)],
  "GET /operator/accounts/{id}": [page("of nobody", () => "/operator/accounts/x", 404)],
  "POST /operator/accounts": [
    form("of nobody", () => "/operator/accounts", {
      status: 404,
      fields: () => ({ network: "203.0.113.7" }),
    }),
  ],
  "POST /operator/accounts/{id}": [
    form("of nobody", () => "/operator/accounts/x", { status: 404, fields: () => ({ do: "ban" }) }),
  ],
  "POST /operator/untrack": [
    form("of nobody", () => "/operator/untrack", { status: 404, fields: () => ({ repository: "o/n" }) }),
  ],
  "GET /track/{requestId}": [page("an unknown one", () => `/track/${createToken("sidt")}`, 404)],
  "GET /docs": [page("as it is", () => "/docs")],
  "GET /docs/{document}": [page("a long one", () => "/docs/operations")],
  "GET /sign-in": [page("with a long next", () => address("/sign-in", { next: `/${"x".repeat(1_000)}` }))],
  "POST /sign-in": [
    form("a link", () => "/sign-in", {
      status: 303,
      fields: (_, round) => ({ email: `page${round}-${"x".repeat(50)}@example.org` }),
    }),
  ],
  "GET /sign-in/sent": [page("as it is", () => "/sign-in/sent")],
  "POST /sign-in/code": [
    form("an unknown code", () => "/sign-in/code", { status: 400, fields: () => ({ code: "12345678" }) }),
  ],
  "POST /sign-in/resend": [form("of nobody", () => "/sign-in/resend", { status: 303, fields: nothing })],
  "GET /sign-in/link": [
    page("an unknown token", () => address("/sign-in/link", { token: createToken("sidl") }), 400),
  ],
  "POST /sign-in/link": [
    form("an unknown token", () => "/sign-in/link", {
      status: 400,
      fields: () => ({ token: createToken("sidl"), email: "x@example.org" }),
    }),
  ],
  "GET /sign-in/failed": [page("as it is", () => "/sign-in/failed")],
  "POST /sign-in/{site}": [form("with GitHub", () => "/sign-in/github", { status: 303, fields: nothing })],
  "POST /sign-out": [form("of nobody", () => "/sign-out", { status: 303, fields: nothing })],
  "POST /account/sign-out-everywhere": [
    form("of nobody", () => "/account/sign-out-everywhere", { status: 303, fields: nothing }),
  ],
  "GET /account/deleted": [page("as it is", () => "/account/deleted")],
  "GET /watchlist": [
    page("of a visitor", (_, round) => address("/watchlist", { sort: "stars", page: 1 + (round % 10) })),
  ],
  "POST /watchlist/items": [
    form("of a visitor", () => "/watchlist/items", {
      status: 303,
      fields: ({ facts }) => ({
        repositoryId: String(repositoryOf(facts).id),
        next: `/${"x".repeat(1_000)}`,
      }),
    }),
    form("a name that is unknown, of a visitor", () => "/watchlist/items", {
      status: 303,
      fields: (_, round) => ({ repository: `reakt-native/komponent${round}` }),
    }),
  ],
  "POST /watchlist/items/remove": [
    form("of a visitor", () => "/watchlist/items/remove", {
      status: 303,
      fields: ({ facts }) => ({ repositoryId: String(repositoryOf(facts).id) }),
    }),
  ],
  "GET /watchlists": [page("as it is", () => "/watchlists")],
  "POST /watchlists": [
    form("500 names", () => "/watchlists", {
      status: 200,
      fields: ({ facts }) => ({
        name: "✨".repeat(100),
        repositories: facts.repositories.map(({ fullName }) => fullName).join("\n"),
      }),
    }),
    form("500 names that are unknown", () => "/watchlists", {
      status: 200,
      fields: () => ({ repositories: unknownLines(500) }),
    }),
    form("as many lines as fit", () => "/watchlists", {
      status: 200,
      fields: () => ({ repositories: "\n".repeat(20_000) }),
    }),
  ],
  "GET /watchlists/gone": [page("as it is", () => "/watchlists/gone")],
  "GET /watchlists/{token}": ["stars", "stars-gained"].flatMap((sort) => [
    page(`500 repositories, ${sort}`, ({ token }, round) =>
      address(`/watchlists/${token}`, { sort, window: "30d", page: 1 + (round % 10) }),
    ),
    {
      name: `500 repositories, ${sort}, since the last visit`,
      status: 200,
      send: ({ shareToken }, round) => ({
        method: "GET",
        path: address(`/watchlists/${shareToken}`, { sort, window: "7d", page: 1 + (round % 10) }),
        headers: { accept: "text/html", cookie: seenCookie(shareToken) },
      }),
    },
  ]),
  "POST /watchlists/{token}/items": [
    form("a name that is unknown", ({ token }) => `/watchlists/${token}/items`, {
      status: 400,
      fields: () => ({ repository: unknownLines(1) }),
    }),
  ],
  "POST /watchlists/{token}/items/remove": [
    form("one that is not in it", ({ token }) => `/watchlists/${token}/items/remove`, {
      status: 303,
      fields: () => ({ repositoryId: "999999999", next: `/watchlists?${"sort=trending&".repeat(500)}` }),
    }),
  ],
  "POST /watchlists/{token}/rename": [
    form("500 repositories", ({ token }) => `/watchlists/${token}/rename`, {
      status: 303,
      fields: (_, round) => ({ name: `${round} ${"✨".repeat(90)}` }),
    }),
    form("an empty name", ({ token }) => `/watchlists/${token}/rename`, {
      status: 400,
      fields: () => ({ name: "" }),
    }),
  ],
  "POST /watchlists/{token}/delete": [
    form("500 repositories", async ({ newList }) => `/watchlists/${await newList()}/delete`, {
      status: 303,
      fields: nothing,
    }),
  ],
  "POST /watchlists/{token}/copy": [
    form("by a visitor", ({ token }) => `/watchlists/${token}/copy`, { status: 303, fields: nothing }),
  ],
  "GET /robots.txt": [page("as it is", () => "/robots.txt")],
  "GET /cards/pages/{page}": [page("the first page", () => "/cards/pages/home")],
  "GET /cards/lists": [
    page("a search with 20 topics and 20 languages", ({ facts }, round) =>
      address("/cards/lists", {
        q: SEARCH_TEXTS[0] ?? "",
        topic: facts.topics,
        language: facts.languages,
        minStars: round,
      }),
    ),
  ],
  "GET /cards/languages/{name}": [
    page("the largest", ({ facts }) => `/cards/languages/${encodeURIComponent(facts.languages[0] ?? "")}`),
  ],
  "GET /cards/topics/{name}": [
    page("the largest", ({ facts }) => `/cards/topics/${encodeURIComponent(facts.topics[0] ?? "")}`),
  ],
  "GET /cards/charts": [
    page("6 repositories", ({ facts }, round) =>
      address("/cards/charts", { repo: references(facts, 6, round), range: "all" }),
    ),
  ],
  "GET /cards/watchlists/{token}": [
    page("500 repositories", ({ token }) => `/cards/watchlists/${token}`),
    page("an unknown one", () => `/cards/watchlists/${createToken("sidr")}`, 404),
  ],
  "GET /sitemap.xml": [page("as it is", () => "/sitemap.xml")],
  "GET /sitemaps/pages.xml": [page("as it is", () => "/sitemaps/pages.xml")],
  "GET /sitemaps/{part}.xml": [
    page("another part", (_, round) => `/sitemaps/repositories-${1 + (round % 10)}.xml`),
  ],
  "GET /assets/{version}/{name}": [page("the largest", () => assetPath("sidereal.css"))],
  "GET /avatars/{version}": [page("an unknown one", () => `/avatars/${"0".repeat(32)}`, 404)],
  "GET /manifest.webmanifest": [page("as it is", () => "/manifest.webmanifest")],
  "GET /favicon.ico": [page("as it is", () => "/favicon.ico", 302)],
};
