/** Reads snapshots of repositories: their readings in a span, or the range of their times. Each read is one statement. */
import { type RawBuilder, sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import {
  type Readings,
  type ReadingsOptions,
  readingsIn,
  type Span,
  type Stored,
  storedOf,
} from "./readings.js";

/** The snapshots of repositories in a span, by id; absent without any. Costs one or two blocks each and 60 days. */
export async function readReadings(
  db: Db,
  dialect: Dialect,
  { ids, span = {}, ...options }: ReadingsOptions,
): Promise<Map<number, Readings>> {
  return readingsIn(await readStored(db, dialect, { ids, span }), span, options);
}

/** The first snapshot of repositories, by id; absent if it is in no block, or in a damaged one. Costs a block each. */
export async function readFirst(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, Readings>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<StoredRow>`
    select b.repository_id, b.from_at, b.to_at, b.snapshots, b.data, null as tail from snapshot_blocks b
    join (select repository_id, min(from_at) as from_at from snapshot_blocks
      where ${dialect.among(sql.ref("repository_id"), ids)} group by repository_id) f
    on f.repository_id = b.repository_id and f.from_at = b.from_at
    where ${dialect.among(sql.ref("b.repository_id"), ids)}`.execute(db);
  const found = readingsIn(storedIn(rows), {}, { onDamaged: () => {} });
  return new Map([...found].map(([id, readings]) => [id, readings.slice(0, 1)]));
}

interface StoredRow {
  repository_id: number;
  from_at: number;
  to_at: number;
  snapshots: number;
  data: Uint8Array | null;
  tail: string | null;
}

/** Reads the blocks and tails of a span, and possibly more; see `selectStored`. */
export async function readStored(
  db: Db,
  dialect: Dialect,
  { ids, span = {} }: { ids: readonly number[]; span?: Span },
): Promise<Map<number, Stored>> {
  if (ids.length === 0) return new Map();
  const among = (column: string) =>
    ids.length === 1 ? sql<boolean>`${sql.ref(column)} = ${ids[0]}` : dialect.among(sql.ref(column), ids);
  const { from, until, recentMs, ...rest } = span;
  const select = selectStored<StoredRow>(among, {
    ...rest,
    ...(recentMs === undefined ? {} : { recentMs: sql`${recentMs}` }),
    ...(from === undefined ? {} : { from: sql`${from}` }),
    ...(until === undefined ? {} : { until: sql`${until}` }),
  });
  const { rows } = await select.execute(db);
  return storedIn(rows);
}

const storedIn = (rows: readonly StoredRow[]): Map<number, Stored> =>
  storedOf(rows.map((row) => [row.repository_id, row.from_at, row.to_at, row.snapshots, row.data, row.tail]));

/** A span whose times are SQL: values, or slots of a prepared statement. */
interface SpanText extends Pick<Span, "withBaseline"> {
  from?: RawBuilder<unknown>;
  until?: RawBuilder<unknown>;
  recentMs?: RawBuilder<unknown>;
}

/**
 * Selects the blocks and tails of a span, and possibly more: blocks are whole, and with a baseline or `recentMs` so is the tail. One
 * statement, so that a snapshot that is moved at the same time is found exactly once. Every condition compares
 * `repository_id` with the ids, by `among`, so the tables can be distributed by it.
 */
function selectStored<R>(among: (column: string) => RawBuilder<boolean>, span: SpanText): RawBuilder<R> {
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
    start = startJoin(sql`max(to_at) - ${recentMs}`, among("repository_id"));
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

function startJoin(start: RawBuilder<unknown>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`left join (select repository_id, ${start} as start_at from snapshot_blocks where ${condition}
    group by repository_id) n on n.repository_id = b.repository_id`;
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

/**
 * The range of a repository, as JSON text that `rangeOf` reads. Its id is a value, and never a column of the outer statement: a
 * distributed table cannot be read for each row of a local one.
 */
export function rangeColumn(dialect: Dialect, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const row = dialect.jsonRow(RANGE_COLUMNS.map((name) => sql.ref(name)));
  return sql`(select ${dialect.jsonArray(row)} from (${selectRanges(sql<boolean>`repository_id = ${id}`)}) as ranges)`;
}

/** Reads the text of `rangeColumn`. */
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

/** Repositories read, and readings decoded, in one turn of the event loop. */
const TURN_REPOSITORIES = 50;
const TURN_READINGS = 20_000;

/** Readings that are decoded beyond those of a span, as blocks are whole. */
const BLOCK_READINGS = 200;

interface TurnsOptions {
  ids: readonly number[];
  span: Span;
  /** The ranges of the repositories: with them, turns are bounded by readings too. */
  ranges?: ReadonlyMap<number, SnapshotRange>;
}

/** Repositories in groups that are read in one turn of the event loop: on SQLite, it would otherwise be held until the last one. */
export function turnsOf({ ids, span, ranges }: TurnsOptions): number[][] {
  const turns: number[][] = [];
  let readings = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    const last = turns.at(-1);
    if (last === undefined || last.length === TURN_REPOSITORIES || readings >= TURN_READINGS) {
      turns.push([id]);
      readings = 0;
    } else last.push(id);
    readings += estimate(ranges?.get(id), span);
  }
  return turns;
}

/** About how many readings are decoded for a repository, if they are spread evenly. */
function estimate(range: SnapshotRange | undefined, { from = 0, recentMs }: Span): number {
  if (range === undefined || range.firstSnapshotAt === null || range.lastSnapshotAt === null) return 0;
  const { snapshots, firstSnapshotAt, lastSnapshotAt } = range;
  const length = recentMs ?? lastSnapshotAt - from;
  const share = length / Math.max(1, lastSnapshotAt - firstSnapshotAt);
  return Math.min(snapshots, Math.max(0, share) * snapshots + BLOCK_READINGS);
}
