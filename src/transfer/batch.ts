/**
 * Batches: observations merged by repository until there are enough for a transaction. Their snapshots are plain numbers, a tenth of the
 * memory of objects, which are transferred to another thread without copying.
 */
import { nameKey, numbersOf, type Observation, Readings } from "../repositories/repositories.js";

/** Bounds of one transaction: snapshots, observations, and characters of their texts. */
const MAX_SNAPSHOTS = 100_000;
const MAX_OBSERVATIONS = 20_000;
const MAX_CHARACTERS = 4_000_000;

/** Observations of one repository, merged. */
export interface Gathered extends Omit<Observation, "snapshots"> {
  /** All their snapshots, in the numbers of Readings. */
  numbers: number[];
}

/**
 * Collects observations until there are enough for a transaction. Observations of one repository on many days are merged, so
 * that its row is written once instead of every day. The result is the same as recording them one by one: later facts
 * replace earlier ones, and the first of two equally old ones stays.
 */
export class Batch {
  #byName = new Map<string, Gathered>();
  #observations: Gathered[] = [];
  #snapshots = 0;
  #characters = 0;

  get isFull(): boolean {
    return (
      this.#snapshots >= MAX_SNAPSHOTS ||
      this.#observations.length >= MAX_OBSERVATIONS ||
      this.#characters >= MAX_CHARACTERS
    );
  }

  add(observation: Observation): void {
    const { snapshots, ...rest } = observation;
    const key = `${rest.provider} ${rest.providerId ?? ""} ${nameKey(rest.owner, rest.name)}`;
    let gathered = this.#byName.get(key);
    this.#characters += charactersOf(observation);
    if (gathered !== undefined && canJoin(gathered, observation)) {
      this.#characters -= charactersOf(gathered);
      if (gathered.at !== null) gathered.discoveredAt ??= gathered.at;
      gathered.first ??= { at: gathered.at, facts: gathered.facts };
      Object.assign(gathered, rest);
    } else {
      gathered = { ...rest, numbers: [] };
      this.#byName.set(key, gathered);
      this.#observations.push(gathered);
    }
    for (const snapshot of snapshots) {
      gathered.numbers.push(...numbersOf(snapshot));
      this.#snapshots++;
    }
  }

  /** Returns and removes all observations, ordered by the first appearance of each repository. */
  take(): Gathered[] {
    const taken = this.#observations;
    this.#observations = [];
    this.#byName = new Map();
    this.#snapshots = 0;
    this.#characters = 0;
    return taken;
  }
}

/** Approximate length of the texts of an observation. */
function charactersOf({ facts, previousNames }: Pick<Observation, "facts" | "previousNames">): number {
  const { description, homepage, topics } = facts;
  return (
    (description?.length ?? 0) +
    (homepage?.length ?? 0) +
    100 * ((topics?.length ?? 0) + (previousNames?.length ?? 0))
  );
}

/** Whether the later observation replaces all facts of the earlier one. */
function canJoin(known: Gathered, next: Observation): boolean {
  if (known.at === null || next.at === null || next.at <= known.at) return false;
  const own =
    known.factTimes ?? next.factTimes ?? next.preferredId ?? next.previousNames ?? next.discoveredAt;
  if (own !== undefined) return false;
  for (const fact in known.facts) if (!(fact in next.facts)) return false;
  // Another creation date or description may be that of another repository.
  return known.facts.createdAt === next.facts.createdAt && known.facts.description === next.facts.description;
}

/** A batch in transit between threads. */
export interface FlatBatch {
  observations: Omit<Observation, "snapshots">[];
  /** How many numbers belong to each observation. */
  counts: number[];
  numbers: Float64Array<ArrayBuffer>;
}

export function flatten(batch: readonly Gathered[]): FlatBatch {
  const numbers = new Float64Array(batch.reduce((sum, gathered) => sum + gathered.numbers.length, 0));
  let at = 0;
  for (const gathered of batch) {
    numbers.set(gathered.numbers, at);
    at += gathered.numbers.length;
  }
  return {
    observations: batch.map(({ numbers, ...observation }) => observation),
    counts: batch.map(({ numbers }) => numbers.length),
    numbers,
  };
}

export function restore({ observations, counts, numbers }: FlatBatch): Observation[] {
  let end = 0;
  return observations.map((observation, i): Observation => {
    const start = end;
    end += counts[i] ?? 0;
    return { ...observation, snapshots: new Readings(numbers.subarray(start, end)) };
  });
}
