/**
 * The catalogue owns repositories and their snapshots. It decides which repository an observation is about, keeps its identity
 * through renames, never changes a snapshot, and marks derived data that a change makes outdated. It does not fetch, rank,
 * list or search.
 */
import { BatchSize, type Database, type Tx } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { exclusively, type Transact } from "./changes.js";
import { type DumpedRepository, dumpPage } from "./dump.js";
import {
  type ArchiveFile,
  dumpFiles,
  fileKey,
  type ImportedFile,
  isHeldBack,
  type JudgedFile,
  judgeFiles,
  recordFiles,
} from "./files.js";
import { Hiding } from "./hiding.js";
import { type HistoryState, historyStateOf, readHistoryStates } from "./history-state.js";
import { type Differing, type ImportRun, noteFiles } from "./imports.js";
import { Lookup, popular } from "./lookup.js";
import { type Recency, readRecency } from "./recency.js";
import {
  type CatalogueKind,
  isEmpty,
  keepSample,
  markSynthetic,
  type RecordedBatch,
  readKind,
  record,
  recordSample,
  withoutSample,
} from "./record.js";
import { joinContinuedNames } from "./rename-search.js";
import { joinRenamed, partRenamed, readParted, recordParted, type StatedRename } from "./renames.js";
import { addTo, type Observation, type Recorded, type Repository } from "./repository.js";
import { type Revision, RevisionReader } from "./revision.js";
import { removeRepositories } from "./sample.js";
import { packTails } from "./snapshots/snapshots.js";
import { beginUndo, endUndo, type ImportRow, listImports, planUndo, type Undoing, undoPart } from "./undo.js";
import {
  dropWaiting,
  type KnownArchives,
  keepWaiting,
  noteSettled,
  readKnownArchives,
  readWaiting,
  readWaitingRows,
  type SettledFile,
  type WaitingRows,
  type WithdrawnPart,
  withdrawReadings,
} from "./waiting-files.js";

export {
  type AddressedForge,
  type AddressProblem,
  type Asked,
  addressReader,
  fullNameIn,
  isBareName,
  linksIn,
  namesIn,
  parseAsked,
  type RepositoryAddress,
  splitAddress,
} from "./addresses.js";
export {
  ALL_CHANGED,
  bumpRevision,
  exclusively,
  FORGOTTEN,
  forgetRemoved,
  GROWTH_SWEEP,
  inBatches,
  markOutdated,
  noteChanges,
  outdateAll,
  type Transact,
  unmark,
  workOff,
} from "./changes.js";
export type { DumpedRepository } from "./dump.js";
export { type ArchiveFile, type Damage, fileKey, isHeldBack, type JudgedFile, ownDamage } from "./files.js";
export {
  HIDING_FORMS,
  type HidingPreview,
  type HidingRule,
  type HidingTarget,
  hiddenWords,
  MAX_NOTE,
  MAX_REASON,
  readHidingTarget,
  repositoriesText,
} from "./hiding.js";
export * from "./history-state.js";
export { type Differing, type ImportRun, LISTED_MS } from "./imports.js";
export {
  type CurrentlyDescribed,
  type Described,
  type NamedRepository,
  type PreviousName,
  type RenamedRepository,
  repositoriesAfter,
} from "./lookup.js";
export * from "./recency.js";
export { CATALOGUE_KINDS, type CatalogueKind, readKind } from "./record.js";
export {
  cleanText,
  DAMAGE_KINDS,
  type DamageKind,
  EARLIEST,
  hidesTexts,
  isHomepage,
  isTopic,
  LATEST,
  MAX_COUNT,
  MAX_LABEL,
  MAX_TEXT,
  MAX_TOPICS,
  MAX_URL,
} from "./record-rules.js";
export { readContinuing, remainingIds, type StatedRename } from "./renames.js";
export * from "./repository.js";
export type { Revision } from "./revision.js";
export * from "./series.js";
export { raiseHistory } from "./snapshots/blocks.js";
export {
  rangeColumn,
  rangeOf,
  readFirst,
  readReadings,
  readSnapshotRanges,
  type SnapshotRange,
  turnsOf,
} from "./snapshots/read.js";
export {
  BASES,
  type Basis,
  basisOf,
  DamagedBlock,
  isSeam,
  joined,
  merged,
  numbersOf,
  Readings,
  UNKNOWN,
} from "./snapshots/readings.js";
export { thinSnapshots } from "./snapshots/removal.js";
export { checkHistories, endOfShare, newestSnapshot, recountHours } from "./snapshots/snapshots.js";
export { type ImportRow, pruneImportLists, type Undoing } from "./undo.js";
export {
  addCounts,
  type DoubtedFile,
  type FileCounts,
  type FileIdentity,
  KNOWN_FILES,
  type KnownArchive,
  type KnownArchives,
  type KnownFile,
  MOST_KNOWN,
  type RowCounts,
  type SettledFile,
  type WaitingRows,
} from "./waiting-files.js";

/** Names of files that are kept of an import. */
const MOST_NAMES = 10;
/** Observations in one transaction of `recordAll`. */
const RECORDED = { least: 100, most: 20_000 };

export class Catalog extends Lookup {
  /** What operators hide. */
  readonly hiding: Hiding;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #revisions: RevisionReader;
  #recency: { value: Promise<Recency>; revision: Revision } | undefined;
  /** Observations per transaction of `recordAll`. */
  #batchSize: BatchSize | undefined;

  constructor(database: Database, clock: Clock) {
    super(database);
    this.hiding = new Hiding(database, clock);
    this.#database = database;
    this.#clock = clock;
    this.#revisions = new RevisionReader(database, clock);
  }

  /** Records observations in one transaction. See `record`. */
  async record(batch: readonly Observation[]): Promise<Recorded> {
    const { dialect, write } = this.#database;
    const {
      repositoryIds: _,
      differing: __,
      ...recorded
    } = await dialect.exclusively(write, "catalogue", (tx) => this.recordIn(tx, batch));
    return recorded;
  }

  /**
   * Records observations in several transactions, short enough that other writers do not wait. `run`: the import that they are of;
   * `onDiffering` gets its readings that differ from stored ones.
   */
  async recordAll(
    batch: readonly Observation[],
    run?: ImportRun,
    onDiffering: (differing: Differing) => void = () => {},
  ): Promise<Recorded> {
    const { dialect, write } = this.#database;
    this.#batchSize ??= new BatchSize(dialect, RECORDED);
    const size = this.#batchSize;
    const recorded: Recorded = { repositoriesAdded: 0, repositoriesChanged: 0, snapshotsAdded: 0 };
    for (let from = 0; from < batch.length; ) {
      const part = batch.slice(from, from + size.rows);
      const added = await dialect.exclusively(write, "catalogue", async (tx) => {
        const began = this.#clock.monotonic();
        const recordedPart = await this.recordIn(tx, part, run);
        size.note(part.length, this.#clock.monotonic() - began);
        return recordedPart;
      });
      addTo(recorded, added);
      added.differing.forEach(onDiffering);
      from += part.length;
    }
    return recorded;
  }

  /** The same in the caller's transaction, which must hold the catalogue exclusively. */
  recordIn(tx: Tx, batch: readonly Observation[], run?: ImportRun): Promise<RecordedBatch> {
    return record(tx, batch, { dialect: this.#database.dialect, now: this.#clock.now(), run });
  }

  /** Notes that an import begins. `replaces`: see ImportRun. */
  async beginImport(by: string, files: readonly string[], replaces = false): Promise<ImportRun> {
    const none = { sources: "", row_count: 0, repositories: 0, readings: 0, replaced: 0 };
    const { id } = await this.#database.write
      .insertInto("imports")
      .values({
        ...none,
        began_at: this.#clock.now(),
        imported_by: by,
        files: JSON.stringify(files.slice(0, MOST_NAMES)),
        file_count: files.length,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    return { id: Number(id), replaces };
  }

  /** Notes what an import has read so far. */
  async noteImport(id: number, { rows, sources }: { rows: number; sources: readonly string[] }) {
    const read = { row_count: rows, sources: sources.join(",") };
    await this.#database.write.updateTable("imports").set(read).where("id", "=", id).execute();
  }

  /** Notes that an import has recorded everything. */
  async endImport(id: number): Promise<void> {
    const ended = { ended_at: this.#clock.now() };
    await this.#database.write.updateTable("imports").set(ended).where("id", "=", id).execute();
  }

  /** All imports, the newest first. */
  listImports(): Promise<ImportRow[]> {
    return listImports(this.#database.read);
  }

  /** See `planUndo`. */
  planUndo(id: number): Promise<Undoing> {
    return planUndo(this.#database, id, this.#clock.now());
  }

  /** Undoes an import, in several transactions: if it is interrupted, the next call continues. Growth is left to the next update. */
  async undoImport(id: number): Promise<void> {
    const transact = exclusively(this.#database);
    const { dialect } = this.#database;
    const now = this.#clock.now();
    await transact((tx) => beginUndo(tx, dialect, id, now));
    for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
      const part: number = before;
      before = await transact((tx) => undoPart(tx, dialect, { id, before: part, now }));
    }
    await transact((tx) => endUndo(tx, id, now));
  }

  /** Records files of archives whose rows have all been recorded, in one transaction. See `recordFiles`. */
  async recordFiles(files: readonly ArchiveFile[], run?: ImportRun): Promise<JudgedFile[]> {
    if (files.length === 0) return [];
    const { dialect, write } = this.#database;
    return dialect.exclusively(write, "catalogue", async (tx) => {
      for (const file of files) if (!isHeldBack(file)) await dropWaiting(tx, file);
      if (run !== undefined) await noteFiles(tx, dialect, run.id, files);
      return recordFiles(tx, dialect, this.#imported(files));
    });
  }

  /** Keeps rows of a file that waits for the next one, in one transaction. See `keepWaiting`. */
  async keepWaiting(rows: WaitingRows): Promise<void> {
    const { dialect, write } = this.#database;
    const importedAt = this.#clock.now();
    await dialect.exclusively(write, "catalogue", (tx) => keepWaiting(tx, dialect, { ...rows, importedAt }));
  }

  /**
   * Carries out what a later file decides about an earlier one, in several transactions. The last one settles it: until then the same
   * can be decided again. Returns the files whose damage has changed.
   */
  async settleFile(
    file: SettledFile,
    run?: ImportRun,
  ): Promise<{ recorded: Recorded; judged: JudgedFile[] }> {
    const { dialect, write } = this.#database;
    const recorded: Recorded = { repositoriesAdded: 0, repositoriesChanged: 0, snapshotsAdded: 0 };
    if (file.outcome === "CONFIRMED")
      for (let first = 0; ; ) {
        const rows = await readWaitingRows(write, file, first);
        if (rows === undefined) break;
        addTo(recorded, await this.recordAll(rows, run));
        first += rows.length;
      }
    else if (file.outcome === "WITHDRAWN")
      for (let last: number | undefined = 0; last !== undefined; ) {
        const part: WithdrawnPart = { ...file, afterId: last, limit: RECORDED.most };
        last = await dialect.exclusively(write, "catalogue", (tx) => withdrawReadings(tx, dialect, part));
      }
    const judged = await dialect.exclusively(write, "catalogue", (tx) =>
      noteSettled(tx, dialect, { ...file, importedAt: this.#clock.now() }),
    );
    return { recorded, judged };
  }

  /** Judges files of archives together with those that are recorded. Records nothing. */
  judgeFiles(files: readonly ArchiveFile[]): Promise<ImportedFile[]> {
    return judgeFiles(this.#database.read, this.#imported(files));
  }

  /** What is known of archives before their next files are read. See `readKnownArchives`. */
  knownArchives(): Promise<KnownArchives> {
    const { dialect, slowReads } = this.#database;
    return readKnownArchives(slowReads.read, dialect);
  }

  /** Adds a repository to the one that has its new name, in one transaction. See `joinRenamed`. */
  joinRenamed(rename: StatedRename): Promise<number> {
    const { dialect, write } = this.#database;
    return dialect.exclusively(write, "catalogue", (tx) => joinRenamed(tx, dialect, rename));
  }

  /** Joins the names of archives that continue under others. See `joinContinuedNames`. */
  joinContinuedNames(transact: Transact = exclusively(this.#database)): Promise<number> {
    return joinContinuedNames(this.#database, transact);
  }

  /** Takes a join back, in one transaction. See `partRenamed`. */
  partRenamed(rename: Omit<StatedRename, "to">): Promise<number> {
    const { dialect, write } = this.#database;
    return dialect.exclusively(write, "catalogue", (tx) => partRenamed(tx, dialect, rename));
  }

  /** Deletes a repository with its history, in the caller's transaction. See `removeRepositories`. */
  removeIn(tx: Tx, id: number): Promise<void> {
    return removeRepositories(tx, this.#database.dialect, [id], this.#clock.now());
  }

  async find(id: number): Promise<Repository | undefined> {
    return (await this.findMany([id]))[0];
  }

  /** The repository with this id. Throws NOT_FOUND. */
  async get(id: number): Promise<Repository> {
    const repository = await this.find(id);
    if (repository === undefined) throw new AppError("NOT_FOUND", "No repository has this id.");
    return repository;
  }

  /** The ids of the available repositories with most stars. Reads all repositories. */
  popular(limit: number): Promise<number[]> {
    return popular(this.#database.read, limit);
  }

  /** How far the star history of a repository was read from its forge. */
  async historyState(id: number): Promise<HistoryState> {
    const { dialect, read } = this.#database;
    return (await readHistoryStates(read, dialect, [id])).get(id) ?? historyStateOf(null, null);
  }

  /** The next repositories by id after `afterId`, each with everything stored about it. */
  dump(afterId: number, limit: number): Promise<DumpedRepository[]> {
    const { dialect, slowReads } = this.#database;
    return dumpPage({ dialect, read: slowReads.read }, afterId, limit);
  }

  /** All files of archives that imports have recorded, by archive and time, without those that wait. */
  async dumpFiles(): Promise<ArchiveFile[]> {
    const waiting = await readWaiting(this.#database.read);
    return (await dumpFiles(this.#database.read)).filter((file) => !waiting.has(fileKey(file)));
  }

  /** The names that an operator has parted. See `readParted`. */
  dumpParted(): Promise<StatedRename[]> {
    return readParted(this.#database.read);
  }

  /** Keeps names apart that another catalogue has parted, in one transaction. See `recordParted`. */
  async recordParted(pairs: readonly StatedRename[]): Promise<void> {
    const { dialect, write } = this.#database;
    if (pairs.length > 0) await dialect.exclusively(write, "catalogue", (tx) => recordParted(tx, pairs));
  }

  /** Packs recent snapshots of at most `most` repositories with many. Changes no response. Returns their number. */
  pack(most: number): Promise<number> {
    return packTails(this.#database, this.#clock, most);
  }

  /** Origin of the data. */
  kind(): Promise<CatalogueKind> {
    return readKind(this.#database.read);
  }

  /**
   * Fills an empty catalogue with the sample, in one transaction. Returns false, and changes nothing, where it is not
   * empty. Recording anything later removes the sample again.
   */
  recordSample(sample: readonly Observation[]): Promise<boolean> {
    return recordSample(this.#database, sample, this.#clock.now());
  }

  /** Removes the sample in one transaction; see `removeSample`. Does nothing without one. */
  async removeSample(): Promise<void> {
    const { dialect, write } = this.#database;
    await dialect.exclusively(write, "catalogue", (tx) =>
      withoutSample(tx, { dialect, now: this.#clock.now() }),
    );
  }

  /** Turns the sample, if there is one, into ordinary history that stays. */
  async keepSample(): Promise<void> {
    const { dialect, write } = this.#database;
    await dialect.exclusively(write, "catalogue", (tx) => keepSample(tx));
  }

  /** Marks this catalogue as synthetic, permanently. Throws CONFLICT if it contains real repositories. */
  markSynthetic(): Promise<void> {
    return markSynthetic(this.#database);
  }

  isEmpty(): Promise<boolean> {
    return isEmpty(this.#database.read);
  }

  #imported(files: readonly ArchiveFile[]): ImportedFile[] {
    const importedAt = this.#clock.now();
    return files.map((file) => ({ ...file, importedAt }));
  }

  /** The facts that decide whether counts are recent, as of `recentRevision`: two statements after a change, otherwise none. */
  async recency(): Promise<Recency> {
    const revision = await this.recentRevision();
    if (this.#recency?.revision === revision) return this.#recency.value;
    const value = readRecency(this.#database.read);
    this.#recency = { value, revision };
    // Don't cache failures.
    value.catch(() => {
      if (this.#recency?.value === value) this.#recency = undefined;
    });
    return value;
  }

  /** The state of the store: another object after every change that a reader could notice, in any process. */
  revision(): Promise<Revision> {
    return this.#revisions.read();
  }

  /** The revision of at most a second ago, never older than what `revision` has returned or this process has written. */
  recentRevision(): Promise<Revision> {
    return this.#revisions.recent();
  }
}
