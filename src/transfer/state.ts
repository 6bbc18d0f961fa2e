/**
 * The whole catalogue as a folder for git: lines of Sidereal's own format, sorted, in files that grow at their ends. A reading that repeats
 * the one before it is left out, so that a day without change changes no byte. Lines name their repositories, so any merge that keeps the
 * lines of both sides is right; duplicates go with the next writing.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../lib/clock.js";
import { PARTIAL, replaceFile } from "../lib/replace-file.js";
import type { Catalog, DumpedRepository, Snapshot } from "../repositories/repositories.js";
import { dumpPages } from "./export.js";
import { headerLine, namedSnapshotLine, repositoryLine } from "./ndjson.js";

const REPOSITORIES = "repositories.ndjson";
const SNAPSHOTS = "snapshots";
/**
 * `observed-2026-04.ndjson`, or the other way round in states of earlier versions. git compares a file with those that end in the same 16
 * characters: as names end in the month, these are its own versions, and a year takes a quarter.
 */
const MONTH = /^(?:[a-z]+-\d{4}-\d{2}|\d{4}-\d{2}-[a-z]+)\.ndjson$/;
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

/** Writes the folder; each file is replaced as a whole. Returns whether anything in it has changed. */
export async function writeState(
  catalog: Pick<Catalog, "dump">,
  folder: string,
  options: StateOptions,
): Promise<boolean> {
  const snapshots = join(folder, SNAPSHOTS);
  mkdirSync(snapshots, { recursive: true });
  const found = readdirSync(snapshots);
  const unwanted = new Set(found.filter((name) => MONTH.test(name)));
  // A run that was killed leaves some. Other files in the folder are not ours to delete.
  for (const name of found)
    if (name.endsWith(PARTIAL) && MONTH.test(name.slice(0, -PARTIAL.length))) rmSync(join(snapshots, name));
  const repositories: string[] = [];
  const months = new Set<string>();
  for await (const page of dumpPages(catalog)) {
    // A month has lines of all repositories, which together are too many to hold.
    const added = new Map<string, string>();
    for (const dumped of page) {
      // The snapshots say when it was seen; a time of its own would change with each reading.
      repositories.push(repositoryLine(dumped, { isTimed: false }));
      for (const snapshot of keptOf(dumped, options)) {
        const time = isoTime(snapshot.capturedAt);
        const name = `${snapshot.source.toLowerCase()}-${time.slice(0, 7)}.ndjson`;
        const lines = added.get(name) ?? "";
        added.set(name, `${lines}${time}\t${namedSnapshotLine(dumped, snapshot)}\n`);
      }
    }
    for (const [name, lines] of added) {
      appendFileSync(join(snapshots, name + PARTIAL), lines);
      months.add(name);
      unwanted.delete(name);
    }
  }
  let isChanged = unwanted.size > 0;
  const write = (path: string, text: string) => {
    isChanged = replaceFile(path, text) || isChanged;
  };
  write(join(folder, REPOSITORIES), textOf(repositories));
  // Both sides have added lines at the end.
  write(join(folder, ATTRIBUTES), "*.ndjson merge=union\n");
  for (const name of months) {
    const path = join(snapshots, name);
    // By time, then by text.
    const lines = readFileSync(path + PARTIAL, "utf8")
      .trimEnd()
      .split("\n")
      .sort();
    write(path, textOf(lines.map((line) => line.slice(line.indexOf("\t") + 1))));
    rmSync(path + PARTIAL, { force: true });
  }
  for (const name of unwanted) rmSync(join(snapshots, name));
  return isChanged;
}

const textOf = (lines: readonly string[]): string => `${[headerLine(), ...lines].join("\n")}\n`;

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
