/**
 * Fills a new folder with a store of synthetic repositories, to look at pages: `node dist/bench/demo.js FOLDER [repositories] [days]`,
 * then `SIDEREAL_DATA_DIR=FOLDER npm start`.
 */
import { openDatabase } from "../src/database/database.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { fillWithSynthetic } from "./synthetic/synthetic.js";

const [, , dataDir, repositories = "2000", days = "60"] = process.argv;
if (dataDir === undefined) throw new Error("Name a folder.");
const log = createLog("warn");
const modules = buildModules(await openDatabase({ url: undefined, dataDir, pool: 1, log }), {
  clock: systemClock,
  log,
});
const size = { repositories: Number(repositories), days: Number(days), seed: 1, end: systemClock.now() };
await fillWithSynthetic(modules.catalog, size);
await updateDerived(modules);
await modules.database.close();
