/** Stored histories and what they decode to: blocks of consecutive snapshots as bytes, and the tail as text. */
import { AppError } from "../../lib/errors.js";
import { DamagedPack, PackReader, PackWriter } from "../../lib/packed-numbers.js";
import { COLUMNS, NumberRoom, Readings, UNKNOWN } from "./readings.js";

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

/** The data of a block of consecutive snapshots, at most MAX_BLOCK_SNAPSHOTS. Throws RangeError for what cannot be stored. */
export function encodeBlock({ numbers, length, width }: Readings): Uint8Array {
  if (length > MAX_BLOCK_SNAPSHOTS) throw new RangeError(`A block of ${length} snapshots is too long.`);
  const [before = 0] = numbers;
  writer.column(numbers, { index: width, stride: width, count: length - 1, before, isEven: true });
  for (let index = 1; index < COLUMNS; index++)
    writer.column(numbers, { index, stride: width, count: length, shift: shiftOf(index) });
  return writer.finish();
}

/** Counts that may be unknown are moved up, so that an unknown one is 0, as before the first snapshot. */
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
