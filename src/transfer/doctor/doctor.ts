/**
 * The doctor: examines a store, even one that the service cannot open, names each kind of damage with what to do, and repairs derived
 * data. `examine` changes nothing and needs bounded memory; each module checks its own rows.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import {
  checkReferences,
  checkSchema,
  createIndexes,
  type Database,
  type Db,
  type Dialect,
  inspectFile,
  openBackgroundReader,
  readReference,
  type StoreLocation,
} from "../../database/database.js";
import { checkRankings, checkSearch, type Rankings, type Search } from "../../discovery/discovery.js";
import { type Clock, DAY_MS } from "../../lib/clock.js";
import type { Logger } from "../../lib/log.js";
import {
  checkCatalogue,
  deriveNames,
  outdateAll,
  recountSnapshots,
  removeOrphans,
  restoreRows,
} from "../../repositories/repositories.js";
import { workFilesOf } from "../backups/backups.js";
import { type Finding, Findings, REPAIRS, type Repair } from "./findings.js";

export type { Finding } from "./findings.js";
export { type DamageKind, KINDS } from "./findings.js";

export interface Examined {
  location: StoreLocation;
  secretFile: string | undefined;
  clock: Clock;
  log: Logger;
}

export interface Diagnosis {
  findings: Finding[];
  /** The repairs of those that can be derived. */
  repairs: ReadonlySet<Repair>;
}

/** Thrown if there is no store, or if it cannot be reached. */
export class CannotExamine extends Error {}

/** Examines a store. Changes nothing. Throws CannotExamine. */
export async function examine(examined: Examined): Promise<Diagnosis> {
  const { location } = examined;
  const findings = new Findings();
  checkFolder(examined, findings);
  const canOpen = inspect(location, findings);
  if (canOpen === undefined) throw new CannotExamine(`There is no database in ${location.dataDir}.`);
  if (canOpen) await examineTables(examined, findings);
  return { findings: findings.list(), repairs: findings.repairs() };
}

function inspect(location: StoreLocation, findings: Findings): boolean | undefined {
  try {
    return inspectFile(location, findings.add);
  } catch (error) {
    throw new CannotExamine(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The shortest secret that is accepted. */
const SECRET_LENGTH = 32;

function checkFolder({ location, secretFile }: Examined, findings: Findings): void {
  if (location.url !== undefined) return;
  for (const name of workFiles(location)) findings.add("work-file", name);
  if (secretFile === undefined || !existsSync(secretFile)) return;
  const { length } = readFileSync(secretFile, "utf8").trim();
  if (length < SECRET_LENGTH) findings.add("secret-damaged", `it has ${length} characters`);
}

function workFiles({ url, dataDir }: StoreLocation): string[] {
  return url === undefined && existsSync(dataDir) ? workFilesOf(readdirSync(dataDir)) : [];
}

async function examineTables({ location, clock, log }: Examined, findings: Findings): Promise<void> {
  const { dialect, read, close } = openBackgroundReader({ ...location, log });
  try {
    await dialect
      .snapshot(read, (tx) => examineRows(tx, dialect, { clock, findings }))
      .catch((error: unknown) => {
        if (!findings.has("pages-damaged") && !findings.has("index-damaged")) throw error;
        // Unreadable parts of a damaged file are not examined.
      });
  } catch (error) {
    throw new CannotExamine(error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    await close();
  }
}

async function examineRows(
  db: Db,
  dialect: Dialect,
  { clock, findings }: { clock: Clock; findings: Findings },
): Promise<void> {
  const onDamage = findings.add;
  const reference = await readReference(clock);
  if (!(await checkSchema(db, dialect, { reference, onDamage }))) return;
  const references = reference.references;
  await checkReferences(db, { references, onDamage });
  await checkCatalogue(db, dialect, onDamage);
  await checkSchedule(db, clock.now(), (found) => onDamage("schedule-wrong", found));
  // The rest needs the rows that are missing, and repositories that can be read.
  if (findings.has("row-missing") || findings.has("repository-invalid")) return;
  await checkRankings(db, dialect, { clock, onDamage });
  await checkSearch(db, dialect, { clock, onDamage });
}

/** The modules that repairs use, opened and migrated. */
export interface Repaired {
  database: Database;
  rankings: Rankings;
  search: Search;
}

/** Restores derived data. May be killed and run again. */
export async function repair(
  { location, clock }: Pick<Examined, "location" | "clock">,
  repairs: ReadonlySet<Repair>,
  { database, rankings, search }: Repaired,
): Promise<void> {
  const { dialect, write } = database;
  const steps: Readonly<Record<Repair, () => Promise<void>>> = {
    "remove-files": async () => {
      for (const name of workFiles(location)) rmSync(join(location.dataDir, name), { force: true });
    },
    // Opening has done it.
    migrate: async () => {},
    "create-indexes": async () => createIndexes(write, dialect, await readReference(clock)),
    "rebuild-indexes": () => dialect.reindex(write),
    "restore-rows": () => restoreRows(database),
    "advance-sequences": () => dialect.advanceSequences(write),
    "remove-orphans": () => removeOrphans(database),
    "derive-names": () => deriveNames(database),
    recount: () => recountSnapshots(database),
    reschedule: () => reschedule(database, clock.now()),
    "rebuild-derived": async () => {
      await outdateAll(database);
      await rankings.update({ all: true });
      await search.update();
      await search.reorder();
    },
  };
  for (const name of REPAIRS) if (repairs.has(name)) await steps[name]();
}

/** Leases last minutes, and repositories are due within weeks: later times come from a clock that was wrong. */
const LEASE_MS = DAY_MS;
const DUE_MS = 100 * DAY_MS;
const NAMED = 100;

/** Finds repositories that no worker would refresh for too long. */
async function checkSchedule(db: Db, now: number, onWrong: (found: string) => void): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select repository_id as id from tracking where leased_until > ${now + LEASE_MS}
    union select id from repositories where next_refresh_at > ${now + DUE_MS} limit ${NAMED}`.execute(db);
  for (const { id } of rows) onWrong(`repository ${id}`);
}

/** Makes them due now. */
async function reschedule({ dialect, write }: Database, now: number): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await sql`update tracking set leased_until = 0 where leased_until > ${now + LEASE_MS}`.execute(tx);
    await sql`update repositories set next_refresh_at = ${now} where next_refresh_at > ${now + DUE_MS}`.execute(
      tx,
    );
  });
}
