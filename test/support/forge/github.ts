import { DAY_MS } from "../../../src/lib/clock.js";
import type { ForgeRepository } from "./catalogue.js";
import { handleGraphql } from "./github-graphql.js";
import { fullRecord, listRecord } from "./github-record.js";
import type { Limiter } from "./limits.js";
import {
  countOf,
  decoded,
  type ForgeRequest,
  type ForgeResponse,
  isoSeconds,
  isShownTo,
  json,
  links,
  pageUrl,
  type Site,
  weakTag,
} from "./responses.js";

const SEARCH_ROWS = 1_000;
const PATHS: readonly (readonly [string, RegExp])[] = [
  ["graphql", /^\/api\/graphql$/],
  ["search", /^\/api\/v3\/search\/repositories$/],
  ["rate-limit", /^\/api\/v3\/rate_limit$/],
  ["meta", /^\/api\/v3\/meta$/],
  ["user", /^\/api\/v3\/user$/],
  ["history", /^\/api\/v3\/(repos\/[^/]+\/[^/]+|repositories\/\d+)\/stargazers\/history$/],
  ["repository", /^\/api\/v3\/repos\/[^/]+\/[^/]+$/],
  ["repository-by-id", /^\/api\/v3\/repositories\/\d+$/],
];

/** The route of a path. */
export function githubKind(path: string): string {
  return PATHS.find(([, pattern]) => pattern.test(path))?.[0] ?? "other";
}

/** The limit that a kind of request counts against. */
export function githubResource(kind: string): string {
  return kind === "search" || kind === "graphql" ? kind : "core";
}

export function githubError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ForgeResponse {
  return json(
    status,
    { message, documentation_url: "https://docs.github.com/rest", status: String(status) },
    headers,
  );
}

/** Handles a permitted request; the quota is already checked. */
export function handleGithub(site: Site, request: ForgeRequest, limiter: Limiter): ForgeResponse {
  if (request.kind === "graphql") return handleGraphql(site, request, limiter);
  if (request.method !== "GET" && request.method !== "HEAD") return githubError(404, "Not Found");
  const [, , , collection, first = "", second = ""] = request.path.split("/").map(decoded);
  const found = () =>
    collection === "repos"
      ? byName(site, request, `${first}/${second}`)
      : site.catalogue.get(Number(first), site.clock.now());
  switch (request.kind) {
    case "search":
      return handleSearch(site, request);
    case "meta":
      return json(200, { verifiable_password_authentication: false });
    case "user":
      return json(200, { login: site.catalogue.get(site.catalogue.ids()[0] ?? 0, site.clock.now())?.owner });
    case "rate-limit":
      return handleRateLimit(request, limiter);
    case "repository":
    case "repository-by-id":
      return handleRepository(site, request, found());
    case "history":
      return handleHistory(site, request, found());
    default:
      return githubError(404, "Not Found");
  }
}

type Found = ForgeRepository | ForgeResponse | undefined;

/** The current holder of a name; for a previous name, a redirect to the repository by id. */
function byName(site: Site, request: ForgeRequest, fullName: string): Found {
  const found = site.catalogue.find(fullName, site.clock.now());
  if (!found?.isMoved || !isShownTo(request, found.repository)) return found?.repository;
  const rest = request.path
    .split("/")
    .slice(6)
    .map((part) => `/${part}`)
    .join("");
  const query = request.query.size === 0 ? "" : `?${request.query}`;
  const location = `${site.url}/api/v3/repositories/${found.repository.id}${rest}${query}`;
  const body = {
    message: "Moved Permanently",
    url: location,
    documentation_url:
      "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects",
  };
  return json(301, body, { location });
}

/** The repository if it is public; otherwise the error response. */
function visible(site: Site, request: ForgeRequest, found: Found): ForgeRepository | ForgeResponse {
  if (found === undefined) return githubError(404, "Not Found");
  if ("status" in found) return found;
  if (found.visibility !== "blocked")
    return isShownTo(request, found) ? found : githubError(404, "Not Found");
  const block = {
    reason: "dmca",
    created_at: isoSeconds(found.updatedAt),
    html_url: "https://github.com/github/dmca",
  };
  return json(451, { message: "Repository access blocked", block, documentation_url: `${site.url}/docs` });
}

/** With an ETag; 304 if the client already has this response. */
function validated(request: ForgeRequest, response: ForgeResponse): ForgeResponse {
  const etag = weakTag(response.body, request.token);
  const headers = { ...response.headers, etag, "cache-control": "private, max-age=60, s-maxage=60" };
  const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known?.includes(etag.slice(2)) !== true) return { ...response, headers };
  return { status: 304, headers: withoutType(headers), body: "", repositories: response.repositories };
}

function withoutType({ "content-type": _, ...headers }: Record<string, string>): Record<string, string> {
  return headers;
}

function handleRepository(site: Site, request: ForgeRequest, found: Found): ForgeResponse {
  const repository = visible(site, request, found);
  if ("status" in repository) return repository;
  const changed = new Date(repository.updatedAt).toUTCString();
  return validated(request, json(200, fullRecord(site.url, repository), { "last-modified": changed }, 1));
}

function handleSearch(site: Site, request: ForgeRequest): ForgeResponse {
  const q = request.query.get("q")?.trim() ?? "";
  const refuse = (message: string, extra: object = {}) =>
    json(422, { message, ...extra, documentation_url: "https://docs.github.com/v3/search/", status: "422" });
  const invalid = (code: string, message?: string) =>
    refuse("Validation Failed", {
      errors: [{ resource: "Search", field: "q", code, ...(message && { message }) }],
    });
  if (q === "") return invalid("missing");
  if (q.length > 256) return invalid("invalid", "The search is longer than 256 characters.");
  const perPage = countOf(request.query, "per_page", 30, 100);
  const page = countOf(request.query, "page", 1, 1e9);
  if ((page - 1) * perPage >= SEARCH_ROWS) return refuse("Only the first 1000 search results are available");
  let places: number[];
  try {
    places = search(site, parseSearch(q));
  } catch (error) {
    if (error instanceof InvalidSearch) return invalid("invalid", error.message);
    throw error;
  }
  if (request.query.get("order") === "asc" && request.query.has("sort")) places.reverse();
  const now = site.clock.now();
  const rows = places.slice((page - 1) * perPage, page * perPage);
  const items = rows.flatMap((place) => {
    const repository = site.catalogue.atPlace(place, now);
    // Repositories that disappeared after the listing was created are missing from the page, but still counted.
    return isShownTo(request, repository) ? [{ ...listRecord(site.url, repository), score: 1 }] : [];
  });
  const last = Math.ceil(Math.min(places.length, SEARCH_ROWS) / perPage);
  const to = (number: number) => pageUrl(`${site.url}${request.path}`, request.query, { page: number });
  const link = links({
    prev: page > 1 ? to(page - 1) : null,
    next: page < last ? to(page + 1) : null,
    last: page < last ? to(last) : null,
    first: page > 1 ? to(1) : null,
  });
  const body = { total_count: places.length, incomplete_results: false, items };
  return json(200, body, { "cache-control": "no-cache", ...(link !== "" && { link }) });
}

/** Weeks of seven daily counts from Sunday, newest first; withdrawn stars do not count. */
function handleHistory(site: Site, request: ForgeRequest, found: Found): ForgeResponse {
  if (!site.hasHistory) return githubError(404, "Not Found");
  const repository = visible(site, request, found);
  if ("status" in repository) return repository;
  const now = site.clock.now();
  const perPage = countOf(request.query, "per_page", 30, 30);
  const page = countOf(request.query, "page", 1, 1e9);
  const sundayOf = (at: number) => Math.floor((Math.floor(at / DAY_MS) + 4) / 7) * 7 - 4;
  const [newest, oldest] = [sundayOf(now), sundayOf(repository.createdAt)];
  const weeks = [];
  for (let i = (page - 1) * perPage; i < page * perPage && newest - 7 * i >= oldest; i++) {
    const sunday = newest - 7 * i;
    const days = Array.from({ length: 7 }, (_, day) =>
      site.catalogue.starsKept(repository.id, sunday + day, now),
    );
    weeks.push({ week: sunday * 86_400, total: days.reduce((sum, day) => sum + day, 0), days });
  }
  const last = Math.ceil(((newest - oldest) / 7 + 1) / perPage);
  const to = (number: number) => pageUrl(`${site.url}${request.path}`, request.query, { page: number });
  const link = links({
    next: page < last ? to(page + 1) : null,
    last: page < last ? to(last) : null,
    first: page > 1 ? to(1) : null,
    prev: page > 1 ? to(page - 1) : null,
  });
  return validated(request, json(200, weeks, link === "" ? {} : { link }));
}

function handleRateLimit(request: ForgeRequest, limiter: Limiter): ForgeResponse {
  const limitOf = (resource: string) => {
    const quota = limiter.quota(request.token, resource) ?? { limit: 0, used: 0, remaining: 0, resetAt: 0 };
    const { limit, used, remaining, resetAt } = quota;
    return { limit, used, remaining, reset: Math.floor(resetAt / 1000) };
  };
  const resources = { core: limitOf("core"), search: limitOf("search"), graphql: limitOf("graphql") };
  return json(200, { resources, rate: resources.core });
}

/** A closed range of integers. */
interface Range {
  least: number;
  most: number;
}

/** A parsed `q`. Ranges of the same qualifier are alternatives. */
interface SearchQuery {
  stars: Range[];
  created: Range[];
  pushed: Range[];
  forks: "none" | "too" | "only";
  isPublic: boolean;
  archived: boolean | null;
  /** In small letters. */
  user: string | null;
  /** Full names, of which any may match. */
  repositories: string[];
  others: ((repository: ForgeRepository) => boolean)[];
}

/** A search that GitHub refuses with 422. */
class InvalidSearch extends Error {}

/** Reads a `q`; throws InvalidSearch. */
function parseSearch(q: string): SearchQuery {
  const query: SearchQuery = {
    stars: [],
    created: [],
    pushed: [],
    forks: "none",
    isPublic: true,
    archived: null,
    user: null,
    repositories: [],
    others: [],
  };
  for (const [, name, quoted, plain, word] of q.matchAll(/(\w+):(?:"([^"]*)"|(\S+))|(\S+)/g)) {
    const value = quoted ?? plain ?? "";
    if (word !== undefined) query.others.push(contains(word.replaceAll('"', "")));
    else if (name === "stars") query.stars.push(range(value, wholeNumber));
    else if (name === "created") query.created.push(range(value, moment));
    else if (name === "pushed") query.pushed.push(range(value, moment));
    else if (name === "fork") query.forks = value === "only" ? "only" : value === "true" ? "too" : "none";
    else if (name === "is") query.isPublic = value !== "private";
    else if (name === "archived") query.archived = value === "true";
    else if (name === "language") query.others.push((r) => r.language?.toLowerCase() === value.toLowerCase());
    else if (name === "topic") query.others.push((r) => r.topics.includes(value));
    else if (name === "in") continue;
    else if (name === "repo") query.repositories.push(value.toLowerCase());
    else if (name === "user" || name === "org") {
      query.user = value.toLowerCase();
      query.others.push((r) => r.owner.toLowerCase() === value.toLowerCase());
    } else query.others.push(contains(value));
  }
  return query;
}

/** Indices of matching repositories in the catalogue, most stars first. */
function search(site: Site, query: SearchQuery): number[] {
  const listing = site.listing();
  if (query.user !== null && site.catalogue.ownedBy(query.user, listing.at).length === 0)
    throw new InvalidSearch(
      "The listed users cannot be searched either because the users do not exist or you do not have permission to view the users.",
    );
  for (const name of query.repositories) {
    const found = site.catalogue.find(name, listing.at);
    if (found === undefined || found.isMoved || found.repository.visibility !== "public")
      throw new InvalidSearch(
        "The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.",
      );
  }
  const ranges = query.stars.length === 0 ? [{ least: 0, most: Number.MAX_SAFE_INTEGER }] : query.stars;
  const named = new Set(query.repositories);
  if (named.size > 0) query.others.push((r) => named.has(r.fullName.toLowerCase()));
  const needsRecord = query.others.length > 0 || query.archived !== null || query.pushed.length > 0;
  const isIn = (value: number, wanted: Range[]) =>
    wanted.length === 0 || wanted.some(({ least, most }) => value >= least && value <= most);
  const found: number[] = [];
  for (const { least, most } of ranges) {
    for (const place of listing.between(least, most)) {
      const isFork = listing.isFork(place);
      if (!query.isPublic || (query.forks === "none" && isFork) || (query.forks === "only" && !isFork))
        continue;
      if (!isIn(listing.createdAt(place), query.created)) continue;
      if (needsRecord) {
        const repository = site.catalogue.atPlace(place, listing.at);
        if (repository === undefined || !isIn(repository.pushedAt, query.pushed)) continue;
        if (query.archived !== null && repository.isArchived !== query.archived) continue;
        if (!query.others.every((matches) => matches(repository))) continue;
      }
      found.push(place);
    }
  }
  return ranges.length === 1
    ? found
    : [...new Set(found)].sort((a, b) => listing.stars(b) - listing.stars(a) || a - b);
}

function contains(word: string): (repository: ForgeRepository) => boolean {
  const wanted = word.toLowerCase();
  return ({ name, description }) => `${name} ${description ?? ""}`.toLowerCase().includes(wanted);
}

/** `a..b`, `a..*`, `*..b`, `>=a`, `>a`, `<=b`, `<b`, `a`. A date covers its whole day. */
function range(text: string, parse: (text: string) => Range): Range {
  const open = { least: -Infinity, most: Infinity };
  const [, from, to] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined) {
    return {
      least: from === "*" ? open.least : parse(from).least,
      most: to === "*" ? open.most : parse(to).most,
    };
  }
  const [, sign, value = ""] = /^(>=|<=|>|<)?(.*)$/.exec(text) ?? [];
  const { least, most } = parse(value);
  if (sign === ">=") return { ...open, least };
  if (sign === ">") return { ...open, least: most + 1 };
  if (sign === "<=") return { ...open, most };
  if (sign === "<") return { ...open, most: least - 1 };
  return { least, most };
}

function wholeNumber(text: string): Range {
  if (!/^\d+$/.test(text)) throw new InvalidSearch(`"${text}" is not a number.`);
  return { least: Number(text), most: Number(text) };
}

/** A date means its whole day, a date and time the whole second. */
function moment(text: string): Range {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text);
  const least = isDate || isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(least)) throw new InvalidSearch(`"${text}" is not a recognized date/time format.`);
  return { least, most: least + (isDate ? DAY_MS : 1_000) - 1 };
}
