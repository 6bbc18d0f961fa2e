/**
 * Measures the rank history: `npm run -s build && node dist/bench/rank-history.js [--manifest MANIFEST FILES…]`. Records the
 * files day by day (synthetic repositories without files), updates the rankings after each day, and prints the size of a day.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { openDatabase } from "../src/database/database.js";
import { DAY_MS, systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, type Modules } from "../src/modules.js";
import { importFiles } from "../src/transfer/import.js";
import { readManifest } from "../src/transfer/transfer.js";
import { syntheticRepository } from "./synthetic/synthetic.js";

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    manifest: { type: "string" },
    repositories: { type: "string", default: "20000" },
    days: { type: "string", default: "40" },
  },
});
const END = Date.UTC(2026, 3, 30, 12);
const BATCH = 1_000;

async function recordSynthetic({ catalog, rankings }: Modules): Promise<void> {
  const [repositories, days] = [Number(values.repositories), Number(values.days)];
  const all = Array.from({ length: repositories }, (_, i) => {
    const repository = syntheticRepository(i, { repositories, days, seed: 1, end: END });
    return { repository, snapshots: [...repository.snapshots] };
  });
  for (let end = END - (days - 1.5) * DAY_MS; end < END + DAY_MS; end += DAY_MS) {
    for (let from = 0; from < repositories; from += BATCH) {
      const batch = all.slice(from, from + BATCH).flatMap(({ repository, snapshots }) => {
        const ofDay = snapshots.filter(({ capturedAt }) => capturedAt >= end - DAY_MS && capturedAt < end);
        const { stars, forks } = ofDay.at(-1) ?? {};
        if (stars === undefined) return [];
        const facts = { ...repository.facts, stars, ...(forks === undefined ? {} : { forks }) };
        return [{ ...repository, at: end, facts, snapshots: ofDay }];
      });
      await catalog.record(batch);
    }
    await rankings.update({ all: true });
  }
}

async function main(dataDir: string): Promise<void> {
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  const modules = buildModules(database, { clock: systemClock, log });
  if (files.length === 0) await recordSynthetic(modules);
  const manifest =
    values.manifest === undefined
      ? undefined
      : readManifest(readFileSync(values.manifest, "utf8"), Date.now());
  for (const file of files) {
    await importFiles(modules.catalog, [file], manifest === undefined ? {} : { manifest });
    await modules.rankings.update({ all: true });
  }
  const { rows } = await sql<Record<"days" | "histories" | "ranks" | "bytes", number>>`
    select count(distinct day) as days, count(*) as histories, sum(length(ranks)) as bytes,
      sum(1 + length(ranks) - length(replace(ranks, ',', ''))) as ranks
    from rank_history where day > (select max(day) - 20 from rank_history)`.execute(database.read);
  const { days = 0, histories = 0, ranks = 0, bytes = 0 } = rows[0] ?? {};
  const stored = await sql<{ bytes: number; total: number }>`select sum(pgsize) as bytes,
    (select count(*) from rank_history) as total from dbstat where name like 'rank_history%'`
    .execute(database.read)
    .catch(() => undefined);
  const perRow = stored?.rows[0] === undefined ? undefined : stored.rows[0].bytes / stored.rows[0].total;
  process.stdout.write(
    `${((await modules.rankings.summary()).repositories).toLocaleString("en")} repositories, last ${days} days: ` +
      `${Math.round(ranks / days)} ranks a day in ${Math.round(histories / days)} rows of ${(bytes / histories).toFixed(0)} characters` +
      `${perRow === undefined ? "" : `, ${perRow.toFixed(0)} bytes a row on disk with the index`}\n`,
  );
  const unpacked = await sql<{ total: number }>`select count(*) as total from rank_history`.execute(
    database.read,
  );
  await modules.rankings.pack(Number.MAX_SAFE_INTEGER);
  const packed = await sql<{
    bytes: number;
  }>`select sum(pgsize) as bytes from dbstat where name like 'rank_blocks%'`
    .execute(database.read)
    .catch(() => undefined);
  const [bytesPacked, total] = [packed?.rows[0]?.bytes ?? 0, unpacked.rows[0]?.total ?? 1];
  process.stdout.write(
    `packed: ${(bytesPacked / total).toFixed(1)} bytes a day of a repository, with the index\n`,
  );
  await database.close();
}

const dataDir = mkdtempSync(join(tmpdir(), "sidereal-rank-history-"));
await main(dataDir).finally(() => rmSync(dataDir, { recursive: true, force: true }));
