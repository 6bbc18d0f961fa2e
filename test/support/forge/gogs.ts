import type { ForgeRepository } from "./catalogue.js";
import { forgejoRecord } from "./forgejo.js";
import {
  countOf,
  decoded,
  type ForgeRequest,
  type ForgeResponse,
  isShownTo,
  json,
  type Site,
} from "./responses.js";

/** The route of a path. Gogs has no lookup by id. */
export function gogsKind(path: string): string {
  if (path === "/api/v1/repos/search") return "search";
  if (/^\/api\/v1\/users\/[^/]+\/repos$/.test(path)) return "owned";
  return /^\/api\/v1\/repos\/[^/]+\/[^/]+$/.test(path) ? "repository" : "other";
}

/** Gogs sends most errors without a body. */
export function gogsError(status: number, headers: Record<string, string> = {}): ForgeResponse {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
    body: "",
    repositories: 0,
  };
}

/** Handles a permitted request. */
export function handleGogs(site: Site, request: ForgeRequest): ForgeResponse {
  if (request.kind === "search") return handleSearch(site, request);
  const [, , , , owner = "", name = ""] = request.path.split("/").map(decoded);
  if (request.kind === "owned") {
    const owned = site.catalogue.ownedBy(owner, site.clock.now());
    const rows = owned.map((repository) => record(site.url, repository));
    return owned.length === 0 ? gogsError(404) : json(200, rows);
  }
  if (request.kind !== "repository") return gogsError(404);
  const found = site.catalogue.find(`${owner}/${name}`, site.clock.now());
  // An old name leads nowhere.
  const repository = found?.isMoved === false ? found.repository : undefined;
  if (repository?.visibility === "blocked") return gogsError(451);
  if (!isShownTo(request, repository)) return gogsError(404);
  return json(200, record(site.url, repository), {}, 1);
}

/** The keyword is the last segment of `q`, a dot when it is empty, and part of an SQL pattern; the order cannot be chosen. */
function handleSearch(site: Site, request: ForgeRequest): ForgeResponse {
  const { query } = request;
  const now = site.clock.now();
  const limit = countOf(query, "limit", 10, 50);
  const page = countOf(query, "page", 1, 1e9);
  const matches = patternOf((query.get("q") ?? "").replace(/\/+$/, "").split("/").at(-1) || ".");
  const places = site
    .listing()
    .inOrder("alpha")
    .filter((place) => {
      const repository = site.catalogue.atPlace(place, now);
      return (
        repository !== undefined &&
        (matches.test(repository.name) || matches.test(repository.description ?? ""))
      );
    });
  const data = Array.from(places.slice((page - 1) * limit, page * limit)).flatMap((place) => {
    const repository = site.catalogue.atPlace(place, now);
    return isShownTo(request, repository) ? [record(site.url, repository)] : [];
  });
  const to = (number: number) => `${site.url}/api/v1/repos/search?page=${number}`;
  const last = Math.ceil(places.length / limit);
  const next = page < last ? [`<${to(page + 1)}>; rel="next"`, `<${to(last)}>; rel="last"`] : [];
  const before = page > 1 ? [`<${to(1)}>; rel="first"`, `<${to(page - 1)}>; rel="prev"`] : [];
  const link = [...next, ...before].join(",");
  return json(200, { data, ok: true }, link === "" ? {} : { link });
}

/** `like '%keyword%'` */
function patternOf(keyword: string): RegExp {
  const escaped = keyword.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(escaped.replaceAll("%", ".*").replaceAll("_", "."), "isu");
}

function record(url: string, repository: ForgeRepository) {
  const {
    id,
    owner,
    name,
    full_name,
    description,
    private: isPrivate,
    fork,
    parent,
    empty,
    mirror,
    size,
    ...rest
  } = forgejoRecord(url, repository);
  return {
    id,
    owner: {
      id: owner.id,
      username: owner.login,
      login: owner.login,
      full_name: "",
      email: owner.email,
      avatar_url: owner.avatar_url,
    },
    name,
    full_name,
    description,
    private: isPrivate || repository.visibility === "members",
    fork,
    parent,
    empty,
    mirror,
    size,
    html_url: rest.html_url,
    ssh_url: rest.ssh_url,
    clone_url: rest.clone_url,
    website: rest.website,
    stars_count: rest.stars_count,
    forks_count: rest.forks_count,
    watchers_count: rest.watchers_count,
    open_issues_count: rest.open_issues_count,
    default_branch: rest.default_branch,
    created_at: rest.created_at,
    updated_at: rest.updated_at,
  };
}
