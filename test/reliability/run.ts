/**
 * Runs reliability harnesses in their long form and prints their tables: `npm run reliability -- [names] [--short] [--postgres]`. Exits with 1 if a
 * target is missed, with 2 if a harness failed to produce its fault.
 */
import { parseArgs } from "node:util";
import { resultTable } from "../../bench/support/results.js";
import { HARNESSES } from "./harnesses.js";
import { missedRows, runHarness } from "./support/harness.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: "boolean", default: false },
    postgres: { type: "boolean", default: false },
  },
});
const unknown = positionals.filter((name) => !HARNESSES.some((harness) => harness.name === name));
if (unknown.length > 0) {
  const known = HARNESSES.map(({ name }) => name).join(", ");
  process.stderr.write(`There is no harness ${unknown.join(", ")}. Harnesses: ${known}.\n`);
  process.exit(2);
}
const chosen = HARNESSES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (values.postgres && (values.short || chosen.some(({ hasEngines }) => hasEngines === undefined))) {
  const able = HARNESSES.filter(({ hasEngines }) => hasEngines).map(({ name }) => name);
  process.stderr.write(`--postgres is for the long form of ${able.join(", ")}.\n`);
  process.exit(2);
}
let missed = 0;
let failed = 0;
for (const harness of chosen) {
  process.stdout.write(`\n## ${harness.name}\n\n${harness.proves}\n\n`);
  try {
    const rows = await runHarness(harness, {
      scale: values.short ? "short" : "long",
      engine: values.postgres ? "postgres" : "sqlite",
      report: (line) => void process.stderr.write(`${harness.name}: ${line}\n`),
    });
    missed += missedRows(rows).length;
    process.stdout.write(resultTable(rows));
  } catch (error) {
    failed++;
    process.stdout.write(
      `**No result**: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`,
    );
  }
}
process.exitCode = failed > 0 ? 2 : missed > 0 ? 1 : 0;
