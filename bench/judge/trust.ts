/**
 * Whether ranks can be trusted, for a built checkout of any version: `npm run -s build &&
 * node dist/bench/judge/trust.js DATA_DIR [CHECKOUT] [--every 5] [--seed 1]`, where DATA_DIR has the folders github-ranking, awesome-go
 * and trending, and CHECKOUT is this one by default. Imports day by day with the command line and reads the lists that the API
 * gives; places are counted on one day in five. Takes about five minutes of CPU time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { requireData } from "./archive.js";
import { compareAwesomeGo } from "./awesome-go-run.js";
import { DailyRun } from "./daily-run.js";
import { print } from "./text.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: "string", default: "5" }, seed: { type: "string", default: "1" } },
});
const data = requireData(positionals[0], "daily");
const checkout = resolve(positionals[1] ?? ".");
const settings = { data, checkout, every: Number(values.every), seed: Number(values.seed) };
const work = mkdtempSync(join(tmpdir(), "sidereal-trust-"));
try {
  print(`checkout ${checkout}`);
  const daily = new DailyRun(settings, work);
  await daily.run();
  daily.print();
  // As many comparisons as one day in ten gives are enough: they have a hundred thousand rows.
  await compareAwesomeGo({ ...settings, every: 2 * settings.every }, work);
} finally {
  rmSync(work, { recursive: true, force: true });
}
