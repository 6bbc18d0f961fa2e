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

/** Why a repository or its star history could not be read, in one sentence. */
function problemOf(
  address: RepositoryAddress,
  failure: UpstreamFailure,
  of: "record" | "history" = "record",
): string {
  const sentence = of === "record" ? sentenceOf(failure) : historySentenceOf(failure);
  return `${repositoryKey(address)}: ${sentence}`;
}

function historySentenceOf(failure: UpstreamFailure): string {
  const { kind, until, reason } = failure;
  if (kind === "quota" || kind === "clock") return sentenceOf(failure);
  const said = reason === null ? "" : ` (${reason})`;
  if (kind === "unreachable") return `The forge did not respond when asked for its star history.${said}`;
  if (kind !== "malformed") return `The forge gives no star history of it.${said}`;
  return until === null
    ? "The forge sent a star history of it that cannot be used."
    : "The forge has not prepared its star history yet. Try again later.";
}

/** Why a forge refused, in a sentence for everybody. */
export function sentenceOf({ kind, until, reason }: UpstreamFailure): string {
  if (kind !== "quota") return trackFailureOf(kind).message + (reason === null ? "" : ` (${reason})`);
  const when = until === null ? "" : ` before ${isoTime(until)}`;
  return `The forge permits no more requests${when}. With a token it permits more.`;
}

/** Records a repository by name, with its star history. `repository`: absent if it or its history could not be read, so that half of one is not drawn. */
export async function trackWithHistory(
  pass: Pass,
  address: RepositoryAddress,
): Promise<{ repository?: Repository; problem?: string }> {
  const context = pass.contextOf(address.provider);
  let id: number | undefined;
  let problem = {};
  try {
    id = (await track(context, address.fullName)).repositoryId;
    await completeHistory(context, id);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    problem = { problem: problemOf(address, error, id === undefined ? "record" : "history") };
    if (id === undefined || error.kind !== "gone" || (await hasHistory(pass, id))) return problem;
  }
  return { ...problem, repository: await pass.modules.catalog.get(id) };
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
      outcome.problems.push(problemOf(address, error));
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
          if (result?.kind === "failed") outcome.problems.push(problemOf(address, result.failure));
          else if (result !== undefined) outcome.read++;
        }
      });
      // The forge as a whole does not respond.
      if (!isAnswered) break;
    }
  }
  await readHistories(pass, addresses, outcome);
  for (const [provider, some] of Map.groupBy(addresses.keys(), (i) => addresses[i]?.provider ?? "")) {
    const ids = some.flatMap((i) => outcome.ids[i] ?? []);
    outcome.nodeIds[provider] = await readNodeIds(pass.contextOf(provider), ids);
  }
  return outcome;
}

/** Repositories of an instance that have no star history, while none has one, until it is believed to offer none. */
const SEVERAL = 3;

/** Completes the star histories of those that are known. */
async function readHistories(
  pass: Pass,
  addresses: readonly RepositoryAddress[],
  { ids, problems, withoutHistory }: ReadOutcome,
): Promise<void> {
  const missing: { provider: string; problem: string }[] = [];
  const offering = new Set<string>();
  for (const [i, address] of addresses.entries()) {
    const id = ids[i];
    if (id === undefined) continue;
    const context = pass.contextOf(address.provider);
    try {
      if (!(await hasHistory(pass, id))) await completeHistory(context, id);
      offering.add(address.provider);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      withoutHistory.add(id);
      const problem = problemOf(address, error, "history");
      if (error.kind === "gone") missing.push({ provider: address.provider, problem });
      else problems.push(problem);
    }
  }
  for (const [provider, some] of Map.groupBy(missing, (one) => one.provider)) {
    const isPublic = pass.contextOf(provider).provider.settings.url === "https://github.com";
    if (some.length < SEVERAL || offering.has(provider) || isPublic)
      problems.push(...some.map(({ problem }) => problem));
  }
}

async function hasHistory({ modules }: Pass, id: number): Promise<boolean> {
  const { points } = await modules.catalog.series(id, 0);
  return points.some(({ source }) => source === "BACKFILLED");
}
