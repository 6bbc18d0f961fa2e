/** Restores a backup in place of a store: `restore-process.js <backup> <data folder> [<PostgreSQL address>]`. */
import { restoreBackup } from "../../../src/backups/backups.js";
import { systemClock } from "../../../src/clock.js";
import { placeAt } from "./restored-place.js";

const [, , file = "", dataDir = "", url] = process.argv;
await restoreBackup(file, placeAt(dataDir, url), {
  clock: systemClock,
  replaces: true,
  total: 1,
  onProgress: () => {},
});
