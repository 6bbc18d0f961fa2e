import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreLocation } from "../backup/parts.js";
import { SQLITE_FILE } from "../sqlite.js";

/** Kinds of damage of a database file, before its rows are read. */
export type FileDamage = "not-a-database" | "file-truncated" | "pages-damaged" | "index-damaged";

/** The first bytes of every SQLite file (sqlite.org/fileformat.html). */
const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
const HEADER_BYTES = 100;
/** Reports that are read: the first ones name the kind of damage. */
const MAX_REPORTS = 100;
/** What the check of a file says of an index that does not match its table. */
const OF_INDEX = /missing from index|wrong # of entries in index|non-unique entry in index/;

/**
 * Checks the file of a SQLite database, however damaged it is. Returns whether its tables can be read as far as that shows;
 * undefined if there is none. A server checks its files itself.
 */
export function inspectFile(
  { url, dataDir }: StoreLocation,
  onDamage: (kind: FileDamage, found: string) => void,
): boolean | undefined {
  if (url !== undefined) return true;
  const path = join(dataDir, SQLITE_FILE);
  return existsSync(path) ? inspectSqliteFile(path, onDamage) : undefined;
}

/**
 * Checks the file of a database, however damaged it is. `onDamage` gets each kind with what was found. Returns whether its tables
 * may be read. Takes about as long as reading the file twice, and the memory of a page cache. Throws if another process
 * locks the file for longer than `timeoutMs`.
 */
export function inspectSqliteFile(
  path: string,
  onDamage: (kind: FileDamage, found: string) => void,
  timeoutMs = 5_000,
): boolean {
  const { size } = statSync(path);
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  const read = readSync(file, header, 0, HEADER_BYTES, 0);
  closeSync(file);
  if (read < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
    onDamage("not-a-database", read === 0 ? "the file is empty" : "it does not begin as a database");
    return false;
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const expected = pageSize * header.readUInt32BE(28);
  // With a log, pages may be there alone.
  const hasLog = existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0;
  if (!hasLog && size < expected) {
    onDamage("file-truncated", `${size} of ${expected} bytes`);
    return false;
  }
  try {
    checkPages(path, onDamage, timeoutMs);
    return true;
  } catch (error) {
    if (isLocked(error)) throw error;
    onDamage("pages-damaged", error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED (sqlite.org/rescode.html): another process holds the file, which says nothing about damage. */
const LOCKED: readonly number[] = [5, 6];

function isLocked(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && LOCKED.includes(Number(error.errcode) & 0xff);
}

function checkPages(
  path: string,
  onDamage: (kind: FileDamage, found: string) => void,
  timeoutMs: number,
): void {
  const raw = new DatabaseSync(path, { readOnly: true, timeout: timeoutMs, allowExtension: false });
  try {
    for (const row of raw.prepare(`pragma integrity_check(${MAX_REPORTS})`).iterate()) {
      const found = String(Object.values(row)[0]);
      if (found !== "ok") onDamage(OF_INDEX.test(found) ? "index-damaged" : "pages-damaged", found);
    }
  } finally {
    raw.close();
  }
}
