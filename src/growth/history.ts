import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import {
  type Availability,
  type DamagedBlock,
  type Readings,
  type ReadingsOptions,
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
  readings: Readings;
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
  const histories = rows.flatMap((row): History[] => {
    const readings = found.get(row.id);
    if (readings === undefined) return [];
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
      },
    ];
  });
  return { histories, damaged };
}
