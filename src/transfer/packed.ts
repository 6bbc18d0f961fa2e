import type { Observation } from "../catalog/catalog.js";
import type { Gathered } from "./batch.js";
import { SnapshotBlock, snapshotCount } from "./snapshot-block.js";

/** A batch in transit between threads: its numbers are one block, which is transferred without copying. */
export interface Packed {
  observations: Omit<Observation, "snapshots">[];
  /** How many snapshots belong to each observation. */
  counts: number[];
  numbers: Float64Array<ArrayBuffer>;
}

export function pack(batch: readonly Gathered[]): Packed {
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

export function unpack({ observations, counts, numbers }: Packed): Observation[] {
  let first = 0;
  return observations.map((observation, i): Observation => {
    const count = counts[i] ?? 0;
    first += count;
    return { ...observation, snapshots: new SnapshotBlock(numbers, first - count, count) };
  });
}
