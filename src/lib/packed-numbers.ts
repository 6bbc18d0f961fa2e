/**
 * Columns of whole numbers in few bytes, for histories that are stored by the million. A pack begins with a version byte and
 * the CRC-32 of the rest (little-endian). A column is a list of differences between neighbours: 2 * zigzag(difference), or
 * 2 * n - 1 for n zeros, each as a variable-length number of 7 bits a byte.
 */
import { crc32 } from "node:zlib";

/** Version of the format; the first byte of every pack. */
const VERSION = 1;
const HEADER_BYTES = 5;
/** Numbers below this can be stored. */
const LIMIT = 2 ** 53;
/** A number takes at most 8 bytes: 7 bits each, 53 in all. */
const MAX_NUMBER_BYTES = 8;

/** Thrown for bytes that are no pack, or end before all values are read. */
export class DamagedPack extends Error {}

/** Which numbers of a larger array make a column: `count` of them from `index` on, each `stride` after the one before. */
export interface Column {
  index: number;
  stride: number;
  count: number;
  /** The number before the first one, with the shift; default 0. */
  before?: number;
  /** Added to every number in the pack, so that a common special value becomes 0; default 0. */
  shift?: number;
  /** Whether differences of differences are stored, for numbers at even distances; default false. */
  isEven?: boolean;
}

export class PackWriter {
  #bytes = new Uint8Array(1_024);
  #end = HEADER_BYTES;

  /** Appends a number from 0 to 2^53 - 1. */
  number(value: number): void {
    this.#reserve(1);
    this.#write(value);
  }

  /** Appends a column. Throws RangeError for numbers that are not whole, or whose differences are too large. */
  column(
    numbers: ArrayLike<number>,
    { index, stride, count, before = 0, shift = 0, isEven = false }: Column,
  ): void {
    this.#reserve(2 * count);
    let last = before;
    let step = 0;
    let zeros = 0;
    for (let i = index; i < index + count * stride; i += stride) {
      const value = (numbers[i] ?? Number.NaN) + shift;
      const distance = value - last;
      const difference = isEven ? distance - step : distance;
      if (!Number.isInteger(difference)) this.#fail("Only whole numbers can be packed.");
      step = distance;
      last = value;
      if (difference === 0) {
        zeros++;
        continue;
      }
      if (zeros > 0) this.#write(2 * zeros - 1);
      zeros = 0;
      this.#write(difference > 0 ? 4 * difference : -4 * difference - 2);
    }
    if (zeros > 0) this.#write(2 * zeros - 1);
  }

  /** The pack so far; the writer starts over. */
  finish(): Uint8Array {
    const data = this.#bytes.slice(0, this.#end);
    data[0] = VERSION;
    new DataView(data.buffer).setUint32(1, crc32(data.subarray(HEADER_BYTES)), true);
    this.#end = HEADER_BYTES;
    return data;
  }

  #reserve(numbers: number): void {
    const needed = this.#end + numbers * MAX_NUMBER_BYTES;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * needed);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  #fail(message: string): never {
    this.#end = HEADER_BYTES;
    throw new RangeError(message);
  }

  #write(value: number): void {
    if (value >= LIMIT) this.#fail("The difference of two numbers is too large to be packed.");
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#end++] = (rest % 128) + 128;
    this.#bytes[this.#end++] = rest;
  }
}

/** Reads a pack in the order of writing. Every method throws DamagedPack, and reads and writes nothing out of bounds. */
export class PackReader {
  readonly #data: Uint8Array;
  #at = HEADER_BYTES;

  /** Verifies version and checksum. */
  constructor(data: Uint8Array) {
    this.#data = data;
    if (data.length < HEADER_BYTES) throw new DamagedPack("it is too short");
    if (data[0] !== VERSION) throw new DamagedPack(`its format ${data[0]} is unknown`);
    const checksum =
      (((data[4] ?? 0) << 24) | ((data[3] ?? 0) << 16) | ((data[2] ?? 0) << 8) | (data[1] ?? 0)) >>> 0;
    if (crc32(data.subarray(HEADER_BYTES)) !== checksum) throw new DamagedPack("its checksum is wrong");
  }

  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#data[this.#at++] ?? -1;
      if (byte < 0) throw new DamagedPack("it ends too early");
      if (scale >= LIMIT) throw new DamagedPack("a number in it is too long");
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
  }

  /** Reads a column into its place in `target`, which must be long enough. */
  column(
    target: number[] | Float64Array,
    { index, stride, count, before = 0, shift = 0, isEven = false }: Column,
  ): void {
    const end = index + count * stride;
    let value = before - shift;
    let step = 0;
    for (let i = index; i < end; ) {
      // Most numbers take one byte, and rebuilds read hundreds of millions of them.
      let token = this.#data[this.#at] ?? 255;
      if (token < 128) this.#at++;
      else token = this.number();
      if (token % 2 === 0) {
        const difference = token % 4 === 0 ? token / 4 : -(token + 2) / 4;
        if (isEven) step += difference;
        value += isEven ? step : difference;
        target[i] = value;
        i += stride;
        continue;
      }
      const until = i + ((token + 1) / 2) * stride;
      if (until > end) throw new DamagedPack("a column of it is too long");
      for (; i < until; i += stride) {
        value += step;
        target[i] = value;
      }
    }
  }

  /** Checks that nothing follows. */
  end(): void {
    if (this.#at !== this.#data.length) throw new DamagedPack("something follows its end");
  }
}
