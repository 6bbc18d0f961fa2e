/** Restores a backup over a store: `restore-process.js <backup> <data folder> [<PostgreSQL address>]`. */
import { join } from "node:path";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { restoreBackup } from "../../../src/transfer/backup.js";

const [, , file = "", dataDir = "", url] = process.argv;
await restoreBackup(
  file,
  {
    location: { url, dataDir },
    secretFile: url === undefined ? join(dataDir, "auth-secret") : undefined,
    clock: systemClock,
    log: createLog("silent"),
  },
  true,
  () => {},
);
