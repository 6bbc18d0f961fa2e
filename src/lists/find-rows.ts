import type { Database } from "../database/database.js";
import type { InTurn } from "../loop-turns.js";
import type { Rankings } from "../rankings/rankings.js";
import type { Freshness, ListIndex } from "./index/list-index.js";
import { readIndexed } from "./indexed.js";
import { readLicenseNames, spellingsOf } from "./license-names.js";
import type { ListFacts } from "./memory.js";
import { choosePlan, mayReadMany, mustCount, type Plan } from "./plan.js";
import type { ListRow } from "./row.js";
import type { RowReader } from "./rows.js";
import { EXACT_TOTAL, type ListSpec, type RowKey, type SpelledFilters } from "./spec.js";
import { countMatches, type Finder, findPage } from "./sql/page.js";

/** What lists are read from. */
export interface Reading {
  database: Database;
  rankings: Rankings;
  rows: RowReader;
  /** Absent: all lists are found with SQL alone. */
  index?: ListIndex;
  /** Size of the catalogue from which lists use `Database.scan`; default 20,000. */
  scansFrom?: number;
}

/** In a smaller catalogue no statement takes long enough to be worth another thread. */
const SCANS_FROM = 20_000;

/** A page of a list. */
export interface FoundRows {
  rows: ListRow[];
  /** Number of matches; EXACT_TOTAL + 1 if there are more. */
  total: number;
  /** Repositories in the scope, at most EXACT_TOTAL + 1; 0 for everything. */
  scoped: number;
  /** The row after which the next page begins; undefined at the end of the list. */
  last: RowKey | undefined;
  plan: Plan;
}

interface Finding {
  facts: ListFacts;
  revision: number;
  /** Runs what `Database.scan` does where that is another thread. Default: immediately. */
  scanning: InTurn | undefined;
}

/** Finds a page by the plan chosen, or by another one if that does not suffice. */
export async function findRows(
  reading: Reading,
  spec: ListSpec,
  { facts, revision, scanning }: Finding,
): Promise<FoundRows> {
  const { database, index, rows } = reading;
  const freshness = index?.freshness(revision) ?? "none";
  const plan = choosePlan(spec, { total: facts.total, freshness });
  if (plan.plan === "index" && index !== undefined) {
    const found = await readIndexed({ database, rows, index }, spec);
    if (found !== undefined) return { ...found, plan };
  }
  const spelled = await spell(reading, spec, facts);
  const { dialect, read, scan } = database;
  const scans = mayReadMany(spec) && isLarge(reading, facts) && scan !== read;
  const finder: Finder = { dialect, read: scans ? scan : read };
  const find = async () => {
    if (mustCount(spelled, facts.total))
      facts.total = await count({ finder, index }, { spec: spelled, freshness });
    return findWithSql({ finder, rows }, spelled, facts);
  };
  return scans && scanning !== undefined ? scanning(find) : find();
}

function isLarge({ scansFrom = SCANS_FROM }: Reading, { catalogue: { summary } }: ListFacts): boolean {
  return (summary?.repositories ?? 0) >= scansFrom;
}

async function findWithSql(
  reading: { finder: Finder; rows: RowReader },
  spec: ListSpec,
  facts: ListFacts,
): Promise<FoundRows> {
  const { finder, rows } = reading;
  const plan = choosePlan(spec, { total: facts.total, freshness: "none" });
  const found = await findPage(finder, spec, plan.plan === "walk" ? "walk" : "gather");
  if (plan.plan === "gather" && spec.scope.kind === "all" && facts.total === undefined) {
    facts.total = found.total ?? 0;
    if (facts.total > EXACT_TOTAL) return findWithSql(reading, spec, facts);
  }
  const { limit } = spec.page;
  const keys = found.keys.slice(0, limit);
  return {
    rows: await rows.read(
      keys.map(({ id }) => id),
      spec.window,
    ),
    total: found.total ?? facts.total ?? 0,
    scoped: found.scoped,
    last: found.keys.length > limit ? keys.at(-1) : undefined,
    plan,
  };
}

/** The list with its languages and license as the catalogue spells them, which is how the database indexes them. */
async function spell({ rankings, database }: Reading, spec: ListSpec, facts: ListFacts): Promise<ListSpec> {
  const { languages, license } = spec.filters;
  if (languages === undefined && license === undefined) return spec;
  const filters: SpelledFilters = { ...spec.filters };
  if (languages !== undefined) {
    facts.languages ??= await rankings.languageNames(languages);
    filters.languages = facts.languages;
  }
  if (license !== undefined) filters.licenses = spellingsOf(license, await licenseNames(database, facts));
  return { ...spec, filters };
}

/** The names of licenses in the catalogue, read once a revision. */
export async function licenseNames(database: Database, { catalogue }: ListFacts): Promise<readonly string[]> {
  catalogue.licenses ??= await readLicenseNames(database);
  return catalogue.licenses;
}

/** Counts the matches, up to EXACT_TOTAL + 1. That there are more can be known from the index even if it is not current. */
async function count(
  { finder, index }: { finder: Finder; index: ListIndex | undefined },
  { spec, freshness }: { spec: ListSpec; freshness: Freshness },
): Promise<number> {
  if (freshness === "recent") {
    const total = index?.select(spec, { rareTopics: [] }, EXACT_TOTAL)?.total ?? 0;
    if (total > EXACT_TOTAL) return total;
  }
  return countMatches(finder, spec);
}
