/**
 * Measures the size of snapshots and repositories on disk: `npm run -s build && node dist/bench/storage.js [--url URL]
 * [--manifest MANIFEST FILES…]`. Imports the files one by one, or records synthetic repositories day by day, as tracking does,
 * so that pages fill realistically. `--url`: an empty PostgreSQL database, instead of SQLite.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { type Database, openDatabase } from "../src/database/database.js";
import { DAY_MS, systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, type Modules, updateDerived } from "../src/modules.js";
import { importFiles } from "../src/transfer/import.js";
import { readManifest } from "../src/transfer/transfer.js";
import { syntheticRepository } from "./synthetic/synthetic.js";

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    manifest: { type: "string" },
    repositories: { type: "string", default: "20000" },
    days: { type: "string", default: "90" },
    url: { type: "string" },
  },
});
const END = Date.UTC(2026, 3, 30, 12);
const BATCH = 1_000;
/** No limit for packing. */
const ALL = Number.MAX_SAFE_INTEGER;

const print = (line: string) => process.stdout.write(`${line}\n`);

async function recordSynthetic({ catalog, database }: Modules): Promise<void> {
  const [repositories, days] = [Number(values.repositories), Number(values.days)];
  const all = Array.from({ length: repositories }, (_, i) => {
    const repository = syntheticRepository(i, { repositories, days, seed: 1, end: END });
    return { repository, snapshots: [...repository.snapshots] };
  });
  await catalog.markSynthetic();
  for (let day = 0; day < days; day++) {
    const end = END - (days - 1 - day) * DAY_MS + DAY_MS / 2;
    for (let from = 0; from < repositories; from += BATCH) {
      const batch = all.slice(from, from + BATCH).map(({ repository, snapshots }) => ({
        ...repository,
        at: end,
        snapshots: snapshots.filter(({ capturedAt }) => capturedAt >= end - DAY_MS && capturedAt < end),
      }));
      await catalog.record(batch);
    }
    await catalog.pack(ALL);
    if (day % 30 === 29) await printSizes(database, `day ${day + 1}`);
  }
}

async function importFilesOneByOne({ catalog, database }: Modules): Promise<void> {
  const manifest =
    values.manifest === undefined
      ? undefined
      : readManifest(readFileSync(values.manifest, "utf8"), Date.now());
  for (const file of files) {
    await importFiles(catalog, [file], manifest === undefined ? {} : { manifest });
    await catalog.pack(ALL);
  }
  await printSizes(database, "imported file by file");
}

async function main(dataDir: string): Promise<void> {
  const log = createLog("error");
  const database = await openDatabase({ url: values.url, dataDir, pool: 4, log });
  const modules = buildModules(database, { clock: systemClock, log });
  if (files.length === 0) await recordSynthetic(modules);
  else await importFilesOneByOne(modules);
  await updateDerived(modules);
  await printSizes(database, "with everything derived");
  if (values.url !== undefined) {
    // PostgreSQL keeps dead rows until a vacuum, and this run creates many.
    await sql`vacuum full`.execute(database.write);
    await printSizes(database, "after vacuum full");
  }
  await database.close();
}

/** Sizes in bytes on disk, with indexes. */
async function printSizes({ read, dialect }: Database, when: string): Promise<void> {
  const sizeOf = async (table: string) => {
    const query =
      values.url === undefined
        ? sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat where name = ${table}`
        : sql<{ bytes: number }>`select pg_total_relation_size(${table}) as bytes`;
    return Number((await query.execute(read)).rows[0]?.bytes ?? 0);
  };
  const { rows } = await sql<Record<"total" | "tail" | "blocks" | "repositories", number>>`
    select (select coalesce(sum(snapshots), 0) from snapshot_blocks) as total, (select count(*) from snapshots) as tail,
      (select count(*) from snapshot_blocks) as blocks, (select count(*) from repositories) as repositories`.execute(
    read,
  );
  const { total = 0, tail = 0, blocks = 0, repositories = 1 } = rows[0] ?? {};
  const bytes = (await sizeOf("snapshots")) + (await sizeOf("snapshot_blocks"));
  const count = Number(total) + Number(tail);
  const rest = (await dialect.size(read)) - bytes;
  print(
    `${dialect.engine}, ${when}: ${count} snapshots of ${repositories} repositories, ${tail} of them in tails and the others in ` +
      `${blocks} blocks: ${(bytes / count).toFixed(2)} bytes each; everything else ${(rest / Number(repositories)).toFixed(0)} bytes a repository`,
  );
}

const dataDir = mkdtempSync(join(tmpdir(), "sidereal-storage-"));
await main(dataDir).finally(() => rmSync(dataDir, { recursive: true, force: true }));
