/** Migrates a store and kills itself before a statement: `upgrade-process.js <SQLite file or PostgreSQL address> <statement>`. */

import { migrate } from "../../../src/database/migrate.js";
import { systemClock } from "../../../src/lib/clock.js";
import { counting, openStore } from "./open-store.js";

const [, , place = "", fatal] = process.argv;
const store = openStore(place);
const plugin = counting((statement) => {
  if (statement === Number(fatal)) process.kill(process.pid, "SIGKILL");
});
await migrate(store.db.withPlugin(plugin), store.dialect, { clock: systemClock });
await store.close();
