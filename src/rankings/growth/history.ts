import { sql } from "kysely";
import { type Availability, SNAPSHOT_SOURCES } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";
import type { Db, Dialect } from "../../database/database.js";
import type { Reading } from "./anomalies.js";

/** Days of snapshots read before the newest one: twice the longest window, the furthest that may be compared. */
const HISTORY_DAYS = 60;

/** The recent snapshots of a repository, and the facts its scores depend on. */
export interface History {
  repositoryId: number;
  provider: string;
  availability: Availability;
  createdAt: number | null;
  pushedAt: number | null;
  readings: Readings;
}

/** The counts of one repository over time, oldest first. Stored as plain numbers, as a rebuild reads many millions. */
export class Readings {
  /** Time, stars, forks, open issues and source of each reading; -1 for an unknown count. */
  readonly #numbers: readonly number[];
  readonly length: number;

  constructor(numbers: readonly number[]) {
    this.#numbers = isAscending(numbers) ? numbers : ascending(numbers);
    this.length = numbers.length / STRIDE;
  }

  /** Capture time; NaN if there is no such index. */
  at(index: number): number {
    return this.#numbers[index * STRIDE] ?? Number.NaN;
  }

  stars(index: number): number {
    return this.#numbers[index * STRIDE + 1] ?? Number.NaN;
  }

  reading(index: number): Reading {
    const known = (value: number | undefined) => (value === undefined || value < 0 ? null : value);
    return {
      at: this.at(index),
      stars: this.stars(index),
      forks: known(this.#numbers[index * STRIDE + 2]),
      openIssues: known(this.#numbers[index * STRIDE + 3]),
      source: SNAPSHOT_SOURCES[this.#numbers[index * STRIDE + 4] ?? 0] ?? "OBSERVED",
    };
  }

  all(): Reading[] {
    return Array.from({ length: this.length }, (_, index) => this.reading(index));
  }
}

/** Numbers per reading. */
const STRIDE = 5;

function isAscending(numbers: readonly number[]): boolean {
  for (let i = STRIDE; i < numbers.length; i += STRIDE) {
    if ((numbers[i] ?? 0) < (numbers[i - STRIDE] ?? 0)) return false;
  }
  return true;
}

function ascending(numbers: readonly number[]): number[] {
  const offsets = Array.from({ length: numbers.length / STRIDE }, (_, index) => index * STRIDE);
  offsets.sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  return offsets.flatMap((offset) => numbers.slice(offset, offset + STRIDE));
}

interface HistoryRow {
  repository_id: number;
  provider: string;
  availability: Availability;
  created_at: number | null;
  pushed_at: number | null;
  /** The numbers of Readings, separated by commas. */
  readings: string;
}

/**
 * The recent histories of those of the repositories that have snapshots, by ascending id. One string per repository, as one
 * row per snapshot would cost more.
 */
export async function readHistories(db: Db, dialect: Dialect, ids: readonly number[]): Promise<History[]> {
  const { rows } = await sql<HistoryRow>`
    with n as (
      select r.id, r.provider, r.availability, r.created_at, r.pushed_at,
        (select max(s.captured_at) from snapshots s where s.repository_id = r.id) as to_at
      from repositories r where ${dialect.among(sql.ref("r.id"), ids)})
    select n.id as repository_id, n.provider, n.availability, n.created_at, n.pushed_at,
      (select string_agg(concat_ws(',', s.captured_at, s.stars, coalesce(s.forks, -1), coalesce(s.open_issues, -1), s.source), ',')
        from snapshots s where s.repository_id = n.id and s.captured_at >= n.to_at - ${sql.lit(HISTORY_DAYS * DAY_MS)}) as readings
    from n where n.to_at is not null order by n.id`.execute(db);
  return rows.map(({ repository_id, provider, availability, created_at, pushed_at, readings }) => ({
    repositoryId: repository_id,
    provider,
    availability,
    createdAt: created_at,
    pushedAt: pushed_at,
    // Unsorted in theory, ordered by key in practice on both engines.
    readings: new Readings(JSON.parse(`[${readings}]`)),
  }));
}
