/** Queries for many repositories, one of them possibly more than a forge can answer for. */
import type { Refreshed, RepositoryRef } from "./contract.js";
import { asFailed, concernsForge, UpstreamFailure } from "./failures.js";

export type Results = Map<RepositoryRef, Refreshed>;

/** Queries of a batch that may fail: enough to find two repositories among a hundred. */
const MAX_FAILED = 16;

interface Answer {
  results: Results;
  open: readonly RepositoryRef[];
}

interface Halving {
  /** `open`: those that the forge gave up on. Throws UpstreamFailure for a failure that no smaller query would mend. */
  query: (part: readonly RepositoryRef[]) => Promise<Answer>;
  /** Reads one that cannot be queried for even alone, in another way. */
  readOne: (repository: RepositoryRef) => Promise<Refreshed>;
}

/**
 * A result for each repository. Those that the forge gives up on are queried again in halves, down to one, and that one is read by
 * itself, so that it holds up no others. After MAX_FAILED queries, and once the forge fails as a whole, the rest fails too. Throws
 * UpstreamFailure if nothing is known about any of them.
 */
export async function queryInHalves(
  repositories: readonly RepositoryRef[],
  { query, readOne }: Halving,
): Promise<Results> {
  const results: Results = new Map();
  const parts = [repositories];
  let failed = 0;
  let isKnown = false;
  let failure: UpstreamFailure | null = null;
  const ask = (part: readonly RepositoryRef[]) =>
    query(part).catch((error: unknown): UpstreamFailure => asFailed(error).failure);
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (failed === MAX_FAILED)
      failure ??= new UpstreamFailure("unreachable", "GraphQL: gave up on the query");
    const found: UpstreamFailure | Answer = failure ?? (await ask(part));
    if (found instanceof UpstreamFailure) {
      failure = found;
      for (const repository of part) results.set(repository, { kind: "failed", failure });
      continue;
    }
    for (const [repository, result] of found.results) results.set(repository, result);
    isKnown ||= found.results.size > 0;
    const [first, ...others]: readonly RepositoryRef[] = found.open;
    if (first === undefined) continue;
    failed++;
    if (others.length === 0) {
      const result: Refreshed = await readOne(first).catch(asFailed);
      isKnown ||= result.kind !== "failed";
      if (result.kind === "failed" && concernsForge(result.failure.kind)) failure = result.failure;
      results.set(first, result);
      continue;
    }
    const middle = Math.ceil(found.open.length / 2);
    parts.push(found.open.slice(middle), found.open.slice(0, middle));
  }
  if (failure !== null && !isKnown) throw failure;
  return results;
}
