import type { ForgeRepository } from "./catalogue.js";
import { ownerNumber } from "./github-record.js";
import { LIST_ORDERS, type Listing } from "./listing.js";
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
} from "./responses.js";

/** The route of a path. */
export function forgejoKind(path: string): string {
  if (path === "/api/v1/repos/search") return "search";
  if (path === "/api/v1/version") return "version";
  if (/^\/api\/v1\/repos\/[^/]+\/[^/]+$/.test(path)) return "repository";
  if (/^\/api\/v1\/users\/[^/]+$/.test(path)) return "owner";
  return /^\/api\/v1\/repositories\/\d+$/.test(path) ? "repository-by-id" : "other";
}

/** Forgejo's errors link to its API description. */
export function forgejoError(
  url: string,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ForgeResponse {
  return json(status, { message, url: `${url}/api/swagger`, ...(status === 404 && { errors: [] }) }, headers);
}

/** Handles a permitted request. */
export function handleForgejo(site: Site, request: ForgeRequest): ForgeResponse {
  const now = site.clock.now();
  if (request.kind === "search") return handleSearch(site, request);
  if (request.kind === "version") return json(200, { version: "15.0.0" });
  const [, , , , first = "", second = ""] = request.path.split("/").map(decoded);
  if (request.kind === "repository-by-id")
    return handleRepository(site, request, site.catalogue.get(Number(first), now));
  if (request.kind === "owner") {
    const owner = site.catalogue.ownedBy(first, now)[0]?.owner;
    return owner === undefined
      ? forgejoError(site.url, 404, "user redirect does not exist")
      : json(200, { id: ownerNumber(owner), login: owner, username: owner });
  }
  if (request.kind !== "repository") return forgejoError(site.url, 404, "The target couldn't be found.");
  const found = site.catalogue.find(`${first}/${second}`, now);
  if (found?.isMoved && isShownTo(request, found.repository)) {
    // Like Forgejo: a temporary redirect to the path of the new name, without a host.
    const query = request.query.size === 0 ? "" : `?${request.query}`;
    const location = `/api/v1/repos/${found.repository.fullName}${query}`;
    const headers = { "content-type": "text/html; charset=utf-8", location };
    return {
      status: 307,
      headers,
      body: `<a href="${location}">Temporary Redirect</a>.\n\n`,
      repositories: 0,
    };
  }
  return handleRepository(site, request, found?.repository);
}

function handleRepository(
  site: Site,
  request: ForgeRequest,
  repository: ForgeRepository | undefined,
): ForgeResponse {
  if (repository?.visibility === "blocked")
    return forgejoError(site.url, 451, "Unavailable For Legal Reasons");
  if (!isShownTo(request, repository)) return forgejoError(site.url, 404, "The target couldn't be found.");
  return json(200, forgejoRecord(site.url, repository), {}, 1);
}

function handleSearch(site: Site, request: ForgeRequest): ForgeResponse {
  const { query } = request;
  const sort = query.get("sort") || "alpha";
  const direction = query.get("order") || "asc";
  const order = LIST_ORDERS.find((known) => known === sort);
  if (order === undefined || (order === "stars" && site.starOrder === "none"))
    return forgejoError(site.url, 422, `Invalid sort mode: "${sort}"`);
  if (direction !== "asc" && direction !== "desc") {
    return forgejoError(site.url, 422, `Invalid sort order: "${direction}"`);
  }
  const now = site.clock.now();
  const limit = countOf(query, "limit", 30, 50);
  const page = countOf(query, "page", 1, 1e9);
  const wanted = query.get("q")?.trim().toLowerCase() ?? "";
  const hidden = query.get("is_private") === "true";
  const uid = query.get("uid");
  const isMatch = (place: number) => {
    const repository = site.catalogue.atPlace(place, now);
    if (repository === undefined || (uid !== null && String(ownerNumber(repository.owner)) !== uid))
      return false;
    return repository.name.toLowerCase().includes(wanted);
  };
  const isUnstable = order === "stars" && site.starOrder === "unstable";
  const all = isUnstable ? shuffled(site.listing(), page) : site.listing().inOrder(order);
  const matches = hidden ? all.subarray(0, 0) : wanted === "" && uid === null ? all : all.filter(isMatch);
  const from = (page - 1) * limit;
  const places =
    direction === "asc"
      ? matches.slice(from, from + limit)
      : matches
          .slice(Math.max(0, matches.length - from - limit), Math.max(0, matches.length - from))
          .reverse();
  const data = Array.from(places).flatMap((place) => {
    const repository = site.catalogue.atPlace(place, now);
    return isShownTo(request, repository) ? [forgejoRecord(site.url, repository)] : [];
  });
  const last = Math.ceil(matches.length / limit);
  const to = (number: number) => pageUrl(`${site.url}${request.path}`, query, { page: number });
  const relations = {
    next: page < last ? to(page + 1) : null,
    last: page < last ? to(last) : null,
    first: page > 1 ? to(1) : null,
    prev: page > 1 ? to(page - 1) : null,
  };
  const link = links(relations, ",");
  return json(
    200,
    { ok: true, data },
    { "x-total-count": String(matches.length), ...(link !== "" && { link }) },
  );
}

/** Above all real ids. */
const INVENTED_ID = 1_000_000_000;

/** A page of a list, filled with repositories that exist in no other response. */
export function withoutEnd(site: Site, { query }: ForgeRequest, response: ForgeResponse): ForgeResponse {
  const [page, limit] = [countOf(query, "page", 1, 1e9), countOf(query, "limit", 30, 50)];
  const [first = 0] = site.catalogue.ids();
  const known = site.catalogue.get(first, site.clock.now());
  const { data } = JSON.parse(response.body);
  if (known === undefined || !Array.isArray(data)) return response;
  for (let i = data.length; i < limit; i++) {
    const id = INVENTED_ID + page * limit + i;
    data.push(
      forgejoRecord(site.url, { ...known, id, name: `r${id}`, fullName: `${known.owner}/r${id}`, stars: 1 }),
    );
  }
  const { link: _, "x-total-count": __, ...headers } = response.headers;
  return { ...response, headers, body: JSON.stringify({ ok: true, data }) };
}

/** The order by stars with a page's own order of equal counts, as a database may choose it. */
function shuffled(listing: Listing, page: number): Int32Array {
  const key = (place: number) => Math.imul(place + 1, 2_654_435_761 + 2 * page) >>> 0;
  return listing.byStars.toSorted((a, b) => listing.stars(a) - listing.stars(b) || key(a) - key(b));
}

/** A repository as Forgejo describes it. */
export function forgejoRecord(url: string, repository: ForgeRepository) {
  const { id, owner: login, fullName } = repository;
  const api = `${url}/api/v1/repos/${fullName}`;
  const host = url.replace(/^https?:\/\//, "");
  const number = ownerNumber(login);
  return {
    id,
    owner: {
      id: number,
      login,
      login_name: "",
      source_id: 0,
      full_name: "",
      email: `${login.toLowerCase()}@noreply.example.invalid`,
      avatar_url: `${url}/avatars/${number.toString(16)}`,
      html_url: `${url}/${login}`,
      language: "",
      is_admin: false,
      last_login: "0001-01-01T00:00:00Z",
      created: "2020-01-02T03:04:05Z",
      restricted: false,
      active: false,
      prohibit_login: false,
      location: "",
      pronouns: "",
      website: "",
      description: "",
      visibility: repository.visibility === "members" ? "limited" : "public",
      followers_count: 0,
      following_count: 0,
      starred_repos_count: 0,
      username: login,
    },
    name: repository.name,
    full_name: fullName,
    description: repository.description ?? "",
    empty: false,
    private: false,
    fork: repository.isFork,
    template: false,
    parent: null,
    mirror: false,
    size: 20 + (id % 9_000),
    language: repository.language ?? "",
    languages_url: `${api}/languages`,
    html_url: `${url}/${fullName}`,
    url: api,
    link: "",
    ssh_url: `ssh://git@${host}/${fullName}.git`,
    clone_url: `${url}/${fullName}.git`,
    original_url: "",
    website: repository.homepage ?? "",
    stars_count: repository.stars,
    forks_count: repository.forks,
    watchers_count: repository.watchers,
    open_issues_count: repository.openIssues,
    open_pr_counter: repository.openPullRequests,
    release_counter: id % 20,
    default_branch: "main",
    archived: repository.isArchived,
    created_at: zoned(repository.createdAt),
    updated_at: zoned(repository.updatedAt),
    archived_at: repository.isArchived ? zoned(repository.updatedAt) : zoned(0),
    permissions: { admin: false, push: false, pull: true },
    has_issues: true,
    internal_tracker: {
      enable_time_tracker: true,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: true,
    },
    has_wiki: true,
    wiki_branch: "main",
    has_pull_requests: true,
    has_projects: true,
    has_releases: true,
    has_packages: true,
    has_actions: true,
    avatar_url: "",
    internal: false,
    mirror_interval: "",
    object_format_name: "sha1",
    mirror_updated: "0001-01-01T00:00:00Z",
    repo_transfer: null,
    topics: repository.topics,
  };
}

/** With an offset, like a server that is not in UTC. */
function zoned(ms: number): string {
  return isoSeconds(ms + 3_600_000).replace("Z", "+01:00");
}
