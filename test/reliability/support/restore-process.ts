/** Restores a backup over a store: `restore-process.js <backup> <data folder> [<PostgreSQL address>]`. */
import { restoreAt } from "./restored-place.js";

const [, , file = "", dataDir = "", url] = process.argv;
await restoreAt(file, { dataDir, url });
