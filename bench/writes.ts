/** Import against a bare loop of prepared statements, and the time that derived data take. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAY_MS, HOUR_MS } from "../src/lib/clock.js";
import { followChanges } from "../src/modules.js";
import { outdateAll } from "../src/repositories/repositories.js";
import { importFiles } from "../src/transfer/import.js";
import { type DatedFile, importBare } from "./rivals/bare-import.js";
import { changedAt } from "./support/changes.js";
import { absoluteRow, type BenchContext, type ResultRow, ratioRow } from "./support/results.js";
import { interleave } from "./support/statistics.js";
import {
  copyStore,
  emptyStore,
  generatorOptions,
  openStore,
  STORE_END,
  type Store,
} from "./support/stores.js";
import { syntheticRepository } from "./synthetic/synthetic.js";

/** Repositories and days of the imported files. A day has more than a batch, so that days of a repository are not merged. */
const IMPORTED = 40_000;
const DAYS = 2;
const CHANGED = 10_000;

export async function measureWrites(context: BenchContext): Promise<ResultRow[]> {
  return [...(await measureImport(context)), ...(await measureDerived(context))];
}

interface Taken {
  seconds: number;
  /** CPU time of this process, in seconds. */
  cpu: number;
}

/** Runs work that this process does, and measures it. */
async function timeOf(work: () => Promise<unknown>): Promise<Taken> {
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds: (performance.now() - began) / 1_000, cpu: (user + system) / 1e6 };
}

/** Elapsed time says little where others use the machine. */
const cpuNote = ({ cpu }: Taken): string => `${cpu.toFixed(2)} s of CPU time`;

/** Writes daily files in the layout of the ranking archive. */
function writeFiles(folder: string): DatedFile[] {
  const options = generatorOptions({ size: IMPORTED, days: DAYS });
  const cell = (value: string | number | null | undefined) =>
    `"${String(value ?? "").replaceAll('"', '""')}"`;
  const files: string[][] = Array.from({ length: DAYS }, () => []);
  for (let i = 0; i < IMPORTED; i++) {
    const { owner, name, facts, snapshots } = syntheticRepository(i, options);
    if (owner.includes("/")) continue;
    const pushed = new Date(facts.pushedAt ?? 0).toISOString().replace(/\.\d+Z$/, "Z");
    for (const [day, { stars, forks, openIssues }] of [...snapshots].entries())
      files[day]?.push(
        `"top-100-stars",${stars},${forks ?? ""},${cell(facts.language)},"https://github.com/${owner}/${name}",${openIssues ?? 0},${pushed},${cell(facts.description)}`,
      );
  }
  return files.map((lines, day) => {
    const capturedAt = STORE_END - (DAYS - 1 - day) * DAY_MS;
    const path = join(folder, `github-ranking-${new Date(capturedAt).toISOString().slice(0, 10)}.csv`);
    const header = "item,stars,forks,language,repo_url,issues,last_commit,description";
    writeFileSync(path, `${[header, ...lines].join("\n")}\n`);
    return { path, capturedAt };
  });
}

async function measureImport({ store, rounds, report }: BenchContext): Promise<ResultRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-bench-csv-"));
  try {
    const files = writeFiles(folder);
    const rows: number[] = [];
    const inEmptyStore = async (work: (empty: Store) => Promise<number>) => {
      const empty = await emptyStore(store);
      try {
        await (await openStore(empty)).database.close();
        return await work(empty);
      } finally {
        await empty.remove();
      }
    };
    const values = await interleave(rounds, {
      sidereal: () =>
        inEmptyStore(async (empty) => {
          const { catalog, database } = await openStore(empty);
          const paths = files.map(({ path }) => path);
          let imported = 0;
          const { seconds } = await timeOf(async () => {
            const { rows, refused } = await importFiles(catalog, paths);
            if (refused > 0) throw new Error(`${refused} rows were refused`);
            imported = rows;
          });
          await database.close();
          rows.push(imported);
          return imported / seconds;
        }),
      bare: () =>
        inEmptyStore(async (empty) => {
          const { seconds } = await timeOf(() => importBare(empty, files));
          return (rows[0] ?? 1) / seconds;
        }),
    });
    report("import is compared with a bare loop");
    return [
      ratioRow(
        {
          measure: "import of daily CSV files",
          unit: "rows/s",
          store: { ...store, size: IMPORTED },
          target: { atLeast: 0.5 },
        },
        values.sidereal,
        { name: "bare prepared statements", values: values.bare },
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureDerived({ store, report }: BenchContext): Promise<ResultRow[]> {
  const copy = await copyStore(store);
  const { rankings, catalog, database, ...modules } = await openStore(copy);
  try {
    const changed = Math.min(CHANGED, store.size);
    const change = async (count: number, at: number) => {
      for (let from = 0; from < count; from += 1_000)
        await catalog.record(
          Array.from({ length: Math.min(1_000, count - from) }, (_, i) => changedAt(from + i, at, store)),
        );
    };
    await change(changed, STORE_END + HOUR_MS);
    const after = await timeOf(() => followChanges({ ...modules, rankings, catalog, database }));
    report(`derived data after ${changed} changes took ${after.seconds.toFixed(2)} s, ${cpuNote(after)}`);
    await database.write.transaction().execute((tx) => outdateAll(tx, database.dialect));
    const all = await timeOf(() => rankings.update());
    report(`full rankings took ${all.seconds.toFixed(1)} s, ${cpuNote(all)}`);
    return [
      absoluteRow(
        {
          measure: `growth of all, ${store.days} days`,
          unit: "s",
          store,
          target: { atMost: 45 },
          note: cpuNote(all),
        },
        [all.seconds],
      ),
      absoluteRow(
        {
          measure: `growth after ${changed.toLocaleString("en-US")} changes`,
          unit: "s",
          store,
          target: { atMost: 1.5 },
          note: cpuNote(after),
        },
        [after.seconds],
      ),
    ];
  } finally {
    await database.close();
    await copy.remove();
  }
}
