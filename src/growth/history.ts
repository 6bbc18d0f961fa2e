import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import {
  type Availability,
  type DamagedBlock,
  joined,
  type Readings,
  type ReadingsOptions,
  readPredecessors,
  readReadings,
  SNAPSHOT_SOURCES,
} from "../repositories/repositories.js";
import type { Reading } from "./anomalies.js";

/** Days of snapshots read before the newest one: twice the longest window, the furthest that may be compared. */
const HISTORY_DAYS = 60;

/** What computing growth needs beside the database. */
export interface GrowthContext {
  clock: Clock;
  /** Gets what keeps a repository from having growth. */
  onDamaged: (damaged: DamagedBlock) => void;
}

/** The recent snapshots of a repository, and the facts its scores depend on. */
export interface History {
  repositoryId: number;
  provider: string;
  availability: Availability;
  createdAt: number | null;
  pushedAt: number | null;
  discoveredAt: number;
  importSource: string | null;
  refreshInterval: number | null;
  /** Its own readings, after those of suspected earlier names. */
  readings: Readings;
  /** Suspected earlier names, the latest first, and before when a reading is theirs. */
  predecessors: readonly Predecessor[];
}

interface Predecessor {
  repositoryId: number;
  before: number;
}

/** The reading at an index that exists. */
export function readingAt(readings: Readings, index: number): Reading {
  return {
    at: readings.at(index),
    stars: readings.stars(index),
    forks: readings.count(index, 2),
    openIssues: readings.count(index, 3),
    watchers: readings.count(index, 4),
    source: SNAPSHOT_SOURCES[readings.value(index, 5)] ?? "OBSERVED",
  };
}

/**
 * The recent histories of those of the repositories that have snapshots, by ascending id. `damaged`: the repositories whose
 * history cannot be read. Histories in a `room` are valid until it is used again.
 */
export async function readHistories(
  db: Db,
  dialect: Dialect,
  { ids, room, onDamaged }: Pick<ReadingsOptions, "ids" | "room"> & Pick<GrowthContext, "onDamaged">,
): Promise<{ histories: History[]; damaged: number[] }> {
  const rows = await db
    .selectFrom("repositories")
    .select([
      "id",
      "provider",
      "availability",
      "created_at",
      "pushed_at",
      "discovered_at",
      "import_source",
      "refresh_interval",
    ])
    .where(dialect.among(sql.ref("id"), ids))
    .orderBy("id")
    .execute();
  const damaged: number[] = [];
  const found = await readReadings(db, dialect, {
    ids,
    span: { recentMs: HISTORY_DAYS * DAY_MS },
    ...(room === undefined ? {} : { room }),
    onDamaged(block) {
      damaged.push(block.repositoryId);
      onDamaged(block);
    },
  });
  const earlier = await readEarlier(db, dialect, ids);
  const histories = rows.flatMap((row): History[] => {
    const own = found.get(row.id);
    if (own === undefined) return [];
    const { readings, predecessors } = withEarlier(own, earlier.get(row.id) ?? []);
    return [
      {
        repositoryId: row.id,
        provider: row.provider,
        availability: row.availability as Availability,
        createdAt: row.created_at,
        pushedAt: row.pushed_at,
        discoveredAt: row.discovered_at,
        importSource: row.import_source,
        refreshInterval: row.refresh_interval,
        readings,
        predecessors,
      },
    ];
  });
  return { histories, damaged };
}

interface Earlier {
  repositoryId: number;
  readings: Readings;
}

/** The recent readings of suspected earlier names, by the id of the repository that continues them, the latest name first. */
async function readEarlier(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, Earlier[]>> {
  const chains = await readPredecessors(db, dialect, ids);
  if (chains.size === 0) return new Map();
  const found = await readReadings(db, dialect, {
    ids: [...new Set([...chains.values()].flat())],
    span: { recentMs: HISTORY_DAYS * DAY_MS },
    // Growth then begins with the repository's own readings.
    onDamaged: () => {},
  });
  return new Map(
    [...chains].map(([id, chain]) => [
      id,
      chain.flatMap((repositoryId) => {
        const readings = found.get(repositoryId);
        return readings === undefined ? [] : [{ repositoryId, readings }];
      }),
    ]),
  );
}

/** Puts the readings of earlier names before the own ones; of a time that two names have, the later name's stays. */
function withEarlier(own: Readings, earlier: readonly Earlier[]): Pick<History, "readings" | "predecessors"> {
  const start = own.at(own.length - 1) - HISTORY_DAYS * DAY_MS;
  const parts = [own];
  const predecessors: Predecessor[] = [];
  let before = own.at(0);
  for (const { repositoryId, readings } of earlier) {
    const part = readings.slice(readings.countBefore(start), readings.countBefore(before));
    if (part.length === 0) continue;
    predecessors.push({ repositoryId, before });
    parts.unshift(part);
    before = part.at(0);
  }
  return { readings: joined(parts), predecessors };
}

/** The earlier name whose reading is the one at a time; null if it is the repository's own. */
export function predecessorAt(predecessors: readonly Predecessor[], at: number): number | null {
  return predecessors.findLast(({ before }) => at < before)?.repositoryId ?? null;
}
