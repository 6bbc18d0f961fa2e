import { DAY_MS } from "../../clock.js";
import {
  type Anomaly,
  COUNT_NAMES,
  countText,
  type MeasuredCount,
  MIN_MOVEMENT,
  type Step,
} from "./anomalies.js";

/** A return is a jump by this part of the count, of which this part is reverted within this many days. */
const JUMP_PART = 0.05;
const REVERTED = 0.8;
const RETURN_DAYS = 10;
/** A step back of at least this part of the jump belongs to the return. */
const STEP_BACK = 0.1;

/** Jumps that are reverted within days: one event each, with nothing counted of its steps. */
export interface Returns {
  anomalies: Anomaly[];
  /** The gains that do not count, by index of the step. */
  uncounted: ReadonlyMap<number, number>;
}

/** A known count before and after a step. */
interface Move {
  at: number;
  before: number;
  after: number;
}

/** Finds jumps, up or down, that are reverted within days. A step that an earlier event explains begins none of its own. */
export function findReturns(steps: readonly Step[], measure: MeasuredCount): Returns {
  const moves = steps.map(({ from, to }): Move | undefined => {
    const [before, after] = [from[measure], to[measure]];
    return before === null || after === null ? undefined : { at: to.at, before, after };
  });
  const anomalies: Anomaly[] = [];
  const uncounted = new Map<number, number>();
  for (const [i, move] of moves.entries()) {
    if (move === undefined) continue;
    const jump = move.after - move.before;
    if (uncounted.has(i) || Math.abs(jump) < Math.max(MIN_MOVEMENT, JUMP_PART * move.before)) continue;
    const last = indexOfReturn(moves, i);
    const back = last === undefined ? undefined : moves[last];
    if (last === undefined || back === undefined) continue;
    anomalies.push({
      kind: "RETURN",
      measure,
      at: move.at,
      until: back.at,
      reason: `from ${countText(move.before)} to ${countText(move.after)} ${COUNT_NAMES[measure]} and back to ${countText(back.after)} within ${RETURN_DAYS} days`,
      before: move.before,
      after: back.after,
    });
    uncounted.set(i, jump);
    let left = Math.abs(jump);
    for (let j = i + 1; j <= last; j++) {
      const { before, after } = moves[j] ?? { before: 0, after: 0 };
      const reverted = Math.min(left, (before - after) * Math.sign(jump));
      if (reverted < STEP_BACK * Math.abs(jump)) continue;
      // No more than the jump itself: what goes beyond it is a movement of its own.
      uncounted.set(j, -Math.sign(jump) * reverted);
      left -= reverted;
    }
  }
  return { anomalies, uncounted };
}

/** The step with which most of the jump at `index` is reverted; undefined if that does not happen in time. */
function indexOfReturn(moves: readonly (Move | undefined)[], index: number): number | undefined {
  const jump = moves[index];
  if (jump === undefined) return undefined;
  const gained = jump.after - jump.before;
  for (let j = index + 1; j < moves.length; j++) {
    const move = moves[j];
    if (move === undefined) continue;
    if (move.at - jump.at > RETURN_DAYS * DAY_MS) return undefined;
    if ((jump.after - move.after) * Math.sign(gained) >= REVERTED * Math.abs(gained)) return j;
  }
  return undefined;
}
