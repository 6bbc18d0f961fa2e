import type { Candidates } from "./candidates.js";
import type { Condition } from "./conditions.js";
import type { Walk } from "./order.js";

/** Most slots tested at a time: few enough for the caches of the processor. */
export const BLOCK = 4_096;
/** A walk begins with few slots, as most pages fill up quickly. */
const FIRST_BLOCK = 256;

/** Where matches are searched. */
export interface Searched {
  conditions: readonly Condition[];
  /** Slots that include all matches; undefined: all slots. */
  candidates: Candidates | undefined;
  /** Number of slots of the index. */
  slots: number;
}

/** Nothing waits while blocks are read, so one buffer serves all searches. */
const SLOTS = new Uint32Array(BLOCK);

/** The slots that are searched, in blocks in the order of the candidates. One search must end before the next one begins. */
export class Blocks {
  /** Number of blocks. */
  readonly length: number;
  /** Begins with the matches of the block that was read last. */
  readonly slots = SLOTS;
  readonly #among: Uint32Array | undefined;
  readonly #end: number;

  constructor({ candidates, slots }: Searched) {
    this.#among = candidates?.slots();
    this.#end = this.#among?.length ?? slots;
    this.length = Math.ceil(this.#end / BLOCK);
  }

  /** Reads a block, and leaves the slots in it that pass all conditions. Returns their number. */
  read(index: number, [first, ...others]: readonly Condition[]): number {
    const from = index * BLOCK;
    const to = Math.min(this.#end, from + BLOCK);
    let count: number;
    if (this.#among === undefined) count = first?.scan(from, to, this.slots) ?? 0;
    else {
      this.slots.set(this.#among.subarray(from, to));
      count = first?.keep(this.slots, to - from) ?? 0;
    }
    for (const condition of others) count = condition.keep(this.slots, count);
    return count;
  }
}

/** At most `limit` matches, ascending. */
export function findMatches(searched: Searched, limit: number): Uint32Array {
  const blocks = new Blocks(searched);
  const found = new Uint32Array(limit);
  let total = 0;
  for (let i = 0; i < blocks.length && total < limit; i++) {
    const kept = Math.min(blocks.read(i, searched.conditions), limit - total);
    found.set(blocks.slots.subarray(0, kept), total);
    total += kept;
  }
  const matches = found.subarray(0, total);
  return searched.candidates?.isAscending === false ? matches.sort() : matches;
}

/** Reads the slots of a walk that pass all conditions, until the walk has cost the budget. */
export class Reader {
  readonly #walk: Walk;
  readonly #conditions: readonly Condition[];
  #block = new Uint32Array(0);
  #size = FIRST_BLOCK;
  #next = 0;
  #count = 0;
  readonly #budget: number;

  constructor(walk: Walk, conditions: readonly Condition[], budget = Number.POSITIVE_INFINITY) {
    this.#walk = walk;
    this.#conditions = conditions;
    this.#budget = budget;
  }

  /** Whether the budget is used up, so that there may be more slots than were taken. */
  get hasGivenUp(): boolean {
    return this.#walk.cost >= this.#budget;
  }

  /** The next `count` slots; fewer at the end of the walk or of the budget. */
  take(count: number): number[] {
    const taken: number[] = [];
    while (taken.length < count && this.#fill()) {
      const end = Math.min(this.#count, this.#next + count - taken.length);
      for (; this.#next < end; this.#next++) taken.push(this.#block[this.#next] ?? 0);
    }
    return taken;
  }

  /** Whether the block has tested slots left; tests more if not. */
  #fill(): boolean {
    while (this.#next === this.#count) {
      if (this.hasGivenUp) return false;
      if (this.#block.length < this.#size) this.#block = new Uint32Array(this.#size);
      const read = this.#walk.fill(this.#block);
      if (read === 0) return false;
      this.#count = read;
      for (const condition of this.#conditions) this.#count = condition.keep(this.#block, this.#count);
      this.#next = 0;
      this.#size = Math.min(BLOCK, 2 * this.#size);
    }
    return true;
  }
}
