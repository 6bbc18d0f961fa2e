/** Which readings are requested a second time. Pure. The limits are those of rankings, which doubt these readings. */
import {
  FALLEN_PARTS,
  LEAST_COLLAPSED,
  LEAST_DOUBTED,
  MEASURED_COUNTS,
  type MeasuredCount,
} from "../rankings/rankings.js";

/** The counts of one reading; null: not reported. */
export type Counts = Readonly<Record<MeasuredCount, number | null>>;

/** Whether counts have fallen so far since the last reading that the forge may be at fault. */
export function isDoubtful(before: Counts, after: Counts): boolean {
  return MEASURED_COUNTS.some((measure) => hasFallen(measure, [before[measure], after[measure]]));
}

function hasFallen(
  measure: MeasuredCount,
  [before, after]: readonly [number | null, number | null],
): boolean {
  if (before === null || after === null) return false;
  const least = after === 0 && measure !== "openIssues" ? LEAST_COLLAPSED : LEAST_DOUBTED;
  return before >= least && after <= FALLEN_PARTS[measure] * before;
}
