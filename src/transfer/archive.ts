/**
 * Decides which files of an archive count. A file whose counts can hardly follow those before it waits, and the next one decides: if that
 * agrees better with the files before, the waiting one is withdrawn, else both count. So at most one file waits, and a lasting change
 * costs one file. A file that looks right, but is lower than the last one, withdraws that one if it agrees with the one before it.
 */
import { DAY_MS, isoTime } from "../lib/clock.js";
import {
  type Damage,
  type DoubtedFile,
  KNOWN_FILES,
  type KnownArchive,
  type KnownFile,
  median,
  type RowCounts,
  type SettledFile,
} from "../repositories/repositories.js";

/** With fewer common rows nothing is concluded. */
export const FEWEST_COMMON = 20;
/** Fewer rows that moved as a single repository hardly does are the source's own. */
const FEWEST_MOVED = 5;
/** The part of such rows, for each day between two files upward, for each week downward. Genuine files have a quarter of that. */
const MOVED_PART = 0.02;
/** After more days than these, a multiple of a count is nothing special. */
const LONGEST_DAYS = 60;
/** A single repository hardly loses this part of a count. A forge once dropped the forks of deleted accounts, up to 20 %. */
const LOST_PART = { stars: 0.02, forks: 0.25 };
/** In most genuine files few rows fall; after a purge of the whole forge a third did. */
const FALLEN_PART = 0.1;
const FALLEN_RATIO = 2;
/** A file with this part of its counts unchanged is the one before, unless most of them usually stand still. */
const REPEATED_PART = 0.995;
const QUIET_PART = 0.97;
/** From this many rows on some always move. Whether those of a smaller archive do is unknown before its third file. */
const FEWEST_MOVING = 60;
/** A file that is slightly too high has this many times the usual part of its rows above those of the file before. */
const UNUSUAL_RISE = 1.2;
/** New forks for each new star that make a large gain credible. */
const FORKS_OF_STARS = 0.02;
/** The part of its stars that a repository gains in a day, while its own usual day is not known. */
const USUAL_PART = 0.0005;

/** How the rows that two files share moved from one to the other, as numbers of rows. */
interface Moves {
  rows: number;
  fell: number;
  same: number;
  rose: number;
  /** Rose or fell more than a single repository hardly does. */
  up: number;
  down: number;
  days: number;
}

const NO_MOVES: Moves = { rows: 0, fell: 0, same: 0, rose: 0, up: 0, down: 0, days: 0 };

interface Verdict {
  /** Why the file waits; empty: it counts. */
  damage: readonly Damage[];
  /** An earlier file on which this one decides. */
  settled?: SettledFile;
}

const COUNTS: Verdict = { damage: [] };

export class Archive {
  /** Files that count, oldest first, and how each moved from the one before. */
  readonly #files: { file: KnownFile; moves: Moves | null }[] = [];
  #waiting: DoubtedFile | null;

  constructor({ files, waiting }: KnownArchive) {
    for (const file of files) this.#add(file);
    this.#waiting = waiting;
  }

  /** Judges a file that is not recorded yet. `conflicts`: contradictions inside it. `isAccepted`: an operator says that it counts. */
  judge(file: KnownFile, conflicts: readonly Damage[], isAccepted: boolean): Verdict {
    const last = this.#files.at(-1)?.file;
    const waiting = this.#waiting;
    if (waiting?.file === file.file && waiting.capturedAt === file.capturedAt) this.#waiting = null;
    // A file of an earlier time decides nothing.
    else if (waiting !== null && waiting.capturedAt >= file.capturedAt) return this.#count(file);
    if (last === undefined || last.capturedAt >= file.capturedAt) return this.#count(file);
    const moves = this.#compare(last, file);
    const damage = [...conflicts, ...this.#suspicions(moves, last)];
    if (this.#waiting !== null)
      return this.#decide(this.#waiting, file, { moves, isClean: damage.length === 0 && !isAccepted });
    if (damage.length === 0 || isAccepted) return this.#count(file);
    if (this.#isLastOdd(moves) && this.#agreesWithEarlier(file)) {
      this.#files.pop();
      const then = `the file of ${isoTime(file.capturedAt)}`;
      const reason = `${part(moves.fell, moves.rows)} rows have fewer stars in ${then}, which agrees with the one before`;
      return {
        ...this.#count(file),
        settled: { ...last, outcome: "WITHDRAWN", damage: [{ kind: "JUMPS", reason }] },
      };
    }
    this.#waiting = { ...file, damage };
    return { damage };
  }

  #decide(
    waiting: DoubtedFile,
    file: KnownFile,
    { moves, isClean }: { moves: Moves; isClean: boolean },
  ): Verdict {
    this.#waiting = null;
    if (isClean || oddity(moves) <= oddity(this.#compare(waiting, file)))
      return { ...this.#count(file), settled: { ...waiting, outcome: "OUTVOTED" } };
    this.#add(waiting);
    return { ...this.#count(file), settled: { ...waiting, damage: [], outcome: "CONFIRMED" } };
  }

  /** A file that is recorded already, in this import or an earlier one. */
  #count(file: KnownFile): Verdict {
    this.#add(file);
    return COUNTS;
  }

  #add(file: KnownFile): void {
    const last = this.#files.at(-1)?.file;
    if (last !== undefined && last.capturedAt >= file.capturedAt) return;
    this.#files.push({ file, moves: last === undefined ? null : this.#compare(last, file) });
    if (this.#files.length > KNOWN_FILES) this.#files.shift();
  }

  /** Whether the last file is too high, by how a file moved from it. Withdrawing it takes more than that the other one is lower. */
  #isLastOdd(moves: Moves): boolean {
    const { rows, rose } = this.#files.at(-1)?.moves ?? NO_MOVES;
    const isLower = hasFallen(moves) || moves.down > MOVED_PART * moves.rows;
    const hasRisen = rows > 0 && rose >= UNUSUAL_RISE * this.#usual("rose") * rows;
    return isLower && (hasRisen || moves.fell > moves.rows / 2);
  }

  #agreesWithEarlier(file: KnownFile): boolean {
    const earlier = this.#files.at(-2)?.file;
    if (earlier === undefined) return false;
    const moves = this.#compare(earlier, file);
    const isClean = moves.rows >= FEWEST_COMMON && this.#suspicions(moves, earlier).length === 0;
    return (
      isClean &&
      moves.same < REPEATED_PART * moves.rows &&
      moves.rose >= 0.5 * this.#usual("rose") * moves.rows
    );
  }

  /** The usual part of rows that stay the same, or rise; NaN with a single file. */
  #usual(move: "same" | "rose"): number {
    return median(this.#files.flatMap(({ moves }) => (moves === null ? [] : [moves[move] / moves.rows])));
  }

  #compare(before: KnownFile, now: KnownFile): Moves {
    const days = (now.capturedAt - before.capturedAt) / DAY_MS;
    const moves: Moves = { ...NO_MOVES, days };
    const usualOf = this.#usualDays();
    for (const [key, to] of now.counts) {
      const from = before.counts.get(key);
      if (from === undefined) continue;
      moves.rows++;
      if (to.stars < from.stars) moves.fell++;
      else if (to.stars === from.stars) moves.same++;
      else moves.rose++;
      const usual = usualOf(key);
      if (hasLost(from.stars, to.stars, LOST_PART.stars) || hasLost(from.forks, to.forks, LOST_PART.forks))
        moves.down++;
      else if (hasLeapt(from.stars, to.stars, { days, usual })) {
        if (!hasForks(from, to)) moves.up++;
      } else if (hasLeapt(from.forks, to.forks, { days })) moves.up++;
    }
    return moves;
  }

  /** The stars of a usual day of each repository, by the files that count. */
  #usualDays(): (key: string) => number | undefined {
    const [first, last] = [this.#files[0]?.file, this.#files.at(-1)?.file];
    if (first === undefined || last === undefined || first === last) return () => undefined;
    const days = (last.capturedAt - first.capturedAt) / DAY_MS;
    return (key) => {
      const [from, to] = [first.counts.get(key), last.counts.get(key)];
      return from === undefined || to === undefined ? undefined : Math.max(0, to.stars - from.stars) / days;
    };
  }

  /** Why a file that moved like this from another one can hardly follow it. */
  #suspicions(moves: Moves, before: KnownFile): Damage[] {
    const { rows, same, fell, rose, up, down, days } = moves;
    if (rows < FEWEST_COMMON) return [];
    const then = `the file of ${isoTime(before.capturedAt)}`;
    const isMoved = (some: number, perDay: number) =>
      some >= FEWEST_MOVED && some > MOVED_PART * Math.max(1, perDay) * rows;
    if (isMoved(down, days / 7))
      return [
        {
          kind: "JUMPS",
          reason: `${part(down, rows)} rows have lost over ${100 * LOST_PART.stars} % of their stars in ${then}, or ${100 * LOST_PART.forks} % of their forks`,
        },
      ];
    if (days <= LONGEST_DAYS && isMoved(up, days))
      return [{ kind: "JUMPS", reason: `${part(up, rows)} rows have far more than usual since ${then}` }];
    if (hasFallen(moves))
      return [
        {
          kind: "OLDER",
          reason: `${part(fell, fell + rose)} rows with other stars than in ${then} have fewer, as in an older file`,
        },
      ];
    const usual = this.#usual("same");
    const isUnusual = Number.isNaN(usual) ? rows >= FEWEST_MOVING : usual < QUIET_PART;
    if (same >= REPEATED_PART * rows && isUnusual)
      return [{ kind: "REPEATED", reason: `${part(same, rows)} rows have the same stars as in ${then}` }];
    return [];
  }
}

const hasFallen = ({ rows, fell, rose }: Moves): boolean =>
  fell > FALLEN_PART * rows && fell > FALLEN_RATIO * rose;

/** How badly a file follows another one. */
const oddity = ({ rows, fell, rose, up, down }: Moves): number =>
  (down + up + (fell > rose ? fell / 2 : 0)) / rows;

function hasLost(before: number | null, now: number | null, lost: number): boolean {
  return before !== null && now !== null && before - now > Math.max(20, lost * before);
}

function hasLeapt(
  before: number | null,
  now: number | null,
  { days, usual }: { days: number; usual?: number | undefined },
): boolean {
  if (before === null || now === null) return false;
  const expected = 10 * (usual ?? USUAL_PART * before) * days;
  return now - before > Math.max(100, expected, 0.01 * before * Math.sqrt(Math.max(1, days)));
}

const hasForks = (before: RowCounts, now: RowCounts): boolean =>
  before.forks !== null &&
  now.forks !== null &&
  now.forks - before.forks >= FORKS_OF_STARS * (now.stars - before.stars);

export const part = (some: number, all: number): string =>
  `${some.toLocaleString("en-US")} of ${all.toLocaleString("en-US")}`;
