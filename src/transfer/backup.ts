/**
 * Backups: one file with all primary data of a store at one moment, which can be restored into either engine. It is NDJSON in
 * zstd. The first line has the versions and the columns of each table; then follow, for each table, a line with its name and an
 * array for each row; the last line has the number of rows and the SHA-256 of all lines before it. Bytes are `{"base64": …}`.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { sql } from "kysely";
import * as z from "zod";
import { SECRET_MARK } from "../accounts/accounts.js";
import {
  currentVersion,
  type Db,
  FIRST_VERSION,
  hasStore,
  LATEST_VERSION,
  openBackgroundReader,
  type PortableRow,
  PRIMARY_SHAPES,
  RestoredStore,
  readNumber,
  readRows,
  type StoreLocation,
  StoreRefused,
  syncFolder,
} from "../database/database.js";
import { type Clock, isoTime } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { outdateAll } from "../repositories/repositories.js";
import { readLines } from "./lines.js";

/** The place of a store, and the file with the secret of the service if there is one next to it. */
export interface BackupPlace {
  location: StoreLocation;
  secretFile: string | undefined;
  clock: Clock;
  log: Logger;
}

/** Of this file format; later ones say so in the same two fields. */
const FORMAT = 1;
const HEADER = z.object({
  sidereal: z.literal("backup"),
  format: z.literal(FORMAT),
  /** Version of the store. */
  version: z.int().min(1),
  takenAt: z.iso.datetime(),
  /** The highest id that a repository has had. */
  lastId: z.int().min(0),
  tables: z.record(z.string(), z.array(z.string())),
});
type Header = z.infer<typeof HEADER>;

const TABLE = z.object({ table: z.string() });
const END = z.object({ rows: z.record(z.string(), z.int()), sha256: z.string() });

interface BackupReport {
  version: number;
  takenAt: string;
  /** By table, without empty ones. */
  rows: Readonly<Record<string, number>>;
  /** Its secrets, in words. */
  secrets: string[];
  fileBytes: number;
}

/** Gets a number that grows to `total`. */
type OnProgress = (done: number, total: number) => void;

/** In the data folder: when the last backup was taken, and how large it is, as JSON. */
const NOTE_FILE = "last-backup.json";

const BackupNote = z.object({ takenAt: z.number(), fileBytes: z.number() });
/** A backup that was taken on this machine; `takenAt` in ms since 1970. */
type BackupNote = z.infer<typeof BackupNote>;

/** Notes a backup in the data folder, if there is one. The backup is good even if that fails. */
export async function noteBackup(dataDir: string, note: BackupNote): Promise<void> {
  await writeFile(join(dataDir, NOTE_FILE), `${JSON.stringify(note)}\n`, { mode: 0o600 }).catch(() => {});
}

/** The last backup that was noted in the data folder; null without one. */
export async function readBackupNote(dataDir: string): Promise<BackupNote | null> {
  try {
    return BackupNote.safeParse(JSON.parse(await readFile(join(dataDir, NOTE_FILE), "utf8"))).data ?? null;
  } catch {
    return null;
  }
}

/** Writes a backup for its owner's eyes; it has the name `path` once it is on the disk and checked. Throws StoreRefused. */
export async function takeBackup(
  path: string,
  place: BackupPlace,
  onProgress: OnProgress,
): Promise<BackupReport> {
  const { location, log } = place;
  if (location.url === undefined && !hasStore(location.dataDir))
    throw new StoreRefused(`There is no database in ${location.dataDir}.`);
  if (existsSync(path) && !beginsWith(path, ZSTD) && !beginsWith(path, EARLIER))
    throw new StoreRefused(`${path} is not a backup, so it is not replaced. Give the backup another name.`);
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const { dialect, read, close } = openBackgroundReader({ ...location, log, isPatient: true });
  try {
    await dialect.snapshot(read, async (db) => {
      const lastId = await dialect.lastId(db);
      const file = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true });
      await pipeline(linesOf(db, { lastId, place, onProgress }), createZstdCompress(), file);
    });
    const report = await checkBackup(partial, () => {});
    renameSync(partial, path);
    await syncFolder(dirname(path));
    return report;
  } finally {
    await close();
    rmSync(partial, { force: true });
  }
}

/** The lines of a backup, some at a time. */
async function* linesOf(
  db: Db,
  { lastId, place, onProgress }: { lastId: number; place: BackupPlace; onProgress: OnProgress },
): AsyncGenerator<string> {
  const { clock, secretFile } = place;
  const version = await currentVersion(db);
  if (version === 0) throw new StoreRefused("The database has no tables of Sidereal.");
  if (version > LATEST_VERSION)
    throw new StoreRefused("The database was made by a newer Sidereal. Take the backup with that version.");
  if (version < FIRST_VERSION)
    throw new StoreRefused(
      `The database is at version ${version}. Take the backup with the Sidereal that made it.`,
    );
  const hash = createHash("sha256");
  const hashed = (text: string) => {
    hash.update(text);
    return text;
  };
  const header: Header = {
    sidereal: "backup",
    format: 1,
    version,
    takenAt: isoTime(clock.now()),
    lastId,
    tables: Object.fromEntries(PRIMARY_SHAPES.map(({ name, columns }) => [name, [...columns]])),
  };
  yield hashed(`${JSON.stringify(header)}\n`);
  let total = 0;
  for (const { name } of PRIMARY_SHAPES)
    total += await readNumber(db, sql`select count(*) from ${sql.table(name)}`);
  const counts: Record<string, number> = {};
  let done = 0;
  for (const shape of PRIMARY_SHAPES) {
    const { name } = shape;
    const lines = (rows: readonly PortableRow[]) => {
      counts[name] = (counts[name] ?? 0) + rows.length;
      done += rows.length;
      onProgress(done, total);
      return hashed(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    };
    yield hashed(`${JSON.stringify({ table: name })}\n`);
    if (name === "marks" && secretFile !== undefined && existsSync(secretFile))
      yield lines([[SECRET_MARK, readFileSync(secretFile, "utf8").trim()]]);
    for await (const rows of readRows(db, shape)) yield lines(rows);
  }
  yield `${JSON.stringify({ rows: counts, sha256: hash.digest("hex") })}\n`;
}

/** How a file compressed with zstd begins. */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** How backups from before version 23 begin. */
const EARLIER = Buffer.from("sidereal backup ");

function beginsWith(path: string, start: Buffer): boolean {
  const head = Buffer.alloc(start.length);
  const file = openSync(path, "r");
  readSync(file, head);
  closeSync(file);
  return head.equals(start);
}

/** Rows in one part, and the characters after which it ends. */
const ROWS = 1_000;
const CHARACTERS = 1_048_576;

interface Rows {
  table: string;
  columns: string[];
  rows: PortableRow[];
}

function checkKind(path: string): void {
  if (beginsWith(path, EARLIER))
    throw new StoreRefused(
      `${path} is a backup of an earlier Sidereal, from before version 23 of the database. Restore it with the Sidereal that took it, export that database, and import the file into a new one.`,
    );
  if (!beginsWith(path, ZSTD)) throw new StoreRefused(`${path} is not a backup of Sidereal.`);
}

/** Reads a backup: its header, then rows, some at a time in bounded memory. Throws StoreRefused at damage, perhaps at its end. */
async function* partsOf(path: string, onProgress: OnProgress): AsyncGenerator<Header | Rows> {
  checkKind(path);
  const { size } = statSync(path);
  const file = createReadStream(path);
  const input = file.pipe(createZstdDecompress());
  file.on("error", (error) => input.destroy(error));
  const hash = createHash("sha256");
  const counts: Record<string, number> = {};
  let header: Header | undefined;
  let part: Rows = { table: "", columns: [], rows: [] };
  let [line, characters, hasEnded] = [0, 0, false];
  try {
    for await (const lines of readLines(input)) {
      onProgress(file.bytesRead, size);
      for (const { number, text = "" } of lines) {
        line = number;
        if (hasEnded) throw new Damage("something follows its end");
        const value = parsed(text, ANY);
        const isRow = Array.isArray(value);
        if (isRow) {
          if (value.length !== part.columns.length) throw new Damage("a row has another number of columns");
          part.rows.push(value);
          characters += text.length;
          counts[part.table] = (counts[part.table] ?? 0) + 1;
        }
        if (part.rows.length > 0 && (!isRow || part.rows.length === ROWS || characters > CHARACTERS)) {
          yield part;
          [part, characters] = [{ ...part, rows: [] }, 0];
        }
        if (header === undefined) {
          if (!isRow && value.sidereal === "backup" && value.format !== FORMAT)
            throw new StoreRefused(`${path} is a backup of a newer Sidereal. Update the program.`);
          header = parsed(text, HEADER);
          yield header;
        } else if (!isRow && "table" in value) {
          const { table } = parsed(text, TABLE);
          part = { table, columns: header.tables[table] ?? [], rows: [] };
        } else if (!isRow) {
          const end = parsed(text, END);
          if (end.sha256 !== hash.digest("hex")) throw new Damage("the checksum is wrong");
          if (!isDeepStrictEqual(end.rows, counts)) throw new Damage("the number of rows is wrong");
          hasEnded = true;
          continue;
        }
        hash.update(`${text}\n`);
      }
    }
    if (!hasEnded) throw new Damage("it ends too early");
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreRefused(`The backup is damaged after line ${line}: ${reason}.`, { cause: error });
  } finally {
    file.destroy();
    input.destroy();
  }
}

/** The problem of a backup, without its content, which may be secret. */
class Damage extends Error {}

const ANY = z.union([z.array(z.any()), z.record(z.string(), z.unknown())]);

function parsed<T>(text: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new Damage("a line cannot be read");
  }
}

/** Reads all of a backup. Throws StoreRefused if it is damaged. */
export async function checkBackup(path: string, onProgress: OnProgress): Promise<BackupReport> {
  let header: Header | undefined;
  const rows: Record<string, number> = {};
  let hasSecret = false;
  for await (const part of partsOf(path, onProgress)) {
    if ("version" in part) header = part;
    else {
      rows[part.table] = (rows[part.table] ?? 0) + part.rows.length;
      hasSecret ||= part.table === "marks" && part.rows.some(isSecret);
    }
  }
  const { version = 0, takenAt = "" } = header ?? {};
  const secrets = Object.entries(SECRETS).flatMap(([table, words]) => (table in rows ? words : []));
  if (hasSecret) secrets.push("the secret of the service");
  return { version, takenAt, rows, secrets, fileBytes: statSync(path).size };
}

/** The secrets of a backup, by table. */
const SECRETS: Readonly<Record<string, string>> = {
  accounts: "addresses of people",
  sessions: "hashes of sessions",
  api_keys: "hashes of API keys",
  watchlists: "hashes of tokens of watchlists",
  forge_tokens: "encrypted tokens of forges",
};

const isSecret = ([name]: PortableRow): boolean => name === SECRET_MARK;

/**
 * Restores a backup that `checkBackup` found whole, where there is no store, or with `replaces` over the one that is there. A
 * backup of an older version is brought up to date. Until the last step nothing changes that a reader could see; derived data is
 * left to the next update. Throws StoreRefused.
 */
export async function restoreBackup(
  path: string,
  { location, secretFile, clock, log }: BackupPlace,
  replaces: boolean,
  onProgress: OnProgress,
): Promise<void> {
  const at = clock.now();
  let store: RestoredStore | undefined;
  let [secret, lastId] = ["", 0];
  try {
    for await (const part of partsOf(path, onProgress)) {
      if ("version" in part) {
        const { version } = part;
        lastId = part.lastId;
        store = await RestoredStore.open(location, { clock, log, version, replaces, at });
        continue;
      }
      const { table, columns } = part;
      // Next to a SQLite file, it is in a file of its own.
      const isInFile = (row: PortableRow) => location.url === undefined && table === "marks" && isSecret(row);
      secret = String(part.rows.find(isInFile)?.[1] ?? secret);
      await store?.insert(
        table,
        columns,
        part.rows.filter((row) => !isInFile(row)),
      );
    }
    await store?.complete(lastId);
    if (store !== undefined) await outdateAll(store.tx, store.dialect);
    if (secret !== "" && secretFile !== undefined) writeSecret(secretFile, secret, at);
  } catch (error) {
    await store?.abandon();
    throw error;
  }
  await store?.finish();
}

/**
 * Before the store takes its place: a store without its secret would sign everybody out. The secret of a store that is replaced is
 * kept next to it, under a name that ends with the same time `at`.
 */
function writeSecret(path: string, secret: string, at: number): void {
  if (existsSync(path)) {
    // After a kill between secret and store, the one that was kept then belongs to the store.
    if (readFileSync(path, "utf8").trim() === secret) return;
    linkSync(path, `${path}.replaced-${at}`);
  }
  const partial = `${path}.restoring`;
  rmSync(partial, { force: true });
  writeFileSync(partial, secret, { mode: 0o600, flush: true });
  renameSync(partial, path);
}
