/** Lists in a step. */
const STEP = 20_000;

/** Lists of numbers, one after the other: list `i` is `numbers[starts[i]]` up to before `numbers[starts[i + 1]]`. */
export class PackedLists {
  starts: Uint32Array;
  numbers: Uint32Array;
  /** Lists that have ended. */
  size = 0;
  #end = 0;

  constructor(starts = new Uint32Array(1_024), numbers = new Uint32Array(1_024)) {
    this.starts = starts;
    this.numbers = numbers;
  }

  /** Adds a number to the last list. */
  push(number: number): void {
    if (this.#end === this.numbers.length) this.numbers = doubled(this.numbers);
    this.numbers[this.#end++] = number;
  }

  /** Ends the last list. */
  endList(): void {
    if (++this.size === this.starts.length) this.starts = doubled(this.starts);
    this.starts[this.size] = this.#end;
  }

  /** Gives back the room of further lists. */
  trim(): void {
    this.starts = this.starts.slice(0, this.size + 1);
    this.numbers = this.numbers.slice(0, this.#end);
  }

  /** For each number below `count`, the lists that hold it, ascending. In short steps. */
  *inverted(count: number): Generator<void, PackedLists> {
    const starts = new Uint32Array(count + 1);
    for (let i = 0; i < this.#end; i++) {
      const next = (this.numbers[i] ?? 0) + 1;
      starts[next] = (starts[next] ?? 0) + 1;
    }
    for (let i = 1; i <= count; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
    yield;
    const ends = starts.slice();
    const lists = new Uint32Array(this.#end);
    for (let list = 0; list < this.size; list++) {
      for (let i = this.starts[list] ?? 0, to = this.starts[list + 1] ?? 0; i < to; i++) {
        const number = this.numbers[i] ?? 0;
        const end = ends[number] ?? 0;
        lists[end] = list;
        ends[number] = end + 1;
      }
      if (list % STEP === 0) yield;
    }
    return new PackedLists(starts, lists);
  }
}

function doubled(numbers: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
