/** Reads repositories from their forges in one pass, where no worker runs. */
import { UpstreamFailure } from "../forges/forges.js";
import { isoTime } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import type { Repository, RepositoryAddress } from "../repositories/repositories.js";
import {
  completeHistory,
  enrollImported,
  type NodeIds,
  readNodeIds,
  refreshTogether,
  track,
  trackFailureOf,
} from "../tracking/tracking.js";
import type { Pass } from "./pass.js";

/** A repository that could not be read, and why, in one sentence. */
export class NotRead extends Error {
  constructor(address: RepositoryAddress, failure: UpstreamFailure) {
    super(`${repositoryKey(address)}: ${sentenceOf(failure)}`, { cause: failure });
  }
}

/** Why a forge refused, in a sentence for everybody. */
export function sentenceOf({ kind, until, reason }: UpstreamFailure): string {
  if (kind !== "quota") return trackFailureOf(kind).message + (reason === null ? "" : ` (${reason})`);
  const when = until === null ? "" : ` before ${isoTime(until)}`;
  return `The forge permits no more requests${when}. With a token it permits more.`;
}

/** Records a repository by name, with its star history if its forge has one. Throws NotRead. */
export async function trackWithHistory(pass: Pass, address: RepositoryAddress): Promise<Repository> {
  const context = pass.contextOf(address.provider);
  try {
    const { repositoryId } = await track(context, address.fullName);
    await completeHistory(context, repositoryId);
    return await pass.modules.catalog.get(repositoryId);
  } catch (error) {
    throw error instanceof UpstreamFailure ? new NotRead(address, error) : error;
  }
}

/** What became of repositories that were read. */
export interface ReadOutcome {
  /** The ids of those that are known now, by the place of their address. */
  ids: (number | undefined)[];
  /** Number of those that were read now. */
  read: number;
  /** Sentences about those that could not be read. */
  problems: string[];
  /** Those whose star history is not complete. */
  withoutHistory: Set<number>;
  /** By forge. */
  nodeIds: Record<string, NodeIds>;
}

/** Tracks what is unknown, refreshes the rest, and completes star histories. A failure leaves the others as they are. */
export async function readAll(
  pass: Pass,
  addresses: readonly RepositoryAddress[],
  nodeIds: ReadOutcome["nodeIds"],
): Promise<ReadOutcome> {
  const { catalog } = pass.modules;
  const outcome: ReadOutcome = { ids: [], read: 0, problems: [], withoutHistory: new Set(), nodeIds: {} };
  const known: { address: RepositoryAddress; id: number }[] = [];
  const attempt = async (address: RepositoryAddress, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      outcome.problems.push(new NotRead(address, error).message);
      return false;
    }
  };
  for (const [i, address] of addresses.entries()) {
    const found = await catalog.findByName(address.provider, address.fullName);
    if (found === undefined) {
      await attempt(address, async () => {
        outcome.ids[i] = (await track(pass.contextOf(address.provider), address.fullName)).repositoryId;
        outcome.read++;
      });
      continue;
    }
    outcome.ids[i] = found.repository.id;
    known.push({ address, id: found.repository.id });
  }
  for (const [provider, all] of Map.groupBy(known, ({ address }) => address.provider)) {
    const context = pass.contextOf(provider);
    await enrollImported(context, nodeIds[provider] ?? {});
    const size = context.provider.batchSize;
    for (let from = 0; from < all.length; from += size) {
      const some = all.slice(from, from + size);
      const [first] = some;
      if (first === undefined) continue;
      const isAnswered = await attempt(first.address, async () => {
        const results = await refreshTogether(
          context,
          some.map(({ id }) => id),
        );
        for (const { address, id } of some) {
          const result = results.get(id);
          if (result?.kind === "failed") outcome.problems.push(new NotRead(address, result.failure).message);
          else if (result !== undefined) outcome.read++;
        }
      });
      // The forge as a whole does not respond.
      if (!isAnswered) break;
    }
  }
  for (const [i, address] of addresses.entries()) {
    const id = outcome.ids[i];
    if (id === undefined || (await hasHistory(pass, id))) continue;
    if (!(await attempt(address, () => completeHistory(pass.contextOf(address.provider), id))))
      outcome.withoutHistory.add(id);
  }
  for (const [provider, some] of Map.groupBy(addresses.keys(), (i) => addresses[i]?.provider ?? "")) {
    const ids = some.flatMap((i) => outcome.ids[i] ?? []);
    outcome.nodeIds[provider] = await readNodeIds(pass.contextOf(provider), ids);
  }
  return outcome;
}

async function hasHistory({ modules }: Pass, id: number): Promise<boolean> {
  const { points } = await modules.catalog.series(id, 0);
  return points.some(({ source }) => source === "BACKFILLED");
}
