import { type RawBuilder, sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import { type BlockRow, decodeBlock } from "./codec.js";
import { COLUMNS, Readings } from "./readings.js";

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

interface Row {
  repository_id: number;
  from_at: number;
  to_at: number;
  snapshots: number;
  /** null: this row is the tail. */
  data: Uint8Array | null;
  /** The columns of the rows of the tail, separated by commas. */
  tail: string | null;
}

const NO_READINGS = Readings.ofLength(0);

/**
 * Reads what is stored in a span, and possibly more: blocks are whole, and with a baseline or `recentMs` so is the tail. One
 * statement, so that a snapshot that is moved at the same time is found exactly once. Every condition compares
 * `repository_id` with the ids, so the tables can be distributed by it.
 */
export async function readStored(
  db: Db,
  dialect: Dialect,
  { ids, span = {} }: { ids: readonly number[]; span?: Span },
): Promise<Map<number, Stored>> {
  const stored = new Map<number, Stored>();
  if (ids.length === 0) return stored;
  const among = (column: string) =>
    ids.length === 1 ? sql`${sql.ref(column)} = ${ids[0]}` : dialect.among(sql.ref(column), ids);
  const blocks = [among("b.repository_id")];
  const rows = [among("repository_id")];
  const { from, until, withBaseline = false, recentMs } = span;
  let start = sql``;
  if (until !== undefined) {
    blocks.push(sql`b.from_at <= ${until}`);
    rows.push(sql`captured_at <= ${until}`);
  }
  if (recentMs !== undefined) {
    // Later snapshots may be in the tail, so this reads a little more than needed.
    start = startJoin(sql`max(to_at) - ${sql.lit(recentMs)}`, among("repository_id"));
    blocks.push(sql`b.to_at >= n.start_at`);
  } else if (from !== undefined && withBaseline) {
    start = startJoin(sql`max(from_at)`, sql`${among("repository_id")} and from_at <= ${from}`);
    blocks.push(sql`(n.start_at is null or b.from_at >= n.start_at)`);
  } else if (from !== undefined) {
    blocks.push(sql`b.to_at >= ${from}`);
    rows.push(sql`captured_at >= ${from}`);
  }
  const and = sql` and `;
  const result = await sql<Row>`
    select b.repository_id, b.from_at, b.to_at, b.snapshots, b.data, null as tail
    from snapshot_blocks b ${start} where ${sql.join(blocks, and)}
    union all
    select repository_id, min(captured_at), max(captured_at), count(*), null,
      string_agg(concat_ws(',', captured_at, stars, coalesce(forks, -1), coalesce(open_issues, -1),
        coalesce(watchers, -1), source), ',')
    from snapshots where ${sql.join(rows, and)} group by repository_id`.execute(db);
  for (const row of result.rows) {
    let own = stored.get(row.repository_id);
    if (own === undefined) {
      own = { blocks: [], tail: NO_READINGS };
      stored.set(row.repository_id, own);
    }
    const { repository_id: repositoryId, from_at: fromAt, to_at: toAt, snapshots, data } = row;
    if (data === null) own.tail = tailOf(row.tail ?? "");
    else own.blocks.push({ repositoryId, fromAt, toAt, snapshots, data });
  }
  for (const { blocks: own } of stored.values()) if (own.length > 1) own.sort((a, b) => a.fromAt - b.fromAt);
  return stored;
}

function startJoin(start: RawBuilder<unknown>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`left join (select repository_id, ${start} as start_at from snapshot_blocks where ${condition}
    group by repository_id) n on n.repository_id = b.repository_id`;
}

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

/** The first `width` columns of all that is stored, in order of time. Throws DamagedBlock. */
export function decodeStored({ blocks, tail }: Stored, width = COLUMNS): Readings {
  let total = tail.length;
  for (const { snapshots } of blocks) total += snapshots;
  const all = Readings.ofLength(total, width);
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

/**
 * The snapshots of repositories in a span, by id; repositories without any are absent. Costs one or two blocks per repository
 * and 60 days. `width`: 2 reads times and stars alone, in a third of the time. Throws DamagedBlock.
 */
export async function readReadings(
  db: Db,
  dialect: Dialect,
  { ids, span = {}, width = COLUMNS }: { ids: readonly number[]; span?: Span; width?: number },
): Promise<Map<number, Readings>> {
  const found = new Map<number, Readings>();
  for (const [id, stored] of await readStored(db, dialect, { ids, span })) {
    const readings = within(decodeStored(stored, width), span);
    if (readings.length > 0) found.set(id, readings);
  }
  return found;
}

function within(readings: Readings, { from, until, withBaseline = false, recentMs }: Span): Readings {
  const start = recentMs === undefined ? from : readings.at(readings.length - 1) - recentMs;
  let first = start === undefined ? 0 : readings.countBefore(start);
  if (withBaseline && first > 0 && readings.at(first) !== start) first--;
  // Times are whole numbers.
  const end = until === undefined ? readings.length : readings.countBefore(until + 1);
  return first >= end ? readings.slice(0, 0) : readings.slice(first, end);
}

/** Number of a repository's snapshots, and when the first and the last were taken. */
export interface SnapshotRange {
  snapshots: number;
  firstSnapshotAt: number | null;
  lastSnapshotAt: number | null;
}

/** The ranges of repositories, by id, without decoding anything; repositories without snapshots are absent. */
export async function readSnapshotRanges(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, SnapshotRange>> {
  if (ids.length === 0) return new Map();
  const { rows } = await selectRanges<RangeRow>(dialect.among(sql.ref("repository_id"), ids)).execute(db);
  return joinRanges(
    rows.map(({ repository_id, total, first_at, last_at }) => [repository_id, total, first_at, last_at]),
  );
}

/** The range of the repository whose id is a column of the outer statement, as JSON text that `rangeOf` reads. */
export function rangeColumn(dialect: Dialect, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const row = dialect.jsonRow(RANGE_COLUMNS.map((name) => sql.ref(name)));
  return sql`(select ${dialect.jsonArray(row)} from (${selectRanges(sql<boolean>`repository_id = ${id}`)}) as ranges)`;
}

/** Reads what `rangeColumn` selects. */
export function rangeOf(text: string): SnapshotRange {
  const rows: RangeValues[] = JSON.parse(text);
  const [range] = joinRanges(rows).values();
  return range ?? { snapshots: 0, firstSnapshotAt: null, lastSnapshotAt: null };
}

const RANGE_COLUMNS = ["repository_id", "total", "first_at", "last_at"] as const;
type RangeValues = [id: number, total: number, firstAt: number, lastAt: number];
type RangeRow = Record<"repository_id" | "total" | "first_at" | "last_at", number>;

/** A row for the blocks of each repository, and one for its tail. */
function selectRanges<R>(here: RawBuilder<boolean>): RawBuilder<R> {
  return sql`
    select repository_id, sum(snapshots) as total, min(from_at) as first_at, max(to_at) as last_at
    from snapshot_blocks where ${here} group by repository_id
    union all
    select repository_id, count(*), min(captured_at), max(captured_at)
    from snapshots where ${here} group by repository_id`;
}

function joinRanges(rows: readonly RangeValues[]): Map<number, SnapshotRange> {
  const ranges = new Map<number, SnapshotRange>();
  for (const [id, total, first, last] of rows) {
    const known = ranges.get(id);
    ranges.set(id, {
      snapshots: Number(total) + (known?.snapshots ?? 0),
      firstSnapshotAt: Math.min(first, known?.firstSnapshotAt ?? first),
      lastSnapshotAt: Math.max(last, known?.lastSnapshotAt ?? last),
    });
  }
  return ranges;
}
