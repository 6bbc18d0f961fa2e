/** The ranks of past days as bytes. */
import { DamagedPack, PackReader, PackWriter } from "../../lib/packed-numbers.js";
import { codedRanks } from "./rank.js";

const writer = new PackWriter();

/** The archived ranks of a repository on one day. */
export interface RankDay {
  /** Days since 1970. */
  day: number;
  /** Such as `t24o12,s0l3`; see `CodedRank`. */
  ranks: string;
}

/** Maximum number of days in a block; there are more rows only after an upgrade. */
export const MAX_BLOCK_DAYS = 32;
/** Far more than there are ranks in a day. */
const MAX_SERIES = 1_000;

/**
 * The data of a block: the number of days and of series, the days after the first one, and for each series the codes of its
 * ranking and scope, its hours, and its position on each day (0: none).
 */
export function encodeRanks(days: readonly RankDay[]): Uint8Array {
  const series = new Map<string, { key: [number, number, number]; positions: number[] }>();
  for (const [i, { ranks }] of days.entries()) {
    for (const { code, hours, letter, position } of codedRanks(ranks)) {
      const name = code + hours + letter;
      let one = series.get(name);
      if (one === undefined) {
        const key: [number, number, number] = [code.charCodeAt(0), hours, letter.charCodeAt(0)];
        one = { key, positions: new Array(days.length).fill(0) };
        series.set(name, one);
      }
      one.positions[i] = position;
    }
  }
  writer.number(days.length);
  writer.number(series.size);
  const numbers = days.map(({ day }) => day);
  writer.column(numbers, {
    index: 1,
    stride: 1,
    count: days.length - 1,
    before: numbers[0] ?? 0,
    isEven: true,
  });
  for (const { key, positions } of series.values()) {
    for (const number of key) writer.number(number);
    writer.column(positions, { index: 0, stride: 1, count: days.length });
  }
  return writer.finish();
}

/** The days of a block that begins at `fromDay`. Throws DamagedPack. */
export function decodeRanks(data: Uint8Array, fromDay: number): RankDay[] {
  const reader = new PackReader(data);
  const [count, size] = [reader.number(), reader.number()];
  if (count < 1 || count > MAX_BLOCK_DAYS || size > MAX_SERIES) throw new DamagedPack("its size is wrong");
  const days = new Array<number>(count).fill(fromDay);
  reader.column(days, { index: 1, stride: 1, count: count - 1, before: fromDay, isEven: true });
  const ranks = days.map((): string[] => []);
  for (let i = 0; i < size; i++) {
    const [code, hours, letter] = [reader.number(), reader.number(), reader.number()];
    const positions = new Array<number>(count).fill(0);
    reader.column(positions, { index: 0, stride: 1, count });
    for (const [index, position] of positions.entries()) {
      if (position > 0)
        ranks[index]?.push(`${String.fromCharCode(code)}${hours}${String.fromCharCode(letter)}${position}`);
    }
  }
  reader.end();
  return days.map((day, i) => ({ day, ranks: ranks[i]?.join(",") ?? "" }));
}
