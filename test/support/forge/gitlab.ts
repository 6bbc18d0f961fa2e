import { groupAvatar } from "./avatars.js";
import type { ForgeRepository } from "./catalogue.js";
import { handleGitlabGraphql } from "./gitlab-graphql.js";
import {
  countOf,
  decoded,
  type ForgeRequest,
  type ForgeResponse,
  isShownTo,
  json,
  type Site,
} from "./responses.js";

/** The route of a path. */
export function gitlabKind(path: string): string {
  if (path === "/api/graphql") return "graphql";
  if (path === "/api/v4/projects") return "list";
  if (/^\/api\/v4\/(?:groups|users)\/[^/]+\/projects$/.test(path)) return "owned";
  if (/^\/api\/v4\/groups\/[^/]+$/.test(path)) return "group";
  const [, id] = /^\/api\/v4\/projects\/([^/]+)$/.exec(path) ?? [];
  if (id === undefined) return "other";
  return /^\d+$/.test(id) ? "repository-by-id" : "repository";
}

export function gitlabError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ForgeResponse {
  return json(status, { message: `${status} ${message}` }, headers);
}

/** Handles a permitted request. */
export function handleGitlab(site: Site, request: ForgeRequest): ForgeResponse {
  if (request.kind === "graphql") return handleGitlabGraphql(site, request);
  if (request.kind === "list") return handleList(site, request);
  if (request.kind === "owned" || request.kind === "group") return handleOwned(site, request);
  if (request.kind === "other") return json(404, { error: "404 Not Found" });
  return handleProject(site, request);
}

/** Like GitLab: complete records with a token, reduced ones without. */
function record(site: Site, repository: ForgeRepository, isPlain: boolean) {
  return isPlain ? plainRecord(site.url, repository) : fullRecord(site, repository);
}

/** Nested owners are groups, the others users. */
function handleOwned(site: Site, request: ForgeRequest): ForgeResponse {
  const [, , , collection, id = ""] = request.path.split("/").map(decoded);
  const owned = site.catalogue.ownedBy(id, site.clock.now());
  const isGroup = owned.some(({ owner }) => owner.includes("/"));
  if (owned.length === 0 || isGroup !== (collection === "groups"))
    return gitlabError(404, isGroup ? "User Not Found" : "Group Not Found");
  if (request.kind === "group") return json(200, { id: 1, full_path: id });
  const rows = owned.slice(0, countOf(request.query, "per_page", 20, 100));
  return json(
    200,
    rows.map((repository) => record(site, repository, request.token === null)),
    { "x-total": String(owned.length) },
  );
}

/** Projects with a part of their name, most stars first; without one, the first ones. */
function handleList(site: Site, { query, token }: ForgeRequest): ForgeResponse {
  const wanted = query.get("search")?.toLowerCase() ?? "";
  const found = [...site.catalogue.truth(site.clock.now())]
    .filter((one) => one.visibility === "public" && one.name.toLowerCase().includes(wanted))
    .sort((a, b) => b.stars - a.stars)
    .slice(0, countOf(query, "per_page", 20, 100));
  const isPlain = token === null || query.get("simple") === "true";
  return json(
    200,
    found.map((repository) => record(site, repository, isPlain)),
  );
}

function handleProject(site: Site, request: ForgeRequest): ForgeResponse {
  const now = site.clock.now();
  const asked = decoded(request.path.slice("/api/v4/projects/".length));
  const found = /^\d+$/.test(asked)
    ? { repository: site.catalogue.get(Number(asked), now), isMoved: false }
    : site.catalogue.find(asked, now);
  const repository = found?.repository;
  if (repository?.visibility === "blocked") return gitlabError(451, "Unavailable For Legal Reasons");
  if (!isShownTo(request, repository)) return gitlabError(404, "Project Not Found");
  if (found?.isMoved) {
    const search = request.query.size === 0 ? "" : `?${request.query}`;
    const location = `${site.url}/api/v4/projects/${repository.id}${search}`;
    const body = `This resource has been moved permanently to ${location}`;
    return { status: 301, headers: { "content-type": "text/plain", location }, body, repositories: 0 };
  }
  return json(200, record(site, repository, request.token === null), {}, 1);
}

/** The anonymous record: without open issues, archived, origin and visibility. */
function plainRecord(url: string, repository: ForgeRepository) {
  const { id, fullName, owner, name, topics } = repository;
  const host = url.replace(/^https?:\/\//, "");
  const web = `${url}/${fullName}`;
  return {
    id,
    description: repository.description,
    name,
    name_with_namespace: `${owner.replaceAll("/", " / ")} / ${name}`,
    path: name,
    path_with_namespace: fullName,
    created_at: new Date(repository.createdAt).toISOString(),
    default_branch: "main",
    tag_list: topics,
    topics,
    ssh_url_to_repo: `git@${host}:${fullName}.git`,
    http_url_to_repo: `${web}.git`,
    web_url: web,
    readme_url: `${web}/-/blob/main/README.md`,
    forks_count: repository.forks,
    avatar_url: null,
    star_count: repository.stars,
    last_activity_at: new Date(repository.pushedAt).toISOString(),
    namespace: {
      id: 100_000 + (id % 9_973),
      name: owner.split("/").at(-1),
      path: owner.split("/").at(-1),
      kind: owner.includes("/") ? "group" : "user",
      full_path: owner,
      parent_id: owner.includes("/") ? 50_000 + (id % 9_973) : null,
      avatar_url: groupAvatar(owner),
      web_url: `${url}/${owner.includes("/") ? `groups/${owner}` : owner}`,
    },
  };
}

function fullRecord(site: Site, repository: ForgeRepository) {
  const { id } = repository;
  const api = `${site.url}/api/v4/projects/${id}`;
  return {
    ...plainRecord(site.url, repository),
    container_registry_image_prefix: `registry.example/${repository.fullName.toLowerCase()}`,
    _links: {
      self: api,
      issues: `${api}/issues`,
      merge_requests: `${api}/merge_requests`,
      repo_branches: `${api}/repository/branches`,
      labels: `${api}/labels`,
      events: `${api}/events`,
      members: `${api}/members`,
      cluster_agents: `${api}/cluster_agents`,
    },
    packages_enabled: true,
    empty_repo: false,
    archived: repository.isArchived,
    visibility: repository.visibility === "members" ? "internal" : "public",
    issues_enabled: true,
    merge_requests_enabled: true,
    wiki_enabled: false,
    jobs_enabled: true,
    snippets_enabled: false,
    issues_access_level: "enabled",
    repository_access_level: "enabled",
    creator_id: 1 + (id % 7_919),
    import_status: "none",
    open_issues_count: repository.openIssues,
    updated_at: new Date(repository.updatedAt).toISOString(),
    shared_with_groups: [],
    ...(repository.isFork && { forked_from_project: forkedFrom(site.url, id) }),
    permissions: { project_access: null, group_access: null },
  };
}

/** The origin of a fork is a repository that is not on this forge. */
function forkedFrom(url: string, id: number) {
  const path = `upstream/source-${id}`;
  return {
    id: 1 + (id % 999),
    name: `source-${id}`,
    path: `source-${id}`,
    path_with_namespace: path,
    web_url: `${url}/${path}`,
  };
}
