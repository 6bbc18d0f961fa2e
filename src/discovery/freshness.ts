/** How recent the counts of many repositories are: their median time, their range, and how many were counted when. */
import { sql } from "kysely";
import type { Db } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";

/** Repositories counted from one time to another, in ms since 1970. */
export interface CountedGroup {
  from: number;
  to: number;
  repositories: number;
}

export interface Freshness {
  /** The median time, of many repositories to the hour; null without any. */
  asOf: number | null;
  /** Newest first, at most four, with an hour or more between them; the last one has all that were counted before, too. */
  measured: readonly CountedGroup[];
}

const MAX_GROUPS = 4;

/** The freshness of repositories by their times; null: never counted. */
export function freshnessOf(times: readonly (number | null)[]): Freshness {
  return freshnessOfGroups(
    times.flatMap((at) => (at === null ? [] : [{ from: at, to: at, repositories: 1 }])),
  );
}

/** The same of groups, in any order, that do not overlap. */
export function freshnessOfGroups(groups: readonly CountedGroup[]): Freshness {
  const sorted = groups.toSorted((a, b) => a.from - b.from);
  const half = sorted.reduce((sum, { repositories }) => sum + repositories, 0) / 2;
  let passed = 0;
  const middle = sorted.find(({ repositories }) => {
    passed += repositories;
    return passed >= half;
  });
  const measured: CountedGroup[] = [];
  for (const group of sorted.toReversed()) {
    const last = measured.at(-1);
    if (last === undefined || (last.from - group.to >= HOUR_MS && measured.length < MAX_GROUPS))
      measured.push({ ...group });
    else {
      last.from = Math.min(last.from, group.from);
      last.repositories += group.repositories;
    }
  }
  return { asOf: middle?.to ?? null, measured };
}

const format = new Intl.NumberFormat("en-US");

/** "1,816 earlier, 6 later": how many were counted on other days (UTC) than that of the median; empty if none were. */
export function otherDaysWords({ asOf, measured }: Freshness): string {
  if (asOf === null) return "";
  const day = Math.floor(asOf / DAY_MS) * DAY_MS;
  const counts = { earlier: 0, later: 0 };
  for (const { from, to, repositories } of measured) {
    if (to < day) counts.earlier += repositories;
    if (from >= day + DAY_MS) counts.later += repositories;
  }
  return Object.entries(counts)
    .flatMap(([word, count]) => (count === 0 ? [] : [`${format.format(count)} ${word}`]))
    .join(", ");
}

/** When the available repositories of a provider were counted, by hour. Reads all of them. */
export async function countedHours(db: Db, provider: string): Promise<CountedGroup[]> {
  const { rows } = await sql<Record<keyof CountedGroup, number | string>>`
    select min(counted_at) as "from", max(counted_at) as "to", count(*) as repositories from repositories
    where provider = ${provider} and availability = 'AVAILABLE' and counted_at is not null
    group by counted_at / ${sql.lit(HOUR_MS)}`.execute(db);
  return rows.map(({ from, to, repositories }) => ({
    from: Number(from),
    to: Number(to),
    repositories: Number(repositories),
  }));
}
