/**
 * GitHub and GitHub Enterprise: discovers repositories by search, refreshes up to a hundred per GraphQL query with a token, and
 * reads star histories. Its only state is the quota, and the features that the instance offers.
 */
import { z } from "zod";
import { type ProviderSettings, repositoryUrl } from "../../config/config.js";
import {
  type AppClient,
  type AppSource,
  type Connection,
  ForgeClient,
  queryInHalves,
  type Results,
} from "../client.js";
import {
  type Call,
  failureOfAll,
  oneByOne,
  type Provider,
  type Refreshed,
  type RepositoryRef,
  type UpstreamRepository,
} from "../contract.js";
import { asFailed, type FailureKind, notOfRepository, UpstreamFailure } from "../failures.js";
import { count, graphqlErrors, orNull, parseRecord, textOfFile, time, WithheldFields } from "../fields.js";
import type { Lease } from "../quota.js";
import { SLOW_DOWN_MS } from "../responses.js";
import { checkGithubToken } from "../token-check.js";
import { AppTokens } from "./app-tokens.js";
import { discover } from "./discover.js";
import { StarHistory } from "./history.js";
import {
  namedFields,
  OPTIONAL_FIELDS,
  type OptionalField,
  optionalField,
  pathOfId,
  readNode,
  readRepository,
  repositoriesQuery,
  repositoryPath,
} from "./repository.js";
import { findNamed, MAX_NAMES, seek } from "./seek.js";

export const MAX_NODES = 100;

const API_VERSION = "2022-11-28";

/** Small because anonymous requests are limited to 60 per hour, and each repository takes one. */
const ANONYMOUS_BATCH = 10;

/** The root of an instance's REST API. The public GitHub, and GitHub with data residency, have a separate host for it. */
export function apiRoot(site: string): string {
  const { protocol, host } = new URL(site);
  const hasOwnHost = host === "github.com" || /^[\w-]+\.ghe\.com$/.test(host);
  return protocol === "https:" && hasOwnHost ? `https://api.${host}` : `${site}/api/v3`;
}

/** The instance that the settings describe. All requests go to its API, so `fetch` must reach that. */
export function createGithub(settings: ProviderSettings, connection: Connection): Provider {
  const { name, url, minStars } = settings;
  const root = apiRoot(url);
  const api = {
    root,
    authorization: (token: string) => `Bearer ${token}`,
    headers: {
      accept: "application/vnd.github+json",
      "x-github-api-version": API_VERSION,
      // Node ids of the present format: GitHub is closing down the older ones.
      "x-github-next-global-id": "1",
    },
    // Moved repositories are found by id. A history does not name its repository, so its requests are not redirected.
    redirects: /^\/repositories\/\d+(\?|$)/,
    appTokens: (source: AppSource, tools: AppClient) => new AppTokens(source, tools),
  };
  const client = new ForgeClient(api, settings, connection);
  const nodes = new NodeRefresh(client, {
    url: root.replace(/\/v3$/, "").concat("/graphql"),
    urlOf: (fullName) => repositoryUrl(url, fullName),
    readOne: (repository, signal) => refreshById(client, { ...repository, etag: null }, signal),
  });
  const stars = new StarHistory(client);
  const resourceOf = (call: Call): string => {
    if (call === "refresh" && client.hasTokens) return "graphql";
    return call === "discover" ? "search" : "core";
  };
  return {
    name,
    kind: "github",
    settings,
    get batchSize() {
      return client.hasTokens ? MAX_NODES : ANONYMOUS_BATCH;
    },
    // Searches do not return the number of watchers.
    listsAreComplete: false,
    discover: (cursor, signal) => discover(client, { minStars, cursor, signal }),
    refreshMany: (repositories, signal) => refreshMany({ client, nodes }, repositories, signal),
    refreshOne: (fullName, signal) => readByName(client, fullName, signal),
    // Its quota is separate, which matters without a token.
    get namesPerSearch() {
      return client.hasTokens ? 0 : MAX_NAMES;
    },
    findNamed: (fullNames, signal) => findNamed(client, fullNames, signal),
    recheck: (repository, signal) => recheck(client, repository, signal),
    checkWorks: async (signal) => void (await client.get("/meta", { signal })),
    history: (repository, cursor, signal) => stars.page(repository, cursor, signal),
    seek: (sought, signal) => seek(client, sought, signal),
    readme: (fullName, signal) => readReadme(client, fullName, signal),
    checkToken: (signal) => checkGithubToken(client, signal),
    useEntered: (tokens) => client.useEntered(tokens),
    withheld: () => nodes.withheld.list(),
    quota: () => client.quotas(),
    notices: () => client.notices(),
    readyAt: (call) => client.readyAt({ resource: resourceOf(call) }),
  };
}

/**
 * Refreshes repositories in one GraphQL query, which needs a token. Those without a node id, and all without tokens, are
 * requested one by one; unchanged ones cost no quota with a token, and as much as others without. Throws UpstreamFailure if the
 * forge responded about none, unless queries may go on: then those without a node id alone have to wait.
 */
async function refreshMany(
  { client, nodes }: { client: ForgeClient; nodes: NodeRefresh },
  repositories: readonly RepositoryRef[],
  signal: AbortSignal,
): Promise<Refreshed[]> {
  const { clock, hasTokens } = client;
  const beganAt = clock.monotonic();
  const batched = repositories.filter(({ nodeId }) => hasTokens && nodeId !== null);
  const single = repositories.filter((repository) => !batched.includes(repository));
  const results: Results = batched.length === 0 ? new Map() : await nodes.refresh(batched, signal);
  if (single.length > 0) {
    const read = await oneByOne(single, (ref) => refreshById(client, ref, signal), { clock, beganAt });
    const failure = results.size === 0 ? failureOfAll(read) : null;
    const mayGoOn = hasTokens && client.readyAt({ resource: "graphql" }) <= clock.now();
    if (failure !== null && !(failure.kind === "quota" && mayGoOn)) throw failure;
    for (const [i, repository] of single.entries()) results.set(repository, read[i] ?? { kind: "skipped" });
  }
  return repositories.map((repository) => results.get(repository) ?? { kind: "skipped" });
}

async function refreshById(
  client: ForgeClient,
  { providerId, etag, fullName }: RepositoryRef,
  signal: AbortSignal,
): Promise<Refreshed> {
  const document = await client.get(pathOfId(providerId), { signal, etag, about: fullName });
  if (document.status === 304) return { kind: "unchanged" };
  const repository = readRepository(document.body, { providerId, by: "id" });
  return { kind: "found", repository, etag: document.etag };
}

async function readByName(
  client: ForgeClient,
  fullName: string,
  signal: AbortSignal,
): Promise<UpstreamRepository> {
  const document = await client.get(repositoryPath(fullName), { signal, about: fullName });
  return readRepository(document.body);
}

async function recheck(
  client: ForgeClient,
  { nodeId, providerId, fullName }: RepositoryRef,
  signal: AbortSignal,
): Promise<UpstreamRepository> {
  const by = client.hasTokens && nodeId !== null ? "id" : "name";
  const path = by === "id" ? pathOfId(providerId) : repositoryPath(fullName);
  const document = await client.get(path, { signal, about: fullName });
  return readRepository(document.body, { providerId, by });
}

async function readReadme(client: ForgeClient, fullName: string, signal: AbortSignal): Promise<string> {
  // A token may be allowed to read private repositories.
  const { owner, name } = await readByName(client, fullName, signal);
  const present = `${owner}/${name}`;
  const document = await client.get(`${repositoryPath(present)}/readme`, { signal, about: present });
  return textOfFile(document.body);
}

/** How many times a query is sent again because GitHub withholds further fields; the last time with no optional field. */
const MAX_REDUCTIONS = 3;
/** The instance itself withholds a field if this share of the nodes of a query has none, and at least this number. */
const WITHHELD_SHARE = 0.5;
const WITHHELD_NODES = 10;
const MAX_ERRORS = 2_000;

const rateLimit = z.object({ cost: count, limit: count, remaining: count, resetAt: time });
const nodes = z.array(z.unknown()).max(MAX_NODES);
const errorSchema = z.object({
  type: orNull(z.string()),
  message: z.string().catch(""),
  path: orNull(z.array(z.union([z.string(), z.int()]))),
});
const responseSchema = z.object({
  data: orNull(z.object({ rateLimit: orNull(rateLimit), nodes: orNull(nodes) })),
  errors: graphqlErrors(errorSchema, MAX_ERRORS),
});
type GraphqlError = z.output<typeof errorSchema>;
type GraphqlResponse = z.output<typeof responseSchema>;

interface Query {
  repositories: readonly RepositoryRef[];
  /** Number of nodes when it was first sent; only those without a field are requested again. */
  size: number;
  without: ReadonlySet<OptionalField>;
  reductions: number;
  signal: AbortSignal;
}

/** `reduced`: to be requested again without these fields. `open`: GitHub gave up before this node. */
type NodeResult = Refreshed | { kind: "reduced"; fields: readonly OptionalField[] } | { kind: "open" };

/** Reads a repository over REST. */
type ReadOne = (repository: RepositoryRef, signal: AbortSignal) => Promise<Refreshed>;

/** Refreshes up to a hundred repositories in one GraphQL query, and queries again if GitHub withholds fields or gives up. */
class NodeRefresh {
  readonly #client: ForgeClient;
  readonly #url: string;
  readonly #urlOf: (fullName: string) => string;
  readonly #readOne: ReadOne;
  readonly withheld: WithheldFields<OptionalField>;
  /** Points that the last batch cost. */
  #cost = 1;

  constructor(
    client: ForgeClient,
    { url, urlOf, readOne }: { url: string; urlOf: (fullName: string) => string; readOne: ReadOne },
  ) {
    this.#client = client;
    this.#readOne = readOne;
    this.#url = url;
    this.#urlOf = urlOf;
    this.withheld = new WithheldFields(client.clock);
  }

  /**
   * A result for each of at most MAX_NODES repositories, which must all have a node id. A query that GitHub gives up on is halved down
   * to one repository, which is then read over REST, as is one that the token may not see. A field that GitHub withholds is not requested for a day. Throws UpstreamFailure if
   * nothing is known about any of them.
   */
  async refresh(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Results> {
    const results = await queryInHalves(repositories, {
      query: (part) => {
        const without = new Set(this.withheld.list());
        return this.#query({ repositories: part, size: part.length, without, reductions: 0, signal });
      },
      readOne: (repository) => this.#readOne(repository, signal),
    });
    // Repositories that an owner refuses to the token may be readable without one, which only the REST API permits.
    for (const [repository, result] of results) {
      if (result.kind !== "failed" || result.failure.kind !== "refused") continue;
      if (!this.#client.mayOmitToken) break;
      results.set(repository, await this.#readOne(repository, signal).catch(asFailed));
    }
    return results;
  }

  /** `open`: the repositories that GitHub gave up on. */
  async #query(query: Query): Promise<{ results: Results; open: readonly RepositoryRef[] }> {
    const { repositories, size, without, reductions } = query;
    const results: Results = new Map();
    const body = await this.#send(query);
    const at = this.#client.clock.now();
    if (body === null) return { results, open: repositories };
    const { data, errors } = body;
    const nodes = data?.nodes ?? null;
    if (nodes === null && errors.some(isTooMuch)) return { results, open: repositories };
    if (nodes?.length !== repositories.length) {
      const named = nodes === null ? errors.flatMap(({ message }) => namedFields(message)) : [];
      const unknown = named.filter((field) => !without.has(field));
      if (unknown.length === 0 || reductions === MAX_REDUCTIONS) throw this.#notTheNodes(errors);
      this.withheld.add(unknown);
      return this.#query(reduced(query, unknown));
    }
    const errorsOf = Map.groupBy(errors, ({ path }) => (path?.[0] === "nodes" ? path[1] : undefined));
    const open: RepositoryRef[] = [];
    const again = new Map<RepositoryRef, readonly OptionalField[]>();
    for (const [i, repository] of repositories.entries()) {
      // An error without a node's path may be why nodes are missing; it says nothing about a repository.
      const ofNode = errorsOf.get(i) ?? (nodes[i] === null ? (errorsOf.get(undefined) ?? []) : []);
      const result = this.#resultOf(repository, { node: nodes[i], errors: ofNode, without, at });
      if (result.kind === "open") open.push(repository);
      else if (result.kind === "reduced") again.set(repository, result.fields);
      else results.set(repository, result);
    }
    if (again.size === 0) return { results, open };
    const lacking = [...new Set([...again.values()].flat())];
    const isWithheldOften = (field: OptionalField) =>
      [...again.values()].filter((fields) => fields.includes(field)).length >=
      Math.max(WITHHELD_NODES, WITHHELD_SHARE * size);
    this.withheld.add(lacking.filter(isWithheldOften));
    const left = [...again.keys()];
    try {
      if (reductions === MAX_REDUCTIONS) throw this.#notTheNodes(errors);
      const rest = await this.#query(reduced({ ...query, repositories: left }, lacking));
      for (const [repository, result] of rest.results) results.set(repository, result);
      open.push(...rest.open);
    } catch (error) {
      const failed = asFailed(error);
      if (results.size === 0) throw failed.failure;
      for (const repository of left) results.set(repository, failed);
    }
    return { results, open };
  }

  #resultOf(
    repository: RepositoryRef,
    received: {
      node: unknown;
      errors: readonly GraphqlError[];
      without: ReadonlySet<OptionalField>;
      at: number;
    },
  ): NodeResult {
    const { node, errors, without, at } = received;
    const fields = errors.flatMap(({ path }) => optionalField(path?.[2]) ?? []);
    if (node !== null) {
      try {
        const withheld = new Set([...without, ...fields]);
        const found = readNode(node, { providerId: repository.providerId, withheld, urlOf: this.#urlOf });
        return { kind: "found", repository: found, etag: null, at };
      } catch (thrown) {
        return asFailed(thrown);
      }
    }
    if (errors.some(isTooMuch)) return { kind: "open" };
    const ofNode = errors.find(({ path }) => path?.length === 2);
    const requested = fields.filter((field) => !without.has(field));
    if (ofNode === undefined && requested.length > 0) return { kind: "reduced", fields: requested };
    return { kind: "failed", failure: this.#failureOf(ofNode ?? errors[0]) };
  }

  /** The response to the query; null if GitHub gave up on it (500, 502, 504), as it does with too large queries. */
  async #send({ repositories, without, signal }: Query): Promise<GraphqlResponse | null> {
    const variables = { ids: repositories.map((one) => one.nodeId) };
    const { response, lease } = await this.#client.send(
      this.#url,
      {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8" },
        body: JSON.stringify({ query: repositoriesQuery(without), variables }),
        signal,
      },
      { resource: "graphql", cost: this.#cost },
    );
    if ([500, 502, 504].includes(response.status)) return null;
    const failure = this.#client.failureOf(this.#url, response);
    if (failure !== null) throw notOfRepository(failure);
    const body = parseRecord(responseSchema, this.#client.parse(this.#url, response.text));
    this.#learn(lease, body);
    return body;
  }

  /** Passes the reported limits on to the quota. Throws `quota` if the errors say that one is reached. */
  #learn(lease: Lease, { data, errors }: GraphqlResponse): void {
    const { quota, clock } = this.#client;
    if (data?.nodes?.some((node) => node !== null)) this.#client.tokens.hasRead(lease);
    const limits = data?.rateLimit ?? null;
    if (limits !== null) {
      this.#cost = Math.max(1, limits.cost);
      quota.learn(lease, limits);
    }
    const limit = errors.find(({ type }) => type?.startsWith("RATE_LIMIT"));
    if (limit === undefined) return;
    const reason = this.#client.wordsOf(limit.message);
    // The time of the reset, if any, is known from the headers.
    quota.learn(lease, { blockedUntil: clock.now() + SLOW_DOWN_MS, message: reason });
    const until = quota.readyAt({ resource: "graphql" });
    throw new UpstreamFailure("quota", `GraphQL: rate limit reached (${lease.label})`, { until, reason });
  }

  /** The failure of a node that is null. Only GitHub's own word about the node says that there is no such repository. */
  #failureOf(error: GraphqlError | undefined): UpstreamFailure {
    const failure = (kind: FailureKind, message: string) => this.#failure(kind, message, error);
    if (error === undefined) return failure("malformed", "neither a node nor a reason");
    if (error.type === "NOT_FOUND" && error.path?.length === 2) return failure("gone", "no such node");
    // GitHub gives these no type.
    if (/access blocked|dmca/i.test(error.message)) return failure("blocked", "blocked");
    if (error.type === "FORBIDDEN") return failure("refused", "the token has no access");
    return failure("unreachable", "an error instead of the node");
  }

  #notTheNodes(errors: readonly GraphqlError[]): UpstreamFailure {
    const types = errors
      .slice(0, 3)
      .map(({ type }) => (/^[A-Z_]{1,40}$/.test(type ?? "") ? type : "untyped error"));
    return this.#failure("malformed", `not the requested nodes (${types.join(", ")})`, errors[0]);
  }

  /** Cleans the words of an error only for the failure that they end up in: a response may have thousands of errors. */
  #failure(kind: FailureKind, message: string, error: GraphqlError | undefined): UpstreamFailure {
    const reason = error === undefined ? null : this.#client.wordsOf(error.message);
    return new UpstreamFailure(kind, `GraphQL: ${message}`, { reason });
  }
}

function reduced(query: Query, fields: readonly OptionalField[]): Query {
  const reductions = query.reductions + 1;
  const without = reductions === MAX_REDUCTIONS ? OPTIONAL_FIELDS : [...query.without, ...fields];
  return { ...query, without: new Set(without), reductions };
}

function isTooMuch({ type, message }: GraphqlError): boolean {
  return /LIMITS?_EXCEEDED$/.test(type ?? "") || /time(d )?-?out|something went wrong/i.test(message);
}
