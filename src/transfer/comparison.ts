/**
 * Compares each file of an archive as a whole with the one before it, before any of its rows is recorded: rows wait until their file has
 * ended, or enough of them have been read to decide. One pass; memory is bounded by the rows that wait and those of the file before.
 */
import { isoTime } from "../lib/clock.js";
import {
  type ArchiveFile,
  type Damage,
  type FileCounts,
  fileKey,
  type KnownArchives,
  type KnownFile,
  MOST_KNOWN,
  nameKey,
  type Observation,
  type RowCounts,
} from "../repositories/repositories.js";

export type FileIdentity = Pick<ArchiveFile, "source" | "file" | "capturedAt">;

/** Rows and characters of descriptions that wait. Of a longer file, the first ones decide. */
const MOST_CHARACTERS = 4_000_000;

/** With fewer common rows nothing is concluded: they could all stand still by chance. */
const FEWEST_COMMON = 50;
/** A file that differs by chance has less than this part of such rows; 0.8 % was the most of real files, weekly and daily. */
const DAMAGED_PART = 0.1;
/** A file with this part of its counts unchanged is the one before; 86 % was the most of real files. */
const REPEATED_PART = 0.99;
/** An older file has this part of its changes downward; 47 % was the most of real files, after a purge. */
const FALLEN_PART = 2 / 3;
/** The part of rows that an older file has lower at least. */
const LEAST_FALLEN_PART = 0.05;
/** The factor between a right and a wrong count, if the larger is at least SMALL_COUNT. */
const JUMP = 1.8;
const LESS = 0.55;
const SMALL_COUNT = 20;
/** Counts are equal to within this part of them, as a day lies between them. */
const NEAR = 0.05;

/** The file whose rows wait, or are decided. */
interface CurrentFile {
  identity: FileIdentity;
  counts: FileCounts;
  /** Repositories with several rows that differ. */
  conflicts: Set<string>;
  waiting: Observation[];
  characters: number;
}

/** Holds back the damaged files of an import. */
export class Comparison {
  readonly #known: KnownArchives;
  readonly #before: Map<string, KnownFile>;
  /** Decided times of the file being read. */
  readonly #decided = new Map<number, readonly Damage[]>();
  #current: CurrentFile | undefined;

  constructor(known: KnownArchives) {
    this.#known = known;
    this.#before = new Map(known.newest);
  }

  /** Adds a row of a file. Returns the rows that can be recorded: those that waited, this one, or none. */
  add(observation: Observation, identity: FileIdentity): readonly Observation[] {
    const released = this.#current?.identity.capturedAt === identity.capturedAt ? [] : this.#decide();
    const decided = this.#decided.get(identity.capturedAt);
    if (decided !== undefined) return decided.length === 0 ? [...released, observation] : released;
    this.#current ??= {
      identity,
      counts: new Map(),
      conflicts: new Set(),
      waiting: [],
      characters: 0,
    };
    const file = this.#current;
    file.waiting.push(observation);
    file.characters += observation.facts.description?.length ?? 0;
    for (const counts of observation.snapshots) addCounts(file, observation, counts);
    const isFull = file.waiting.length >= MOST_KNOWN || file.characters >= MOST_CHARACTERS;
    return isFull ? [...released, ...this.#decide()] : released;
  }

  /** The file has ended. Returns rows that waited, and the damage for which it is held back, by time. */
  end(): { released: readonly Observation[]; held: ReadonlyMap<number, readonly Damage[]> } {
    const released = this.#decide();
    const held = new Map([...this.#decided].filter(([, damage]) => damage.length > 0));
    this.#decided.clear();
    return { released, held };
  }

  /** Decides on the file whose rows wait. Returns them, unless it is held back. */
  #decide(): readonly Observation[] {
    const file = this.#current;
    if (file === undefined) return [];
    this.#current = undefined;
    const { identity, counts, waiting } = file;
    const { source, capturedAt } = identity;
    const before = this.#before.get(source);
    const isKnown = this.#known.recorded.has(fileKey(identity));
    const damage = isKnown ? [] : [...conflicts(file), ...compare(counts, capturedAt, before)];
    this.#decided.set(capturedAt, damage);
    if (damage.length > 0) return [];
    this.#before.set(source, { capturedAt, counts });
    return waiting;
  }
}

function addCounts(file: CurrentFile, { provider, owner, name }: Observation, counts: RowCounts): void {
  const key = `${provider} ${nameKey(owner, name)}`;
  const known = file.counts.get(key);
  if (known === undefined) file.counts.set(key, { stars: counts.stars, forks: counts.forks });
  else if (known.stars !== counts.stars) file.conflicts.add(key);
}

function conflicts({ counts, conflicts }: CurrentFile): Damage[] {
  if (counts.size < FEWEST_COMMON || conflicts.size <= DAMAGED_PART * counts.size) return [];
  const reason = `${part(conflicts.size, counts.size)} repositories have several rows with different stars`;
  return [{ kind: "CONFLICTS", reason }];
}

/** Why a file cannot follow the one before it; nothing if it can, or if none is known that is earlier. */
function compare(counts: FileCounts, capturedAt: number, previous: KnownFile | undefined): Damage[] {
  if (previous === undefined || previous.capturedAt >= capturedAt) return [];
  const pairs: Pair[] = [];
  for (const [key, now] of counts) {
    const before = previous.counts.get(key);
    if (before !== undefined) pairs.push({ before, now });
  }
  if (pairs.length < FEWEST_COMMON) return [];
  const then = `the file of ${isoTime(previous.capturedAt)}`;
  const found =
    swapped(pairs, then) ??
    jumps(pairs, "stars", then) ??
    jumps(pairs, "forks", then) ??
    repeated(pairs, then) ??
    older(pairs, then);
  return found === undefined ? [] : [found];
}

/** The counts of a repository in two files. */
interface Pair {
  before: RowCounts;
  now: RowCounts;
}

function swapped(pairs: readonly Pair[], then: string): Damage | undefined {
  const found = pairs.filter(({ before, now }) => {
    if (before.forks === null || now.forks === null || !hasJumped(before.stars, now.stars)) return false;
    return isNear(now.stars, before.forks) && isNear(now.forks, before.stars);
  }).length;
  if (found <= DAMAGED_PART * pairs.length) return undefined;
  return {
    kind: "SWAPPED",
    reason: `${part(found, pairs.length)} rows have the forks of ${then} as stars, and its stars as forks`,
  };
}

function repeated(pairs: readonly Pair[], then: string): Damage | undefined {
  const same = pairs.filter(
    ({ before, now }) => before.stars === now.stars && before.forks === now.forks,
  ).length;
  if (same < REPEATED_PART * pairs.length) return undefined;
  return { kind: "REPEATED", reason: `${part(same, pairs.length)} rows have the same counts as in ${then}` };
}

function older(pairs: readonly Pair[], then: string): Damage | undefined {
  const fell = pairs.filter(({ before, now }) => now.stars < before.stars).length;
  const changed = pairs.filter(({ before, now }) => now.stars !== before.stars).length;
  if (fell < FALLEN_PART * changed || fell < LEAST_FALLEN_PART * pairs.length) return undefined;
  const reason = `${part(fell, changed)} rows with other stars than in ${then} have fewer, as in an older file`;
  return { kind: "OLDER", reason };
}

/** The factors of usual damage, in words. */
const FACTORS: readonly [number, string][] = [
  [0, "none of"],
  [0.1, "a tenth of"],
  [0.5, "half"],
  [2, "twice"],
  [10, "ten times"],
];

function jumps(pairs: readonly Pair[], count: "stars" | "forks", then: string): Damage | undefined {
  const found = pairs.flatMap(({ before, now }) => {
    const [from, to] = [before[count], now[count]];
    return from !== null && to !== null && hasJumped(from, to) ? [[from, to] as const] : [];
  });
  if (found.length <= DAMAGED_PART * pairs.length) return undefined;
  const near = FACTORS.map(([factor, words]) => {
    const rows = found.filter(([from, to]) => isNear(to, factor * from)).length;
    return { rows, words };
  }).find(({ rows }) => rows >= found.length / 2);
  const { rows, words } = near ?? { rows: found.length, words: `under ${LESS} or over ${JUMP} times` };
  return { kind: "JUMPS", reason: `${part(rows, pairs.length)} rows have ${words} the ${count} of ${then}` };
}

const hasJumped = (from: number, to: number): boolean => {
  const [less, more] = from < to ? [from, to] : [to, from];
  return more >= SMALL_COUNT && more >= JUMP * less;
};

const isNear = (value: number, other: number): boolean =>
  Math.abs(value - other) <= NEAR * Math.max(value, other);

const part = (some: number, all: number): string =>
  `${some.toLocaleString("en-US")} of ${all.toLocaleString("en-US")}`;
