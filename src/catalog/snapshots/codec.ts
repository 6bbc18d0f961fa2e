import { AppError } from "../../errors.js";
import { DamagedPack, PackReader, PackWriter } from "../../packed-numbers.js";
import { COLUMNS, type Readings, UNKNOWN } from "./readings.js";

/** Most snapshots of a block, so that reading a short range decodes little. */
export const MAX_BLOCK_SNAPSHOTS = 256;

/** A block as it is stored. */
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
 * and writes nothing out of bounds, whatever the bytes are.
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
