/**
 * How the cost of everything grows with the catalogue, on SQLite and PostgreSQL with the same rows: `npm run -s build && node
 * dist/bench/scale.js --help`. docs/SCALE.md quotes the results. Parts run in the order in which they are named.
 */
import { parseArgs } from "node:util";
import { measureProcesses } from "./scale/processes.js";
import { measureReads } from "./scale/reads.js";
import { SCALE_ENGINES, type ScaleStore, scaleStore } from "./scale/scale-store.js";
import { tableSizes } from "./scale/sizes.js";
import { measureImport, measureListIndex, measureRankings, measureTracking } from "./scale/writes.js";
import { defaultFolder } from "./support/stores.js";

const HELP = `node dist/bench/scale.js [options]
  --parts load,sizes,…   load (build the stores that are missing), sizes (rows and bytes by table), reads (latency of reads on each
                         engine), tracking (recording and derived data after changes), rankings (of all repositories),
                         index (the list index), import (of daily files), processes (1 to 3 \`serve\` on one PostgreSQL);
                         default: load,sizes,reads
  --engines ${SCALE_ENGINES.join(",")}
  --repositories 100000  of the stores
  --days 90              of snapshots per repository
  --times 1              above 1: copies of a store with as many times fewer repositories, with four snapshots each; SQLite only
  --rounds 5             of reads and processes
  --seconds 5            of one run of load
  --run 1                a number that no earlier run of "tracking" on these stores had, up to 30
  --import 20000x14      repositories and days of the imported files
  --folder DIR           where stores are kept
  --postgres-url URL     a PostgreSQL server; default: SIDEREAL_BENCH_POSTGRES_URL
`;

const { values } = parseArgs({
  options: {
    parts: { type: "string", default: "load,sizes,reads" },
    engines: { type: "string", default: "sqlite" },
    repositories: { type: "string", default: "100000" },
    days: { type: "string", default: "90" },
    times: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "5" },
    run: { type: "string", default: "1" },
    import: { type: "string", default: "20000x14" },
    folder: { type: "string", default: defaultFolder() },
    "postgres-url": { type: "string", default: process.env.SIDEREAL_BENCH_POSTGRES_URL ?? "" },
    help: { type: "boolean", default: false },
  },
});

const report = (line: string) => void process.stdout.write(`${new Date().toISOString()} ${line}\n`);

async function main(): Promise<void> {
  const engines = SCALE_ENGINES.filter((engine) => values.engines.split(",").includes(engine));
  const size = {
    repositories: Number(values.repositories),
    days: Number(values.days),
    times: Number(values.times),
  };
  const place = {
    folder: values.folder,
    postgresUrl: values["postgres-url"],
    report,
  };
  const stores: ScaleStore[] = [];
  for (const engine of engines) stores.push(await scaleStore(engine, size, place));
  const onEach = async (work: (store: ScaleStore) => Promise<void>) => {
    for (const store of stores) await work(store);
  };
  const [importedRepositories = 0, importedDays = 0] = values.import.split("x").map(Number);
  const imported = { repositories: importedRepositories, days: importedDays };
  const parts: Readonly<Record<string, () => Promise<unknown>>> = {
    load: async () => {},
    sizes: () => onEach(reportSizes),
    reads: () => measureReads(stores, { rounds: Number(values.rounds), report }),
    tracking: () => onEach((store) => measureTracking(store, Number(values.run), report)),
    rankings: () => onEach((store) => measureRankings(store, report)),
    index: () => onEach((store) => measureListIndex(store, report)),
    processes: async () => {
      const store = stores.find(({ url }) => url !== undefined);
      if (store === undefined) throw new Error("processes share a database on PostgreSQL");
      await measureProcesses(store, {
        rounds: Number(values.rounds),
        seconds: Number(values.seconds),
        report,
      });
    },
    import: () => measureImport(stores, imported, place),
  };
  for (const name of values.parts.split(",")) {
    const part = parts[name];
    if (part === undefined) throw new Error(HELP);
    await part();
  }
}

async function reportSizes(store: ScaleStore): Promise<void> {
  const sizes = await tableSizes(store);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  report(`${store.name}: ${store.size} repositories take ${(total / 1e6).toFixed(0)} MB`);
  for (const { table, rows, bytes } of sizes)
    report(
      `${store.name}, ${table}: ${rows} rows, ${(bytes / 1e6).toFixed(1)} MB, ${(bytes / store.size).toFixed(1)} bytes a repository`,
    );
}

if (values.help) process.stdout.write(HELP);
else await main();
