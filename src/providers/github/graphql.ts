import { z } from "zod";
import { SLOW_DOWN_MS } from "../answers.js";
import { UpstreamFailure } from "../failures.js";
import { count, orNull, parseRecord, time } from "../fields.js";
import type { Refreshed, RepositoryRef } from "../providers.js";
import type { GithubClient, GraphqlAnswer } from "./client.js";
import { REPOSITORY_FIELDS, readNode } from "./records.js";

/** As many as GitHub takes at once. */
export const MAX_NODES = 100;
/** How often what GitHub could not answer is asked for again in halves. */
const MAX_HALVINGS = 2;

export const REPOSITORIES_QUERY = `query Repositories($ids: [ID!]!) {
  rateLimit { cost limit remaining resetAt }
  nodes(ids: $ids) {${REPOSITORY_FIELDS}
  }
}`;

const rateLimit = z.object({ cost: count, limit: count, remaining: count, resetAt: time });
const answerSchema = z.object({
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
type RateLimit = z.output<typeof rateLimit>;
type GraphqlError = z.output<typeof answerSchema>["errors"][number];

/** What came of each repository. */
export type Outcomes = Map<RepositoryRef, Refreshed>;

/** Refreshes repositories by their node ids. */
export class NodeRefresh {
  readonly #client: GithubClient;
  /** Points that the last batch cost. */
  #cost = 1;

  constructor(client: GithubClient) {
    this.#client = client;
  }

  /**
   * An outcome for each of up to MAX_NODES repositories, which all have a node id. What GitHub gives up on is asked for in
   * halves and then in quarters; when a quarter is too much as well, the rest fails with `unreachable`. Throws UpstreamFailure
   * where nothing was found out about any.
   */
  refresh(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Outcomes> {
    return this.#inParts(repositories, signal, 0);
  }

  async #inParts(
    repositories: readonly RepositoryRef[],
    signal: AbortSignal,
    halvings: number,
  ): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    const open = await this.#ask(repositories, outcomes, signal);
    const middle = Math.ceil(open.length / 2);
    let failure =
      halvings < MAX_HALVINGS ? null : new UpstreamFailure("unreachable", "GraphQL: gave up on the query");
    for (const half of [open.slice(0, middle), open.slice(middle)]) {
      if (half.length === 0) continue;
      try {
        if (failure !== null) throw failure;
        for (const [repository, outcome] of await this.#inParts(half, signal, halvings + 1)) {
          outcomes.set(repository, outcome);
        }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        failure = error;
        if (outcomes.size === 0) throw failure;
        for (const repository of half) outcomes.set(repository, { kind: "failed", failure });
      }
    }
    return outcomes;
  }

  /** Adds what is found out; gives those that GitHub gave up on. */
  async #ask(
    repositories: readonly RepositoryRef[],
    outcomes: Outcomes,
    signal: AbortSignal,
  ): Promise<readonly RepositoryRef[]> {
    const ids = repositories.map(({ nodeId }) => nodeId);
    const answer = await this.#client.graphql(REPOSITORIES_QUERY, { ids }, { cost: this.#cost, signal });
    if (answer === null) return repositories;
    const { data, errors } = parseRecord(answerSchema, answer.body);
    this.#learn(answer, data?.rateLimit ?? null, errors);
    const nodes = data?.nodes ?? null;
    const pathless = errors.filter(({ path }) => path?.[0] !== "nodes");
    if (nodes === null && errors.some(isTooMuch)) return repositories;
    if (nodes?.length !== repositories.length) {
      const types = errors.map(({ type }) =>
        /^[A-Z_]{1,40}$/.test(type ?? "") ? type : "an error without a type",
      );
      throw new UpstreamFailure(
        "malformed",
        `GraphQL: not the nodes that were asked for (${types.slice(0, 3).join(", ")})`,
      );
    }
    const errorOf = new Map(
      errors.flatMap((error) => (error.path?.[0] === "nodes" ? [[error.path[1], error] as const] : [])),
    );
    return repositories.filter((repository, i) => {
      // An error of the whole query may be why a node is missing; it says nothing of the repository.
      const error = errorOf.get(i) ?? (nodes[i] === null ? pathless[0] : undefined);
      const outcome = outcomeOf(repository, nodes[i], error);
      if (outcome !== null) outcomes.set(repository, outcome);
      return outcome === null;
    });
  }

  /** Throws `quota` where that is what the errors are about. */
  #learn({ lease }: GraphqlAnswer, limits: RateLimit | null, errors: readonly GraphqlError[]): void {
    const { quota, clock } = this.#client;
    if (limits !== null) {
      this.#cost = Math.max(1, limits.cost);
      quota.learn(lease, limits);
    }
    if (!errors.some(({ type }) => type?.startsWith("RATE_LIMIT"))) return;
    // The headers have told of the reset, if there is one.
    quota.learn(lease, { blockedUntil: clock.now() + SLOW_DOWN_MS });
    const until = quota.readyAt("graphql");
    throw new UpstreamFailure("quota", `GraphQL: the allowance is spent (${lease.label})`, { until });
  }
}

/** What came of one; null where GitHub gave up before it came to it. */
function outcomeOf(
  repository: RepositoryRef,
  node: unknown,
  error: GraphqlError | undefined,
): Refreshed | null {
  const failed = (failure: UpstreamFailure): Refreshed => ({ kind: "failed", failure });
  if (node !== null) {
    try {
      const found = readNode(node);
      if (found.providerId === repository.providerId) return { kind: "found", repository: found, etag: null };
      return failed(new UpstreamFailure("malformed", "GraphQL: the node is another repository"));
    } catch (thrown) {
      if (thrown instanceof UpstreamFailure) return failed(thrown);
      throw thrown;
    }
  }
  if (error === undefined || (error.type === "NOT_FOUND" && error.path !== undefined))
    return failed(new UpstreamFailure("gone", "GraphQL: no such node"));
  if (isTooMuch(error)) return null;
  if (/access blocked|dmca/i.test(error.message))
    return failed(new UpstreamFailure("blocked", "GraphQL: blocked"));
  if (error.type === "FORBIDDEN")
    return failed(new UpstreamFailure("refused", "GraphQL: the token may not see it"));
  return failed(new UpstreamFailure("unreachable", "GraphQL: an error in place of the node"));
}

function isTooMuch({ type, message }: GraphqlError): boolean {
  return /LIMITS?_EXCEEDED$/.test(type ?? "") || /time(d )?-?out|something went wrong/i.test(message);
}
