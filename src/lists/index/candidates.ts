import type { SetCondition } from "./conditions.js";
import { type CodeRange, type Order, piecesInRange } from "./order.js";
import type { Groups } from "./parts.js";

/** Slots that include all matches of a list. */
export interface Candidates {
  size: number;
  /** The slots, each once. */
  slots(): Uint32Array;
  isAscending: boolean;
}

export function candidatesOf(slots: Uint32Array): Candidates {
  return { size: slots.length, slots: () => slots, isAscending: true };
}

/** The slots of some groups. */
export function candidatesOfGroups({ offsets, slots }: Groups, groups: readonly number[]): Candidates {
  const parts = groups.map((group) => slots.subarray(offsets[group], offsets[group + 1]));
  return joined(parts, parts.length === 1);
}

/** The slots of a set. */
export function candidatesOfSet(set: SetCondition): Candidates {
  return { size: set.size, slots: () => set.members(), isAscending: true };
}

/** The slots with a code in a range; undefined if that includes a run, whose slots would have to be searched for. */
export function candidatesInRange(order: Order, range: CodeRange): Candidates | undefined {
  const parts: Uint32Array[] = [];
  for (const piece of piecesInRange(order, range)) {
    if (piece.code !== undefined) return undefined;
    parts.push(order.slots.subarray(piece.from, piece.to));
  }
  return joined(parts, false);
}

function joined(parts: readonly Uint32Array[], isAscending: boolean): Candidates {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const slots = () => {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    const all = new Uint32Array(size);
    let end = 0;
    for (const part of parts) {
      all.set(part, end);
      end += part.length;
    }
    return all;
  };
  return { size, slots, isAscending };
}
