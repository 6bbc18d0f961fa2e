/**
 * Suspected renames: names of archives without ids that seem to continue as others. Owns the table `renames`. Both repositories
 * stay what they are until an operator accepts a rename; until then the earlier name is not listed, and the later one has its
 * growth. Detection is here; `decide.ts` does what the operator decides.
 */

import type { Database, Db, Dialect, Tx } from "../../database/database.js";
import { type Clock, DAY_MS } from "../../lib/clock.js";
import type { Readings } from "../snapshots/snapshots.js";
import { continues } from "./likeness.js";
import { type Candidate, chooseRenames, Endings } from "./match.js";
import { countsAt, readInChunks, readPaces, selectNames, withFirstCounts } from "./names.js";
import {
  type RenameReport,
  readHeld,
  replaceSuspicions,
  type Suspicion,
  withdrawContradicted,
} from "./store.js";

export { decideRename, RENAME_DECISIONS, type RenameDecision } from "./decide.js";
export {
  describeEvidence,
  RENAME_STATUSES,
  type Rename,
  type RenamedRepository,
  type RenameEvidence,
  RenameReader,
  type RenameStatus,
  readPredecessors,
  readRenames,
  renamesColumn,
} from "./read.js";
export type { RenameReport } from "./store.js";

/**
 * Suspects names that end where others begin, in archives without ids, and withdraws suspicions that newer files contradict.
 * Looks at the files that were imported since the last detection, one transaction per file; the cost follows the names that
 * begin or end there. May be killed: the next detection then looks at the same files.
 */
export async function detectRenames(database: Database, clock: Clock): Promise<RenameReport> {
  const { write, dialect } = database;
  const report: RenameReport = { suspected: 0, withdrawn: 0 };
  const sources = await write.selectFrom("import_files").select("source").distinct().execute();
  if (sources.length === 0) return report;
  const inTransaction = async (work: (tx: Tx) => Promise<RenameReport>) => {
    const { suspected, withdrawn } = await dialect.exclusively(write, "catalogue", work);
    report.suspected += suspected;
    report.withdrawn += withdrawn;
  };
  await inTransaction((tx) => withdrawContradicted(tx, dialect));
  for (const { source } of sources) {
    const files = await readSequence(write, source);
    if (files === undefined) continue;
    const step = { now: clock.now(), source, times: files.times };
    for (let index = files.from; index <= files.to; index++)
      await inTransaction((tx) => detectAt(tx, database, { ...step, index }));
    await inTransaction((tx) => suspectReturns(tx, dialect, { ...step, index: files.from }));
    await dialect.exclusively(write, "catalogue", (tx) => setSeen(tx, source, files.importedAt));
  }
  return report;
}

/** Brings the suspicions about the names that begin in one file up to date. */
async function detectAt(
  tx: Tx,
  { dialect }: Pick<Database, "dialect">,
  { now, source, times, index }: Step,
): Promise<RenameReport> {
  const [before = 0, at = 0] = times.slice(index - 1, index + 1);
  const span = { from: before + 1, until: at };
  const begun = await selectNames(tx, dialect, { source, first: span });
  if (begun.length === 0) return { suspected: 0, withdrawn: 0 };
  const last = { from: times[Math.max(0, index - MAX_FILES_APART)] ?? 0, until: at - 1 };
  const descriptions = begun.flatMap(({ description }) => description ?? []);
  const ended = [
    ...(await selectNames(tx, dialect, { source, last, withoutId: true })),
    // Renamed while the lists of this file were fetched.
    ...(await selectNames(tx, dialect, {
      source,
      last: { from: at, until: at },
      withoutId: true,
      alike: { descriptions },
    })),
  ];
  const held = await readHeld(tx, dialect, { begun, ended });
  const endings = new Endings(ended.filter(({ id }) => !held.isTaken(id)));
  const names = begun.filter((name) => !held.isDecided(name.id) && endings.hasLike(name));
  const beginnings = await withFirstCounts(tx, dialect, { names, span });
  const candidates = beginnings
    .flatMap((beginning) => endings.candidatesOf(beginning))
    .filter(({ from, to }) => !held.isRejected({ fromId: from.id, toId: to.id }));
  const endingsFound = candidates.map(({ from }) => from);
  const chosen = chooseRenames(candidates, await readPaces(tx, dialect, endingsFound));
  const found = chosen.map((candidate) => suspicionOf(candidate, { source, isReturn: false }));
  return replaceSuspicions(tx, dialect, { now, held: held.suspicions, found });
}

function suspicionOf(
  { from, to, likeness }: Candidate,
  { source, isReturn }: { source: string; isReturn: boolean },
): Suspicion {
  const evidence = { source, from: from.last, to: to.first, ...likeness, isReturn };
  return { fromId: from.id, toId: to.id, evidence };
}

/** Longest use of a name that was given up again. */
const MAX_DAYS = 30;

/**
 * Suspects names that were in use for a short time and given up for the name before: that one pauses exactly while they are
 * there. Looks at names that ended in the files from `index` on, and reads the names of the archive once if there are any.
 */
async function suspectReturns(tx: Tx, dialect: Dialect, step: Step): Promise<RenameReport> {
  const { now, source, times, index } = step;
  const newest = times.at(-1) ?? 0;
  const last = { from: times[index - 1] ?? newest, until: newest - 1 };
  const first = { from: (times[0] ?? 0) + 1, until: newest };
  const ended = (await selectNames(tx, dialect, { source, first, last, withoutId: true })).filter(
    (name) => name.last.at - name.firstAt <= MAX_DAYS * DAY_MS,
  );
  if (ended.length === 0) return { suspected: 0, withdrawn: 0 };
  const older = await selectNames(tx, dialect, {
    source,
    last: { from: last.from + 1, until: newest },
    alike: {
      descriptions: ended.flatMap(({ description }) => description ?? []),
      names: ended.map(({ name }) => name.toLowerCase()),
    },
  });
  const held = await readHeld(tx, dialect, { begun: older, ended });
  const renamed = held.suspicions.filter(({ evidence }) => !evidence.isReturn);
  const isRenamed = (id: number) => held.isTaken(id) || renamed.some(({ fromId }) => fromId === id);
  const endings = new Endings(ended.filter(({ id }) => !isRenamed(id)));
  const pairs = older
    .flatMap((name) => endings.candidatesOf({ ...name, first: name.last }).map((pair) => ({ ...pair, name })))
    .filter(
      ({ from, to, name }) =>
        name.firstAt < from.firstAt && !held.isRejected({ fromId: from.id, toId: to.id }),
    );
  const span = { from: last.from - (MAX_DAYS + MAX_FILES_APART) * DAY_MS };
  const ids = pairs.flatMap(({ from, to }) => [from.id, to.id]);
  const readings = await readInChunks(tx, dialect, { ids, span });
  const returned = pairs.flatMap((pair) => returnOf(pair, { readings, times }) ?? []);
  const chosen = chooseRenames(returned, new Map());
  const found = chosen.map((candidate) => suspicionOf(candidate, { source, isReturn: true }));
  return replaceSuspicions(tx, dialect, {
    now,
    held: held.suspicions.filter(({ evidence }) => evidence.isReturn),
    found,
  });
}

/** The pair with the counts under the older name after the shorter-lived one, if that fills a pause of the older name. */
function returnOf(
  { from, to, likeness }: Candidate,
  { readings, times }: { readings: ReadonlyMap<number, Readings>; times: readonly number[] },
): Candidate | undefined {
  const [own, other] = [readings.get(to.id), readings.get(from.id)];
  if (own === undefined || other === undefined) return undefined;
  const next = own.countBefore(from.last.at + 1);
  const [before, after] = [countsAt(own, next - 1), countsAt(own, next)];
  const first = countsAt(other, other.countBefore(from.firstAt));
  if (before === undefined || after === undefined || first === undefined) return undefined;
  const filesUntil = (at: number) => times.findLastIndex((time) => time <= at);
  const areClose = (earlier: number, later: number) =>
    earlier <= later && filesUntil(later) - filesUntil(earlier) <= MAX_FILES_APART;
  if (!areClose(before.at, first.at) || !areClose(from.last.at, after.at)) return undefined;
  if (!continues({ ...before, starsPerDay: 0 }, first, likeness)) return undefined;
  return { from, to: { ...to, first: after }, likeness };
}

/** A name that is missing from more files than this before another begins does not continue as that one. */
const MAX_FILES_APART = 3;

/** The files of an archive in order of time, and which of them to look at. */
interface Sequence {
  /** Times of the undamaged files. */
  times: readonly number[];
  /** Indexes, both included. */
  from: number;
  to: number;
  /** When the last of the new files was imported. */
  importedAt: number;
}

/** The part of a detection that one transaction does. */
interface Step {
  now: number;
  source: string;
  /** Times of the undamaged files. */
  times: readonly number[];
  /** Index of the file in which names begin. */
  index: number;
}

const markOf = (source: string): string => `renames_detected_${source}`;

/** The files around those imported since the last detection; undefined if none was imported. */
async function readSequence(db: Db, source: string): Promise<Sequence | undefined> {
  const mark = await db
    .selectFrom("marks")
    .select("value")
    .where("name", "=", markOf(source))
    .executeTakeFirst();
  const rows = await db
    .selectFrom("import_files")
    .select(["captured_at", "damage", "imported_at"])
    .where("source", "=", source)
    .orderBy("captured_at")
    .execute();
  // Another file may have been recorded in the same millisecond, so that time is looked at again.
  const added = rows.filter((row) => row.imported_at >= Number(mark?.value ?? 0));
  const [first, last] = [added[0], added.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const undamaged = rows.filter((row) => row.damage === null);
  const times = [...new Set(undamaged.map((row) => row.captured_at))];
  const indexOf = (at: number) => times.findLastIndex((time) => time <= at);
  return {
    times,
    // Names may end in the file before. In the oldest file nothing begins.
    from: Math.max(1, indexOf(first.captured_at) - 1),
    to: Math.min(times.length - 1, indexOf(last.captured_at) + MAX_FILES_APART),
    importedAt: added.reduce((latest, row) => Math.max(latest, row.imported_at), 0),
  };
}

/** Notes that the files imported until this time have been looked at. */
async function setSeen(tx: Tx, source: string, importedAt: number): Promise<void> {
  await tx.deleteFrom("marks").where("name", "=", markOf(source)).execute();
  await tx
    .insertInto("marks")
    .values({ name: markOf(source), value: String(importedAt) })
    .execute();
}
