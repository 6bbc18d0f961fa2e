import { sql } from "kysely";
import { type BulkRow, bulkOf, type Dialect, type TableName, type Tx } from "../../database/database.js";
import { readStored } from "./read.js";
import {
  BACKFILLED,
  type BlockRow,
  DamagedBlock,
  decodeBlock,
  encodeBlock,
  joined,
  lengthOf,
  MAX_BLOCK_SNAPSHOTS,
  merged,
  Readings,
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
export interface Piece {
  readings: Readings;
  blocks: BlockRow[];
  isChanged: boolean;
  /** Its block cannot be decoded: it has no readings, and stays unchanged. */
  isDamaged?: boolean;
}

/** The piece of a block, unchanged. */
export function pieceOf(block: BlockRow): Piece {
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
export class BlockWriter {
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
 * Merges snapshots into the blocks of their repositories, together with the tails; of a repository without given snapshots only the
 * tail is packed. Existing snapshots never change. `onAdded` gets the time of each new snapshot. A damaged
 * block stays, and snapshots within its time are left out, as it may have them already.
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

/** Divides snapshots among the blocks that cover their times. Adds to `known` the times that a block already had. */
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

/** Adds stars to the whole star history of a repository. Damaged blocks stay. */
export async function raiseHistory(tx: Tx, dialect: Dialect, id: number, stars: number): Promise<void> {
  const writer = new BlockWriter(tx, dialect);
  for (const { blocks } of (await readStored(tx, dialect, { ids: [id] })).values()) {
    const pieces = blocks.map(pieceOf);
    for (const piece of pieces) {
      const { numbers, width, length } = piece.readings;
      for (let i = 0; i < length; i++) {
        if (!piece.readings.isRetained(i)) continue;
        numbers[i * width + 1] = piece.readings.stars(i) + stars;
        piece.isChanged = true;
      }
    }
    writer.replace(id, pieces);
  }
  await writer.write();
  await tx
    .updateTable("snapshots")
    .set((eb) => ({ stars: eb("stars", "+", stars) }))
    .where("repository_id", "=", id)
    .where("source", "=", BACKFILLED)
    .execute();
}
