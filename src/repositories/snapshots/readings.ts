import { SNAPSHOT_SOURCES, type Snapshot, type SnapshotSource } from "../observation.js";

/** Columns of a reading: time, stars, forks, open issues, watchers, source. */
export const COLUMNS = 6;
const BACKFILLED = SNAPSHOT_SOURCES.indexOf("BACKFILLED");
/** Stands for a count that the source does not report. */
export const UNKNOWN = -1;

/**
 * Snapshots of one repository, oldest first, as plain numbers, since a rebuild reads many millions of them. `width`: how many
 * columns are present; those to the right were not read.
 */
export class Readings {
  readonly numbers: Float64Array;
  readonly width: number;
  readonly length: number;

  constructor(numbers: Float64Array, width = COLUMNS) {
    this.numbers = numbers;
    this.width = width;
    this.length = numbers.length / width;
  }

  /** Room for this many readings. */
  static ofLength(length: number, width = COLUMNS): Readings {
    return new Readings(new Float64Array(length * width), width);
  }

  /** Capture time; NaN if there is no such index. */
  at(index: number): number {
    return this.numbers[index * this.width] ?? Number.NaN;
  }

  /** NaN if there is no such index. */
  stars(index: number): number {
    return this.numbers[index * this.width + 1] ?? Number.NaN;
  }

  /** The number in a column: an index into SNAPSHOT_SOURCES for the last one, UNKNOWN for an unknown count. */
  value(index: number, column: number): number {
    return this.numbers[index * this.width + column] ?? Number.NaN;
  }

  /** The snapshot at an index that exists, of readings with all columns. */
  snapshot(index: number): Snapshot {
    return {
      capturedAt: this.at(index),
      stars: this.stars(index),
      forks: this.count(index, 2),
      openIssues: this.count(index, 3),
      watchers: this.count(index, 4),
      source: SNAPSHOT_SOURCES[this.value(index, 5)] ?? "IMPORTED",
    };
  }

  /** The count in a column; null if it is unknown. */
  count(index: number, column: number): number | null {
    const value = this.value(index, column);
    return value === UNKNOWN ? null : value;
  }

  /** Whether the reading at an index counts stars still held, of readings with all columns; see Basis. */
  isRetained(index: number): boolean {
    return this.value(index, 5) === BACKFILLED;
  }

  /** The number of such readings. A plain loop, as a rebuild counts them for every repository. */
  countRetained(): number {
    const { numbers, width } = this;
    let count = 0;
    for (let i = 5; i < numbers.length; i += width) if (numbers[i] === BACKFILLED) count++;
    return count;
  }

  /** All snapshots, of readings with all columns. */
  snapshots(): Snapshot[] {
    return Array.from({ length: this.length }, (_, index) => this.snapshot(index));
  }

  /** The number of readings before a time. */
  countBefore(at: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A copy of the readings whose index is kept; this, if all are. */
  only(keeps: (index: number) => boolean): Readings {
    const kept = Array.from({ length: this.length }, (_, index) => index).filter(keeps);
    return kept.length === this.length ? this : this.picked(kept);
  }

  /** A copy of the readings with these indexes. */
  picked(indexes: readonly number[]): Readings {
    if (indexes.length === this.length) return new Readings(this.numbers.slice(), this.width);
    const some = Readings.ofLength(indexes.length, this.width);
    for (const [i, index] of indexes.entries())
      some.numbers.set(this.numbers.subarray(index * this.width, (index + 1) * this.width), i * this.width);
    return some;
  }

  /** A view of the readings from one index to before another. */
  slice(from: number, to = this.length): Readings {
    return new Readings(this.numbers.subarray(from * this.width, to * this.width), this.width);
  }
}

/** Memory for the readings of many repositories, in pieces: allocating it for each repository costs more than decoding. */
export class NumberRoom {
  readonly #pieceLength: number;
  #piece = new Float64Array(0);
  #used = 0;

  /** `pieceLength`: numbers in a piece. */
  constructor(pieceLength: number) {
    this.#pieceLength = pieceLength;
  }

  /** Room for this many numbers, uninitialised. */
  take(length: number): Float64Array {
    if (this.#used + length > this.#piece.length) {
      this.#piece = new Float64Array(Math.max(length, this.#pieceLength));
      this.#used = 0;
    }
    this.#used += length;
    return this.#piece.subarray(this.#used - length, this.#used);
  }
}

/** Copies readings, given in order of time, into one. */
export function joined(parts: readonly Readings[]): Readings {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const all = Readings.ofLength(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const { numbers } of parts) {
    all.numbers.set(numbers, end);
    end += numbers.length;
  }
  return all;
}

/** Rows of readings as numbers, in any order; of several at the same time, the first stays. */
export function readingsOf(rows: readonly (readonly number[])[]): Readings {
  const sorted = rows.toSorted(([a = 0], [b = 0]) => a - b);
  const unique = sorted.filter(([at], i) => i === 0 || at !== sorted[i - 1]?.[0]);
  return new Readings(Float64Array.from(unique.flat()));
}

/** A snapshot as a row of numbers. */
export function numbersOf({ capturedAt, stars, forks, openIssues, watchers, source }: Snapshot): number[] {
  return [
    capturedAt,
    stars,
    forks ?? UNKNOWN,
    openIssues ?? UNKNOWN,
    watchers ?? UNKNOWN,
    SNAPSHOT_SOURCES.indexOf(source),
  ];
}

/** Merges readings in order of time; of two at the same time, that of `first` stays. `added`: times that only `second` has. */
export function merged(first: Readings, second: Readings): { all: Readings; added: number[] } {
  const all = Readings.ofLength(first.length + second.length);
  const added: number[] = [];
  let [i, j, end] = [0, 0, 0];
  const take = (from: Readings, index: number) => {
    all.numbers.set(from.numbers.subarray(index * COLUMNS, (index + 1) * COLUMNS), end * COLUMNS);
    end++;
  };
  while (i < first.length || j < second.length) {
    // A comparison with NaN, past the end, is false.
    if (j >= second.length || first.at(i) <= second.at(j)) {
      if (first.at(i) === second.at(j)) j++;
      take(first, i++);
      continue;
    }
    added.push(second.at(j));
    take(second, j++);
  }
  return { all: all.slice(0, end), added };
}

/**
 * What the stars of a snapshot count. TOTAL: all that the repository had at that time, as a forge or an archive said then.
 * RETAINED: those given until then and still held when the forge reported them later. Stars withdrawn in between are missing
 * from it, so the difference between a TOTAL and a RETAINED count is neither a gain nor a loss.
 */
export const BASES = ["TOTAL", "RETAINED"] as const;
export type Basis = (typeof BASES)[number];

export function basisOf(source: SnapshotSource): Basis {
  return source === "BACKFILLED" ? "RETAINED" : "TOTAL";
}

/** Whether two neighbouring points of a series differ in basis, so that the step between them is no movement. */
export function isSeam(
  before: { source: SnapshotSource } | undefined,
  after: { source: SnapshotSource },
): boolean {
  return before !== undefined && basisOf(before.source) !== basisOf(after.source);
}

const NONE = Readings.ofLength(0);

/** The readings of each basis, of readings with all columns. Copies nothing where all have the same basis. */
export function byBasis(readings: Readings): Readonly<Record<Basis, Readings>> {
  const retained = readings.countRetained();
  if (retained === 0) return { TOTAL: readings, RETAINED: NONE };
  if (retained === readings.length) return { TOTAL: NONE, RETAINED: readings };
  return {
    TOTAL: readings.only((i) => !readings.isRetained(i)),
    RETAINED: readings.only((i) => readings.isRetained(i)),
  };
}
