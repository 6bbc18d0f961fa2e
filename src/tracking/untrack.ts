/** Ends tracking: of single repositories, for operators, and of forges that no worker has anymore. */
import { sql } from "kysely";
import { forgeName, type ProviderSettings } from "../config/config.js";
import { type Database, type Dialect, readNumber, type Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { type Catalog, markOutdated, noteChanges, type Repository } from "../repositories/repositories.js";
import { withdraw } from "./requests/wanted.js";

interface UntrackingModules {
  database: Database;
  catalog: Catalog;
  forges: { current(): Promise<readonly ProviderSettings[]> };
}

/** The data of a repository before it is untracked. */
export interface Holding {
  repository: Repository;
  /** Whether it is read on a schedule. */
  isRead: boolean;
  snapshots: number;
  /** Time of the first snapshot; null without one. */
  since: number | null;
  /** Watchlists that it is on. */
  watchlists: number;
  /** Whether its forge is read as a whole: stopped or deleted repositories may be found again. */
  isWhole: boolean;
}

/** The repository with an id, or else the hidden one with a name. */
export async function findAny(
  { catalog }: Pick<UntrackingModules, "catalog">,
  name: { provider: string | undefined; fullNames: readonly string[] } | undefined,
  id: number | undefined,
): Promise<Repository | undefined> {
  if (id !== undefined) return catalog.find(id);
  const [fullName] = name?.fullNames ?? [];
  const provider = name?.provider;
  return fullName === undefined || provider === undefined
    ? undefined
    : catalog.hiding.find({ provider, fullName });
}

/** The data of a repository, which may be hidden. */
export async function readHolding(modules: UntrackingModules, repository: Repository): Promise<Holding> {
  const { database, catalog } = modules;
  const { id } = repository;
  const { snapshots, firstSnapshotAt } = await catalog.snapshotRange(id);
  const lists = sql`select count(*) from watchlist_items where repository_id = ${id}`;
  return {
    repository,
    isRead: repository.nextRefreshAt !== null,
    snapshots,
    since: firstSnapshotAt,
    watchlists: await readNumber(database.read, lists),
    isWhole: await isReadAsWhole(modules, repository),
  };
}

async function isReadAsWhole({ forges }: UntrackingModules, { provider }: Repository): Promise<boolean> {
  return (await forges.current()).some(({ name, onDemand }) => name === provider && onDemand !== true);
}

/**
 * Stops reading a repository, which keeps its history, or deletes it with everything stored about it. A response that is under way is not
 * recorded. Does nothing if that is done already. Throws VALIDATION_FAILED for one that would be found again, unless it is deleted.
 */
export async function untrack(
  modules: UntrackingModules,
  repository: Repository,
  { deletes }: { deletes: boolean },
): Promise<void> {
  const { database, catalog } = modules;
  const { dialect, write } = database;
  const { id, provider } = repository;
  if (!deletes && (await isReadAsWhole(modules, repository)))
    throw new AppError("VALIDATION_FAILED", `${forgeName(provider)} is read as a whole.`);
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await withdraw(tx, repository);
    if (deletes) return catalog.removeIn(tx, id);
    await tx.deleteFrom("tracking").where("repository_id", "=", id).execute();
    await tx.updateTable("repositories").set({ next_refresh_at: null }).where("id", "=", id).execute();
    await endTracking(tx, dialect, [id]);
  });
}

const BATCH = 1_000;

/**
 * Ends tracking of providers that no worker has had for a day, except `configured`: without new readings their growth would look recent
 * forever. Their repositories leave the rankings; counts, due times and ids stay for a worker that has the provider again. Returns the
 * number of repositories.
 */
export async function untrackOthers(
  database: Database,
  { configured, now }: { configured: readonly string[]; now: number },
): Promise<number> {
  const { dialect, write } = database;
  let untracked = 0;
  for (const provider of await unattended(database, { configured, now })) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      const ids = await dialect.exclusively(write, "catalogue", (tx) =>
        untrackBatch(tx, dialect, { provider, from }),
      );
      untracked += ids.length;
      after = ids.at(-1);
    }
    // A stored walk marks a provider as tracked. After such a pause a walk starts over anyway.
    await write.deleteFrom("walks").where("provider", "=", provider).execute();
  }
  return untracked;
}

async function unattended(
  { read }: Database,
  { configured, now }: { configured: readonly string[]; now: number },
): Promise<string[]> {
  const walked = await read.selectFrom("walks").select("provider").execute();
  const reports = await read
    .selectFrom("worker_reports")
    .select("provider")
    .where("at", ">", now - DAY_MS)
    .execute();
  const attended = new Set([...configured, ...reports.map(({ provider }) => provider)]);
  return walked.map(({ provider }) => provider).filter((provider) => !attended.has(provider));
}

/** Returns the ids of changed repositories; none at the end. */
async function untrackBatch(
  tx: Tx,
  dialect: Dialect,
  { provider, from }: { provider: string; from: number },
): Promise<number[]> {
  const rows = await tx
    .selectFrom("repositories")
    .select("id")
    .where("provider", "=", provider)
    .where("refresh_interval", ">", 0)
    .where("id", ">", from)
    .orderBy("id")
    .limit(BATCH)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await endTracking(tx, dialect, ids);
  return ids;
}

/** From now on the growth of these repositories ages, and they leave the rankings. */
async function endTracking(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  // A report of an archive from before tracking is not the last reading.
  await tx
    .updateTable("repositories")
    .set({ refresh_interval: 0, import_source: null })
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  await markOutdated(tx, dialect, { rollups: ids });
  await noteChanges(tx, dialect, ids);
}
