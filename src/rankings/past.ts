import { sql } from "kysely";
import { type Availability, SNAPSHOT_SOURCES } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import type { Db, Dialect } from "../database/database.js";
import type { Reading } from "./anomalies.js";

/** Days before the newest snapshot that are looked at: twice the longest window, as that may be compared. */
const PAST_DAYS = 60;

/** What growth and scores of one repository are made from. */
export interface Past {
  repositoryId: number;
  provider: string;
  availability: Availability;
  createdAt: number | null;
  pushedAt: number | null;
  readings: Readings;
}

/** The counts of one repository over time, oldest first. Kept as bare numbers, since there are many millions of them. */
export class Readings {
  /** Time, stars, forks, open issues and source of each in turn, -1 for what is not known. */
  readonly #numbers: readonly number[];
  readonly length: number;

  constructor(numbers: readonly number[]) {
    this.#numbers = isAscending(numbers) ? numbers : ascending(numbers);
    this.length = numbers.length / STRIDE;
  }

  /** NaN outside. */
  at(place: number): number {
    return this.#numbers[place * STRIDE] ?? Number.NaN;
  }

  stars(place: number): number {
    return this.#numbers[place * STRIDE + 1] ?? Number.NaN;
  }

  reading(place: number): Reading {
    const known = (value: number | undefined) => (value === undefined || value < 0 ? null : value);
    return {
      at: this.at(place),
      stars: this.stars(place),
      forks: known(this.#numbers[place * STRIDE + 2]),
      openIssues: known(this.#numbers[place * STRIDE + 3]),
      source: SNAPSHOT_SOURCES[this.#numbers[place * STRIDE + 4] ?? 0] ?? "OBSERVED",
    };
  }

  all(): Reading[] {
    return Array.from({ length: this.length }, (_, place) => this.reading(place));
  }
}

const STRIDE = 5;

function isAscending(numbers: readonly number[]): boolean {
  for (let i = STRIDE; i < numbers.length; i += STRIDE) {
    if ((numbers[i] ?? 0) < (numbers[i - STRIDE] ?? 0)) return false;
  }
  return true;
}

function ascending(numbers: readonly number[]): number[] {
  const places = Array.from({ length: numbers.length / STRIDE }, (_, place) => place * STRIDE);
  places.sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  return places.flatMap((place) => numbers.slice(place, place + STRIDE));
}

interface PastRow {
  repository_id: number;
  provider: string;
  availability: Availability;
  created_at: number | null;
  pushed_at: number | null;
  /** Time, stars, forks, open issues and source of each snapshot in turn, -1 for what is not known. */
  readings: string;
}

/** The recent past of those of the repositories that have one, by ascending id. One text a repository: rows cost more. */
export async function readPasts(db: Db, dialect: Dialect, ids: readonly number[]): Promise<Past[]> {
  const { rows } = await sql<PastRow>`
    with n as (
      select r.id, r.provider, r.availability, r.created_at, r.pushed_at,
        (select max(s.captured_at) from snapshots s where s.repository_id = r.id) as to_at
      from repositories r where ${dialect.among(sql.ref("r.id"), ids)})
    select n.id as repository_id, n.provider, n.availability, n.created_at, n.pushed_at,
      (select string_agg(concat_ws(',', s.captured_at, s.stars, coalesce(s.forks, -1), coalesce(s.open_issues, -1), s.source), ',')
        from snapshots s where s.repository_id = n.id and s.captured_at >= n.to_at - ${sql.lit(PAST_DAYS * DAY_MS)}) as readings
    from n where n.to_at is not null order by n.id`.execute(db);
  return rows.map(fromRow);
}

function fromRow({ repository_id, provider, availability, created_at, pushed_at, readings }: PastRow): Past {
  return {
    repositoryId: repository_id,
    provider,
    availability,
    createdAt: created_at,
    pushedAt: pushed_at,
    // Neither engine promises an order without sorting, and both give that of the key.
    readings: new Readings(JSON.parse(`[${readings}]`)),
  };
}
