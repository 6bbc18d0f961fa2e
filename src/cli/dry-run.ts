/** A copy of the store for commands that only report what they would change. */
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasStore } from "../database/database.js";
import { createLog } from "../lib/log.js";
import { restoreBackup, takeBackup } from "../transfer/transfer.js";
import type { Host } from "./host.js";

/**
 * Runs a command on a copy of the store, in a folder of the data folder that is removed then. The store is only read, so no writer waits; the
 * copy takes as long and as much room as a backup and its restore. One at a time.
 */
export async function onCopy<T>(host: Host, work: (copy: Host) => Promise<T>): Promise<T> {
  const { config, clock } = host;
  const { databaseUrl: url, dataDir } = config;
  const folder = join(dataDir === ":memory:" ? tmpdir() : dataDir, "dry-run");
  // A run that was killed leaves it.
  rmSync(folder, { recursive: true, force: true });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (url !== undefined || (dataDir !== ":memory:" && hasStore(dataDir))) {
      const place = { secretFile: undefined, clock, log: createLog("silent") };
      const backup = join(folder, "backup");
      await takeBackup(backup, { ...place, location: { url, dataDir } }, () => {});
      const location = { url: undefined, dataDir: folder };
      await restoreBackup(backup, { ...place, location }, false, () => {});
    }
    return await work({ ...host, config, openModules: () => host.openModules({ copyIn: folder }) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
