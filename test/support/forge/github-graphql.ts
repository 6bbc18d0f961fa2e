import { buildSchema, type DocumentNode, execute, GraphQLError, parse, validate } from "graphql";
import type { ForgeRepository } from "./catalogue.js";
import { nodeId, numberOfNode, ownerNumber } from "./github-record.js";
import type { Limiter } from "./limits.js";
import {
  type ForgeRequest,
  type ForgeResponse,
  isoSeconds,
  isShownTo,
  json,
  type Site,
} from "./responses.js";

/**
 * The part of GitHub's schema that we read, with the same types, and nothing deprecated. From docs.github.com/public/schema.docs.graphql
 * as of 31 December 2025 (@octokit/graphql-schema 15.26.1).
 */
export const GITHUB_SCHEMA = `
  scalar URI
  scalar DateTime
  enum IssueState { CLOSED OPEN }
  enum PullRequestState { CLOSED MERGED OPEN }
  enum RepositoryVisibility { INTERNAL PRIVATE PUBLIC }
  interface Node { id: ID! }
  interface RepositoryOwner { id: ID! login: String! url: URI! avatarUrl(size: Int): URI! }
  type User implements Node & RepositoryOwner { id: ID! login: String! url: URI! avatarUrl(size: Int): URI! }
  type Language { name: String! }
  type License { key: String! name: String! spdxId: String }
  type Topic { name: String! }
  type RepositoryTopic { topic: Topic! }
  type PageInfo { endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String }
  type RepositoryTopicConnection { nodes: [RepositoryTopic] pageInfo: PageInfo! totalCount: Int! }
  type IssueConnection { totalCount: Int! }
  type PullRequestConnection { totalCount: Int! }
  type UserConnection { totalCount: Int! }
  type Repository implements Node {
    id: ID!
    databaseId: Int
    name: String!
    nameWithOwner: String!
    owner: RepositoryOwner!
    url: URI!
    description: String
    homepageUrl: URI
    primaryLanguage: Language
    licenseInfo: License
    repositoryTopics(after: String, before: String, first: Int, last: Int): RepositoryTopicConnection!
    stargazerCount: Int!
    forkCount: Int!
    issues(after: String, before: String, first: Int, last: Int, states: [IssueState!]): IssueConnection!
    pullRequests(after: String, before: String, first: Int, last: Int, states: [PullRequestState!]): PullRequestConnection!
    watchers(after: String, before: String, first: Int, last: Int): UserConnection!
    isFork: Boolean!
    isArchived: Boolean!
    isPrivate: Boolean!
    isDisabled: Boolean!
    visibility: RepositoryVisibility!
    createdAt: DateTime!
    pushedAt: DateTime
    updatedAt: DateTime!
  }
  type RateLimit { cost: Int! limit: Int! nodeCount: Int! remaining: Int! resetAt: DateTime! used: Int! }
  type Query {
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    repository(followRenames: Boolean = true, name: String!, owner: String!): Repository
    rateLimit(dryRun: Boolean = false): RateLimit
  }
`;

const SCHEMA = buildSchema(GITHUB_SCHEMA);
const MOST_IDS = 100;

/** Cache of parsed queries; clients repeat the same few. */
const documents = new Map<string, DocumentNode>();

interface Failure {
  type?: unknown;
  path?: unknown;
  locations?: unknown;
  message: string;
}

const failures = (errors: readonly GraphQLError[]): Failure[] =>
  errors.map(({ message, path, locations, extensions }) => ({
    ...(extensions.type !== undefined && { type: extensions.type }),
    ...(path !== undefined && { path }),
    ...(locations !== undefined && { locations }),
    message,
  }));

/** Handles a query. Like on GitHub, errors within a query have status 200. */
export function handleGraphql(site: Site, request: ForgeRequest, limiter: Limiter): ForgeResponse {
  if (request.method !== "POST") return json(404, { message: "Not Found" });
  const headers = { "x-github-media-type": "github.v4; format=json" };
  const { query, variables } = readBody(request.body);
  if (query === null) {
    const documentation_url = "https://docs.github.com/graphql/guides/forming-calls-with-graphql";
    return json(400, { message: "Problems parsing JSON", documentation_url, status: "400" }, headers);
  }
  let document = documents.get(query);
  if (document === undefined) {
    try {
      document = parse(query);
    } catch (error) {
      if (error instanceof GraphQLError) return json(200, { errors: failures([error]) }, headers);
      throw error;
    }
    const wrong = validate(SCHEMA, document);
    if (wrong.length > 0) return json(200, { errors: failures(wrong) }, headers);
    documents.set(query, document);
  }
  const counted = { repositories: 0, nodes: 0 };
  const rootValue = root(site, request, limiter, counted);
  const result = execute({ schema: SCHEMA, document, rootValue, variableValues: variables });
  if (result instanceof Promise) throw new Error("a field was answered late");
  const { data, errors } = result;
  const body = {
    ...(data !== undefined && { data }),
    ...(errors !== undefined && { errors: failures(errors) }),
  };
  return json(200, body, headers, counted.repositories);
}

function readBody(text: string): { query: string | null; variables: Record<string, unknown> } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  const parts: { query?: unknown; variables?: unknown } =
    typeof body === "object" && body !== null ? body : {};
  return {
    query: typeof parts.query === "string" ? parts.query : null,
    variables: typeof parts.variables === "object" ? { ...parts.variables } : {},
  };
}

/** Resolvers of Query. */
function root(
  site: Site,
  request: ForgeRequest,
  limiter: Limiter,
  counted: { repositories: number; nodes: number },
) {
  const now = site.clock.now();
  const shown = (repository: ForgeRepository | undefined, missing: string) => {
    counted.nodes++;
    if (repository?.visibility === "blocked") return failure("FORBIDDEN", "Repository access blocked");
    if (!isShownTo(request, repository)) return failure("NOT_FOUND", missing);
    counted.repositories++;
    return repositoryNode(site.url, repository);
  };
  const node = (id: string) => {
    const number = numberOfNode(id);
    const repository = number === null ? undefined : site.catalogue.get(number, now);
    return shown(repository, `Could not resolve to a node with the global id of '${id}'`);
  };
  return {
    node: ({ id }: { id: string }) => node(id),
    nodes: ({ ids }: { ids: string[] }) => {
      if (ids.length <= MOST_IDS) return ids.map(node);
      return failure(
        "ARGUMENT_LIMIT",
        `You may not provide more than ${MOST_IDS} node ids; you provided ${ids.length}.`,
      );
    },
    repository: (asked: { owner: string; name: string; followRenames: boolean }) => {
      const fullName = `${asked.owner}/${asked.name}`;
      const found = site.catalogue.find(fullName, now);
      const isFollowed = asked.followRenames || found?.isMoved !== true;
      const missing = `Could not resolve to a Repository with the name '${fullName}'.`;
      return shown(isFollowed ? found?.repository : undefined, missing);
    },
    rateLimit: () => {
      const quota = limiter.quota(request.token, "graphql");
      const { limit, remaining, used, resetAt } = quota ?? {
        limit: 5_000,
        remaining: 5_000,
        used: 0,
        resetAt: now,
      };
      return {
        cost: 1,
        limit,
        remaining,
        used,
        resetAt: isoSeconds(resetAt),
        nodeCount: () => counted.nodes,
      };
    },
  };
}

function failure(type: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type } });
}

function repositoryNode(url: string, repository: ForgeRepository) {
  const { owner, fullName, language, license, topics } = repository;
  const ifOpen = (states: readonly string[] | undefined, count: number) =>
    states === undefined || states.includes("OPEN") ? count : 0;
  return {
    __typename: "Repository",
    id: nodeId("R", repository.id),
    databaseId: repository.id,
    name: repository.name,
    nameWithOwner: fullName,
    owner: {
      __typename: "User",
      id: nodeId("U", ownerNumber(owner)),
      login: owner,
      url: `${url}/${owner}`,
      avatarUrl: `${url}/avatars/u/${ownerNumber(owner)}?v=4`,
    },
    url: `${url}/${fullName}`,
    description: repository.description,
    homepageUrl: repository.homepage,
    primaryLanguage: language === null ? null : { name: language },
    licenseInfo:
      license === null
        ? null
        : {
            key: license === "NOASSERTION" ? "other" : license.toLowerCase(),
            name: license,
            spdxId: license,
          },
    repositoryTopics: ({ first }: { first?: number }) => {
      if (first === undefined)
        return failure(
          "MISSING_PAGINATION_BOUNDARIES",
          "You must provide a `first` or `last` value to properly paginate the `repositoryTopics` connection.",
        );
      const pageInfo = {
        hasNextPage: first < topics.length,
        hasPreviousPage: false,
        endCursor: null,
        startCursor: null,
      };
      const nodes = topics.slice(0, first).map((name) => ({ topic: { name } }));
      return { nodes, totalCount: topics.length, pageInfo };
    },
    stargazerCount: repository.stars,
    forkCount: repository.forks,
    issues: ({ states }: { states?: string[] }) => ({ totalCount: ifOpen(states, repository.openIssues) }),
    pullRequests: ({ states }: { states?: string[] }) => ({
      totalCount: ifOpen(states, repository.openPullRequests),
    }),
    watchers: { totalCount: repository.watchers },
    isFork: repository.isFork,
    isArchived: repository.isArchived,
    isPrivate: repository.visibility !== "public",
    isDisabled: false,
    visibility: repository.visibility === "members" ? "INTERNAL" : "PUBLIC",
    createdAt: isoSeconds(repository.createdAt),
    pushedAt: isoSeconds(repository.pushedAt),
    updatedAt: isoSeconds(repository.updatedAt),
  };
}
