/** The latest change of the store that this process knows. The read model, rows, recency and cached responses depend on it. */
import { sql } from "kysely";
import {
  checkVersion,
  type Database,
  databaseFault,
  newStoreName,
  type Prepared,
} from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { MARK, MARKED } from "./changes.js";
import { endHiding } from "./hiding.js";

/** How long the revision is remembered. */
const REVISION_MS = 1_000;

/** A state of the store as this process has found it; one object for each. */
export interface Revision {
  /** Grows with each change that this process finds. */
  readonly sequence: number;
  /** Grows when the changes since the state before are not known: the log does not lead from there to here. */
  readonly era: number;
  /** The last era that began with another store, or one that has lost changes: everything known from before is wrong. */
  readonly replacedIn: number;
  /** Of the log of changes. */
  readonly value: number;
}

/** The row of `revision`. */
type RevisionRow = [value: number, store: string, marks: string];
interface Found {
  row: RevisionRow;
  revision: Revision;
  /** How many reads had ended with it. */
  reads: number;
}

/** Reads the revision of the catalogue, and remembers it briefly. */
export class RevisionReader {
  readonly #database: Database;
  readonly #clock: Pick<Clock, "monotonic" | "now">;
  readonly #read: Prepared<null, [...RevisionRow, version: number, hidingEndsAt: number | null]>;
  /** The revision read last, when, and how much this process had written before. */
  #last: { value: Promise<Revision>; at: number; writes: number } | undefined;
  #found: Found | undefined;
  #reads = 0;

  constructor(database: Database, clock: Pick<Clock, "monotonic" | "now">) {
    this.#database = database;
    this.#clock = clock;
    this.#read = database.prepare(
      () => sql`select value, store, marks, (select max(version) from schema_version),
      (select min(ends_at) from hiding_rules) from revision where id = 1`,
    );
  }

  /** See `Catalog.revision`. */
  read(): Promise<Revision> {
    const writes = this.#database.writes();
    const at = this.#clock.monotonic();
    const before = this.#reads;
    const value = this.#readShown().then(([revision, store, marks, version]) => {
      this.#database.checkFile();
      checkVersion(version);
      return this.#take([revision, store, marks], before);
    });
    this.#last = { value, at, writes };
    // Don't cache failures.
    value.catch(() => {
      if (this.#last?.value === value) this.#last = undefined;
    });
    return value;
  }

  /** See `Catalog.recentRevision`. */
  recent(): Promise<Revision> {
    const known = this.#last;
    const isRecent =
      known !== undefined &&
      known.writes === this.#database.writes() &&
      this.#clock.monotonic() - known.at < REVISION_MS;
    return isRecent ? known.value : this.read();
  }

  /** Takes rules of hiding back whose end has passed, which nobody else watches. */
  async #readShown(): Promise<[...RevisionRow, version: number, hidingEndsAt: number | null]> {
    const [row = [0, "", "", 0, null]] = await this.#read(null);
    const [, , , , endsAt] = row;
    const now = this.#clock.now();
    if (endsAt === null || endsAt > now) return row;
    const { dialect, write } = this.#database;
    try {
      await dialect.exclusively(write, "catalogue", (tx) => endHiding(tx, dialect, now));
    } catch (error) {
      // A later read tries again. Until then they stay hidden.
      if (databaseFault(error) === undefined) throw error;
    }
    return (await this.#read(null))[0] ?? row;
  }

  /** `before`: how many reads had ended when this one began. */
  #take(row: RevisionRow, before: number): Revision {
    const known = this.#found;
    this.#reads++;
    // Another read that ended meanwhile has seen the same or later changes.
    if (known !== undefined && known.reads > before && includes(known.row, row)) return known.revision;
    const found = { ...nextFound(known, row), reads: this.#reads };
    this.#found = found;
    // Positions that callers have in the log are of changes that are lost.
    if (known?.row[1] === row[1] && found.revision.replacedIn > known.revision.replacedIn)
      void this.#renameStore(row[1]).catch(() => {});
    return found.revision;
  }

  /** Gives the store another identity. */
  async #renameStore(from: string): Promise<void> {
    const store = newStoreName();
    const { rows } = await sql`update revision set store = ${store} where id = 1 and store = ${from}
      returning id`.execute(this.#database.durable);
    const found = this.#found;
    if (rows.length > 0 && found?.row[1] === from)
      this.#found = { ...found, row: [found.row[0], store, found.row[2]] };
  }
}

function nextFound(known: Found | undefined, row: RevisionRow): Omit<Found, "reads"> {
  const [value, store] = row;
  if (known === undefined) return { row, revision: { sequence: 1, era: 1, replacedIn: 1, value } };
  const { sequence, era, replacedIn } = known.revision;
  if (includes(row, known.row)) {
    const isSame = value === known.row[0];
    return { row, revision: isSame ? known.revision : { sequence: sequence + 1, era, replacedIn, value } };
  }
  const isUnknown = store === known.row[1] && value - known.row[0] >= MARKED;
  const next = { sequence: sequence + 1, era: era + 1, value };
  return { row, revision: { ...next, replacedIn: isUnknown ? replacedIn : next.era } };
}

/** Whether an earlier revision of the same store is one of those that led to another one. */
function includes([value, store, marks]: RevisionRow, [earlier, from, ofEarlier]: RevisionRow): boolean {
  const mark = ofEarlier.slice(0, MARK);
  return store === from && earlier <= value && marks.startsWith(mark, (value - earlier) * MARK);
}
