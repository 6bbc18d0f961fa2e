/** Findings of the doctor: every kind of damage with what to do about it, and what was found of each. */

import type { FileDamage, SchemaDamage } from "../../database/database.js";
import type { RankingDamage, SearchDamage } from "../../discovery/discovery.js";
import type { CatalogDamage } from "../../repositories/repositories.js";

/** Damage of one kind. */
export interface Finding {
  code: DamageKind;
  title: string;
  /** How often it was found; not all may have been counted. */
  count: number;
  /** The first ones, for people. */
  found: string[];
  advice: string;
  /** Whether `--repair` can bring it back. */
  isDerived: boolean;
}

/** Findings of each kind that are named. */
const NAMED = 5;
/** Characters of a named one. */
const MAX_LENGTH = 300;

/** Collects what checks find, in bounded memory. */
export class Findings {
  readonly #byKind = new Map<DamageKind, { count: number; found: string[] }>();

  /** A function that checks can pass on. */
  readonly add = (code: DamageKind, found: string): void => {
    const known = this.#byKind.get(code) ?? { count: 0, found: [] };
    known.count++;
    if (known.found.length < NAMED) known.found.push(found.slice(0, MAX_LENGTH));
    this.#byKind.set(code, known);
  };

  has(code: DamageKind): boolean {
    return this.#byKind.has(code);
  }

  list(): Finding[] {
    return [...this.#byKind].map(([code, { count, found }]) => {
      const { title, advice, repair } = KINDS[code];
      return { code, title, count, found, advice, isDerived: repair !== undefined };
    });
  }

  repairs(): Set<Repair> {
    return new Set([...this.#byKind.keys()].flatMap((code) => KINDS[code].repair ?? []));
  }
}

/** Every kind of damage that is detected. */
export type DamageKind =
  | FileDamage
  | SchemaDamage
  | CatalogDamage
  | RankingDamage
  | SearchDamage
  | "schedule-wrong"
  | "secret-damaged"
  | "work-file";

/** Repairs of derived data, in their order. */
export const REPAIRS = [
  "remove-files",
  "migrate",
  "create-indexes",
  "rebuild-indexes",
  "restore-rows",
  "advance-sequences",
  "remove-orphans",
  "derive-names",
  "recount",
  "reschedule",
  "rebuild-derived",
] as const;
export type Repair = (typeof REPAIRS)[number];

interface KindFacts {
  /** What is damaged. */
  title: string;
  /** What the operator does. With a repair: `--repair` does it, too. */
  advice: string;
  repair?: Repair;
}

const RESTORE = "Stop the service and restore a backup.";
const REBUILD = "Run doctor --repair, which rebuilds all derived data.";

export const KINDS: Readonly<Record<DamageKind, KindFacts>> = {
  "not-a-database": { title: "The file is not a database", advice: RESTORE },
  "file-truncated": { title: "The database file is cut off", advice: RESTORE },
  "pages-damaged": {
    title: "Pages of the database file are damaged",
    advice: `Check the disk. ${RESTORE} Without one, try export: it writes what can still be read.`,
  },
  "index-damaged": {
    title: "An index of the database does not match its table",
    advice: "Check the disk. Run doctor --repair, which rebuilds the indexes of the database.",
    repair: "rebuild-indexes",
  },
  "schema-newer": {
    title: "The store was made by a newer version",
    advice: "Update the program, or restore a backup of this version.",
  },
  "schema-older": {
    title: "Migrations are missing",
    advice: "Make a backup and start the service, or run doctor --repair: both bring the store up to date.",
    repair: "migrate",
  },
  "table-missing": { title: "A table is missing", advice: RESTORE },
  "column-missing": { title: "A column is missing", advice: RESTORE },
  "index-missing": {
    title: "An index is missing",
    advice: "Run doctor --repair, which creates it.",
    repair: "create-indexes",
  },
  "reference-broken": {
    title: "Rows refer to rows that are missing",
    advice: "Restore a backup, or delete these rows: what they refer to cannot be derived.",
  },
  "sequence-behind": {
    title: "The next id is one that is taken",
    advice: "Run doctor --repair, which continues after the highest id.",
    repair: "advance-sequences",
  },
  "repository-invalid": {
    title: "A repository has a value that it cannot have",
    advice: "Restore a backup; or correct the value, or let the worker refresh the repository.",
  },
  "name-key-wrong": {
    title: "A repository is not found by its name",
    advice: "Run doctor --repair, which derives it from owner and name.",
    repair: "derive-names",
  },
  "topics-differ": {
    title: "The topics of a repository are stored in two ways that differ",
    advice: "Run doctor --repair, which takes over those of the repository.",
    repair: "derive-names",
  },
  "block-damaged": {
    title: "A block of snapshots is damaged",
    advice: "Restore a backup, or delete the block and import the missing days again.",
  },
  "history-overlaps": {
    title: "Blocks of snapshots overlap",
    advice: "Restore a backup, or delete one of the blocks and import its days again.",
  },
  "snapshot-hours-wrong": {
    title: "The number of snapshots of an hour is wrong",
    advice: "Run doctor --repair, which counts all snapshots.",
    repair: "recount",
  },
  "snapshots-orphaned": {
    title: "Snapshots belong to no repository",
    advice: "Restore a backup, or delete them: whose they are is not known.",
  },
  "derived-orphaned": {
    title: "Derived rows belong to no repository",
    advice: "Run doctor --repair, which deletes them.",
    repair: "remove-orphans",
  },
  "row-missing": {
    title: "A row of which there is always one is missing",
    advice: "Run doctor --repair, which adds it.",
    repair: "restore-rows",
  },
  "growth-wrong": {
    title: "Growth does not follow from the snapshots",
    advice: REBUILD,
    repair: "rebuild-derived",
  },
  "facet-parts-wrong": {
    title: "What a repository adds to languages and topics is wrong",
    advice: REBUILD,
    repair: "rebuild-derived",
  },
  "facets-wrong": {
    title: "Totals of a language or topic are wrong",
    advice: REBUILD,
    repair: "rebuild-derived",
  },
  "leaderboard-damaged": { title: "A leaderboard is wrong", advice: REBUILD, repair: "rebuild-derived" },
  "ranks-wrong": {
    title: "Ranks of repositories do not follow from a leaderboard",
    advice: REBUILD,
    repair: "rebuild-derived",
  },
  "rank-block-damaged": {
    title: "A block of past ranks is damaged",
    advice: "Restore a backup, or delete the block: past ranks cannot be derived.",
  },
  "summary-wrong": { title: "A counter of the summary is wrong", advice: REBUILD, repair: "rebuild-derived" },
  "search-index-damaged": {
    title: "The search index cannot be read",
    advice: REBUILD,
    repair: "rebuild-derived",
  },
  "search-index-stale": {
    title: "The search index does not follow from the repositories",
    advice: REBUILD,
    repair: "rebuild-derived",
  },
  "schedule-wrong": {
    title: "A repository would not be refreshed for too long",
    advice: "Run doctor --repair, which makes it due now.",
    repair: "reschedule",
  },
  "secret-damaged": {
    title: "The file with the secret of the service is damaged",
    advice:
      "Copy it from a backup, or remove it: a new one is generated, and everybody has to sign in again.",
  },
  "work-file": {
    title: "A restore that was killed left a file",
    advice: "If none is running, remove it, or run doctor --repair.",
    repair: "remove-files",
  },
};
