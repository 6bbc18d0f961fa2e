import type { Positions } from "./positions.js";

/** Positions in the sample that shows how far the first ones of a list reach. */
const SAMPLE = 256;
/** The estimate is rough, so it is made for this many times the slots wanted. */
const MARGIN = 3;

/** Slots in the order of a list, sorted as far as they are read: a page is a small part of most lists. */
export class SortedSlots {
  readonly #positions: Positions;
  /** Of all slots, in any order. */
  readonly #all: Float64Array;
  /** The lowest of them, ascending. */
  #sorted = new Float64Array(0);

  /** Of some slots, those after a position. */
  constructor(slots: Uint32Array, positions: Positions, after: number) {
    const all = new Float64Array(slots.length);
    let size = 0;
    for (const slot of slots) {
      const position = positions.of(slot);
      if (position > after) all[size++] = position;
    }
    this.#positions = positions;
    this.#all = all.subarray(0, size);
  }

  /** The slots from one index to another, which is excluded; fewer at the end of the list. */
  slice(from: number, to: number): number[] {
    this.#sort(Math.min(to, this.#all.length));
    return Array.from(this.#sorted.subarray(from, to), (position) => this.#positions.slotAt(position));
  }

  #sort(count: number): void {
    if (count <= this.#sorted.length) return;
    const lowest = this.#lowest(count);
    this.#sorted = lowest.length < count ? this.#all.toSorted() : lowest.sort();
  }

  /** Probably somewhat more than the `count` lowest ones, but perhaps fewer. */
  #lowest(count: number): Float64Array<ArrayBuffer> {
    const all = this.#all;
    const share = (MARGIN * count) / all.length;
    if (share > 0.5 || all.length < 2 * SAMPLE) return all.slice();
    const sample = Float64Array.from(
      { length: SAMPLE },
      (_, i) => all[Math.floor((i * all.length) / SAMPLE)] ?? 0,
    );
    const bound = sample.sort()[Math.ceil(share * SAMPLE) + MARGIN] ?? Number.POSITIVE_INFINITY;
    return all.filter((position) => position <= bound);
  }
}
