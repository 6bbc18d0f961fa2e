/**
 * Measures the size of snapshots and repositories on disk: `npm run -s build && node dist/bench/storage.js`, on PostgreSQL with
 * `--url` (an empty database). Records snapshots day by day, as tracking does, so that pages fill realistically.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { DAY_MS, systemClock } from "../src/clock.js";
import { type Database, openDatabase } from "../src/database/database.js";
import { syntheticRepository } from "../src/demo/demo.js";
import { createLog } from "../src/log.js";
import { buildModules, updateDerived } from "../src/modules.js";

const { values } = parseArgs({
  options: {
    repositories: { type: "string", default: "20000" },
    days: { type: "string", default: "60" },
    url: { type: "string" },
  },
});
const repositories = Number(values.repositories);
const days = Number(values.days);
const END = Date.UTC(2026, 3, 30, 12);
const BATCH = 1_000;

const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(dataDir: string): Promise<void> {
  const database = await openDatabase({ url: values.url, dataDir, pool: 4, log: createLog("error") });
  const modules = buildModules(database, systemClock, createLog("error"));
  const { dialect, read } = database;
  const size = () => dialect.size(read);
  const all = Array.from({ length: repositories }, (_, i) => {
    const repository = syntheticRepository(i, { repositories, days, seed: 1, end: END });
    return { repository, snapshots: [...repository.snapshots] };
  });
  let [recorded, firstSize, firstRecorded] = [0, 0, 0];
  await modules.catalog.markSynthetic();
  print(`${dialect.engine}, empty: ${(await size()) / 1e6} MB`);
  for (let day = 0; day < days; day++) {
    const end = END - (days - 1 - day) * DAY_MS + DAY_MS / 2;
    for (let from = 0; from < repositories; from += BATCH) {
      const batch = all.slice(from, from + BATCH).map(({ repository, snapshots }) => ({
        ...repository,
        at: end,
        snapshots: snapshots.filter(({ capturedAt }) => capturedAt >= end - DAY_MS && capturedAt < end),
      }));
      recorded += (await modules.catalog.record(batch)).snapshotsAdded;
    }
    if (day === Math.floor(days / 6)) [firstSize, firstRecorded] = [await size(), recorded];
  }
  const full = await size();
  print(`${recorded} snapshots of ${repositories} repositories: ${(full / 1e6).toFixed(1)} MB`);
  print(`bytes a snapshot: ${((full - firstSize) / (recorded - firstRecorded)).toFixed(1)}`);
  await updateDerived(modules);
  const derived = await size();
  const perSnapshot = (full - firstSize) / (recorded - firstRecorded);
  print(
    `with growth, ranks and search index: ${(derived / 1e6).toFixed(1)} MB; bytes a repository, snapshots aside: ${((derived - perSnapshot * recorded) / repositories).toFixed(0)}`,
  );
  if (values.url !== undefined) await tellTables(database);
  await database.close();
}

/** PostgreSQL keeps dead rows until a vacuum, and this run creates many, so sizes are printed before and after one. */
async function tellTables({ write, read, dialect }: Database): Promise<void> {
  const printSizes = async (when: string) => {
    const { rows } = await sql<{
      bytes: number;
      total: number;
    }>`select pg_total_relation_size('snapshots') as bytes,
      (select count(*) from snapshots) as total`.execute(read);
    const { bytes = 0, total = 1 } = rows[0] ?? {};
    const whole = await dialect.size(read);
    print(
      `${when}: snapshots ${(bytes / total).toFixed(1)} bytes each, everything else ${((whole - bytes) / repositories).toFixed(0)} bytes a repository`,
    );
  };
  await printSizes("as written");
  await sql`vacuum full`.execute(write);
  await printSizes("after vacuum full");
}

const dataDir = mkdtempSync(join(tmpdir(), "sidereal-storage-"));
await main(dataDir).finally(() => rmSync(dataDir, { recursive: true, force: true }));
