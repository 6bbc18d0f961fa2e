import type { Database } from "../../database/database.js";
import { ownTurn } from "../../lib/loop-turns.js";
import type { Span } from "./codec.js";
import type { SnapshotRange } from "./read.js";
import { readReadings } from "./read.js";
import type { Readings } from "./readings.js";

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

/** A repository whose history is damaged counts like one without snapshots. */
const onDamaged = () => {};

/**
 * The readings of repositories in a span, by id, some repositories at a time. Other work runs in between: on
 * SQLite, reading and decoding would otherwise hold it until the last one.
 */
export async function* readInTurns(
  { read, dialect }: Pick<Database, "read" | "dialect">,
  { ids, span, ranges }: TurnsOptions,
): AsyncGenerator<[id: number, readings: Readings]> {
  let turn: number[] = [];
  let readings = 0;
  for (const [i, id] of ids.entries()) {
    turn.push(id);
    readings += estimate(ranges?.get(id), span);
    const isLast = i === ids.length - 1;
    if (!isLast && turn.length < TURN_REPOSITORIES && readings < TURN_READINGS) continue;
    yield* await readReadings(read, dialect, { ids: turn, span, onDamaged });
    if (!isLast) await ownTurn();
    turn = [];
    readings = 0;
  }
}

/** About how many readings are decoded for a repository, if they are spread evenly. */
function estimate(range: SnapshotRange | undefined, { from = 0, recentMs }: Span): number {
  if (range === undefined || range.firstSnapshotAt === null || range.lastSnapshotAt === null) return 0;
  const { snapshots, firstSnapshotAt, lastSnapshotAt } = range;
  const length = recentMs ?? lastSnapshotAt - from;
  const share = length / Math.max(1, lastSnapshotAt - firstSnapshotAt);
  return Math.min(snapshots, Math.max(0, share) * snapshots + BLOCK_READINGS);
}
