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
  inner,
  label,
  orNull,
  parseRecord,
  record,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";

const nodeId = z.string().regex(/^[\w=+/-]{1,200}$/);

/** NOASSERTION: GitHub does not recognize the license. */
const spdxId = label.transform((value) => (value === "NOASSERTION" ? null : value));

const REQUIRED = ["id", "databaseId", "nameWithOwner", "stargazerCount", "isPrivate"] as const;

/** Optional fields of a record, as they are requested. GitHub allows 20 topics per repository. */
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
  isDisabled: "isDisabled",
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

const total = inner("totalCount", count);
const topicNames = z
  .object({ nodes: z.array(z.object({ topic: z.object({ name: z.unknown() }) }).nullable()).max(100) })
  .transform(({ nodes }) => topics.parse(nodes.flatMap((node) => (node === null ? [] : [node.topic.name]))));

const repositoryNode = record({
  type: ["__typename", z.literal("Repository")],
  isPrivate: ["isPrivate", z.boolean()],
  isDisabled: ["isDisabled", orNull(z.boolean())],
  providerId: ["databaseId", id],
  nodeId: ["id", nodeId],
  fullName: ["nameWithOwner", fullName],
  url: ["url", orNull(webUrl)],
  avatarUrl: ["owner", inner("avatarUrl", orNull(githubAvatarUrl))],
  description: ["description", orNull(text)],
  homepage: ["homepageUrl", orNull(homepage)],
  language: ["primaryLanguage", inner("name", label)],
  license: ["licenseInfo", inner("spdxId", orNull(spdxId))],
  topics: ["repositoryTopics", orNull(topicNames)],
  stars: ["stargazerCount", count],
  forks: ["forkCount", orNull(count)],
  issues: ["issues", total],
  pullRequests: ["pullRequests", total],
  watchers: ["watchers", total],
  fork: ["isFork", orNull(z.boolean())],
  archived: ["isArchived", orNull(z.boolean())],
  createdAt: ["createdAt", orNull(time)],
  pushedAt: ["pushedAt", orNull(time)],
});

/**
 * The record in the node of a repository. `withheld`: fields that GitHub did not send for this node. `urlOf`: the address
 * of a repository, if GitHub sent none. Throws `malformed`, also for a node that is not this repository, `private` and `blocked`.
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
  const {
    type: _,
    isPrivate,
    isDisabled,
    fullName,
    url,
    description,
    homepage,
    issues,
    pullRequests,
    ...facts
  } = parseRecord(repositoryNode, node);
  if (facts.providerId !== providerId)
    throw new UpstreamFailure("malformed", "GraphQL: the node is another repository");
  checkShown({ isPrivate, isDisabled });
  return {
    ...facts,
    ...fullName,
    url: url ?? urlOf(`${fullName.owner}/${fullName.name}`),
    // An empty description has been removed, one that was not sent has not.
    ...(withheld.has("description") ? {} : { description }),
    ...(withheld.has("homepageUrl") ? {} : { homepage }),
    // REST counts pull requests as issues; the number must not depend on the API we used.
    openIssues: issues === null || pullRequests === null ? null : issues + pullRequests,
  };
}

/** A repository of the REST API; rows of a search have no `subscribers_count`. */
export const restRepository = record({
  isPrivate: ["private", z.boolean()],
  isDisabled: ["disabled", orNull(z.boolean())],
  providerId: ["id", id],
  nodeId: ["node_id", orNull(nodeId)],
  fullName: ["full_name", fullName],
  url: ["html_url", webUrl],
  avatarUrl: ["owner", inner("avatar_url", orNull(githubAvatarUrl))],
  description: ["description", orNull(text)],
  homepage: ["homepage", orNull(homepage)],
  language: ["language", orNull(label)],
  license: ["license", inner("spdx_id", orNull(spdxId))],
  topics: ["topics", orNull(topics)],
  stars: ["stargazers_count", count],
  forks: ["forks_count", orNull(count)],
  openIssues: ["open_issues_count", orNull(count)],
  watchers: ["subscribers_count", orNull(count)],
  fork: ["fork", orNull(z.boolean())],
  archived: ["archived", orNull(z.boolean())],
  createdAt: ["created_at", orNull(time)],
  pushedAt: ["pushed_at", orNull(time)],
});

type RestRepository = z.output<typeof restRepository>;

/** The record of a public repository; null for a private one, which a token may be allowed to see, and for one that GitHub disabled. */
export function fromRest(row: RestRepository): UpstreamRepository | null {
  return row.isPrivate || row.isDisabled === true ? null : toRepository(row);
}

/** The record in a document about one repository. Throws `private` or `blocked`, and `malformed` or `gone` if it is about another one than requested. */
export function readRepository(document: unknown, requested?: RequestedRepository): UpstreamRepository {
  const row = parseRecord(restRepository, document);
  if (requested !== undefined) checkSame(row.providerId, requested);
  checkShown(row);
  return toRepository(row);
}

function toRepository({ isPrivate: _private, isDisabled: _disabled, fullName, ...facts }: RestRepository) {
  return { ...facts, ...fullName };
}

/** Throws `private` for a repository that a token may be allowed to see, and `blocked` for one that GitHub has disabled. */
function checkShown({ isPrivate, isDisabled }: { isPrivate: boolean; isDisabled: boolean | null }): void {
  if (isPrivate) throw new UpstreamFailure("private", "the repository is private");
  if (isDisabled === true) throw new UpstreamFailure("blocked", "GitHub has disabled the repository");
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
