/** Reads repositories from their forges in one pass, without a worker. */
import { concernsForge, UpstreamFailure } from "../forges/forges.js";
import { isoDay } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { isHistoryUnread, type Repository, type RepositoryAddress } from "../repositories/repositories.js";
import {
  completeHistory,
  enrollImported,
  readKnown,
  refreshTogether,
  type TrackingContext,
  track,
} from "../tracking/tracking.js";
import type { Known } from "./known.js";
import type { ListedAddress } from "./list.js";
import type { Pass } from "./pass.js";
import { historyProblemOf, problemOf } from "./problems.js";
import { lookUp, type Unread } from "./unread.js";

/** Records a repository by name, with its star history. `repository`: absent if it, or all of its history, could not be read. */
export async function trackWithHistory(
  pass: Pass,
  address: RepositoryAddress,
  context: TrackingContext,
): Promise<{ repository?: Repository; problem?: string }> {
  let id: number | undefined;
  let problem = {};
  try {
    id = (await track(context, address.fullName)).repositoryId;
    await completeHistory(context, id);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    if (id === undefined) return { problem: problemOf(pass, address, error) };
    problem = { problem: await historyProblemOf(pass, { ...address, id }, error) };
    if (isHistoryUnread(await pass.modules.catalog.historyState(id))) return problem;
  }
  return { ...problem, repository: await pass.modules.catalog.get(id) };
}

/** The outcome of reading repositories. */
export interface ReadOutcome {
  /** The ids of those that are known now, by the place of their address. */
  ids: (number | undefined)[];
  /** Number of those that were read now. */
  read: number;
  /** Sentences about those that could not be read. */
  problems: string[];
  /** Sentences about those that were read before and that their forge no longer shows. */
  gone: string[];
  known: Known;
  unread: Unread;
  /** Whether a name of the list could not be read for a week. */
  isOverdue: boolean;
}

/** The notes of earlier runs. */
export interface Earlier extends Pick<ReadOutcome, "known" | "unread"> {
  /** The forge's ids of repositories with a whole star history, by forge. */
  whole: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A repository of the list that is in the state. */
interface Tracked {
  address: RepositoryAddress;
  id: number;
}

/** Tracks unknown repositories, refreshes the others, and completes star histories. A failure leaves the others as they are. */
export async function readAll(
  pass: Pass,
  addresses: readonly ListedAddress[],
  earlier: Earlier & { now: number },
): Promise<ReadOutcome> {
  const { catalog } = pass.modules;
  const known: Tracked[] = [];
  const unknown: ListedAddress[] = [];
  for (const address of addresses) {
    const found = await catalog.findByName(address.provider, address.fullName);
    if (found === undefined) unknown.push(address);
    else known.push({ address, id: found.repository.id });
  }
  const { ids, ...lookedUp } = await lookUp(pass, unknown, { earlier: earlier.unread, now: earlier.now });
  const idOf = new Map<RepositoryAddress, number>(ids);
  for (const { address, id } of known) idOf.set(address, id);
  const outcome: ReadOutcome = {
    ...lookedUp,
    ids: addresses.map((address) => idOf.get(address)),
    read: ids.size,
    gone: [],
    known: {},
  };
  for (const { name } of pass.forges) {
    const whole = earlier.whole.get(name) ?? new Set();
    const ofForge = earlier.known[name] ?? { nodeIds: {}, cursors: {} };
    if (whole.size > 0 || known.some(({ address }) => address.provider === name))
      await enrollImported(pass.contextOf(name), ofForge, whole);
  }
  for (const [provider, some] of Map.groupBy(known, ({ address }) => address.provider))
    await refresh(pass, provider, { some, outcome });
  await readHistories(pass, addresses, outcome);
  for (const [provider, some] of Map.groupBy(addresses.keys(), (i) => addresses[i]?.provider ?? "")) {
    const ids = some.flatMap((i) => outcome.ids[i] ?? []);
    outcome.known[provider] = await readKnown(pass.contextOf(provider), ids);
  }
  return outcome;
}

/** Refreshes repositories of a forge in batches, and notes the outcome; stops if the forge as a whole does not respond. */
async function refresh(
  pass: Pass,
  provider: string,
  { some, outcome }: { some: readonly Tracked[]; outcome: ReadOutcome },
): Promise<void> {
  const context = pass.contextOf(provider);
  const size = context.provider.batchSize;
  for (let from = 0; from < some.length; from += size) {
    const batch = some.slice(from, from + size);
    try {
      const ids = batch.map(({ id }) => id);
      const results = await refreshTogether(context, ids);
      for (const { address, id } of batch) {
        const result = results.get(id);
        if (result?.kind === "failed")
          await noteFailure(pass, outcome, { address, id, failure: result.failure });
        else if (result !== undefined) outcome.read++;
      }
    } catch (error) {
      const [first] = batch;
      if (!(error instanceof UpstreamFailure) || first === undefined) throw error;
      outcome.problems.push(problemOf(pass, first.address, error));
      return;
    }
  }
}

/** Notes a failure; none if it is known that the forge no longer shows the repository. */
async function noteFailure(
  pass: Pass,
  { gone, problems }: ReadOutcome,
  { address, id, failure }: { address: RepositoryAddress; id: number; failure: UpstreamFailure },
): Promise<void> {
  const { availability, countedAt } = await pass.modules.catalog.get(id);
  if (availability === "AVAILABLE" || concernsForge(failure.kind)) {
    problems.push(problemOf(pass, address, failure));
    return;
  }
  const seen = countedAt === null ? "" : `, last seen on ${isoDay(countedAt)}`;
  gone.push(`${repositoryKey(address)}: ${availability.toLowerCase()}${seen}; its picture stays`);
}

/** Repositories of an instance that have no star history, while none has one, until it is believed to offer none. */
const SEVERAL = 3;

/** Completes the star histories of those that are known. */
async function readHistories(
  pass: Pass,
  addresses: readonly RepositoryAddress[],
  { ids, problems }: ReadOutcome,
): Promise<void> {
  const missing: { provider: string; problem: string }[] = [];
  const offering = new Set<string>();
  for (const [i, address] of addresses.entries()) {
    const id = ids[i];
    if (id === undefined) continue;
    const context = pass.contextOf(address.provider);
    try {
      await completeHistory(context, id);
      offering.add(address.provider);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      const problem = await historyProblemOf(pass, { ...address, id }, error);
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
