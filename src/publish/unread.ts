/** Repositories that no run has read yet: names of the list that may be wrong, and links of READMEs that may lead to nothing. */
import { z } from "zod";
import { concernsForge, isTemporary, UpstreamFailure } from "../forges/forges.js";
import { isoDay, WEEK_MS } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { track } from "../tracking/tracking.js";
import type { ListedAddress } from "./list.js";
import type { Pass } from "./pass.js";
import { problemOf } from "./problems.js";

/** Links of READMEs that may fail in one run: somebody who edits a README must not decide how long it takes. */
const MAX_DEAD_LINKS = 50;
/** Dead links are looked up again after it; a name of the list that still cannot be read then needs somebody to look. */
const PATIENCE_MS = WEEK_MS;

/** By the key of a repository: the day of the first failure of a name in the list, and of the last one of a link. */
export const unreadSchema = z.record(z.string(), z.iso.date());
export type Unread = z.output<typeof unreadSchema>;

export interface LookedUp {
  /** The ids of those that were recorded. */
  ids: Map<ListedAddress, number>;
  unread: Unread;
  problems: string[];
  /** Whether a name of the list could not be read for a week. */
  isOverdue: boolean;
}

/** Looks up repositories that are not known. `earlier`: the `unread` of the last run. */
export async function lookUp(
  pass: Pass,
  addresses: readonly ListedAddress[],
  { earlier, now }: { earlier: Unread; now: number },
): Promise<LookedUp> {
  const result: LookedUp = { ids: new Map(), unread: {}, problems: [], isOverdue: false };
  /** Forges that permit nothing more, with the number of repositories that were not looked up therefore. */
  const closed = new Map<string, number>();
  const refused = new Set<string>();
  const links = new LinkCounts();
  const isNew = (one: ListedAddress) => earlier[repositoryKey(one)] === undefined;
  // Links that were never looked up come before those that led to nothing a week ago.
  const rank = (one: ListedAddress) => (one.readme === undefined ? 0 : isNew(one) ? 1 : 2);
  for (const address of addresses.toSorted((a, b) => rank(a) - rank(b))) {
    const { provider, readme } = address;
    const key = repositoryKey(address);
    const day = earlier[key];
    const ageMs = now - Date.parse(day ?? "");
    const isRecent = ageMs >= 0 && ageMs < PATIENCE_MS;
    if (day !== undefined) result.unread[key] = day;
    if (readme !== undefined && links.skips(readme, isRecent)) continue;
    let failure = closed.has(provider) ? undefined : await attempt(pass, address, result);
    if (failure === "found") {
      delete result.unread[key];
      continue;
    }
    // A token that was refused is not used for a while, which is not because of its quota.
    if (failure?.kind === "quota" && refused.has(provider)) failure = undefined;
    if (failure?.kind === "refused") refused.add(provider);
    if (failure === undefined) closed.set(provider, (closed.get(provider) ?? 0) + 1);
    else if (isTemporary(failure.kind)) closed.set(provider, 0);
    if (readme === undefined) {
      result.unread[key] ??= isoDay(now);
      result.isOverdue ||= ageMs >= PATIENCE_MS;
      const since = day === undefined ? "" : `; it could not be read since ${day}`;
      if (failure !== undefined) result.problems.push(problemOf(pass, address, failure) + since);
    } else if (failure !== undefined && concernsForge(failure.kind)) {
      links.failed++;
      result.problems.push(problemOf(pass, address, failure));
    } else if (failure !== undefined) {
      links.addDead(readme);
      result.unread[key] = isoDay(now);
    }
  }
  for (const [provider, count] of closed)
    if (count > 0)
      result.problems.push(`${provider.toLowerCase()}: repositories left for the next run: ${count}`);
  result.problems.push(...links.problems());
  return result;
}

/** Records a repository. Returns why it could not be read. */
async function attempt(
  pass: Pass,
  address: ListedAddress,
  { ids }: LookedUp,
): Promise<UpstreamFailure | "found"> {
  try {
    ids.set(address, (await track(pass.contextOf(address.provider), address.fullName)).repositoryId);
    return "found";
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

/** Links of READMEs by the lines of the list that name these. */
class LinkCounts {
  /** In this run. */
  failed = 0;
  readonly #dead = new Map<string, number>();
  readonly #left = new Map<string, number>();

  /** Whether a link is not looked up now. `isDead`: it led to nothing a few days ago. */
  skips(line: string, isDead: boolean): boolean {
    const isLeft = this.failed >= MAX_DEAD_LINKS;
    if (isDead) add(this.#dead, line);
    else if (isLeft) add(this.#left, line);
    return isDead || isLeft;
  }

  addDead(line: string): void {
    this.failed++;
    add(this.#dead, line);
  }

  problems(): string[] {
    return [
      ...[...this.#dead].map(
        ([line, count]) => `${line}: links of the README that lead to no public repository: ${count}`,
      ),
      ...[...this.#left].map(
        ([line, count]) => `${line}: links of the README that later runs look up: ${count}`,
      ),
    ];
  }
}

const add = (counts: Map<string, number>, line: string): unknown =>
  counts.set(line, (counts.get(line) ?? 0) + 1);
