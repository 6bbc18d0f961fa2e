import type { Dialect, Tx } from "../../database/database.js";
import type { Readings } from "./readings.js";
import { removeReadings } from "./remove.js";

/**
 * Of the snapshots from `from` (inclusive) to `to` (exclusive), the last of each `step` stays, in ms since 1970. Stars still held
 * take the place of no total, and no total theirs.
 */
export interface Thinning {
  from: number;
  to: number;
  step: number;
}

/**
 * Removes all but the last snapshot of each step from repositories, for one list of steps after the other, and subtracts them
 * from the hourly counts. Bounds must be multiples of the step. Returns the number of removed snapshots.
 */
export async function thinSnapshots(
  tx: Tx,
  dialect: Dialect,
  { ids, steps }: { ids: readonly number[]; steps: readonly Thinning[] },
): Promise<number> {
  const used = steps.filter(({ from, to }) => to > from);
  if (used.length === 0 || ids.length === 0) return 0;
  const span = {
    from: Math.min(...used.map(({ from }) => from)),
    until: Math.max(...used.map(({ to }) => to)) - 1,
    // The block before may be small enough to be joined with what is left.
    withBaseline: true,
  };
  return removeReadings(tx, dialect, { ids, span, chosen: (all) => removedBy(all, used) });
}

/** 1 for each reading that is not the last of its step with its basis. */
function removedBy(all: Readings, steps: readonly Thinning[]): Uint8Array {
  const isRemoved = new Uint8Array(all.length);
  for (const { from, to, step } of steps) {
    const next = { total: Number.NaN, retained: Number.NaN };
    for (let i = all.length - 1; i >= 0; i--) {
      if (isRemoved[i] === 1) continue;
      const at = all.at(i);
      const basis = all.isRetained(i) ? "retained" : "total";
      const own = Math.floor(at / step);
      if (own === next[basis] && at >= from && at < to) isRemoved[i] = 1;
      next[basis] = own;
    }
  }
  return isRemoved;
}
