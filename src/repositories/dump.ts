import { sql } from "kysely";
import type { Database, PreviousNameTable, RepositoryTable } from "../database/database.js";
import { draftOf, FACTS, REPOSITORY_COLUMN_NAMES } from "./draft.js";
import { type HistoryStateName, readHistoryStates } from "./history-state.js";
import type { PreviousName } from "./lookup.js";
import { hidesTexts, OWNER_TEXTS } from "./record-rules.js";
import { type Facts, type FactTimes, fromRow, type Repository, type Snapshot } from "./repository.js";
import { readReadings } from "./snapshots/snapshots.js";

/** All stored data of one repository. */
export interface DumpedRepository {
  repository: Repository;
  providerId: string | null;
  /** Only the facts that some source has reported, and that may be shown. */
  facts: Facts;
  /** When they were true, except those of `refreshedAt`; null: unknown. */
  factTimes: FactTimes;
  previousNames: PreviousName[];
  /** All snapshots, oldest first. */
  snapshots: Snapshot[];
  historyState: HistoryStateName;
}

/**
 * The next repositories by id after `afterId`, with all their stored data. An empty page is the end. Those joined to another one by
 * hand are left out: their snapshots and names are also those of that one. So are hidden ones.
 */
export async function dumpPage(
  { read, dialect }: Pick<Database, "read" | "dialect">,
  afterId: number,
  limit: number,
): Promise<DumpedRepository[]> {
  const rows = await read
    .selectFrom("repositories")
    .select(REPOSITORY_COLUMN_NAMES)
    .where("id", ">", afterId)
    .where("availability", "<>", "HIDDEN")
    .where("id", "not in", ({ selectFrom }) => selectFrom("renames").select("from_id"))
    .orderBy("id")
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  const here = dialect.among(sql.ref("repository_id"), ids);
  const readings = await readReadings(read, dialect, { ids });
  const historyStates = await readHistoryStates(read, dialect, ids);
  const names = await read
    .selectFrom("previous_names")
    .selectAll()
    .where(here)
    .orderBy("repository_id")
    .orderBy("until")
    .orderBy("name_key")
    .execute();
  const namesById = Map.groupBy(names, (row) => row.repository_id);
  return rows.map((row) => {
    const repository = fromRow(row);
    const hidden: readonly (keyof Facts)[] = hidesTexts(row) ? OWNER_TEXTS : [];
    const { factTimes } = draftOf(row, false);
    const known = FACTS.filter((fact) => fact in factTimes && !hidden.includes(fact));
    const ofOthers = known.filter((fact) => factTimes[fact] !== row.refreshed_at);
    return {
      repository,
      providerId: row.provider_id,
      facts: Object.fromEntries(known.map((fact) => [fact, repository[fact]])),
      factTimes: Object.fromEntries(ofOthers.map((fact) => [fact, factTimes[fact]])),
      previousNames: [...(namesById.get(row.id) ?? []).map(toPreviousName), ...lostNameOf(row)],
      snapshots: readings.get(row.id)?.snapshots() ?? [],
      historyState: historyStates.get(row.id)?.state ?? "NOT_OFFERED",
    };
  });
}

const toPreviousName = ({ full_name, until }: PreviousNameTable): PreviousName => ({
  fullName: full_name,
  until,
});

/**
 * The name of a repository with a provider id whose name another one has now. Without it in the dump, an import would give the
 * name back. A repository without an id has it among its previous names.
 */
function lostNameOf({ name_key, provider_id, refreshed_at, owner, name }: RepositoryTable): PreviousName[] {
  if (name_key !== null || provider_id === null || refreshed_at === null) return [];
  return [{ fullName: `${owner}/${name}`, until: refreshed_at }];
}
