import { z } from "zod";
import type { ForgeClient } from "../client.js";
import {
  asFailed,
  type Refreshed,
  type RepositoryRef,
  UpstreamFailure,
  type UpstreamRepository,
} from "../contract.js";
import { count, fullName, id, label, orNull, parseRecord, text, time, topics, webUrl } from "../fields.js";
import type { Lease } from "../quota.js";
import { notOfRepository, parseJson, SLOW_DOWN_MS } from "../responses.js";
import { nodeId, spdxId } from "./rest.js";

/** GitHub's maximum per query. */
export const MAX_NODES = 100;
/** How many times a query that is too large is halved. */
const MAX_HALVINGS = 2;

/** The fields of `repositoryNode`. GitHub allows 20 topics per repository. */
export const REPOSITORIES_QUERY = `query Repositories($ids: [ID!]!) {
  rateLimit { cost limit remaining resetAt }
  nodes(ids: $ids) {
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
    }
  }
}`;

const total = z.object({ totalCount: count });
const topicNames = z
  .object({ nodes: z.array(z.object({ topic: z.object({ name: z.unknown() }) }).nullable()).max(100) })
  .transform(({ nodes }) => topics.parse(nodes.flatMap((node) => (node === null ? [] : [node.topic.name]))));

const repositoryNode = z.object({
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

const rateLimit = z.object({ cost: count, limit: count, remaining: count, resetAt: time });
const responseSchema = z.object({
  data: orNull(
    z.object({
      rateLimit: orNull(rateLimit),
      nodes: orNull(z.array(z.unknown()).max(MAX_NODES)),
    }),
  ),
  errors: z
    .array(
      z.object({
        type: orNull(z.string()),
        message: z.string().catch(""),
        path: orNull(z.array(z.union([z.string(), z.int()]))),
      }),
    )
    .max(1000)
    .catch([]),
});
type GraphqlResponse = z.output<typeof responseSchema>;
type GraphqlError = GraphqlResponse["errors"][number];

/** The result for each repository. */
export type Results = Map<RepositoryRef, Refreshed>;

/** Refreshes repositories by their node ids. */
export class NodeRefresh {
  readonly #client: ForgeClient;
  readonly #url: string;
  /** Points that the last batch cost. */
  #cost = 1;

  constructor(client: ForgeClient, url: string) {
    this.#client = client;
    this.#url = url;
  }

  /**
   * A result for each of at most MAX_NODES repositories, which must all have a node id. When GitHub gives up on a query it is
   * halved, and halved again; if a quarter is still too large, the rest fails with `unreachable`. Throws UpstreamFailure if
   * nothing is known about any of them.
   */
  refresh(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Results> {
    return this.#halving(repositories, signal, 0);
  }

  async #halving(
    repositories: readonly RepositoryRef[],
    signal: AbortSignal,
    halvings: number,
  ): Promise<Results> {
    const { results, open } = await this.#query(repositories, signal);
    const middle = Math.ceil(open.length / 2);
    let failure =
      halvings < MAX_HALVINGS ? null : new UpstreamFailure("unreachable", "GraphQL: gave up on the query");
    for (const half of [open.slice(0, middle), open.slice(middle)]) {
      if (half.length === 0) continue;
      try {
        if (failure !== null) throw failure;
        for (const [repository, result] of await this.#halving(half, signal, halvings + 1))
          results.set(repository, result);
      } catch (error) {
        const failed = asFailed(error);
        failure = failed.failure;
        if (results.size === 0) throw failure;
        for (const repository of half) results.set(repository, failed);
      }
    }
    return results;
  }

  /** The results of one query, and the repositories that GitHub gave up on. */
  async #query(
    repositories: readonly RepositoryRef[],
    signal: AbortSignal,
  ): Promise<{ results: Results; open: readonly RepositoryRef[] }> {
    const results: Results = new Map();
    const sent = await this.#send({ ids: repositories.map((one) => one.nodeId) }, signal);
    if (sent === null) return { results, open: repositories };
    const { data, errors } = sent.body;
    this.#learn(sent.lease, sent.body);
    const nodes = data?.nodes ?? null;
    if (nodes === null && errors.some(isTooMuch)) return { results, open: repositories };
    if (nodes?.length !== repositories.length) {
      const types = errors.map(({ type }) => (/^[A-Z_]{1,40}$/.test(type ?? "") ? type : "untyped error"));
      const message = `GraphQL: not the requested nodes (${types.slice(0, 3).join(", ")})`;
      throw new UpstreamFailure("malformed", message);
    }
    // An error without a node's path may be why nodes are missing; it says nothing about a repository.
    const ofQuery = errors.find(({ path }) => path?.[0] !== "nodes");
    const errorOf = new Map(
      errors.flatMap((error) => (error.path?.[0] === "nodes" ? [[error.path[1], error] as const] : [])),
    );
    const open = repositories.filter((repository, i) => {
      const error = errorOf.get(i) ?? (nodes[i] === null ? ofQuery : undefined);
      const result = resultOf(repository, nodes[i], error);
      if (result !== null) results.set(repository, result);
      return result === null;
    });
    return { results, open };
  }

  /** The response to the query; null if GitHub gave up on it (502, 504), as it does with too large queries. */
  async #send(
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<{ body: GraphqlResponse; lease: Lease } | null> {
    const { response, lease } = await this.#client.send(
      this.#url,
      {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8" },
        body: JSON.stringify({ query: REPOSITORIES_QUERY, variables }),
        signal,
      },
      { resource: "graphql", cost: this.#cost },
    );
    if (response.status === 502 || response.status === 504) return null;
    const failure = this.#client.failureOf(this.#url, response);
    if (failure !== null) throw notOfRepository(failure);
    return { body: parseRecord(responseSchema, parseJson(response.text)), lease };
  }

  /** Passes the reported limits on to the quota. Throws `quota` if the errors say that one is reached. */
  #learn(lease: Lease, { data, errors }: GraphqlResponse): void {
    const { quota, clock } = this.#client;
    const limits = data?.rateLimit ?? null;
    if (limits !== null) {
      this.#cost = Math.max(1, limits.cost);
      quota.learn(lease, limits);
    }
    if (!errors.some(({ type }) => type?.startsWith("RATE_LIMIT"))) return;
    // The time of the reset, if any, is known from the headers.
    quota.learn(lease, { blockedUntil: clock.now() + SLOW_DOWN_MS });
    const until = quota.readyAt("graphql");
    throw new UpstreamFailure("quota", `GraphQL: rate limit reached (${lease.label})`, { until });
  }
}

/** The result for one node; null if GitHub gave up before it got there. */
function resultOf(
  repository: RepositoryRef,
  node: unknown,
  error: GraphqlError | undefined,
): Refreshed | null {
  const failed = (kind: UpstreamFailure["kind"], message: string): Refreshed => ({
    kind: "failed",
    failure: new UpstreamFailure(kind, `GraphQL: ${message}`),
  });
  if (node !== null) {
    try {
      const found = readNode(node);
      if (found.providerId === repository.providerId) return { kind: "found", repository: found, etag: null };
      return failed("malformed", "the node is another repository");
    } catch (thrown) {
      return asFailed(thrown);
    }
  }
  if (error === undefined || (error.type === "NOT_FOUND" && error.path !== undefined))
    return failed("gone", "no such node");
  if (isTooMuch(error)) return null;
  // GitHub gives these no type.
  if (/access blocked|dmca/i.test(error.message)) return failed("blocked", "blocked");
  if (error.type === "FORBIDDEN") return failed("refused", "the token has no access");
  return failed("unreachable", "an error instead of the node");
}

function isTooMuch({ type, message }: GraphqlError): boolean {
  return /LIMITS?_EXCEEDED$/.test(type ?? "") || /time(d )?-?out|something went wrong/i.test(message);
}

/** The record in a node. Throws `malformed`, also for a node that is not a repository, and `private`. */
export function readNode(node: unknown): UpstreamRepository {
  const row = parseRecord(repositoryNode, node);
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
    // REST counts pull requests as issues; the number must not depend on the API we used.
    openIssues: issues === null || pullRequests === null ? null : issues.totalCount + pullRequests.totalCount,
    watchers: row.watchers?.totalCount ?? null,
    fork: row.isFork,
    archived: row.isArchived,
    createdAt: row.createdAt,
    pushedAt: row.pushedAt,
  };
}
