/** Which readings are requested a second time. Pure. */

/** The counts of one reading; null: not reported. */
export interface Counts {
  stars: number | null;
  forks: number | null;
  openIssues: number | null;
}

/** Smaller counts fall by a quarter without anything being wrong. */
const MIN_COUNT = 50;
/** A fall by a quarter or more is doubtful. */
const FALLEN_PART = 0.75;
/** Issues are closed by the hundred; only a collapse to a tenth or less is doubtful. */
const COLLAPSED_PART = 0.1;
/** Below this, falling to zero is ordinary. */
const MIN_FOR_ZERO = 5;

/** Whether counts have fallen so far since the last reading that the forge may be at fault. */
export function isDoubtful(before: Counts, after: Counts): boolean {
  return (
    hasFallen([before.stars, after.stars], FALLEN_PART) ||
    hasFallen([before.forks, after.forks], FALLEN_PART) ||
    hasFallen([before.openIssues, after.openIssues], COLLAPSED_PART, MIN_COUNT)
  );
}

/** `minForZero`: the least count from which a fall to zero is doubtful. */
function hasFallen(
  [before, after]: [number | null, number | null],
  part: number,
  minForZero = MIN_FOR_ZERO,
): boolean {
  if (before === null || after === null) return false;
  if (after === 0) return before >= minForZero;
  return before >= MIN_COUNT && after <= before * part;
}
