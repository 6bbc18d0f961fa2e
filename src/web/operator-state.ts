import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type MailUse, readMailUse } from "../accounts/accounts.js";
import type { ResponseCache } from "../http/http.js";
import {
  type OpenRequests,
  type PreparedStatus,
  readOpenRequests,
  readPreparedStatus,
} from "../tracking/tracking.js";
import { type BackupNote, Dumps, readBackupNote } from "../transfer/transfer.js";
import type { OperatorRequest } from "./page-request.js";

/** The data of the page of operators besides the summary. Times in ms since 1970. */
export interface OperatorState {
  /** Undefined: no worker has run. */
  status: PreparedStatus | undefined;
  requests: OpenRequests[];
  mail: MailUse;
  /** The files of SQLite, and the space on their disk; null where the store is elsewhere. */
  files: { bytes: number; logBytes: number } | null;
  disk: { free: number; total: number } | null;
  /** null: there are no dumps. */
  dumps: { count: number; newest: string | null } | null;
  backup: BackupNote | null;
  cache: ResponseCache["state"] | null;
  memory: number;
  uptimeMs: number;
}

/** Reads small tables, one prepared document and the sizes of files: some milliseconds for any size of the catalogue. */
export async function readOperatorState({ modules, site, now }: OperatorRequest): Promise<OperatorState> {
  const { database } = modules;
  const { databaseUrl, dataDir, dumps } = site.storage;
  const isFile = databaseUrl === undefined && dataDir !== ":memory:";
  const [status, requests, mail, files, disk, listed, backup] = await Promise.all([
    readPreparedStatus(database),
    readOpenRequests(database.read),
    readMailUse(database.read, now),
    isFile ? sizesOf(dataDir) : null,
    dataDir === ":memory:" ? null : diskOf(dataDir),
    dumps === undefined ? null : new Dumps(dumps.folder).list().catch(() => []),
    dataDir === ":memory:" ? null : readBackupNote(dataDir),
  ]);
  return {
    status,
    requests,
    mail,
    files,
    disk,
    dumps: listed && { count: listed.length, newest: listed[0]?.asOf ?? null },
    backup,
    cache: site.cache?.state ?? null,
    memory: process.memoryUsage.rss(),
    uptimeMs: process.uptime() * 1_000,
  };
}

async function sizesOf(dataDir: string): Promise<{ bytes: number; logBytes: number }> {
  const sizeOf = (name: string) =>
    stat(join(dataDir, name)).then(
      ({ size }) => size,
      () => 0,
    );
  const [bytes, logBytes] = await Promise.all([sizeOf("sidereal.db"), sizeOf("sidereal.db-wal")]);
  return { bytes, logBytes };
}

async function diskOf(dataDir: string): Promise<OperatorState["disk"]> {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}
