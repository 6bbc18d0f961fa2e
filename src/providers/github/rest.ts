import { z } from "zod";
import { checkId, checkNamed, UpstreamFailure, type UpstreamRepository } from "../contract.js";
import {
  count,
  fullName,
  githubAvatarUrl,
  homepage,
  id,
  label,
  orNull,
  parseRecord,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";

export const nodeId = z.string().regex(/^[\w=+/-]{1,200}$/);

/** NOASSERTION: GitHub does not recognize the license. */
export const spdxId = label.transform((value) => (value === "NOASSERTION" ? null : value));

/** A repository of the REST API; rows of a search lack `subscribers_count`. */
export const restRepository = z.object({
  id,
  node_id: orNull(nodeId),
  full_name: fullName,
  owner: orNull(z.object({ avatar_url: orNull(githubAvatarUrl) })),
  private: z.boolean(),
  html_url: webUrl,
  description: orNull(text),
  homepage: orNull(homepage),
  language: orNull(label),
  license: orNull(z.object({ spdx_id: orNull(spdxId) })),
  topics: orNull(topics),
  stargazers_count: count,
  forks_count: orNull(count),
  open_issues_count: orNull(count),
  subscribers_count: orNull(count),
  fork: orNull(z.boolean()),
  archived: orNull(z.boolean()),
  created_at: orNull(time),
  pushed_at: orNull(time),
});

/** The record of a public repository; null for a private one, which a token may be allowed to see. */
export function fromRest(row: z.output<typeof restRepository>): UpstreamRepository | null {
  if (row.private) return null;
  return {
    providerId: row.id,
    nodeId: row.node_id,
    ...row.full_name,
    url: row.html_url,
    avatarUrl: row.owner?.avatar_url ?? null,
    description: row.description,
    homepage: row.homepage,
    language: row.language,
    license: row.license?.spdx_id ?? null,
    topics: row.topics,
    stars: row.stargazers_count,
    forks: row.forks_count,
    openIssues: row.open_issues_count,
    watchers: row.subscribers_count,
    fork: row.fork,
    archived: row.archived,
    createdAt: row.created_at,
    pushedAt: row.pushed_at,
  };
}

/**
 * The record in a document about one repository. Throws `malformed`, also if it is not about `providerId` where that is given,
 * and `private`.
 */
export function readRepository(document: unknown, providerId?: string): UpstreamRepository {
  const row = parseRecord(restRepository, document);
  if (providerId !== undefined) checkId(row.id, providerId);
  return publicOnly(row);
}

/** The record in a document requested by name, of a repository with this id. Throws `malformed`, `gone` and `private`. */
export function readNamed(document: unknown, providerId: string): UpstreamRepository {
  const row = parseRecord(restRepository, document);
  checkNamed(row.id, providerId);
  return publicOnly(row);
}

function publicOnly(row: z.output<typeof restRepository>): UpstreamRepository {
  const repository = fromRest(row);
  if (repository === null) throw new UpstreamFailure("private", "the repository is private");
  return repository;
}

/** The API path of a repository by its number. */
export function pathOfId(providerId: string): string {
  return `/repositories/${encodeURIComponent(providerId)}`;
}

/** The API path of `owner/name`. Throws `gone` for anything that GitHub does not allow as a repository name. */
export function repositoryPath(fullName: string): string {
  const parts = /^([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(fullName)?.slice(1) ?? [];
  if (parts.length === 2 && parts.every((part) => !/^\.\.?$/.test(part))) return `/repos/${parts.join("/")}`;
  throw new UpstreamFailure("gone", "not a valid name of a GitHub repository");
}
