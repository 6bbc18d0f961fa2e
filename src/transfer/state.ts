/**
 * The whole catalogue as a folder for git: lines of Sidereal's own format, sorted, in files that grow at their ends. All counts that a run
 * has read are one line, also those that repeat the ones before: a day without a line was not read. A star history is a line a year. Lines
 * name their repositories, so any merge that keeps the lines of both sides is right; duplicates go with the next writing.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../lib/clock.js";
import { PARTIAL, replaceFile } from "../lib/replace-file.js";
import type { Catalog, DumpedRepository, Snapshot } from "../repositories/repositories.js";
import { dumpPages } from "./export.js";
import { headerLine, type LinePart, linesOf, partsOf, repositoryLine, yearOf } from "./ndjson.js";

const REPOSITORIES = "repositories.ndjson";
const SNAPSHOTS = "snapshots";
/**
 * `observed-2026-04.ndjson` and `backfilled-2026.ndjson`, or as earlier versions named them: `backfilled-2026-04.ndjson`,
 * `2026-04-observed.ndjson`. git compares a file with those that end in the same 16 characters: as names end in the time, these are its
 * own versions, and a year takes a quarter.
 */
const SNAPSHOT_FILE = /^(?:[a-z]+-\d{4}(?:-\d{2})?|\d{4}-\d{2}-[a-z]+)\.ndjson$/;
const ATTRIBUTES = ".gitattributes";

/** The files of the folder in the order in which they are imported; none if there is no such folder. */
export function stateFiles(folder: string): string[] {
  const snapshots = join(folder, SNAPSHOTS);
  const names = existsSync(snapshots)
    ? readdirSync(snapshots).filter((name) => SNAPSHOT_FILE.test(name))
    : [];
  const first = join(folder, REPOSITORIES);
  return [...(existsSync(first) ? [first] : []), ...names.sort().map((name) => join(snapshots, name))];
}

/**
 * Writes the folder; each file is replaced as a whole. Returns whether it says anything new: other facts, other counts since `since` (ms
 * since 1970), or more of a star history, but not that counts were read again and are the same.
 */
export async function writeState(
  catalog: Pick<Catalog, "dump">,
  folder: string,
  since = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const snapshots = join(folder, SNAPSHOTS);
  mkdirSync(snapshots, { recursive: true });
  const found = readdirSync(snapshots);
  const unwanted = new Set(found.filter((name) => SNAPSHOT_FILE.test(name)));
  // A run that was killed leaves some. Other files in the folder are not ours to delete.
  for (const name of found)
    if (name.endsWith(PARTIAL) && SNAPSHOT_FILE.test(name.slice(0, -PARTIAL.length)))
      rmSync(join(snapshots, name));
  const repositories: string[] = [];
  const written = new Set<string>();
  let isNews = false;
  for await (const page of dumpPages(catalog)) {
    // A file has counts of all repositories, which together are too many to hold.
    const added = new Map<string, string>();
    for (const dumped of page) {
      // The snapshots say when it was seen; a time of its own would change with each reading.
      repositories.push(repositoryLine(dumped, { isTimed: false }));
      const kept = { ...dumped, snapshots: withoutRepeated(dumped.snapshots, since) };
      isNews ||= hasOtherCounts(kept, since);
      for (const { snapshot, head, entry } of partsOf(kept)) {
        const name = fileOf(snapshot);
        added.set(name, `${added.get(name) ?? ""}${head}\t${entry}\n`);
      }
    }
    for (const [name, parts] of added) {
      appendFileSync(join(snapshots, name + PARTIAL), parts);
      written.add(name);
      unwanted.delete(name);
    }
  }
  isNews = replaceFile(join(folder, REPOSITORIES), textOf(repositories)) || isNews;
  // Both sides have added lines at the end.
  replaceFile(join(folder, ATTRIBUTES), "*.ndjson merge=union\n");
  // Of a history, the line that says that it is whole comes last.
  for (const name of [...written].sort().reverse()) {
    const path = join(snapshots, name);
    const isOther = replaceFile(path, textOf(linesOf(readParts(path + PARTIAL))));
    isNews ||= isOther && name.startsWith(HISTORY);
    rmSync(path + PARTIAL, { force: true });
  }
  for (const name of unwanted) rmSync(join(snapshots, name));
  return isNews;
}

const HISTORY = "backfilled-";

/** A month of counts that were read then; a year of a star history, which is read at one time and does not change. */
function fileOf(snapshot: Snapshot): string {
  const { capturedAt, source } = snapshot;
  const time = source === "BACKFILLED" ? yearOf(snapshot) : isoTime(capturedAt).slice(0, 7);
  return `${source.toLowerCase()}-${time}.ndjson`;
}

/** Sorted, so by time or by repository. */
function readParts(path: string): LinePart[] {
  const parts = readFileSync(path, "utf8").trimEnd().split("\n").sort();
  return parts.map((part) => {
    const end = part.indexOf("\t");
    return { head: part.slice(0, end), entry: part.slice(end + 1) };
  });
}

const textOf = (lines: readonly string[]): string => `${[headerLine(), ...lines].join("\n")}\n`;

/** Equal counts within this time are one reading: somebody has started a run twice. */
const REPEATED_MS = 30 * 60_000;

function withoutRepeated(snapshots: readonly Snapshot[], since: number): Snapshot[] {
  let before: Snapshot | undefined;
  return snapshots.filter((one) => {
    if (one.source === "BACKFILLED") return true;
    const isRepeated =
      one.capturedAt >= since &&
      before !== undefined &&
      one.capturedAt - before.capturedAt < REPEATED_MS &&
      isSame(one, before);
    if (!isRepeated) before = one;
    return !isRepeated;
  });
}

/** Whether the last counts were read since a time, and are not those before them. */
function hasOtherCounts({ snapshots }: DumpedRepository, since: number): boolean {
  const [before, last] = snapshots.filter(({ source }) => source !== "BACKFILLED").slice(-2);
  const newest = last ?? before;
  if (newest === undefined || newest.capturedAt < since) return false;
  return before === undefined || last === undefined || !isSame(before, last);
}

const isSame = (a: Snapshot, b: Snapshot): boolean =>
  a.stars === b.stars && a.forks === b.forks && a.openIssues === b.openIssues && a.watchers === b.watchers;
