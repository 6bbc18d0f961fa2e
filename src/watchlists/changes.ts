import { sql } from "kysely";
import type { Database } from "../database/database.js";

/** Repositories of a list that were not as others are. */
export interface Standing {
  archived: readonly number[];
  /** Gone, private or blocked. */
  unavailable: readonly number[];
}

/** What has become of the repositories of a list since a moment. */
export interface Changes {
  since: number;
  /** Stars gained by repository; null where they are not known, then or now. */
  gained: ReadonlyMap<number, number | null>;
  /** All that are known together; null where none is. */
  gainedInAll: number | null;
  /** The names that they had before, of those that were renamed. */
  renamed: readonly { repositoryId: number; from: string }[];
  /** Archived since; empty where it is not known what was archived before. */
  archived: readonly number[];
  /** Gone, private or blocked since; empty where it is not known what was so before. */
  unavailable: readonly number[];
}

/** How the repositories stand, and what they gained since a moment. */
export interface ListedNow {
  standing: Standing;
  gained: Map<number, number | null>;
}

/** Looks at each repository once, and one step into its snapshots; `since` undefined: what was gained is not asked for. */
export async function readListed(
  { read, dialect }: Database,
  ids: readonly number[],
  since: number | undefined,
): Promise<ListedNow> {
  const standing = { archived: [] as number[], unavailable: [] as number[] };
  const gained = new Map<number, number | null>();
  if (ids.length === 0) return { standing, gained };
  const before =
    since === undefined
      ? sql`null`
      : sql`(select s.stars from snapshots s where s.repository_id = r.id and s.captured_at <= ${since}
          order by s.captured_at desc limit 1)`;
  const { rows } = await sql<{
    id: number;
    stars: number | null;
    archived: number | null;
    availability: string;
    before: number | null;
  }>`select r.id, r.stars, r.archived, r.availability, ${before} as before
    from repositories r where ${dialect.among(sql`r.id`, ids)}`.execute(read);
  for (const row of rows) {
    if (row.archived === 1) standing.archived.push(row.id);
    if (row.availability !== "AVAILABLE") standing.unavailable.push(row.id);
    gained.set(row.id, row.stars === null || row.before === null ? null : row.stars - row.before);
  }
  return { standing, gained };
}

/** What has changed since a moment; `then`: how the repositories stood, where that is known. */
export async function changesSince(
  database: Database,
  ids: readonly number[],
  since: number,
  { standing, gained }: ListedNow,
  then?: Standing,
): Promise<Changes> {
  const known = [...gained.values()].filter((value) => value !== null);
  const added = (now: readonly number[], before: readonly number[] | undefined) =>
    before === undefined ? [] : now.filter((id) => !before.includes(id));
  return {
    since,
    gained,
    gainedInAll: known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0),
    renamed: await renamedSince(database, ids, since),
    archived: added(standing.archived, then?.archived),
    unavailable: added(standing.unavailable, then?.unavailable),
  };
}

/** The name that each had at that moment, of those that have another one now. */
async function renamedSince(
  { read, dialect }: Database,
  ids: readonly number[],
  since: number,
): Promise<Changes["renamed"]> {
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom("previous_names")
    .select(["repository_id", "full_name"])
    .where(dialect.among(sql.ref("repository_id"), ids))
    .where("until", ">", since)
    .orderBy("until", "desc")
    .execute();
  // The earliest of several: the name that was seen.
  return [...new Map(rows.map((row) => [row.repository_id, row.full_name]))].map(([repositoryId, from]) => ({
    repositoryId,
    from,
  }));
}
