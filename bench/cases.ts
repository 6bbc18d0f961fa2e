/**
 * Prints scores, confidence and anomalies of repositories on given days:
 * `node dist/bench/cases.js MANIFEST PROVIDER:owner/name@DATE[,…] FILES…`. Imports the files in order and prints a repository
 * after the last file of its date.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/clock.js";
import { openDatabase } from "../src/database/database.js";
import { createLog } from "../src/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { importFiles, readManifest } from "../src/transfer/transfer.js";

const [manifestPath = "", wanted = "", ...files] = process.argv.slice(2);
const manifest = readManifest(readFileSync(manifestPath, "utf8"), Date.now());
const dataDir = mkdtempSync(join(tmpdir(), "sidereal-cases-"));
const cases = wanted.split(",").map((text) => {
  const [name = "", date = ""] = text.split("@");
  const [provider = "", fullName = ""] = name.split(":");
  return { provider, fullName, date };
});
const dateOf = (file: string): string => file.match(/\d{4}-\d{2}-\d{2}/g)?.at(-1) ?? "";

try {
  const modules = buildModules(
    await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") }),
    systemClock,
    createLog("silent"),
  );
  let waiting: string[] = [];
  for (const [i, file] of files.entries()) {
    waiting.push(file);
    const next = files[i + 1];
    const due = cases.filter(({ date }) => date === dateOf(file));
    if (due.length === 0 || (next !== undefined && dateOf(next) === dateOf(file))) continue;
    await importFiles(modules.catalog, waiting, { manifest });
    waiting = [];
    await updateDerived(modules);
    for (const { provider, fullName, date } of due) {
      const found = await modules.catalog.findByName(provider, fullName);
      if (found === undefined) {
        process.stdout.write(`${date} ${fullName}: not found\n`);
        continue;
      }
      const { repository } = found;
      process.stdout.write(`${date} ${repository.fullName}, ${repository.stars} stars\n`);
      for (const [window, trend] of Object.entries(await modules.rankings.trendsOf(repository.id))) {
        if (trend === null) {
          process.stdout.write(`  ${window}: no trend\n`);
          continue;
        }
        const scores = Object.entries(trend.scores).map(([name, value]) => `${name} ${value ?? "–"}`);
        const flags = trend.anomalies.map(({ kind, reason, sameDay }) =>
          sameDay === undefined
            ? `${kind}: ${reason}`
            : `${kind}: ${reason} (${sameDay.fell} of ${sameDay.compared} fell that day)`,
        );
        process.stdout.write(
          `  ${window}: ${trend.starsDelta} stars, ${trend.forksDelta ?? "–"} forks; ${scores.join(", ")}; confidence ${trend.confidence}${trend.reliable ? "" : " (not reliable)"} ${flags.join("; ")}\n`,
        );
      }
    }
  }
  await modules.database.close();
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
