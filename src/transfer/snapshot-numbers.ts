import type { Snapshot } from "../catalog/catalog.js";
import { SNAPSHOT_SOURCES } from "../record-rules.js";

/** Numbers per snapshot. */
const WIDTH = 6;

/** Snapshots as plain numbers: a tenth of the memory of objects, and transferable to another thread without copying. */
export class SnapshotNumbers implements Iterable<Snapshot> {
  readonly #numbers: number[] | Float64Array;
  readonly #from: number;
  readonly #to: number;

  /** A view of `count` snapshots, starting at index `first`. */
  constructor(numbers: number[] | Float64Array = [], first = 0, count = numbers.length / WIDTH) {
    this.#numbers = numbers;
    this.#from = first * WIDTH;
    this.#to = (first + count) * WIDTH;
  }

  *[Symbol.iterator](): Generator<Snapshot> {
    const known = (at: number): number | null => {
      const value = this.#numbers[at] ?? Number.NaN;
      return Number.isNaN(value) ? null : value;
    };
    for (let at = this.#from; at < this.#to; at += WIDTH) {
      yield {
        capturedAt: this.#numbers[at] ?? 0,
        stars: this.#numbers[at + 1] ?? 0,
        forks: known(at + 2),
        openIssues: known(at + 3),
        watchers: known(at + 4),
        source: SNAPSHOT_SOURCES[this.#numbers[at + 5] ?? 0] ?? "IMPORTED",
      };
    }
  }
}

/** Appends a snapshot to numbers. */
export function pushSnapshot(numbers: number[], snapshot: Snapshot): void {
  const { capturedAt, stars, forks, openIssues, watchers, source } = snapshot;
  const unknown = Number.NaN;
  numbers.push(
    capturedAt,
    stars,
    forks ?? unknown,
    openIssues ?? unknown,
    watchers ?? unknown,
    SNAPSHOT_SOURCES.indexOf(source),
  );
}

/** How many snapshots numbers hold. */
export function snapshotCount(numbers: ArrayLike<number>): number {
  return numbers.length / WIDTH;
}
