/** Recording, import and derived data on each engine, and the memory that they take. Changes the stores. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackgroundReader } from "../../src/database/database.js";
import { buildIndex } from "../../src/discovery/lists/index/build.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { followChanges, type Modules } from "../../src/modules.js";
import { importFiles } from "../../src/transfer/import.js";
import { changedAt } from "../support/changes.js";
import { emptyStore, openStore, STORE_END, type Store } from "../support/stores.js";
import { type Taken, timeOf, writeFiles } from "../writes.js";
import type { ScalePlace, ScaleStore } from "./scale-store.js";

type Report = (line: string) => void;

interface Changed {
  /** Indexes of the generator. */
  from: number;
  to: number;
  at: number;
}

/** Repositories that the worker records in one transaction: those of one query. */
const TRACKED_TOGETHER = 100;
const TRACKED = 20_000;
const CHANGED = 10_000;
const TEN_MINUTES_MS = 600_000;

/** Elapsed time says little where others use the machine. The database server is not in it. */
const cpuOf = ({ cpu }: Taken) => `${cpu.toFixed(1)} s of CPU time of the process`;

/** Resident memory of this process now, in MB. */
const residentMb = () => Math.round(process.memoryUsage.rss() / 1e6);

/**
 * Records changes as the worker does, and updates derived data after 10,000 of them. `run`: another number for each run on a store,
 * from 1 to 60; it decides the time of the snapshots, which stays within the day of the newest ones.
 */
export async function measureTracking(store: ScaleStore, run: number, report: Report): Promise<void> {
  const modules = await openStore(store);
  try {
    await followChanges(modules, false);
    const at = STORE_END + 2 * run * TEN_MINUTES_MS;
    const tracked = Math.min(TRACKED, store.size);
    const recorded = await timeOf(() => record(modules, store, { from: CHANGED, to: tracked, at }));
    const rate = (tracked - CHANGED) / recorded.seconds;
    report(
      `${store.name}: ${rate.toFixed(0)} repositories/s recorded, ${TRACKED_TOGETHER} at a time (${cpuOf(recorded)})`,
    );
    await followChanges(modules, false);
    await record(modules, store, { from: 0, to: CHANGED, at: at + TEN_MINUTES_MS });
    const derived = await timeOf(() => followChanges(modules, false));
    report(
      `${store.name}: derived data after ${CHANGED} changes ${derived.seconds.toFixed(1)} s (${cpuOf(derived)})`,
    );
  } finally {
    await modules.database.close();
  }
}

async function record({ catalog }: Modules, store: Store, { from, to, at }: Changed): Promise<void> {
  for (let first = from; first < to; first += TRACKED_TOGETHER) {
    const count = Math.min(TRACKED_TOGETHER, to - first);
    await catalog.record(Array.from({ length: count }, (_, i) => changedAt(first + i, at, store)));
  }
}

/** Growth, ranks and facets of all repositories, as a rebuild computes them: after `measureTracking`, as it needs a change. */
export async function measureRankings(store: ScaleStore, report: Report): Promise<void> {
  const { rankings, database } = await openStore(store);
  try {
    let largest = 0;
    const all = await timeOf(() =>
      rankings.update({
        all: true,
        onProgress: () => {
          largest = Math.max(largest, residentMb());
        },
      }),
    );
    largest = Math.max(largest, residentMb());
    report(
      `${store.name}: full rankings of ${store.size} repositories ${all.seconds.toFixed(1)} s (${cpuOf(all)}), up to ${largest} MB`,
    );
  } finally {
    await database.close();
  }
}

/** Building the list index, as the thread of a `serve` process does. */
export async function measureListIndex(store: ScaleStore, report: Report): Promise<void> {
  const log = createLog("error");
  const source = openBackgroundReader({ url: store.url, dataDir: store.dataDir, log });
  let bytes = 0;
  const built = await timeOf(async () => {
    const options = { source, maxBytes: Number.POSITIVE_INFINITY, clock: systemClock, send: () => {} };
    const index = await buildIndex(options);
    if (index.problem !== undefined) throw new Error(index.problem);
    bytes = index.bytes;
  });
  await source.close();
  report(
    `${store.name}: list index ${built.seconds.toFixed(1)} s (${cpuOf(built)}), ${(bytes / 1e6).toFixed(0)} MB, process ${residentMb()} MB`,
  );
}

/** Imports daily CSV files into an empty store of each engine. */
export async function measureImport(
  stores: readonly ScaleStore[],
  { repositories, days }: { repositories: number; days: number },
  { report }: ScalePlace,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-scale-csv-"));
  try {
    const files = writeFiles(folder, { size: repositories, days });
    for (const store of stores) {
      const empty = await emptyStore(store);
      const { catalog, database } = await openStore(empty);
      let rows = 0;
      const paths = files.map(({ path }) => path);
      const imported = await timeOf(async () => {
        const { rows: read, refused } = await importFiles(catalog, paths);
        if (refused > 0) throw new Error(`${refused} rows were refused`);
        rows = read;
      });
      await database.close();
      await empty.remove();
      report(
        `${store.name}: import of ${rows} rows, ${repositories} repositories and ${days} days: ${(rows / imported.seconds).toFixed(0)} rows/s (${cpuOf(imported)})`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
