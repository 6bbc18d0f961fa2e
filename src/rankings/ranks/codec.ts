import { sql } from "kysely";
import type { BulkRow, Db, Dialect } from "../../database/database.js";
import { DamagedPack, PackReader, PackWriter } from "../../packed-numbers.js";
import { MEASURES } from "../definitions.js";
import { codeOf, MEASURE_CODES } from "./coded-ranks.js";
import { type Leaderboard, NO_BOARDS, type RankScope, scopeKey } from "./leaderboard.js";
import { Entries } from "./top-list.js";

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

/** The leaderboards in the order of MEASURES, without those that no longer exist. Throws DamagedPack. */
export function decodeBoards(data: Uint8Array): Leaderboard[] {
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
