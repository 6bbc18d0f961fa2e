/** A repository in GitHub's two APIs: which fields are requested over GraphQL, and how both are read into the same record. */
import { z } from "zod";
import type { UpstreamRepository } from "../contract.js";
import { checkSame, type RequestedRepository, UpstreamFailure } from "../failures.js";
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

const nodeId = z.string().regex(/^[\w=+/-]{1,200}$/);

/** NOASSERTION: GitHub does not recognize the license. */
const spdxId = label.transform((value) => (value === "NOASSERTION" ? null : value));

const REQUIRED = ["id", "databaseId", "nameWithOwner", "stargazerCount", "isPrivate"] as const;

/** Fields that a record may lack, as they are requested. GitHub allows 20 topics per repository. */
const OPTIONAL = {
  url: "url",
  description: "description",
  homepageUrl: "homepageUrl",
  primaryLanguage: "primaryLanguage { name }",
  licenseInfo: "licenseInfo { spdxId }",
  repositoryTopics: "repositoryTopics(first: 20) { nodes { topic { name } } }",
  forkCount: "forkCount",
  issues: "issues(states: OPEN) { totalCount }",
  pullRequests: "pullRequests(states: OPEN) { totalCount }",
  watchers: "watchers { totalCount }",
  isFork: "isFork",
  isArchived: "isArchived",
  createdAt: "createdAt",
  pushedAt: "pushedAt",
  owner: "owner { avatarUrl(size: 80) }",
} as const;

export type OptionalField = keyof typeof OPTIONAL;
export const OPTIONAL_FIELDS = Object.keys(OPTIONAL) as OptionalField[];

export function optionalField(name: unknown): OptionalField | undefined {
  return OPTIONAL_FIELDS.find((field) => field === name);
}

export function repositoriesQuery(without: ReadonlySet<OptionalField>): string {
  const requested = OPTIONAL_FIELDS.filter((field) => !without.has(field)).map((field) => OPTIONAL[field]);
  const [own, ...others] = REQUIRED;
  return `query Repositories($ids: [ID!]!) {
  rateLimit { cost limit remaining resetAt }
  nodes(ids: $ids) {
    __typename
    ${own}
    ... on Repository {
      ${[...others, ...requested].join("\n      ")}
    }
  }
}`;
}

/** The optional fields named in an error about the query, by themselves or by their parts. */
export function namedFields(message: string): OptionalField[] {
  const words = [...message.slice(0, 1000).matchAll(/['"`](\w{1,40})['"`]/g)].map(([, word = ""]) => word);
  const named = OPTIONAL_FIELDS.filter((field) => words.includes(field));
  if (named.length > 0) return named;
  return OPTIONAL_FIELDS.filter((field) => {
    const parts: readonly string[] = OPTIONAL[field].match(/\w+/g) ?? [];
    return words.some((word) => parts.includes(word));
  });
}

const total = z.object({ totalCount: count });
const topicNames = z
  .object({ nodes: z.array(z.object({ topic: z.object({ name: z.unknown() }) }).nullable()).max(100) })
  .transform(({ nodes }) => topics.parse(nodes.flatMap((node) => (node === null ? [] : [node.topic.name]))));

const repositoryNode = z.object({
  __typename: z.literal("Repository"),
  id: nodeId,
  databaseId: id,
  nameWithOwner: fullName,
  url: orNull(webUrl),
  description: orNull(text),
  homepageUrl: orNull(homepage),
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
  owner: orNull(z.object({ avatarUrl: orNull(githubAvatarUrl) })),
});

/**
 * The record in the node of a repository. `withheld`: fields that GitHub did not send for this node. `urlOf`: the address
 * of a repository, if GitHub sent none. Throws `malformed`, also for a node that is not this repository, and `private`.
 */
export function readNode(
  node: unknown,
  options: {
    providerId: string;
    withheld: ReadonlySet<OptionalField>;
    urlOf: (fullName: string) => string;
  },
): UpstreamRepository {
  const { providerId, withheld, urlOf } = options;
  const row = parseRecord(repositoryNode, node);
  if (row.databaseId !== providerId)
    throw new UpstreamFailure("malformed", "GraphQL: the node is another repository");
  if (row.isPrivate) throw new UpstreamFailure("private", "the repository is private");
  const { issues, pullRequests } = row;
  return {
    providerId: row.databaseId,
    nodeId: row.id,
    ...row.nameWithOwner,
    url: row.url ?? urlOf(`${row.nameWithOwner.owner}/${row.nameWithOwner.name}`),
    avatarUrl: row.owner?.avatarUrl ?? null,
    // An empty description has been removed, one that was not sent has not.
    ...(withheld.has("description") ? {} : { description: row.description }),
    ...(withheld.has("homepageUrl") ? {} : { homepage: row.homepageUrl }),
    language: row.primaryLanguage?.name ?? null,
    license: row.licenseInfo?.spdxId ?? null,
    topics: row.repositoryTopics,
    stars: row.stargazerCount,
    forks: row.forkCount,
    // REST counts pull requests as issues; the number must not depend on the API we used.
    openIssues: issues === null || pullRequests === null ? null : issues.totalCount + pullRequests.totalCount,
    watchers: row.watchers?.totalCount ?? null,
    fork: row.isFork,
    archived: row.isArchived,
    createdAt: row.createdAt,
    pushedAt: row.pushedAt,
  };
}

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

/** The record in a document about one repository. Throws `private`, and `malformed` or `gone` if it is about another one than requested. */
export function readRepository(document: unknown, requested?: RequestedRepository): UpstreamRepository {
  const row = parseRecord(restRepository, document);
  if (requested !== undefined) checkSame(row.id, requested);
  const repository = fromRest(row);
  if (repository === null) throw new UpstreamFailure("private", "the repository is private");
  return repository;
}

export function pathOfId(providerId: string): string {
  return `/repositories/${encodeURIComponent(providerId)}`;
}

/** The API path of `owner/name`. Throws `gone` for anything that GitHub does not allow as a repository name. */
export function repositoryPath(fullName: string): string {
  const parts = /^([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(fullName)?.slice(1) ?? [];
  if (parts.length === 2 && parts.every((part) => !/^\.\.?$/.test(part))) return `/repos/${parts.join("/")}`;
  throw new UpstreamFailure("gone", "not a valid name of a GitHub repository");
}
