/**
 * The benchmark: `npm run bench` measures the service beside baselines in the same run, and writes the table of results with their
 * targets to `bench/RESULTS.md`. `--help` lists the options; bench/README.md says what is measured and how.
 */
import { parseArgs } from "node:util";
import { measureBeside } from "./beside.js";
import { measureColdKey } from "./cold-key.js";
import { measureLists } from "./lists.js";
import { measureMix } from "./mixed.js";
import { measureOtherwise } from "./otherwise.js";
import { measurePeak } from "./peak.js";
import { searchPart } from "./search.js";
import { openPostgres } from "./support/postgres.js";
import { CAN_PIN } from "./support/processes.js";
import { type RecordedRun, recordRun, writeResults } from "./support/record.js";
import type { BenchPart } from "./support/results.js";
import { defaultFolder, type EngineName, prepareStore } from "./support/stores.js";
import { uncachedPart } from "./uncached.js";
import { measureWrites } from "./writes.js";

/** The parts, in the order of the table. */
const PARTS: Readonly<Record<string, BenchPart>> = {
  peak: (context) => measurePeak(context),
  uncached: uncachedPart,
  search: searchPart,
  mix: measureMix,
  lists: measureLists,
  otherwise: measureOtherwise,
  writes: measureWrites,
  beside: measureBeside,
  cold: measureColdKey,
};

const ENGINES: readonly EngineName[] = ["sqlite", "postgres"];

const HELP = `npm run bench -- [options]
  --sizes 10000,100000   repositories of the stores; 1000000 only on request
  --days 7               of snapshots per repository
  --engines ${ENGINES.join(",")}
  --parts ${Object.keys(PARTS).join(",")}
  --rounds 5             interleaved rounds per measure
  --seconds 5            of one run of load
  --full                 100,000 and 1,000,000 repositories, 9 rounds
  --folder DIR           where stores are kept (default: SIDEREAL_BENCH_DIR, else the system's temporary folder)
  --postgres-url URL     a PostgreSQL server (default: SIDEREAL_BENCH_POSTGRES_URL, else one is started and thrown away)
  --output FILE          default: bench/RESULTS.md
  --prepare              only build the stores
`;

const { values } = parseArgs({
  options: {
    sizes: { type: "string" },
    days: { type: "string", default: "7" },
    engines: { type: "string", default: ENGINES.join(",") },
    parts: { type: "string", default: Object.keys(PARTS).join(",") },
    rounds: { type: "string" },
    seconds: { type: "string" },
    full: { type: "boolean", default: false },
    folder: { type: "string", default: defaultFolder() },
    "postgres-url": { type: "string", default: process.env.SIDEREAL_BENCH_POSTGRES_URL ?? "" },
    output: { type: "string", default: "bench/RESULTS.md" },
    prepare: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const quickly = { sizes: "10000,100000", rounds: "3", seconds: "3" };
const fully = { sizes: "100000,1000000", rounds: "9", seconds: "10" };
const chosen = { ...(values.full ? fully : quickly), ...withoutUndefined(values) };

function withoutUndefined(given: typeof values): Partial<typeof quickly> {
  const { sizes, rounds, seconds } = given;
  return Object.fromEntries(
    Object.entries({ sizes, rounds, seconds }).filter(([, one]) => one !== undefined),
  );
}

const report = (line: string) => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const sizes = chosen.sizes.split(",").map(Number);
  const engines = ENGINES.filter((engine) => values.engines.split(",").includes(engine));
  const parts = Object.entries(PARTS).filter(([name]) => values.parts.split(",").includes(name));
  // wrk knows only whole seconds.
  const [days, rounds, seconds] = [Number(values.days), Number(chosen.rounds), Number(chosen.seconds)];
  const counts = [...sizes, days, rounds, seconds];
  if (!counts.every((count) => Number.isInteger(count) && count > 0)) throw new Error(HELP);
  if (engines.length === 0 || parts.length === 0) throw new Error(HELP);
  if (!CAN_PIN) report("processes are not pinned to cores: server and load may disturb each other");
  const postgres = await openPostgres(values["postgres-url"]);
  try {
    for (const size of sizes) {
      for (const engine of engines) {
        const place = { folder: values.folder, postgresUrl: postgres.url };
        const store = await prepareStore({ engine, size, days }, place, report);
        if (values.prepare) continue;
        for (const [part, measure] of parts) {
          report(`${part}, ${size} repositories, ${engine}`);
          const context = {
            store,
            postgresUrl: postgres.url,
            rounds,
            seconds,
            report,
          };
          const rows = await measure(context);
          if (rows.length === 0) throw new Error(`${part} measured nothing`);
          const run: RecordedRun = {
            part,
            size,
            engine,
            rows,
            rounds: context.rounds,
            seconds: context.seconds,
          };
          recordRun(values.folder, run);
          writeResults(values.folder, values.output, {
            parts: Object.keys(PARTS),
            postgresVersion: postgres.version,
          });
        }
      }
    }
  } finally {
    await postgres.stop();
  }
}

if (values.help) process.stdout.write(HELP);
else await main();
