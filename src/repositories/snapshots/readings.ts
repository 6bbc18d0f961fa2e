import { DAY_MS } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { DamagedPack, PackReader, PackWriter } from "../../lib/packed-numbers.js";
import { SNAPSHOT_SOURCES, type Snapshot, type SnapshotSource } from "../repository.js";

/** Columns of a reading: time, stars, forks, open issues, watchers, source. */
export const COLUMNS = 6;
export const BACKFILLED = SNAPSHOT_SOURCES.indexOf("BACKFILLED");
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

  /** Uninitialised readings of this number. */
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

  /** Whether the reading at an index is of the star history, of readings with all columns; see Basis. */
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
    return [...this];
  }

  /** The same, one at a time. */
  *[Symbol.iterator](): Generator<Snapshot> {
    for (let index = 0; index < this.length; index++) yield this.snapshot(index);
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

  /** The readings whose index is kept: this if all are, a view if they follow one another, or a copy. */
  only(keeps: (index: number) => boolean): Readings {
    const kept: number[] = [];
    for (let index = 0; index < this.length; index++) if (keeps(index)) kept.push(index);
    if (kept.length === this.length) return this;
    const [first = 0] = kept;
    const isPart = kept.at(-1) === first + kept.length - 1;
    return isPart ? this.slice(first, first + kept.length) : this.picked(kept);
  }

  /** A copy of the readings with these indexes. */
  picked(indexes: readonly number[]): Readings {
    const { numbers, width } = this;
    const some = Readings.ofLength(indexes.length, width);
    let end = 0;
    for (const index of indexes)
      for (let i = index * width; i < (index + 1) * width; i++)
        some.numbers[end++] = numbers[i] ?? Number.NaN;
    return some;
  }

  /** A view of the readings from one index to before another. */
  slice(from: number, to = this.length): Readings {
    return new Readings(this.numbers.subarray(from * this.width, to * this.width), this.width);
  }
}

/** Memory for the readings of many repositories, in pieces: allocating it for each repository costs more than decoding. */
class NumberRoom {
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

/**
 * A snapshot as a row of numbers. What a star history says for the end of a day is stored a millisecond before it, as archives have
 * totals of midnight: neither takes the place of the other.
 */
export function numbersOf({ capturedAt, stars, forks, openIssues, watchers, source }: Snapshot): number[] {
  return [
    source === "BACKFILLED" && capturedAt % DAY_MS === 0 ? capturedAt - 1 : capturedAt,
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

/** Maximum number of snapshots in a block, so that reading a short range decodes little. */
export const MAX_BLOCK_SNAPSHOTS = 256;

/** A row of `snapshot_blocks`. */
export interface BlockRow {
  repositoryId: number;
  /** Times of the first and the last snapshot. */
  fromAt: number;
  toAt: number;
  snapshots: number;
  /** A pack of the columns of Readings: the times after `fromAt`, then the others. */
  data: Uint8Array;
}

/** Thrown for a block whose data is damaged or does not fit its row. Names the repository and the time. */
export class DamagedBlock extends AppError {
  readonly repositoryId: number;

  constructor({ repositoryId, fromAt }: BlockRow, reason: string) {
    super(
      "INTERNAL",
      `The history of repository ${repositoryId} is damaged, in the block of snapshots that begins at ${fromAt} (ms since 1970): ${reason}.`,
    );
    this.repositoryId = repositoryId;
  }
}

/** The number of snapshots of a block. Throws DamagedBlock for a number that no block can have. */
export function lengthOf(row: BlockRow): number {
  const { snapshots } = row;
  if (!(snapshots >= 1 && snapshots <= MAX_BLOCK_SNAPSHOTS))
    throw new DamagedBlock(row, "its number of snapshots is wrong");
  return snapshots;
}

const writer = new PackWriter();

/** The data of a block of consecutive snapshots, at most MAX_BLOCK_SNAPSHOTS. Throws RangeError for numbers that cannot be stored. */
export function encodeBlock({ numbers, length, width }: Readings): Uint8Array {
  if (length > MAX_BLOCK_SNAPSHOTS) throw new RangeError(`A block of ${length} snapshots is too long.`);
  const [before = 0] = numbers;
  writer.column(numbers, { index: width, stride: width, count: length - 1, before, isEven: true });
  for (let index = 1; index < COLUMNS; index++)
    writer.column(numbers, { index, stride: width, count: length, shift: shiftOf(index) });
  return writer.finish();
}

/** Counts that may be unknown are stored plus 1, so that an unknown one is 0, as before the first snapshot. */
function shiftOf(column: number): number {
  return column >= 2 && column <= 4 ? -UNKNOWN : 0;
}

/**
 * Decodes the first `target.width` columns of a block into `target`, from the index `first` on. Throws DamagedBlock, and reads
 * and writes nothing out of bounds, even for random bytes.
 */
export function decodeBlock(row: BlockRow, target: Readings, first = 0): void {
  try {
    decode(row, target, first);
  } catch (error) {
    throw error instanceof DamagedPack ? new DamagedBlock(row, error.message) : error;
  }
}

function decode({ data, snapshots, fromAt, toAt }: BlockRow, target: Readings, first: number): void {
  const { numbers, width } = target;
  if (snapshots < 1 || first + snapshots > target.length)
    throw new DamagedPack("its number of snapshots is wrong");
  const pack = new PackReader(data);
  const start = first * width;
  numbers[start] = fromAt;
  pack.column(numbers, {
    index: start + width,
    stride: width,
    count: snapshots - 1,
    before: fromAt,
    isEven: true,
  });
  for (let i = first + 1; i < first + snapshots; i++)
    if (!(target.at(i) > target.at(i - 1))) throw new DamagedPack("its times do not ascend");
  if (target.at(first + snapshots - 1) !== toAt) throw new DamagedPack("its last time is wrong");
  for (let column = 1; column < width; column++)
    pack.column(numbers, { index: start + column, stride: width, count: snapshots, shift: shiftOf(column) });
  if (width === COLUMNS) pack.end();
}

/**
 * Which snapshots to read. `from` and `until` bound the times (inclusive). `withBaseline`: from the last one at or before
 * `from` on. `recentMs`: only those at most this long before the newest one of the repository.
 */
export interface Span {
  from?: number;
  until?: number;
  withBaseline?: boolean;
  recentMs?: number;
}

/** The snapshots of one repository as they are stored: blocks in order of time, then the tail, all later. */
export interface Stored {
  blocks: BlockRow[];
  tail: Readings;
}

/** A row for a block, or for a tail: then `data` is null, and `tail` has all columns of its rows, separated by commas. */
export type StoredValues = [
  repositoryId: number,
  fromAt: number,
  toAt: number,
  snapshots: number,
  data: Uint8Array | null,
  tail: string | null,
];

/** The rows that `selectStored` returns, by repository. */
export function storedOf(rows: readonly StoredValues[]): Map<number, Stored> {
  const stored = new Map<number, Stored>();
  for (const [repositoryId, fromAt, toAt, snapshots, data, tail] of rows) {
    let own = stored.get(repositoryId);
    if (own === undefined) {
      own = { blocks: [], tail: NO_READINGS };
      stored.set(repositoryId, own);
    }
    if (data === null) own.tail = tailOf(tail ?? "");
    else own.blocks.push({ repositoryId, fromAt, toAt, snapshots, data });
  }
  for (const { blocks } of stored.values()) if (blocks.length > 1) blocks.sort((a, b) => a.fromAt - b.fromAt);
  return stored;
}

const NO_READINGS = Readings.ofLength(0);

function tailOf(text: string): Readings {
  const numbers: number[] = JSON.parse(`[${text}]`);
  return inOrder(new Readings(Float64Array.from(numbers)));
}

/** The text is unsorted in theory, and ordered by key in practice on both engines. */
function inOrder(readings: Readings): Readings {
  const { length } = readings;
  for (let i = 1; i < length; i++) {
    if (readings.at(i) > readings.at(i - 1)) continue;
    const order = Array.from({ length }, (_, index) => index).sort((a, b) => readings.at(a) - readings.at(b));
    const sorted = Readings.ofLength(length);
    for (const [to, index] of order.entries())
      sorted.numbers.set(readings.slice(index, index + 1).numbers, to * COLUMNS);
    return sorted;
  }
  return readings;
}

export interface ReadingsOptions {
  ids: readonly number[];
  span?: Span;
  /** Columns to read: 2 reads times and stars alone, in a third of the time. */
  width?: number;
  /** Gets the damaged blocks, whose repositories are left out; without it, DamagedBlock is thrown. */
  onDamaged?: (damaged: DamagedBlock) => void;
}

/** From this many repositories on, their readings share pieces of memory for this many numbers. */
const MANY = 100;
const PIECE = 1 << 16;

/** Decodes stored histories and cuts them to the span; see `readReadings`. */
export function readingsIn(
  stored: ReadonlyMap<number, Stored>,
  span: Span,
  { width = COLUMNS, onDamaged }: Omit<ReadingsOptions, "ids" | "span"> = {},
): Map<number, Readings> {
  const room = new NumberRoom(stored.size < MANY ? 0 : PIECE);
  const found = new Map<number, Readings>();
  for (const [id, own] of stored) {
    try {
      const readings = within(decodeStored(own, width, room), span);
      if (readings.length > 0) found.set(id, readings);
    } catch (error) {
      if (onDamaged === undefined || !(error instanceof DamagedBlock)) throw error;
      onDamaged(error);
    }
  }
  return found;
}

/** Cuts readings to a span. */
function within(readings: Readings, { from, until, withBaseline = false, recentMs }: Span): Readings {
  const start = recentMs === undefined ? from : readings.at(readings.length - 1) - recentMs;
  let first = start === undefined ? 0 : readings.countBefore(start);
  if (withBaseline && first > 0 && readings.at(first) !== start) first--;
  // Times are whole numbers.
  const end = until === undefined ? readings.length : readings.countBefore(until + 1);
  return first >= end ? readings.slice(0, 0) : readings.slice(first, end);
}

/** The first `width` columns of a history, in order of time. Throws DamagedBlock. */
function decodeStored({ blocks, tail }: Stored, width: number, room: NumberRoom): Readings {
  let total = tail.length;
  for (const block of blocks) total += lengthOf(block);
  const all = new Readings(room.take(total * width), width);
  let end = 0;
  for (const block of blocks) {
    decodeBlock(block, all, end);
    end += block.snapshots;
  }
  for (let i = 0; i < tail.length; i++, end++) {
    for (let column = 0; column < width; column++) all.numbers[end * width + column] = tail.value(i, column);
  }
  return all;
}
