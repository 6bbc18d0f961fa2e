import { createReadStream, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../lib/clock.js";
import { LATEST_VERSION, migrate } from "../migrate.js";
import { openSqlite, sqliteDialect, unsafeSqlite } from "../sqlite.js";
import { WriteQueue } from "../sqlite-writer.js";
import { BackupRefused, type BackupSource, type RestoreOptions, type RestoreTarget } from "./parts.js";

/** The only part of a backup of SQLite. */
const PART = "database";
/** Suffixes of the files that belong to a database. */
const LOGS = ["-wal", "-shm", "-journal"] as const;
const CHUNK_BYTES = 1_048_576;

/**
 * Copies the file at one moment to `workFile`, without its free pages, and checks the copy. Readers and writers of the file go on
 * in the meantime: the copy reads in a transaction of its own.
 */
export async function sqliteSource(path: string, workFile: string): Promise<BackupSource> {
  if (!existsSync(path)) throw new BackupRefused(`There is no database at ${path}.`);
  for (const suffix of ["", ...LOGS]) rmSync(workFile + suffix, { force: true });
  // SQLite writes into an empty file, but would make a new one readable by everybody.
  await (await open(workFile, "wx", 0o600)).close();
  try {
    const raw = openRaw(path, false);
    try {
      raw.prepare("vacuum into ?").run(workFile);
      // The log could not be emptied meanwhile. Done here, it does not delay a commit of the service; nobody waits for it.
      raw.exec("pragma wal_checkpoint(passive)");
    } finally {
      raw.close();
    }
    const version = checkedVersion(workFile);
    return {
      kind: "sqlite",
      version,
      bytes: statSync(workFile).size,
      async *parts() {
        yield { name: PART, data: createReadStream(workFile, { highWaterMark: CHUNK_BYTES }) };
      },
      close: async () => rmSync(workFile, { force: true }),
    };
  } catch (error) {
    rmSync(workFile, { force: true });
    throw refusedIf(error, "The database is damaged and cannot be copied; run doctor");
  }
}

/**
 * Writes the database beside its place. The old one is kept under the name that `keptAs` ends with; the new one takes its place in
 * one step.
 */
export async function sqliteTarget(
  path: string,
  clock: Clock,
  { replaces, at }: RestoreOptions,
): Promise<RestoreTarget & { keptAs?: string }> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const isThere = existsSync(path);
  if (isThere && !replaces)
    throw new BackupRefused(`There is a database at ${path} already. Use --replace to replace it.`);
  if (isThere) closeUnused(path);
  const partial = `${path}.restoring`;
  const keptAs = `${path}.replaced-${at}`;
  const removePartial = () => {
    for (const suffix of ["", ...LOGS]) rmSync(partial + suffix, { force: true });
  };
  removePartial();
  return {
    ...(isThere ? { keptAs } : {}),
    async add({ name, data }) {
      if (name !== PART) throw new BackupRefused(`The backup has a part that is not known: ${name}.`);
      const file = await open(partial, "wx", 0o600);
      try {
        for await (const chunk of data) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
    },
    async prepare() {
      if (!existsSync(partial)) throw new BackupRefused("The backup has no database.");
      if (checkedVersion(partial) < LATEST_VERSION) await migrateFile(partial, clock);
      if (isThere) closeUnused(path);
    },
    async finish() {
      if (isThere) closeUnused(path);
      // A log of the old database would be applied to the new one.
      for (const suffix of LOGS) if (existsSync(path + suffix)) renameSync(path + suffix, keptAs + suffix);
      if (isThere) linkSync(path, keptAs);
      renameSync(partial, path);
      await syncFolder(dirname(path));
    },
    abandon: async () => removePartial(),
  };
}

/** Makes the names of the files in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function migrateFile(path: string, clock: Clock): Promise<void> {
  const { db } = openSqlite(path, { synchronous: "FULL", writers: new WriteQueue(clock) });
  try {
    await migrate(db, sqliteDialect, { clock });
  } finally {
    await db.destroy();
  }
}

/** Makes sure that no process uses the database, and moves its log into the file. Throws if one does. */
function closeUnused(path: string): void {
  try {
    const raw = openRaw(path, false, 0);
    try {
      // Only possible while nobody else has the file open.
      raw.exec("pragma journal_mode = delete");
    } finally {
      raw.close();
    }
  } catch (error) {
    const code = resultCode(error);
    if (code === BUSY) throw new BackupRefused("A process uses the database. Stop the service first.");
    // A damaged database is replaced as it is.
    if (code !== CORRUPT && code !== NOT_A_DATABASE && code !== IO_ERROR) throw error;
  }
}

/** Checks all of a file. Returns its number of migrations. Throws BackupRefused for a damaged or unknown one. */
function checkedVersion(path: string): number {
  try {
    const raw = openRaw(path, true);
    try {
      const [first] = raw.prepare("pragma integrity_check(1)").all();
      const found = String(Object.values(first ?? {})[0]);
      if (found !== "ok") throw new BackupRefused(`The copy of the database is damaged: ${found}`);
      const row = raw.prepare("select max(version) as version from schema_version").get();
      return Number(row?.version ?? 0);
    } finally {
      raw.close();
    }
  } catch (error) {
    if (resultCode(error) === ERROR) throw new BackupRefused("The database is not one of Sidereal.");
    throw refusedIf(error, "The copy of the database is damaged");
  }
}

/** Primary result codes (sqlite.org/rescode.html). */
const [ERROR, BUSY, IO_ERROR, CORRUPT, NOT_A_DATABASE] = [1, 5, 10, 11, 26];
/** How long the copy waits for a process that recovers or closes the log. */
const WAIT_MS = 5_000;

function openRaw(path: string, readOnly: boolean, timeout = WAIT_MS): DatabaseSync {
  const raw = new DatabaseSync(path, { readOnly, timeout, allowExtension: false });
  const problem = unsafeSqlite(String(raw.prepare("select sqlite_version() as version").get()?.version));
  if (problem === undefined) return raw;
  raw.close();
  throw new Error(problem);
}

/** The primary result code of an error of SQLite; 0 for any other error. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

function refusedIf(error: unknown, reason: string): unknown {
  const code = resultCode(error);
  if (code !== CORRUPT && code !== NOT_A_DATABASE) return error;
  return new BackupRefused(`${reason}: ${error instanceof Error ? error.message : ""}`, { cause: error });
}
