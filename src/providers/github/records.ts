import { z } from "zod";
import { UpstreamFailure } from "../failures.js";
import { count, fullName, id, label, orNull, parseRecord, text, time, topics, webUrl } from "../fields.js";
import type { UpstreamRepository } from "../providers.js";

const nodeId = z.string().regex(/^[\w=+/-]{1,200}$/);

/** What GitHub says where it does not recognize a licence; no identifier of one. */
const spdxId = label.transform((value) => (value === "NOASSERTION" ? null : value));

/** A repository of the REST API: of its own address, or a row of a search, which lacks `subscribers_count`. */
export const restRepository = z.object({
  id,
  node_id: orNull(nodeId),
  full_name: fullName,
  private: z.boolean(),
  html_url: webUrl,
  description: orNull(text),
  homepage: orNull(webUrl),
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

/** The record of a public repository; null for a private one, which a token may be shown. */
export function fromRest(row: z.output<typeof restRepository>): UpstreamRepository | null {
  if (row.private) return null;
  return {
    providerId: row.id,
    nodeId: row.node_id,
    ...row.full_name,
    url: row.html_url,
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

/** The record in a document about one repository. Throws `malformed` and `private`. */
export function readRepository(document: unknown): UpstreamRepository {
  const repository = fromRest(parseRecord(restRepository, document));
  if (repository === null) throw new UpstreamFailure("private", "the repository is private");
  return repository;
}

/** Asks for what `graphqlRepository` reads. GitHub allows 20 topics a repository. */
export const REPOSITORY_FIELDS = `
  __typename
  id
  ... on Repository {
    databaseId
    nameWithOwner
    url
    description
    homepageUrl
    primaryLanguage { name }
    licenseInfo { spdxId }
    repositoryTopics(first: 20) { nodes { topic { name } } }
    stargazerCount
    forkCount
    issues(states: OPEN) { totalCount }
    pullRequests(states: OPEN) { totalCount }
    watchers { totalCount }
    isPrivate
    isFork
    isArchived
    createdAt
    pushedAt
  }`;

const total = z.object({ totalCount: count });
const topicNames = z
  .object({ nodes: z.array(z.object({ topic: z.object({ name: z.unknown() }) }).nullable()).max(100) })
  .transform(({ nodes }) => topics.parse(nodes.flatMap((node) => (node === null ? [] : [node.topic.name]))));

const graphqlRepository = z.object({
  __typename: z.literal("Repository"),
  id: nodeId,
  databaseId: id,
  nameWithOwner: fullName,
  url: webUrl,
  description: orNull(text),
  homepageUrl: orNull(webUrl),
  primaryLanguage: orNull(z.object({ name: label })),
  licenseInfo: orNull(z.object({ spdxId: orNull(spdxId) })),
  repositoryTopics: orNull(topicNames),
  stargazerCount: count,
  forkCount: orNull(count),
  issues: orNull(total),
  pullRequests: orNull(total),
  watchers: orNull(total),
  isPrivate: z.boolean(),
  isFork: orNull(z.boolean()),
  isArchived: orNull(z.boolean()),
  createdAt: orNull(time),
  pushedAt: orNull(time),
});

/** The record in a node of GraphQL. Throws `malformed`, also for a node that is no repository, and `private`. */
export function readNode(node: unknown): UpstreamRepository {
  const row = parseRecord(graphqlRepository, node);
  if (row.isPrivate) throw new UpstreamFailure("private", "the repository is private");
  const { issues, pullRequests } = row;
  return {
    providerId: row.databaseId,
    nodeId: row.id,
    ...row.nameWithOwner,
    url: row.url,
    description: row.description,
    homepage: row.homepageUrl,
    language: row.primaryLanguage?.name ?? null,
    license: row.licenseInfo?.spdxId ?? null,
    topics: row.repositoryTopics,
    stars: row.stargazerCount,
    forks: row.forkCount,
    // REST counts pull requests as issues; the number must not depend on the way it was asked for.
    openIssues: issues === null || pullRequests === null ? null : issues.totalCount + pullRequests.totalCount,
    watchers: row.watchers?.totalCount ?? null,
    fork: row.isFork,
    archived: row.isArchived,
    createdAt: row.createdAt,
    pushedAt: row.pushedAt,
  };
}
