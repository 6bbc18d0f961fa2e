import { sql } from "kysely";
import { type BulkRow, bulkOf, type Dialect, type TableName, type Tx } from "../../database/database.js";
import { HourCounts } from "./hours.js";
import { readStored } from "./read.js";
import {
  type BlockRow,
  COLUMNS,
  DamagedBlock,
  decodeBlock,
  encodeBlock,
  joined,
  lengthOf,
  MAX_BLOCK_SNAPSHOTS,
  merged,
  Readings,
  type Span,
  type Stored,
} from "./readings.js";

/** Maximum size of a block in bytes: a longer row would take whole pages of its own on SQLite. */
const MAX_BLOCK_BYTES = 900;
/** Neighbouring blocks with at most this many snapshots together become one when either is written. */
const MAX_JOINED = MAX_BLOCK_SNAPSHOTS / 2;
/** Repositories read at a time. */
const BATCH = 1_000;

const BLOCKS = bulkOf("snapshot_blocks");

/** A run of snapshots with the blocks that hold it now. */
interface Piece {
  readings: Readings;
  blocks: BlockRow[];
  isChanged: boolean;
  /** Its block cannot be decoded: it has no readings, and stays unchanged. */
  isDamaged?: boolean;
}

/** The piece of a block, unchanged. */
function pieceOf(block: BlockRow): Piece {
  try {
    const readings = Readings.ofLength(lengthOf(block));
    decodeBlock(block, readings);
    return { readings, blocks: [block], isChanged: false };
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
    return { readings: Readings.ofLength(0), blocks: [block], isChanged: false, isDamaged: true };
  }
}

/** Changes of blocks and tails, written together at the end of a batch. */
class BlockWriter {
  readonly #tx: Tx;
  readonly #dialect: Dialect;
  #written: BulkRow[] = [];
  #removed: BulkRow[] = [];
  #emptied: number[] = [];
  #thinned: BulkRow[] = [];

  constructor(tx: Tx, dialect: Dialect) {
    this.#tx = tx;
    this.#dialect = dialect;
  }

  /** Removes the tail of a repository; its snapshots must be in blocks that are written. */
  emptyTail(repositoryId: number): void {
    this.#emptied.push(repositoryId);
  }

  /** Removes single snapshots from the tail of a repository. */
  removeRows(repositoryId: number, times: readonly number[]): void {
    for (const at of times) this.#thinned.push([repositoryId, at]);
  }

  /** Replaces blocks of a repository. Pieces are in order of time; small neighbours are joined. */
  replace(repositoryId: number, pieces: readonly Piece[]): void {
    for (const { readings, blocks, isChanged } of joinSmall(pieces)) {
      if (!isChanged) continue;
      const rows = rowsOf(repositoryId, readings);
      this.#written.push(...rows);
      const kept = new Set(rows.map(([, fromAt]) => fromAt));
      for (const { fromAt } of blocks) if (!kept.has(fromAt)) this.#removed.push([repositoryId, fromAt]);
    }
  }

  async write(): Promise<void> {
    const [tx, dialect] = [this.#tx, this.#dialect];
    await this.#delete("snapshot_blocks", "from_at", this.#removed);
    await this.#delete("snapshots", "captured_at", this.#thinned);
    await dialect.upsert(tx, BLOCKS, this.#written);
    if (this.#emptied.length > 0) {
      const here = dialect.among(sql.ref("repository_id"), this.#emptied);
      await tx.deleteFrom("snapshots").where(here).execute();
    }
    [this.#written, this.#removed, this.#emptied, this.#thinned] = [[], [], [], []];
  }

  async #delete(table: TableName, time: string, keys: readonly BulkRow[]): Promise<void> {
    if (keys.length === 0) return;
    const listed = this.#dialect.rowsOf({ repository_id: "bigint", [time]: "bigint" }, keys);
    const ids = [...new Set(keys.map(([id]) => Number(id)))];
    await sql`delete from ${sql.table(table)} where ${this.#dialect.among(sql.ref("repository_id"), ids)}
      and (repository_id, ${sql.ref(time)}) in (${listed})`.execute(this.#tx);
  }
}

function joinSmall(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const before = result.at(-1);
    const isSmall = before !== undefined && before.readings.length + piece.readings.length <= MAX_JOINED;
    const isWhole = before?.isDamaged !== true && piece.isDamaged !== true;
    if (before === undefined || !isSmall || !isWhole || !(before.isChanged || piece.isChanged)) {
      result.push({ ...piece });
      continue;
    }
    before.readings = joined([before.readings, piece.readings]);
    before.blocks = [...before.blocks, ...piece.blocks];
    before.isChanged = true;
  }
  return result;
}

/** The rows of a run of snapshots of any length: halved until each block is short enough. */
function rowsOf(repositoryId: number, readings: Readings): BulkRow[] {
  const { length } = readings;
  if (length === 0) return [];
  if (length <= MAX_BLOCK_SNAPSHOTS) {
    const data = encodeBlock(readings);
    if (data.length <= MAX_BLOCK_BYTES || length === 1)
      return [[repositoryId, readings.at(0), readings.at(length - 1), length, data]];
  }
  const half = length >>> 1;
  return [...rowsOf(repositoryId, readings.slice(0, half)), ...rowsOf(repositoryId, readings.slice(half))];
}

/**
 * Merges snapshots into the blocks of their repositories, together with the tails; a repository without given snapshots has its
 * tail packed. Existing snapshots never change. `onAdded` gets the time of each new snapshot. A damaged
 * block stays, and snapshots of its time are left out, as it may have them already.
 */
export async function mergeIntoBlocks(
  tx: Tx,
  dialect: Dialect,
  { given, onAdded }: { given: ReadonlyMap<number, Readings>; onAdded?: (id: number, at: number) => void },
): Promise<void> {
  const all = [...given.keys()].sort((a, b) => a - b);
  for (let start = 0; start < all.length; start += BATCH) {
    const ids = all.slice(start, start + BATCH);
    let earliest = Number.MAX_SAFE_INTEGER;
    for (const id of ids) {
      const first = given.get(id)?.at(0);
      if (first !== undefined && first < earliest) earliest = first;
    }
    const stored = await readStored(tx, dialect, { ids, span: { from: earliest, withBaseline: true } });
    const writer = new BlockWriter(tx, dialect);
    for (const id of ids) {
      const { blocks, tail }: Stored = stored.get(id) ?? { blocks: [], tail: Readings.ofLength(0) };
      const { all: fresh, added } = merged(tail, given.get(id) ?? Readings.ofLength(0));
      if (tail.length > 0) writer.emptyTail(id);
      const known = new Set<number>();
      writer.replace(id, mergePieces(blocks, fresh, known));
      for (const at of added) if (!known.has(at)) onAdded?.(id, at);
    }
    await writer.write();
  }
}

/** Divides snapshots among the blocks in whose time they are. Adds to `known` the times that a block already had. */
function mergePieces(blocks: readonly BlockRow[], fresh: Readings, known: Set<number>): Piece[] {
  if (blocks.length === 0) return [{ readings: fresh, blocks: [], isChanged: true }];
  let from = 0;
  return blocks.flatMap((block, i): Piece[] => {
    const next = blocks[i + 1];
    const to = next === undefined ? fresh.length : fresh.countBefore(next.fromAt);
    const own = fresh.slice(from, to);
    from = to;
    const piece = pieceOf(block);
    if (own.length === 0) return [piece];
    if (piece.isDamaged === true) return aroundDamaged(piece, own, known);
    const { all, added } = merged(piece.readings, own);
    const isNew = new Set(added);
    for (let j = 0; j < own.length; j++) if (!isNew.has(own.at(j))) known.add(own.at(j));
    return [{ readings: all, blocks: [block], isChanged: added.length > 0 }];
  });
}

/** Snapshots before and after the time of a damaged block, as pieces of their own. */
function aroundDamaged(piece: Piece, own: Readings, known: Set<number>): Piece[] {
  const { fromAt = 0, toAt = 0 } = piece.blocks[0] ?? {};
  const [from, to] = [own.countBefore(fromAt), own.countBefore(Math.max(fromAt, toAt) + 1)];
  for (let i = from; i < to; i++) known.add(own.at(i));
  const newPiece = (readings: Readings): Piece[] =>
    readings.length === 0 ? [] : [{ readings, blocks: [], isChanged: true }];
  return [...newPiece(own.slice(0, from)), piece, ...newPiece(own.slice(to))];
}

/**
 * Of the snapshots from `from` (inclusive) to `to` (exclusive), the last of each `step` stays, in ms since 1970. Stars still held
 * take the place of no total, and no total theirs.
 */
export interface Thinning {
  from: number;
  to: number;
  step: number;
}

/**
 * Removes all but the last snapshot of each step from repositories, for one list of steps after the other, and subtracts them
 * from the hourly counts. Bounds must be multiples of the step. Returns the number of removed snapshots.
 */
export async function thinSnapshots(
  tx: Tx,
  dialect: Dialect,
  { ids, steps }: { ids: readonly number[]; steps: readonly Thinning[] },
): Promise<number> {
  const used = steps.filter(({ from, to }) => to > from);
  if (used.length === 0 || ids.length === 0) return 0;
  const span = {
    from: Math.min(...used.map(({ from }) => from)),
    until: Math.max(...used.map(({ to }) => to)) - 1,
    // The block before may be small enough to be joined with what is left.
    withBaseline: true,
  };
  return removeReadings(tx, dialect, { ids, span, chosen: (all) => removedBy(all, used) });
}

/** 1 for each reading that is not the last of its step with its basis. */
function removedBy(all: Readings, steps: readonly Thinning[]): Uint8Array {
  const isRemoved = new Uint8Array(all.length);
  for (const { from, to, step } of steps) {
    const next = { total: Number.NaN, retained: Number.NaN };
    for (let i = all.length - 1; i >= 0; i--) {
      if (isRemoved[i] === 1) continue;
      const at = all.at(i);
      const basis = all.isRetained(i) ? "retained" : "total";
      const own = Math.floor(at / step);
      if (own === next[basis] && at >= from && at < to) isRemoved[i] = 1;
      next[basis] = own;
    }
  }
  return isRemoved;
}

interface Removal {
  ids: readonly number[];
  /** Where there may be something to remove. */
  span: Span;
  /** 1 for each reading to remove, of all that are stored around the span. */
  chosen: (all: Readings, id: number) => Uint8Array;
}

/** Removes snapshots of repositories, and subtracts them from the hourly counts. Returns their number. */
export async function removeReadings(
  tx: Tx,
  dialect: Dialect,
  { ids, span, chosen }: Removal,
): Promise<number> {
  const writer = new BlockWriter(tx, dialect);
  const gone = new Map<number, number[]>();
  for (const [id, { blocks, tail }] of await readStored(tx, dialect, { ids, span })) {
    const stored = blocks.map(pieceOf);
    const all = joined([...stored.map(({ readings }) => readings), tail]);
    const isRemoved = chosen(all, id);
    const times = [...isRemoved].flatMap((removed, i) => (removed === 1 ? [all.at(i)] : []));
    if (times.length === 0) continue;
    gone.set(id, times);
    let first = 0;
    const pieces = stored.map((piece): Piece => {
      const { length } = piece.readings;
      const readings = remaining(piece.readings, isRemoved.subarray(first, first + length));
      first += length;
      return { ...piece, readings, isChanged: readings.length < length };
    });
    writer.replace(id, pieces);
    writer.removeRows(
      id,
      times.filter((at) => tail.length > 0 && at >= tail.at(0)),
    );
  }
  await writer.write();
  return subtractHours(tx, dialect, gone);
}

/** Removes the snapshots of a repository that equal those of `readings`. Returns their number. */
export function removeEqual(tx: Tx, dialect: Dialect, id: number, readings: Readings): Promise<number> {
  const last = readings.length - 1;
  const span = { from: readings.at(0), until: readings.at(last), withBaseline: true };
  const areEqual = (all: Readings, i: number, j: number) => {
    for (let column = 0; column < COLUMNS; column++)
      if (all.value(i, column) !== readings.value(j, column)) return false;
    return true;
  };
  const chosen = (all: Readings) => {
    const isRemoved = new Uint8Array(all.length);
    for (let i = 0; i < all.length; i++) {
      const j = readings.countBefore(all.at(i));
      if (areEqual(all, i, j)) isRemoved[i] = 1;
    }
    return isRemoved;
  };
  return removeReadings(tx, dialect, { ids: [id], span, chosen });
}

function remaining(readings: Readings, isRemoved: Uint8Array): Readings {
  const left = Readings.ofLength(isRemoved.reduce((sum, removed) => sum + 1 - removed, 0));
  let end = 0;
  for (const [i, removed] of isRemoved.entries()) {
    if (removed === 1) continue;
    left.numbers.set(readings.slice(i, i + 1).numbers, end);
    end += COLUMNS;
  }
  return left;
}

async function subtractHours(
  tx: Tx,
  dialect: Dialect,
  gone: ReadonlyMap<number, readonly number[]>,
): Promise<number> {
  const hours = new HourCounts();
  let removed = 0;
  const owners = await tx
    .selectFrom("repositories")
    .select(["id", "provider"])
    .where(dialect.among(sql.ref("id"), [...gone.keys()]))
    .execute();
  for (const { id, provider } of owners) {
    for (const at of gone.get(id) ?? []) {
      hours.remove(provider, at);
      removed++;
    }
  }
  await hours.write(tx, dialect);
  return removed;
}
