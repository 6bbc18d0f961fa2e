/** Compares the gains of a service with those that awesome-go publishes, in the sample of days and windows that it has. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { manifestOf, unpackArchive } from "./archive.js";
import { readGains, WINDOWS } from "./lists.js";
import { correlation, medianError, type Pair } from "./ranked.js";
import { Service } from "./service.js";
import { print } from "./text.js";

const COLUMNS = {
  "24h": "new-stars-last-24H",
  "7d": "new-stars-last-7d",
  "30d": "new-stars-last-30d",
} as const;
/** Files before the first comparison: the longest window, and more. */
const FIRST = 40;
const TOP = 20;

/** Imports the archive into a service of its own and compares every n-th day. */
export async function compareAwesomeGo(
  { data, checkout, every }: { data: string; checkout: string; every: number },
  work: string,
): Promise<void> {
  const [dir, folder] = [join(work, "awesome-go"), join(work, "awesome-go-files")];
  for (const path of [dir, folder]) mkdirSync(path);
  const service = new Service(checkout, dir);
  const found = { "24h": emptyTally(), "7d": emptyTally(), "30d": emptyTally() };
  let waiting: string[] = [];
  for (const [i, { path }] of unpackArchive(data, "awesome-go", folder).entries()) {
    waiting.push(path);
    if (i < FIRST || i % every !== 0) continue;
    service.importFiles(waiting, manifestOf(data, "awesome-go"));
    waiting = [];
    const rows: Record<string, string>[] = parse(readFileSync(path), {
      columns: true,
      relax_column_count: true,
    });
    await service.serving(async (ask) => {
      for (const window of WINDOWS)
        compare(found[window], await readGains(ask, window), { rows, column: COLUMNS[window] });
    });
  }
  for (const window of WINDOWS) {
    const { pairs, shared } = found[window];
    const equal = pairs.filter(([ours, theirs]) => ours === theirs).length;
    const mean = shared.reduce((sum, value) => sum + value, 0) / shared.length;
    print(
      `awesome-go ${window}: ${pairs.length} pairs of ${shared.length} days, r ${correlation(pairs).toFixed(4)}, median error ${medianError(pairs)}, equal ${((100 * equal) / pairs.length).toFixed(1)} %, first ${TOP} shared ${mean.toFixed(1)}`,
    );
  }
}

interface Tally {
  pairs: Pair[];
  /** Names that the first 20 of both have in common, by day. */
  shared: number[];
}

function emptyTally(): Tally {
  return { pairs: [], shared: [] };
}

function compare(
  { pairs, shared }: Tally,
  gains: ReadonlyMap<string, number>,
  { rows, column }: { rows: readonly Record<string, string>[]; column: string },
): void {
  const both = rows.flatMap((row) => {
    const name = (row.repo ?? "").toLowerCase();
    const ours = gains.get(name);
    // 0 stars is how the source writes a failed fetch.
    return ours === undefined || row.stars === "0" ? [] : [{ name, ours, theirs: Number(row[column]) }];
  });
  const top = (key: "ours" | "theirs") =>
    new Set(
      both
        .toSorted((a, b) => b[key] - a[key] || (a.name < b.name ? -1 : 1))
        .slice(0, TOP)
        .map(({ name }) => name),
    );
  shared.push(top("ours").intersection(top("theirs")).size);
  for (const { ours, theirs } of both) pairs.push([ours, theirs]);
}
