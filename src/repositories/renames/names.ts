import { sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import { DAY_MS } from "../../lib/clock.js";
import { byBasis, type Readings, readReadings, type Span } from "../snapshots/snapshots.js";
import type { Counts } from "./likeness.js";
import type { Beginning, Ending } from "./match.js";

/** Names of an archive that begin or end in one step; with more than this, only those with the most stars are looked at. */
const MOST_NAMES = 20_000;
/** Number of characters of a description that are compared. */
const DESCRIPTION_LENGTH = 200;
/** Histories read by one statement. */
const CHUNK = 1_000;
/** Days before a name ends from which its pace is measured. */
const PACE_DAYS = 7;

interface Selection {
  source: string;
  /** Bounds, inclusive, of when a name was first seen, and of when it was counted last. */
  first?: { from: number; until: number };
  last?: { from: number; until: number };
  /** Whether the forge's id must be unknown: with it, a rename shows by itself. */
  withoutId?: boolean;
  /** Only names with one of these descriptions, or of these names in lower case. */
  alike?: { descriptions: readonly string[]; names?: readonly string[] };
}

/** The names of an archive that were first or last seen in a span. */
export async function selectNames(
  db: Db,
  dialect: Dialect,
  { source, first, last, withoutId = false, alike }: Selection,
): Promise<Ending[]> {
  const description = sql<string | null>`substr(description, 1, ${sql.lit(DESCRIPTION_LENGTH)})`;
  let query = db
    .selectFrom("repositories")
    .select([
      "id",
      "owner",
      "name",
      description.as("description"),
      "language",
      "stars",
      "forks",
      "discovered_at",
      "counted_at",
    ])
    .where("import_source", "=", source)
    .where("availability", "in", ["AVAILABLE", "RENAMED"])
    .where("name_key", "is not", null)
    .where("stars", "is not", null);
  if (first !== undefined)
    query = query.where("discovered_at", ">=", first.from).where("discovered_at", "<=", first.until);
  if (last !== undefined)
    query = query.where("counted_at", ">=", last.from).where("counted_at", "<=", last.until);
  if (withoutId) query = query.where("provider_id", "is", null);
  if (alike !== undefined) {
    const { descriptions, names = [] } = alike;
    const conditions = [
      ...(descriptions.length === 0 ? [] : [dialect.among(description, descriptions)]),
      ...(names.length === 0 ? [] : [dialect.among(sql`lower(name)`, names)]),
    ];
    if (conditions.length === 0) return [];
    query = query.where(sql<boolean>`(${sql.join(conditions, sql` or `)})`);
  }
  const rows = await query.orderBy("stars", "desc").orderBy("id").limit(MOST_NAMES).execute();
  return rows.map(({ id, owner, name, description, language, ...row }) => ({
    id,
    owner,
    name,
    description,
    language,
    firstAt: row.discovered_at,
    last: { at: row.counted_at ?? row.discovered_at, stars: row.stars ?? 0, forks: row.forks },
  }));
}

/** Names with their first counts in a span; those without any are left out. */
export async function withFirstCounts(
  db: Db,
  dialect: Dialect,
  { names, span }: { names: readonly Ending[]; span: Span },
): Promise<Beginning[]> {
  const found = await readInChunks(db, dialect, { ids: names.map(({ id }) => id), span });
  return names.flatMap((name): Beginning[] => {
    const first = countsAt(found.get(name.id), 0);
    return first === undefined ? [] : [{ ...name, first }];
  });
}

/** How many stars names gained a day in the week before they ended, where that is known. */
export async function readPaces(
  db: Db,
  dialect: Dialect,
  endings: readonly Ending[],
): Promise<Map<number, number>> {
  const span = { recentMs: PACE_DAYS * DAY_MS };
  const found = await readInChunks(db, dialect, { ids: endings.map(({ id }) => id), span });
  const paces = new Map<number, number>();
  for (const [id, readings] of found) {
    const last = readings.length - 1;
    const days = (readings.at(last) - readings.at(0)) / DAY_MS;
    if (days > 0) paces.set(id, (readings.stars(last) - readings.stars(0)) / days);
  }
  return paces;
}

/** The totals of any number of repositories; damaged histories are left out. */
export async function readInChunks(
  db: Db,
  dialect: Dialect,
  { ids, span }: { ids: readonly number[]; span: Span },
): Promise<Map<number, Readings>> {
  const all = new Map<number, Readings>();
  const unique = [...new Set(ids)];
  for (let start = 0; start < unique.length; start += CHUNK) {
    const chunk = unique.slice(start, start + CHUNK);
    const found = await readReadings(db, dialect, { ids: chunk, span, onDamaged: () => {} });
    for (const [id, readings] of found) {
      const { TOTAL: totals } = byBasis(readings);
      if (totals.length > 0) all.set(id, totals);
    }
  }
  return all;
}

/** The counts of a reading; undefined without one. */
export function countsAt(readings: Readings | undefined, index: number): Counts | undefined {
  if (readings === undefined || index < 0 || index >= readings.length) return undefined;
  return { at: readings.at(index), stars: readings.stars(index), forks: readings.count(index, 2) };
}
