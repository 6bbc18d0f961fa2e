/** Leaderboards, and the ranks of past days, as bytes. */
import { sql } from "kysely";
import type { BulkRow, Db, Dialect } from "../../database/database.js";
import { MEASURES } from "../../growth/growth.js";
import { DamagedPack, PackReader, PackWriter } from "../../lib/packed-numbers.js";
import { Entries, type Leaderboard, NO_BOARDS, type RankScope, scopeKey } from "./leaderboard.js";
import { codedRanks, codeOf, MEASURE_CODES } from "./rank.js";

/** Far more than a leaderboard stores. */
const MAX_ENTRIES = 10_000;

const INDEX_OF_CODE: ReadonlyMap<string, number> = new Map(MEASURE_CODES.map((code, i) => [code, i]));

const writer = new PackWriter();

/**
 * The leaderboards of a scope as bytes: their number without the empty ones, and for each its ranking and hours, its number of
 * entries, whether it has a cutoff, and the values and ids, with those of the cutoff at the end.
 */
export function encodeBoards(boards: readonly Leaderboard[]): Uint8Array {
  const kept = boards.flatMap((board, i) =>
    board.entries.length === 0 && board.cutoff === undefined ? [] : [{ ...board, i }],
  );
  writer.number(kept.length);
  for (const { entries, cutoff, i } of kept) {
    const { letter, hours } = codeOf(MEASURES[i] ?? { ranking: "stars", window: null });
    const count = entries.length + (cutoff === undefined ? 0 : 1);
    const numbers = new Float64Array(2 * count);
    numbers.set(entries.numbers);
    if (cutoff !== undefined) numbers.set([cutoff.value, cutoff.id], 2 * entries.length);
    writer.number(letter.charCodeAt(0));
    writer.number(hours);
    writer.number(entries.length);
    writer.number(cutoff === undefined ? 0 : 1);
    for (const index of [0, 1]) writer.column(numbers, { index, stride: 2, count });
  }
  return writer.finish();
}

/** The leaderboards in the order of MEASURES, without those that no longer exist; undefined if the bytes are damaged. */
export function decodeBoards(data: Uint8Array): Leaderboard[] | undefined {
  try {
    return decode(data);
  } catch (error) {
    if (error instanceof DamagedPack) return undefined;
    throw error;
  }
}

function decode(data: Uint8Array): Leaderboard[] {
  const reader = new PackReader(data);
  const boards = [...NO_BOARDS];
  for (let rest = reader.number(); rest > 0; rest--) {
    const code = `${String.fromCharCode(reader.number())}${reader.number()}`;
    const [length, cutoffs] = [reader.number(), reader.number()];
    const count = length + cutoffs;
    if (length > MAX_ENTRIES || cutoffs > 1) throw new DamagedPack("its size is wrong");
    const numbers = new Float64Array(2 * count);
    for (const index of [0, 1]) reader.column(numbers, { index, stride: 2, count });
    const cutoff = cutoffs === 1 ? new Entries(numbers).at(length) : undefined;
    const index = INDEX_OF_CODE.get(code);
    if (index !== undefined)
      boards[index] = { entries: new Entries(numbers.subarray(0, 2 * length)), cutoff };
  }
  reader.end();
  return boards;
}

/** The stored leaderboards of scopes as bytes, by `scopeKey`; those without any are absent. */
export async function readBoards(
  db: Db,
  dialect: Dialect,
  scopes: readonly (readonly [RankScope, string])[],
): Promise<Map<string, Uint8Array>> {
  if (scopes.length === 0) return new Map();
  const names = scopes.map(([scope, name]): BulkRow => [scope, name]);
  const { rows } = await sql<{ scope: string; scope_name: string; data: Uint8Array }>`
    select l.scope, l.scope_name, l.data
    from (${dialect.rowsOf({ scope: "text", scope_name: "text" }, names)}) as n
    cross join leaderboards l where l.scope = n.scope and l.scope_name = n.scope_name`.execute(db);
  return new Map(rows.map(({ scope, scope_name, data }) => [scopeKey(scope, scope_name), data]));
}

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
