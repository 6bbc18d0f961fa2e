/** Removal of snapshots, from blocks and tails alike. */
import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import { BlockWriter, type Piece, pieceOf } from "./blocks.js";
import { readStored } from "./read.js";
import { COLUMNS, joined, Readings, type Span } from "./readings.js";
import { HourCounts } from "./snapshots.js";

/**
 * Keeps the last snapshot of each `step` from `from` (inclusive) to `to` (exclusive), in ms since 1970. Star histories and totals
 * are thinned separately.
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

/** 1 for each reading that is not the last of its step with its basis, except the beginning of a star history: its stars have no day. */
function removedBy(all: Readings, steps: readonly Thinning[]): Uint8Array {
  const isRemoved = new Uint8Array(all.length);
  let begin = 0;
  while (begin < all.length && !all.isRetained(begin)) begin++;
  for (const { from, to, step } of steps) {
    const next = { total: Number.NaN, retained: Number.NaN };
    for (let i = all.length - 1; i >= 0; i--) {
      if (isRemoved[i] === 1) continue;
      const at = all.at(i);
      const basis = all.isRetained(i) ? "retained" : "total";
      const own = Math.floor(at / step);
      if (own === next[basis] && at >= from && at < to && i !== begin) isRemoved[i] = 1;
      next[basis] = own;
    }
  }
  return isRemoved;
}

interface Removal {
  ids: readonly number[];
  /** The times to look at. */
  span: Span;
  /** Returns a 1 for each reading to remove, given all that are stored around the span. */
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
