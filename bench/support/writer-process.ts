/**
 * Entry of a process that writes at full speed: records changes, brings derived data up to date, and now and then derives
 * everything. `node writer-process.js <store as JSON>`; prints `writes` when it has begun, and ends when standard input does.
 */
import { once } from "node:events";
import { followChanges } from "../../src/modules.js";
import { outdateAll } from "../../src/repositories/repositories.js";
import { changedAt } from "./changes.js";
import { openStore, STORE_END, type Store } from "./stores.js";

const CHANGES = 2_000;
const HOUR_MS = 3_600_000;

const store: Store = JSON.parse(process.argv[2] ?? "");
const modules = await openStore(store);
let isWanted = true;
void once(process.stdin.resume(), "close").then(() => {
  isWanted = false;
});
process.stdout.write("writes\n");
for (let round = 1; isWanted; round++) {
  const from = (round * CHANGES) % store.size;
  const count = Math.min(CHANGES, store.size - from);
  const at = STORE_END + (round * HOUR_MS) / 60;
  await modules.catalog.recordAll(Array.from({ length: count }, (_, i) => changedAt(from + i, at, store)));
  if (!isWanted) break;
  const { database } = modules;
  if (round % 3 === 0) await database.write.transaction().execute((tx) => outdateAll(tx, database.dialect));
  await followChanges(modules);
}
await modules.database.close();
