/** How recent the counts of many repositories are: their median time, their range, and how many were counted when. */
import { sql } from "kysely";
import type { Db } from "../database/database.js";
import { DAY_MS, HOUR_MS, isoTime } from "../lib/clock.js";

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
  measured: CountedGroup[];
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

/** The rest gets no times once it is a smaller part of the repositories than this. */
const SMALL_PART = 0.1;

/**
 * "6 in the last hour, 3,449 on 30 Apr 2026 from 04:07 to 04:12 UTC, 20 before": how many were counted when; empty if all were counted
 * within an hour. It changes only with the hour (UTC). `now`: of the response; null: dates alone.
 */
export function measuredWords(measured: readonly CountedGroup[], now: number | null): string {
  const [first] = measured;
  if (first === undefined || (measured.length === 1 && first.to - first.from < HOUR_MS)) return "";
  const all = measured.reduce((sum, { repositories }) => sum + repositories, 0);
  let left = all;
  const words: string[] = [];
  for (const group of measured) {
    if (left < SMALL_PART * all && words.length > 0) {
      words.push(`${format.format(left)} before`);
      break;
    }
    words.push(`${format.format(group.repositories)} ${whenWords(group, now)}`);
    left -= group.repositories;
  }
  return words.join(", ");
}

function whenWords({ from, to }: CountedGroup, now: number | null): string {
  const isIn = (unit: number) => now !== null && Math.floor(from / unit) === Math.floor(now / unit);
  if (isIn(HOUR_MS)) return "in the last hour";
  const [day, time] = dayAndTime(from);
  const [lastDay, lastTime] = dayAndTime(to);
  if (day !== lastDay) return `from ${day} to ${lastDay}`;
  const when = time === lastTime ? `at ${time}` : `from ${time} to ${lastTime}`;
  return `${isIn(DAY_MS) ? "today" : `on ${day}`} ${when} UTC`;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

function dayAndTime(at: number): [day: string, time: string] {
  return [dayFormat.format(at), isoTime(at).slice(11, 16)];
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
