/** Migrates a store and kills itself before a statement: `upgrade-process.js <SQLite file or PostgreSQL address> <version> <statement>`. */

import { counting, migrateTo } from "./old-stores.js";
import { openOldStore } from "./open-old-store.js";

const [, , place = "", version, fatal] = process.argv;
const store = openOldStore(place);
const plugin = counting((statement) => {
  if (statement === Number(fatal)) process.kill(process.pid, "SIGKILL");
});
await migrateTo({ ...store, db: store.db.withPlugin(plugin) }, Number(version));
await store.close();
