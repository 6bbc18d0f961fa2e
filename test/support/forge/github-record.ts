import type { ForgeRepository } from "./catalogue.js";
import { isoSeconds } from "./responses.js";

/** Addresses below a repository's own, by field. */
const BELOW_REPOSITORY = {
  forks: "/forks",
  keys: "/keys{/key_id}",
  collaborators: "/collaborators{/collaborator}",
  teams: "/teams",
  hooks: "/hooks",
  issue_events: "/issues/events{/number}",
  events: "/events",
  assignees: "/assignees{/user}",
  branches: "/branches{/branch}",
  tags: "/tags",
  blobs: "/git/blobs{/sha}",
  git_tags: "/git/tags{/sha}",
  git_refs: "/git/refs{/sha}",
  trees: "/git/trees{/sha}",
  statuses: "/statuses/{sha}",
  languages: "/languages",
  stargazers: "/stargazers",
  contributors: "/contributors",
  subscribers: "/subscribers",
  subscription: "/subscription",
  commits: "/commits{/sha}",
  git_commits: "/git/commits{/sha}",
  comments: "/comments{/number}",
  issue_comment: "/issues/comments{/number}",
  contents: "/contents/{+path}",
  compare: "/compare/{base}...{head}",
  merges: "/merges",
  archive: "/{archive_format}{/ref}",
  downloads: "/downloads",
  issues: "/issues{/number}",
  pulls: "/pulls{/number}",
  milestones: "/milestones{/number}",
  notifications: "/notifications{?since,all,participating}",
  labels: "/labels{/name}",
  releases: "/releases{/id}",
  deployments: "/deployments",
} as const;

const BELOW_USER = {
  followers: "/followers",
  following: "/following{/other_user}",
  gists: "/gists{/gist_id}",
  starred: "/starred{/owner}{/repo}",
  subscriptions: "/subscriptions",
  organizations: "/orgs",
  repos: "/repos",
  events: "/events{/privacy}",
  received_events: "/received_events",
} as const;

const addresses = (base: string, below: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(below).map(([field, path]) => [`${field}_url`, base + path]));

/** GitHub's current node ids: a prefix, and the id in MessagePack as base64url. */
export function nodeId(prefix: "R" | "U", id: number): string {
  const packed = Buffer.from([0x92, 0x00, 0xce, 0, 0, 0, 0]);
  packed.writeUInt32BE(id, 3);
  return `${prefix}_${packed.toString("base64url")}`;
}

/** The id in a repository's node id, also in the older format; null if invalid. */
export function numberOfNode(text: string): number | null {
  if (text.startsWith("R_")) {
    const packed = Buffer.from(text.slice(2), "base64url");
    return packed.length === 7 ? packed.readUInt32BE(3) : null;
  }
  const old = /^010:Repository(\d+)$/.exec(Buffer.from(text, "base64").toString());
  return old === null ? null : Number(old[1]);
}

/** The id of an owner, derived from the name. */
export function ownerNumber(login: string): number {
  let number = 7;
  for (const character of login) number = (Math.imul(number, 31) + character.charCodeAt(0)) >>> 0;
  return 1 + (number % 100_000_000);
}

function owner(url: string, login: string) {
  const api = `${url}/api/v3/users/${login}`;
  const id = ownerNumber(login);
  return {
    login,
    id,
    node_id: nodeId("U", id),
    avatar_url: `${url}/avatars/u/${id}?v=4`,
    gravatar_id: "",
    url: api,
    html_url: `${url}/${login}`,
    ...addresses(api, BELOW_USER),
    type: "User",
    user_view_type: "public",
    site_admin: false,
  };
}

function license(url: string, spdx: string | null) {
  if (spdx === null) return null;
  const key = spdx === "NOASSERTION" ? "other" : spdx.toLowerCase();
  return {
    key,
    name: spdx === "NOASSERTION" ? "Other" : `${spdx} License`,
    spdx_id: spdx,
    url: spdx === "NOASSERTION" ? null : `${url}/api/v3/licenses/${key}`,
    node_id: `L_${key}`,
  };
}

/** A row of a search or a list, which lacks some fields of single records. */
export function listRecord(url: string, repository: ForgeRepository) {
  const { id, fullName, stars, forks } = repository;
  const api = `${url}/api/v3/repos/${fullName}`;
  const host = url.replace(/^https?:\/\//, "");
  const open = repository.openIssues + repository.openPullRequests;
  // Internal repositories, which all members of an enterprise may see, are private too.
  const isPrivate = repository.visibility !== "public";
  return {
    id,
    node_id: nodeId("R", id),
    name: repository.name,
    full_name: fullName,
    private: isPrivate,
    owner: owner(url, repository.owner),
    html_url: `${url}/${fullName}`,
    description: repository.description,
    fork: repository.isFork,
    url: api,
    ...addresses(api, BELOW_REPOSITORY),
    created_at: isoSeconds(repository.createdAt),
    updated_at: isoSeconds(repository.updatedAt),
    pushed_at: isoSeconds(repository.pushedAt),
    git_url: `git://${host}/${fullName}.git`,
    ssh_url: `git@${host}:${fullName}.git`,
    clone_url: `${url}/${fullName}.git`,
    svn_url: `${url}/${fullName}`,
    homepage: repository.homepage,
    size: 100 + (id % 9_000),
    stargazers_count: stars,
    watchers_count: stars,
    language: repository.language,
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: forks,
    mirror_url: null,
    archived: repository.isArchived,
    disabled: false,
    open_issues_count: open,
    license: license(url, repository.license),
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: repository.topics,
    visibility: repository.visibility === "members" ? "internal" : isPrivate ? "private" : "public",
    forks,
    open_issues: open,
    watchers: stars,
    default_branch: "main",
    permissions: { admin: false, maintain: false, push: false, triage: false, pull: true },
  };
}

/** A single record, the only one with the real number of watchers. */
export function fullRecord(url: string, repository: ForgeRepository) {
  return {
    ...listRecord(url, repository),
    temp_clone_token: "",
    network_count: repository.forks,
    subscribers_count: repository.watchers,
  };
}
