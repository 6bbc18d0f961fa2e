/** Copies a SQLite store into an empty PostgreSQL database, by a backup. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { updateDerived } from "../../src/modules.js";
import { restoreBackup, takeBackup } from "../../src/transfer/transfer.js";
import { openStore } from "../support/stores.js";

/** Everything that is stored. What is derived is derived again. */
export async function copyToPostgres(dataDir: string, url: string): Promise<void> {
  const file = join(dataDir, "copy.backup");
  const place = { secretFile: undefined, clock: systemClock, log: createLog("error") };
  await takeBackup(file, { ...place, location: { url: undefined, dataDir } }, () => {});
  const target = { ...place, location: { url, dataDir } };
  await restoreBackup(file, target, { replaces: false, onProgress: () => {} });
  rmSync(file);
  const modules = await openStore({ url, dataDir });
  await updateDerived(modules);
  await modules.database.close();
}
