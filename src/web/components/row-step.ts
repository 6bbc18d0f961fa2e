import { startOfStep } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";

/** The time that a row of the data of a chart covers. */
export interface RowStep {
  word: "day" | "week" | "month";
  /** The start of the row of a time. */
  of: (at: number) => number;
}

/** One row per step keeps a table readable. `days`: the longest time with this step. */
const STEPS = [
  { word: "day", days: 45, of: (at: number) => startOfStep(at, "1d") },
  { word: "week", days: 400, of: (at: number) => startOfStep(at, "1w") },
  {
    word: "month",
    days: Number.POSITIVE_INFINITY,
    of: (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()),
  },
] as const;

/** The step of the rows that show this time. */
export function rowStep(lengthMs: number): RowStep {
  return STEPS.find(({ days }) => lengthMs <= days * DAY_MS) ?? STEPS[2];
}
