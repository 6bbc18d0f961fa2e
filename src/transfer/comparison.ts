/**
 * Compares each file of an archive as a whole with those before it, before any of its rows is recorded: rows are collected until their file
 * has ended, or enough of them have been read to decide. One pass; memory is bounded by these rows and the counts of KNOWN_FILES files.
 */
import {
  addCounts,
  type Damage,
  type FileCounts,
  type FileIdentity,
  fileKey,
  type KnownArchives,
  MOST_KNOWN,
  type Observation,
  type SettledFile,
  type WaitingRows,
} from "../repositories/repositories.js";
import { Archive, FEWEST_COMMON, part } from "./archive.js";

/** Rows and characters of descriptions that are collected. Of a longer file, the first ones decide. */
const MOST_CHARACTERS = 4_000_000;

/** A file contradicts itself if it has several rows that differ for more than this part of its repositories. */
const CONFLICTING_PART = 0.1;

/** The destination of the rows of files, and their verdict on earlier files. */
export interface Outcomes {
  record(rows: readonly Observation[]): void;
  wait(rows: WaitingRows): void;
  settle(file: SettledFile): void;
}

/** The file whose rows are collected. */
interface CurrentFile {
  identity: FileIdentity;
  counts: FileCounts;
  /** Repositories with several rows that differ. */
  conflicts: Set<string>;
  rows: Observation[];
  characters: number;
}

/** A file that is decided. */
interface Decision {
  damage: readonly Damage[];
  /** The number of its rows that wait; undefined: none is kept. */
  waiting: number | undefined;
}

/** Tells damaged files of an import from those that count. */
export class Comparison {
  readonly #outcomes: Outcomes;
  readonly #isAccepted: boolean;
  readonly #recorded: ReadonlySet<string>;
  readonly #withdrawn: Map<string, readonly Damage[]>;
  readonly #archives: Map<string, Archive>;
  /** Decided times of the file being read. */
  readonly #decided = new Map<number, Decision>();
  #current: CurrentFile | undefined;

  /** `isAccepted`: an operator says that all files count. */
  constructor(known: KnownArchives, isAccepted: boolean, outcomes: Outcomes) {
    this.#outcomes = outcomes;
    this.#isAccepted = isAccepted;
    this.#recorded = known.recorded;
    this.#withdrawn = new Map(known.withdrawn);
    this.#archives = new Map([...known.archives].map(([source, archive]) => [source, new Archive(archive)]));
  }

  /** Adds a row of a file. */
  add(observation: Observation, identity: FileIdentity): void {
    if (this.#current?.identity.capturedAt !== identity.capturedAt) this.#decide();
    const decision = this.#decided.get(identity.capturedAt);
    if (decision !== undefined) {
      this.#pass([observation], identity, decision);
      return;
    }
    this.#current ??= { identity, counts: new Map(), conflicts: new Set(), rows: [], characters: 0 };
    const file = this.#current;
    file.rows.push(observation);
    file.characters += observation.facts.description?.length ?? 0;
    if (!addCounts(file.counts, observation)) file.conflicts.add(`${observation.owner}/${observation.name}`);
    if (file.rows.length >= MOST_KNOWN || file.characters >= MOST_CHARACTERS) this.#decide();
  }

  /** The file has ended. Returns the damage for which it is held back, by time. */
  end(): ReadonlyMap<number, readonly Damage[]> {
    this.#decide();
    const held = new Map([...this.#decided].map(([at, { damage }]) => [at, damage]));
    this.#decided.clear();
    return held;
  }

  /** Decides on the file whose rows were collected. */
  #decide(): void {
    const file = this.#current;
    if (file === undefined) return;
    this.#current = undefined;
    const { identity, rows } = file;
    const decision = this.#judge(file);
    this.#decided.set(identity.capturedAt, decision);
    this.#pass(rows, identity, decision);
  }

  #pass(rows: Observation[], file: FileIdentity, decision: Decision): void {
    const { damage, waiting } = decision;
    if (damage.length === 0) this.#outcomes.record(rows);
    else if (waiting !== undefined) {
      this.#outcomes.wait({ file, damage, first: waiting, rows });
      decision.waiting = waiting + rows.length;
    }
  }

  #judge(file: CurrentFile): Decision {
    const { identity, counts } = file;
    const key = fileKey(identity);
    const withdrawn = this.#isAccepted ? undefined : this.#withdrawn.get(key);
    if (withdrawn !== undefined) return { damage: withdrawn, waiting: undefined };
    if (this.#recorded.has(key)) return { damage: [], waiting: undefined };
    const archive = this.#archives.get(identity.source) ?? new Archive({ files: [], waiting: null });
    this.#archives.set(identity.source, archive);
    const { damage, settled } = archive.judge({ ...identity, counts }, conflicts(file), this.#isAccepted);
    if (settled !== undefined) this.#settle(settled);
    return { damage, waiting: 0 };
  }

  #settle(file: SettledFile): void {
    const { damage, outcome, capturedAt } = file;
    if (this.#decided.has(capturedAt)) this.#decided.set(capturedAt, { damage, waiting: undefined });
    if (outcome !== "CONFIRMED") this.#withdrawn.set(fileKey(file), damage);
    this.#outcomes.settle(file);
  }
}

function conflicts({ counts, conflicts }: CurrentFile): Damage[] {
  if (counts.size < FEWEST_COMMON || conflicts.size <= CONFLICTING_PART * counts.size) return [];
  const reason = `${part(conflicts.size, counts.size)} repositories have several rows with different stars`;
  return [{ kind: "CONFLICTS", reason }];
}
