import { isForNow, isOfForge, UpstreamFailure } from "../failures.js";
import type { Refreshed, RepositoryRef } from "../providers.js";
import type { GithubClient } from "./client.js";
import { MAX_NODES, NodeRefresh, type Outcomes } from "./graphql.js";
import { readRepository } from "./records.js";

/** Without a token there are 60 requests an hour, and each repository takes one. */
const ANONYMOUS_BATCH = 10;
/** After so many requests in a row without an answer, the rest is not tried. */
const MAX_UNANSWERED = 2;

/** How many repositories are refreshed in one call at most. */
export function batchSize(client: GithubClient): number {
  return client.hasTokens ? MAX_NODES : ANONYMOUS_BATCH;
}

/**
 * Refreshes repositories. With tokens in one GraphQL query, which GitHub answers to nobody else; those without a node id, and
 * all without tokens, one after another by their numbers, where nothing is spent on those that have not changed.
 */
export class Refresher {
  readonly #client: GithubClient;
  readonly #nodes: NodeRefresh;

  constructor(client: GithubClient) {
    this.#client = client;
    this.#nodes = new NodeRefresh(client);
  }

  /** An outcome for each, in their order. Throws UpstreamFailure where the forge answered for none of them. */
  async refresh(repositories: readonly RepositoryRef[], signal: AbortSignal): Promise<Refreshed[]> {
    const inQuery = repositories.filter(({ nodeId }) => this.#client.hasTokens && nodeId !== null);
    const alone = repositories.filter((repository) => !inQuery.includes(repository));
    const outcomes: Outcomes = inQuery.length === 0 ? new Map() : await this.#nodes.refresh(inQuery, signal);
    const failure = await this.#each(alone, outcomes, signal);
    if (failure !== null && outcomes.size === 0) throw failure;
    const rest = failure ?? new UpstreamFailure("unreachable", "not asked for");
    return repositories.map((repository) => outcomes.get(repository) ?? { kind: "failed", failure: rest });
  }

  /** Adds an outcome for each that the forge answered for; gives the failure that the others, if any, have in common. */
  async #each(
    repositories: readonly RepositoryRef[],
    outcomes: Outcomes,
    signal: AbortSignal,
  ): Promise<UpstreamFailure | null> {
    let failure: UpstreamFailure | null = null;
    let unanswered = 0;
    for (const repository of repositories) {
      try {
        outcomes.set(repository, await this.#one(repository, signal));
        unanswered = 0;
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        if (isOfForge(error.kind)) {
          // Once no token is accepted, none may send: that is not what is to be told.
          if (failure?.kind !== "refused") failure = error;
          unanswered++;
          if (isForNow(error.kind) || unanswered === MAX_UNANSWERED) break;
        } else {
          outcomes.set(repository, { kind: "failed", failure: error });
        }
      }
    }
    return failure;
  }

  async #one({ providerId, etag }: RepositoryRef, signal: AbortSignal): Promise<Refreshed> {
    const asking = { resource: "core", signal, etag } as const;
    const document = await this.#client.get("/repositories/{id}", { id: providerId }, asking);
    if (document === null) return { kind: "unchanged" };
    return { kind: "found", repository: readRepository(document.body), etag: document.etag };
  }
}
