/**
 * The whole catalogue as a folder for git: lines of Sidereal's own format, sorted, in files that grow at their ends. A reading that repeats
 * the one before it is left out, so that a day without change changes no byte. Lines name their repositories, so any merge that keeps the
 * lines of both sides is right; duplicates go with the next writing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../lib/clock.js";
import type { DumpedRepository, Snapshot } from "../repositories/repositories.js";
import { headerLine, namedSnapshotLine, repositoryLine } from "./ndjson.js";
import { type DumpedCatalog, dumpPages } from "./parquet.js";

const REPOSITORIES = "repositories.ndjson";
const SNAPSHOTS = "snapshots";
/** `2026-04-observed.ndjson` */
const MONTH = /^\d{4}-\d{2}-[a-z]+\.ndjson$/;
const ATTRIBUTES = ".gitattributes";

/** The files of the folder in the order in which they are imported; none if there is no such folder. */
export function stateFiles(folder: string): string[] {
  const months = join(folder, SNAPSHOTS);
  const names = existsSync(months) ? readdirSync(months).filter((name) => MONTH.test(name)) : [];
  const first = join(folder, REPOSITORIES);
  return [...(existsSync(first) ? [first] : []), ...names.sort().map((name) => join(months, name))];
}

interface StateOptions {
  /** Readings from this time on (ms since 1970) are left out if they repeat the one before. */
  since: number;
  /** Repositories whose star history is not complete; what there is of it is left out, so that it is read again. */
  withoutHistory: ReadonlySet<number>;
}

/** Writes the folder. Returns whether anything in it has changed. */
export async function writeState(
  catalog: Pick<DumpedCatalog, "dump">,
  folder: string,
  options: StateOptions,
): Promise<boolean> {
  const repositories: string[] = [];
  const months = new Map<string, { at: number; line: string }[]>();
  for await (const page of dumpPages(catalog))
    for (const dumped of page) {
      // The snapshots say when it was seen; a time of its own would change with each reading.
      repositories.push(repositoryLine(dumped, { isTimed: false }));
      for (const snapshot of keptOf(dumped, options)) {
        const { capturedAt: at, source } = snapshot;
        const name = `${isoTime(at).slice(0, 7)}-${source.toLowerCase()}.ndjson`;
        const month = months.get(name) ?? [];
        month.push({ at, line: namedSnapshotLine(dumped, snapshot) });
        months.set(name, month);
      }
    }
  const files = new Map([
    [REPOSITORIES, textOf(repositories)],
    // Both sides have added lines at the end.
    [ATTRIBUTES, "*.ndjson merge=union\n"],
    ...[...months].map(([name, lines]): [string, string] => [join(SNAPSHOTS, name), sorted(lines)]),
  ]);
  mkdirSync(join(folder, SNAPSHOTS), { recursive: true });
  let isChanged = false;
  for (const [name, text] of files) {
    const path = join(folder, name);
    if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
    writeFileSync(path, text);
    isChanged = true;
  }
  for (const path of stateFiles(folder).filter(
    (one) => ![...files.keys()].some((name) => one === join(folder, name)),
  )) {
    rmSync(path);
    isChanged = true;
  }
  return isChanged;
}

const textOf = (lines: readonly string[]): string => `${[headerLine(), ...lines].join("\n")}\n`;

/** By time, then by text. */
function sorted(lines: { at: number; line: string }[]): string {
  lines.sort((a, b) => a.at - b.at || (a.line < b.line ? -1 : 1));
  return textOf(lines.map(({ line }) => line));
}

function keptOf(
  { repository, snapshots }: DumpedRepository,
  { since, withoutHistory }: StateOptions,
): Snapshot[] {
  const kept: Snapshot[] = [];
  let last: Snapshot | undefined;
  for (const snapshot of snapshots) {
    const isHistory = snapshot.source === "BACKFILLED";
    if (isHistory && withoutHistory.has(repository.id)) continue;
    if (!isHistory) {
      if (snapshot.capturedAt >= since && last !== undefined && isSame(snapshot, last)) continue;
      last = snapshot;
    }
    kept.push(snapshot);
  }
  return kept;
}

const isSame = (a: Snapshot, b: Snapshot): boolean =>
  a.stars === b.stars && a.forks === b.forks && a.openIssues === b.openIssues && a.watchers === b.watchers;
