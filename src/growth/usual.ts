import { median } from "../repositories/repositories.js";

/** Steps from which the usual day is taken. */
const USUAL_STEPS = 30;
/** With fewer, it is not known, and taken for at least this part of the count. */
export const FEW_STEPS = 3;
const NEW_PART = 1 / 100;

/** What a count gains on a usual day. `level`: the count now; `paces`: its gains a day, of the steps before, oldest first. */
export function usualDay(level: number, paces: readonly number[]): number {
  const known = paces.length === 0 ? 0 : median(paces.slice(-USUAL_STEPS));
  return Math.max(0, known, paces.length < FEW_STEPS ? NEW_PART * level : 0);
}
