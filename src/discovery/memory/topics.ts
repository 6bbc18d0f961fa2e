import { Names } from "./columns.js";
import { PackedLists } from "./packed-lists.js";
import { SlotSet } from "./slot-set.js";

/** Far more than there are. */
const MAX_TOPICS = 2 ** 31;

/** The topics of repositories, both ways. As with words, those of a load are packed, and those that changed since are in maps. */
export class Topics {
  readonly names = new Names();
  /** By slot: the codes of its topics. */
  readonly #of = new PackedLists();
  /** By code: the slots with that topic. */
  #with = new PackedLists();
  readonly #dead = new SlotSet(0);
  readonly #changed = new Map<number, readonly number[]>();
  readonly #added = new Map<number, Set<number>>();

  /** Notes the topics of the next slot of a load. */
  append(topics: readonly string[]): void {
    for (const topic of topics) this.#of.push(this.names.add(topic, { most: MAX_TOPICS }));
    this.#of.endList();
  }

  /** Ends a load, in short steps. */
  *finish(): Generator<void> {
    this.#of.trim();
    this.#with = yield* this.#of.inverted(this.names.names.length);
  }

  /** Notes the present topics of a repository. */
  replace(slot: number, topics: readonly string[]): void {
    for (const code of this.#changed.get(slot) ?? []) this.#added.get(code)?.delete(slot);
    const codes = topics.map((topic) => this.names.add(topic, { most: MAX_TOPICS }));
    for (const code of codes) {
      const slots = this.#added.get(code);
      if (slots === undefined) this.#added.set(code, new Set([slot]));
      else slots.add(slot);
    }
    if (slot >= this.#dead.bits.length * 32) this.#dead.grow(Math.max(slot + 1, this.#of.size) + 32 * 1_024);
    this.#dead.add(slot);
    this.#changed.set(slot, codes);
  }

  /** Adds the slots of repositories with a topic to a set. */
  addTo(set: SlotSet, topic: string): void {
    const code = this.names.codeOf(topic);
    if (code > 0) this.forEachWith(code, (slot) => set.add(slot));
  }

  /** Calls `visit` with the slot of each repository that has a topic. */
  forEachWith(code: number, visit: (slot: number) => void): void {
    const { starts, numbers } = this.#with;
    for (let i = starts[code] ?? 0, end = starts[code + 1] ?? 0; i < end; i++) {
      const slot = numbers[i] ?? 0;
      if (!this.#dead.has(slot)) visit(slot);
    }
    for (const slot of this.#added.get(code) ?? []) visit(slot);
  }

  /** The number of repositories with a topic; those that had it before a change count too. */
  sizeOf(code: number): number {
    const { starts } = this.#with;
    return (starts[code + 1] ?? 0) - (starts[code] ?? 0) + (this.#added.get(code)?.size ?? 0);
  }

  /** Calls `visit` with the code of each topic of a repository. */
  forEach(slot: number, visit: (code: number) => void): void {
    const changed = this.#changed.get(slot);
    if (changed !== undefined) {
      for (const code of changed) visit(code);
      return;
    }
    const { starts, numbers } = this.#of;
    for (let i = starts[slot] ?? 0, end = starts[slot + 1] ?? 0; i < end; i++) visit(numbers[i] ?? 0);
  }

  /** Adds 1 to the count of each topic of some slots. */
  count(counts: Uint32Array, slots: Uint32Array, length: number): void {
    const { starts, numbers } = this.#of;
    const hasChanges = this.#changed.size > 0;
    for (let i = 0; i < length; i++) {
      const slot = slots[i] ?? 0;
      if (hasChanges && this.#dead.has(slot)) {
        for (const code of this.#changed.get(slot) ?? []) counts[code] = (counts[code] ?? 0) + 1;
        continue;
      }
      for (let k = starts[slot] ?? 0, end = starts[slot + 1] ?? 0; k < end; k++) {
        const code = numbers[k] ?? 0;
        counts[code] = (counts[code] ?? 0) + 1;
      }
    }
  }
}
