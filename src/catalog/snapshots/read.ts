import { type RawBuilder, sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import { type BlockRow, DamagedBlock, decodeBlock, lengthOf } from "./codec.js";
import { COLUMNS, NumberRoom, Readings } from "./readings.js";

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

interface Row {
  repository_id: number;
  from_at: number;
  to_at: number;
  snapshots: number;
  data: Uint8Array | null;
  tail: string | null;
}

const NO_READINGS = Readings.ofLength(0);

/** Reads what is stored in a span, and possibly more; see `selectStored`. */
export async function readStored(
  db: Db,
  dialect: Dialect,
  { ids, span = {} }: { ids: readonly number[]; span?: Span },
): Promise<Map<number, Stored>> {
  if (ids.length === 0) return new Map();
  const among = (column: string) =>
    ids.length === 1 ? sql<boolean>`${sql.ref(column)} = ${ids[0]}` : dialect.among(sql.ref(column), ids);
  const { from, until, ...rest } = span;
  const select = selectStored<Row>(among, {
    ...rest,
    ...(from === undefined ? {} : { from: sql`${from}` }),
    ...(until === undefined ? {} : { until: sql`${until}` }),
  });
  const { rows } = await select.execute(db);
  return storedOf(
    rows.map((row) => [row.repository_id, row.from_at, row.to_at, row.snapshots, row.data, row.tail]),
  );
}

/** A span whose times are SQL: values, or slots of a prepared statement. */
interface SpanText extends Omit<Span, "from" | "until"> {
  from?: RawBuilder<unknown>;
  until?: RawBuilder<unknown>;
}

/**
 * Selects what is stored in a span, and possibly more: blocks are whole, and with a baseline or `recentMs` so is the tail. One
 * statement, so that a snapshot that is moved at the same time is found exactly once. Every condition compares
 * `repository_id` with the ids, by `among`, so the tables can be distributed by it.
 */
export function selectStored<R>(
  among: (column: string) => RawBuilder<boolean>,
  span: SpanText,
): RawBuilder<R> {
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
  return sql<R>`
    select b.repository_id, b.from_at, b.to_at, b.snapshots, b.data, null as tail
    from snapshot_blocks b ${start} where ${sql.join(blocks, and)}
    union all
    select repository_id, min(captured_at), max(captured_at), count(*), null,
      string_agg(concat_ws(',', captured_at, stars, coalesce(forks, -1), coalesce(open_issues, -1),
        coalesce(watchers, -1), source), ',')
    from snapshots where ${sql.join(rows, and)} group by repository_id`;
}

/** What `selectStored` found, by repository. */
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

export interface ReadingsOptions {
  ids: readonly number[];
  span?: Span;
  /** Columns to read: 2 reads times and stars alone, in a third of the time. */
  width?: number;
  /** Where the readings are kept, by a caller that uses it again. */
  room?: NumberRoom;
  /** Gets what is damaged, whose repositories are left out; without it, DamagedBlock is thrown. */
  onDamaged?: (damaged: DamagedBlock) => void;
}

/**
 * The snapshots of repositories in a span, by id; repositories without any are absent. Costs one or two blocks per repository
 * and 60 days.
 */
export async function readReadings(
  db: Db,
  dialect: Dialect,
  { ids, span = {}, ...options }: ReadingsOptions,
): Promise<Map<number, Readings>> {
  return readingsIn(await readStored(db, dialect, { ids, span }), span, options);
}

/** From this many repositories on, their readings share pieces of memory for this many numbers. */
const MANY = 100;
const PIECE = 1 << 16;

/** The readings of what was read that are in the span, by repository; see `readReadings`. */
export function readingsIn(
  stored: ReadonlyMap<number, Stored>,
  span: Span,
  {
    width = COLUMNS,
    room = new NumberRoom(stored.size < MANY ? 0 : PIECE),
    onDamaged,
  }: Omit<ReadingsOptions, "ids" | "span"> = {},
): Map<number, Readings> {
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
