import type { SnapshotSource } from "./observation.js";
import { Readings } from "./snapshots/snapshots.js";

/**
 * What the stars of a snapshot count. TOTAL: all that the repository had at that time, as a forge or an archive said then.
 * RETAINED: those given until then and still held when the forge reported them later. Stars withdrawn in between are missing
 * from it, so the difference between a TOTAL and a RETAINED count is neither a gain nor a loss.
 */
export const BASES = ["TOTAL", "RETAINED"] as const;
export type Basis = (typeof BASES)[number];

export function basisOf(source: SnapshotSource): Basis {
  return source === "BACKFILLED" ? "RETAINED" : "TOTAL";
}

/** A point of a series. */
interface Sourced {
  source: SnapshotSource;
}

/** Whether two neighbouring points differ in basis, so that the step between them is no movement. */
export function isSeam(before: Sourced | undefined, after: Sourced): boolean {
  return before !== undefined && basisOf(before.source) !== basisOf(after.source);
}

const NONE = Readings.ofLength(0);

/** The readings of each basis, of readings with all columns. Copies nothing where all have the same basis. */
export function byBasis(readings: Readings): Readonly<Record<Basis, Readings>> {
  const retained = readings.countRetained();
  if (retained === 0) return { TOTAL: readings, RETAINED: NONE };
  if (retained === readings.length) return { TOTAL: NONE, RETAINED: readings };
  return {
    TOTAL: readings.only((i) => !readings.isRetained(i)),
    RETAINED: readings.only((i) => readings.isRetained(i)),
  };
}
