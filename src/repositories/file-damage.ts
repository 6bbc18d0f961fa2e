import { isoTime } from "../lib/clock.js";
import type { DamageKind } from "./record-rules.js";
import { median } from "./series.js";

/** Damage of a file, with the numbers that show it. */
export interface Damage {
  kind: DamageKind;
  reason: string;
}

/** A file of an archive, as an import has read it. */
export interface ArchiveFile {
  /** The archive, by the name of its layout. */
  source: string;
  /** Its name, without folders and the suffix of its compression. */
  file: string;
  /** The time of its newest row. */
  capturedAt: number;
  /** Rows that could be read. */
  rows: number;
  /** Rows with 0 stars or 0 forks. */
  zeros: number;
  damage: readonly Damage[];
}

/** Kinds that depend on the other files of the archive, so that each new file may change them. */
const COMPARED: ReadonlySet<DamageKind> = new Set(["FEW_ROWS", "ZEROS", "SAME_TIME"]);
/** Kinds of damage after which the number of rows says nothing about the archive. */
const INCOMPLETE: ReadonlySet<DamageKind> = new Set(["CUT_OFF", "UNREADABLE", "HEADER_ONLY"]);

/** Kinds for which a file is held back, waiting or withdrawn: none of its rows is recorded. */
const HELD_BACK: ReadonlySet<DamageKind> = new Set(["CONFLICTS", "REPEATED", "OLDER", "JUMPS"]);

/** Whether none of the rows of a file is recorded, until the next file or an operator accepts it. */
export function isHeldBack({ damage }: Pick<ArchiveFile, "damage">): boolean {
  return damage.some(({ kind }) => HELD_BACK.has(kind));
}

/** The damage for which a file is not held back. */
export function ownDamage({ damage }: Pick<ArchiveFile, "damage">): Damage[] {
  return damage.filter(({ kind }) => !HELD_BACK.has(kind));
}

/** Files on each side that a file is compared with. */
const NEIGHBOURS = 5;
/** A file with less than this part of the usual number of rows is short. */
const USUAL_PART = 0.9;
/** Fewer missing rows, or rows with a count of 0, are no sign of damage: in a small archive each row is a large part. */
const FEWEST = 5;
/** This many consecutive files of about the same length are not short: the archive has changed. */
const NORMAL_RUN = 3;
/** Largest part of rows with a count of 0 beyond the usual part. */
const ZERO_PART = 0.05;

export function byTime(a: ArchiveFile, b: ArchiveFile): number {
  return a.capturedAt - b.capturedAt || (a.file < b.file ? -1 : 1);
}

/**
 * The damage of each file of one archive, given in the order of their times: found in the file, or by comparison with the
 * others, without those that are held back. Depends on nothing but the files, so the order in which they were imported does not
 * matter.
 */
export function judge(files: readonly ArchiveFile[]): (readonly Damage[])[] {
  const recorded = files.filter((file) => !isHeldBack(file));
  const judged = new Map(judgeRecorded(recorded).map((damage, i) => [recorded[i], damage]));
  return files.map((file) => judged.get(file) ?? file.damage);
}

function judgeRecorded(files: readonly ArchiveFile[]): Damage[][] {
  const own = files.map(({ damage }) => damage.filter(({ kind }) => !COMPARED.has(kind)));
  const complete = files.filter((_, i) => !own[i]?.some(({ kind }) => INCOMPLETE.has(kind)));
  const sameTime = new Map(
    [...Map.groupBy(files, (file) => file.capturedAt)].map(([at, all]) => [at, sharedTime(at, all)]),
  );
  let before = 0;
  return files.map((file, i) => {
    const isComplete = complete[before] === file;
    const after = isComplete ? before + 1 : before;
    const neighbours = [
      ...complete.slice(Math.max(0, before - NEIGHBOURS), before),
      ...complete.slice(after, after + NEIGHBOURS),
    ];
    const isNormal = isComplete && runLength(complete, before) >= NORMAL_RUN;
    if (isComplete) before++;
    return [
      ...(own[i] ?? []),
      ...(isNormal ? [] : fewRows(file, neighbours)),
      ...zeros(file, neighbours),
      ...(sameTime.get(file.capturedAt) ?? []),
    ];
  });
}

function fewRows({ rows }: ArchiveFile, neighbours: readonly ArchiveFile[]): Damage[] {
  const usual = median(neighbours.map((file) => file.rows));
  if (neighbours.length === 0 || rows === 0) return [];
  if (rows >= USUAL_PART * usual || usual - rows < FEWEST) return [];
  const fewer = Math.round(100 * (1 - rows / usual));
  const reason = `${number(rows)} rows, ${fewer} % fewer than the usual ${number(Math.round(usual))}`;
  return [{ kind: "FEW_ROWS", reason }];
}

function zeros(file: ArchiveFile, neighbours: readonly ArchiveFile[]): Damage[] {
  const parts = neighbours.filter(({ rows }) => rows > 0).map(zeroPart);
  const usual = median(parts);
  if (parts.length === 0 || zeroPart(file) <= usual + ZERO_PART) return [];
  if (file.zeros - usual * file.rows < FEWEST) return [];
  const part = Math.round(100 * zeroPart(file));
  const reason = `0 stars or forks in ${number(file.zeros)} of ${number(file.rows)} rows (${part} %), usually in ${Math.round(100 * usual)} %`;
  return [{ kind: "ZEROS", reason }];
}

const zeroPart = ({ rows, zeros }: ArchiveFile): number => (rows === 0 ? 0 : zeros / rows);

function sharedTime(at: number, files: readonly ArchiveFile[]): Damage[] {
  if (files.length < 2) return [];
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const reason = `${number(files.length)} files have the time ${isoTime(at)}; of their ${number(rows)} rows only the first of each repository is kept`;
  return [{ kind: "SAME_TIME", reason }];
}

/** Number of consecutive files, with this one, that are about as long as it; at most about NORMAL_RUN are counted. */
function runLength(files: readonly ArchiveFile[], index: number): number {
  const rows = files[index]?.rows ?? 0;
  const isAlike = (i: number) => {
    const other = files[i]?.rows ?? 0;
    return Math.min(rows, other) >= USUAL_PART * Math.max(rows, other) && other > 0;
  };
  let length = 1;
  for (let i = index - 1; length < NORMAL_RUN && isAlike(i); i--) length++;
  for (let i = index + 1; length < NORMAL_RUN && isAlike(i); i++) length++;
  return length;
}

const number = (value: number): string => value.toLocaleString("en-US");
