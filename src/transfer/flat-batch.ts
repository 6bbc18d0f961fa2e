import type { Observation } from "../catalog/catalog.js";
import type { Gathered } from "./batch.js";
import { SnapshotNumbers, snapshotCount } from "./snapshot-numbers.js";

/** A batch in transit between threads: its numbers are one array, which is transferred without copying. */
export interface FlatBatch {
  observations: Omit<Observation, "snapshots">[];
  /** How many snapshots belong to each observation. */
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
    counts: batch.map(({ numbers }) => snapshotCount(numbers)),
    numbers,
  };
}

export function restore({ observations, counts, numbers }: FlatBatch): Observation[] {
  let first = 0;
  return observations.map((observation, i): Observation => {
    const count = counts[i] ?? 0;
    first += count;
    return { ...observation, snapshots: new SnapshotNumbers(numbers, first - count, count) };
  });
}
