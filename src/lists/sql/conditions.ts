import { type RawBuilder, sql } from "kysely";
import type { Dialect, RepositoryTable } from "../../database/database.js";
import { WINDOW_HOURS } from "../../rankings/rankings.js";
import type { Filters, ListSpec } from "../spec.js";

export type Condition = RawBuilder<boolean>;

/**
 * The filters as conditions on `r`. With `walk`, none of them tempts the planner away from the index of the order.
 * `languages` are spelled as in the catalogue.
 */
export function filterConditions(
  filters: Filters & { languages?: readonly string[] },
  dialect: Dialect,
  walk: boolean,
): Condition[] {
  const { provider, languages, topics, license } = filters;
  const { minStars, maxStars, createdAfter, createdBefore, pushedAfter } = filters;
  const column = (name: keyof RepositoryTable): RawBuilder<unknown> =>
    walk ? dialect.unindexed(sql.ref(`r.${name}`)) : sql.ref(`r.${name}`);
  const all: Condition[] = [];
  if (provider !== undefined) all.push(sql`${column("provider")} = ${provider}`);
  if (languages !== undefined) all.push(sql`${column("language")} in (${sql.join(languages)})`);
  if (topics !== undefined) {
    const list = sql.join(topics);
    all.push(
      walk
        ? sql`exists (select 1 from repository_topics t where t.repository_id = r.id and t.topic in (${list}))`
        : sql`r.id in (select t.repository_id from repository_topics t where t.topic in (${list}))`,
    );
  }
  if (license !== undefined) all.push(sql`${column("license")} = ${license}`);
  // The expressions of the indexes. Unknown is -1 there, so every range starts at 0 or later.
  const range = (name: "stars" | "created_at" | "pushed_at", from = 0, to = Number.MAX_SAFE_INTEGER) => {
    const expression = sql`coalesce(${sql.ref(`r.${name}`)}, -1)`;
    const value = walk ? dialect.unindexed(expression) : expression;
    all.push(sql`${value} between ${Math.max(0, from)} and ${to}`);
  };
  if (minStars !== undefined || maxStars !== undefined) range("stars", minStars, maxStars);
  if (createdAfter !== undefined || createdBefore !== undefined)
    range("created_at", createdAfter, createdBefore === undefined ? undefined : createdBefore - 1);
  if (pushedAfter !== undefined) range("pushed_at", pushedAfter);
  for (const name of ["archived", "fork"] as const) {
    if (filters[name] === true) all.push(sql`${column(name)} = 1`);
    if (filters[name] === false) all.push(sql`coalesce(${sql.ref(`r.${name}`)}, 0) = 0`);
  }
  return all;
}

/** The condition that the trend of `r` can be trusted, on its rollup `q`; undefined if the list does not ask for that. */
export function trustCondition({ filters, window }: ListSpec): Condition | undefined {
  const { reliableOnly, excludeAnomalous } = filters;
  if (!reliableOnly && !excludeAnomalous) return undefined;
  const all = [sql`q.repository_id = r.id`, sql`q.window_hours = ${sql.lit(WINDOW_HOURS[window])}`];
  if (reliableOnly) all.push(sql`q.reliable = 1`);
  if (excludeAnomalous) all.push(sql`q.anomalies is null`);
  return sql<boolean>`${sql.join(all, sql` and `)}`;
}
