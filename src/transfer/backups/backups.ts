/**
 * Backups: one file with everything a store holds at one moment, and the secret beside it. A backup is taken while others write,
 * checked after it is written, and checked again before a restore touches anything. How the engines copy and take over their
 * data is up to the database.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import {
  allOf,
  type BackupPart,
  BackupRefused,
  openBackupSource,
  openRestoreTarget,
  type StoreLocation,
  sqliteFiles,
} from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { BackupReader } from "./reader.js";
import { type BackupHeader, writeBackup } from "./writer.js";

export type { BackupHeader } from "./writer.js";

/** What is backed up: the store, and the file with the secret of the service if there is one beside it. */
export interface BackupPlace {
  location: StoreLocation;
  secretFile: string | undefined;
}

export interface BackupReport extends BackupHeader {
  /** Size of the backup. */
  fileBytes: number;
  /** Size of what is in it. */
  bytes: number;
  /** Whether the file with the secret of the service is in it. */
  hasSecret: boolean;
}

export interface BackupProgress {
  /** Gets how many bytes there are, as far as that is known, and how many were read. */
  onProgress: (bytes: number, total: number) => void;
}

/** In the data folder: when the last backup was taken, and how large it is, as JSON. */
export const BACKUP_NOTE = "last-backup.json";

/** The part with the secret of the service. No table has this name. */
const SECRET = "secret file";

/**
 * Writes a backup to `path` and checks it; an earlier one stays there unless the new one is whole. Throws BackupRefused, also if
 * `path` is a file of the store.
 */
export async function takeBackup(
  path: string,
  { location, secretFile }: BackupPlace,
  { clock, onProgress }: BackupProgress & { clock: Clock },
): Promise<BackupReport> {
  refuseOwnFile(path, { location, secretFile });
  const takenAt = clock.now();
  const source = await openBackupSource(location, clock, `${path}.copy`);
  try {
    const header = { kind: source.kind, version: source.version, takenAt };
    const secret = secretFile !== undefined && existsSync(secretFile) ? readFileSync(secretFile) : undefined;
    async function* parts(): AsyncGenerator<BackupPart> {
      if (secret !== undefined) yield { name: SECRET, data: bytesOf(secret) };
      yield* source.parts();
    }
    const { fileBytes, checked } = await writeBackup(
      path,
      { header, parts: parts() },
      { onProgress: (bytes) => onProgress(bytes, source.bytes), check: checkBackup },
    );
    return { ...checked, fileBytes };
  } finally {
    await source.close();
  }
}

/** A backup replaces the file of its name. */
function refuseOwnFile(path: string, { location, secretFile }: BackupPlace): void {
  const own = statSync(path, { throwIfNoEntry: false });
  if (own === undefined) return;
  for (const file of [...sqliteFiles(location), ...(secretFile === undefined ? [] : [secretFile])]) {
    const other = statSync(file, { throwIfNoEntry: false });
    if (other?.ino === own.ino && other.dev === own.dev)
      throw new BackupRefused(`${path} is a file of the store. Give the backup another name.`);
  }
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Reads all of a backup. Throws BackupRefused if it is damaged, or of a format that this program does not know. */
export async function checkBackup(
  path: string,
): Promise<BackupHeader & { bytes: number; hasSecret: boolean }> {
  const { reader, header } = await BackupReader.open(path);
  try {
    let [bytes, hasSecret] = [0, false];
    for await (const { name, data } of reader.parts()) {
      if (name === SECRET) hasSecret = true;
      for await (const chunk of data) bytes += chunk.length;
    }
    return { ...header, bytes, hasSecret };
  } finally {
    await reader.close();
  }
}

/**
 * Restores a backup that `checkBackup` found whole, where there is no store, or with `replaces` over the one that is there. A
 * backup of an older version is brought up to date. Until the last step nothing changes that a reader could see. Throws
 * BackupRefused.
 */
export async function restoreBackup(
  path: string,
  { location, secretFile }: BackupPlace,
  { clock, onProgress, replaces, total }: BackupProgress & { clock: Clock; replaces: boolean; total: number },
): Promise<void> {
  const { reader, header } = await BackupReader.open(path);
  try {
    const at = clock.now();
    const target = await openRestoreTarget(location, clock, { ...header, replaces, at });
    try {
      let secret: Buffer | undefined;
      let bytes = 0;
      for await (const { data, ...part } of reader.parts()) {
        if (part.name === SECRET) {
          secret = await allOf(data);
          continue;
        }
        await target.add({
          ...part,
          data: passing(data, (length) => {
            bytes += length;
            onProgress(bytes, total);
          }),
        });
      }
      await target.prepare();
      if (secret !== undefined && secretFile !== undefined) writeSecret(secretFile, secret, at);
      await target.finish();
    } catch (error) {
      await target.abandon();
      throw error;
    }
  } finally {
    await reader.close();
  }
}

/**
 * Before the store takes its place: a store without its secret would sign everybody out. The secret of a store that is replaced is
 * kept beside it, under a name that ends with the same time `at`.
 */
function writeSecret(path: string, secret: Uint8Array, at: number): void {
  if (existsSync(path)) {
    // After a kill between secret and store, the one that was kept then belongs to the store.
    if (readFileSync(path).equals(secret)) return;
    linkSync(path, `${path}.replaced-${at}`);
  }
  const partial = `${path}.restoring`;
  rmSync(partial, { force: true });
  writeFileSync(partial, secret, { mode: 0o600, flush: true });
  renameSync(partial, path);
}

async function* passing(
  data: AsyncIterable<Uint8Array>,
  onPassed: (length: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of data) {
    yield chunk;
    onPassed(chunk.length);
  }
}

/**
 * The names of files that a restore leaves behind when it is killed, of all names in a data folder. What a killed backup leaves is
 * named after a file that the operator chose, so it cannot be distinguished from the operator's own files.
 */
export function workFilesOf(names: readonly string[]): string[] {
  return names.filter((name) => /^(sidereal\.db|auth-secret)\.restoring(-wal|-shm|-journal)?$/.test(name));
}
