import { nameKey, type Observation } from "../catalog/catalog.js";
import { pushSnapshot } from "./snapshot-block.js";

/** Snapshots, observations, and characters of their texts, recorded in one transaction. */
const MAX_SNAPSHOTS = 100_000;
const MAX_OBSERVATIONS = 20_000;
const MAX_CHARACTERS = 4_000_000;

/** Observations of one repository put together. */
export interface Gathered extends Omit<Observation, "snapshots"> {
  /** The snapshots of all of them, as a SnapshotBlock holds them. */
  numbers: number[];
}

/**
 * Gathers observations until there are enough for a transaction. What a daily archive says of one repository on many
 * days becomes one observation, so that its row is written once and not every day. The result is what recording them
 * one by one would give: later facts replace, and the first of two that are equally old stays.
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
      Object.assign(gathered, rest);
    } else {
      gathered = { ...rest, numbers: [] };
      this.#byName.set(key, gathered);
      this.#observations.push(gathered);
    }
    for (const snapshot of snapshots) {
      pushSnapshot(gathered.numbers, snapshot);
      this.#snapshots++;
    }
  }

  /** All observations since the last time, in the order in which each repository was first seen. */
  take(): Gathered[] {
    const taken = this.#observations;
    this.#observations = [];
    this.#byName = new Map();
    this.#snapshots = 0;
    this.#characters = 0;
    return taken;
  }
}

/** The texts of an observation that can be long. */
function charactersOf({ facts, previousNames }: Pick<Observation, "facts" | "previousNames">): number {
  const { description, homepage, topics } = facts;
  return (
    (description?.length ?? 0) +
    (homepage?.length ?? 0) +
    100 * ((topics?.length ?? 0) + (previousNames?.length ?? 0))
  );
}

/** Whether the later observation replaces all that the earlier one says. */
function canJoin(known: Gathered, next: Observation): boolean {
  if (known.at === null || next.at === null || next.at <= known.at) return false;
  if (next.preferredId !== undefined || next.previousNames !== undefined || next.discoveredAt !== undefined)
    return false;
  for (const fact in known.facts) if (!(fact in next.facts)) return false;
  return true;
}
