/** A repository while a batch is recorded: its row with the changes so far, and whether an observation is about it. */
import { defaultUrl } from "../config/config.js";
import { bulkOf, columnNames, type RepositoryTable } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { lostAvailability } from "./record-rules.js";
import {
  FACT_COLUMNS,
  type Facts,
  type FactTimes,
  fullNameKey,
  nameKey,
  type Observation,
} from "./repository.js";

/** Facts that change by the hour. Each keeps the value of the newest source or snapshot that reports it. */
export const COUNTS = ["stars", "forks", "openIssues", "watchers"] as const;

export const isCount = (fact: keyof Facts): boolean => (COUNTS as readonly string[]).includes(fact);

/** The row of a repository, and which parts of it must be written. */
export interface Draft {
  row: RepositoryTable;
  /** When each known fact was true; null: unknown. */
  factTimes: FactTimes;
  isNew: boolean;
  changed: boolean;
  /** Whether something other than snapshots changed that growth and scores depend on. */
  growthChanged: boolean;
  /** Whether its provider's id has been taken or replaced. */
  hasLostId: boolean;
  previousNames: Map<string, { fullName: string; until: number }>;
}

/** All columns, in the order in which rows are written. */
export const REPOSITORY_COLUMN_NAMES = columnNames("repositories");

/** Columns of `tracking`, which alone decides when a repository is refreshed. */
const SCHEDULE_COLUMNS: readonly (keyof RepositoryTable)[] = ["next_refresh_at", "refresh_interval"];
/** The columns that recording writes. */
export const RECORDED_COLUMN_NAMES = REPOSITORY_COLUMN_NAMES.filter(
  (name) => !SCHEDULE_COLUMNS.includes(name),
);
export const RECORDED = bulkOf("repositories", RECORDED_COLUMN_NAMES);

export const FACTS = Object.keys(FACT_COLUMNS) as (keyof Facts)[];

/** The bit of a fact in `known_facts`. */
export const bitOf = (fact: keyof Facts): number => 1 << FACTS.indexOf(fact);

/** When a fact was true unless `fact_times` has another time. */
const usualTime = ({ row }: Pick<Draft, "row">, fact: keyof Facts): number | null =>
  isCount(fact) ? row.counted_at : row.refreshed_at;

/** Sets the column `fact_times`. */
export function packFactTimes(draft: Draft): void {
  const others = FACTS.flatMap((fact) => {
    const at = draft.factTimes[fact] ?? null;
    return (draft.row.known_facts & bitOf(fact)) === 0 || at === usualTime(draft, fact) ? [] : [[fact, at]];
  });
  draft.row.fact_times = others.length === 0 ? null : JSON.stringify(Object.fromEntries(others));
}

export function draftOf(row: RepositoryTable, isNew: boolean): Draft {
  const known = FACTS.filter((fact) => (row.known_facts & bitOf(fact)) !== 0);
  const usual = Object.fromEntries(known.map((fact) => [fact, usualTime({ row }, fact)]));
  return {
    row,
    factTimes: { ...usual, ...JSON.parse(row.fact_times ?? "{}") },
    isNew,
    changed: isNew,
    growthChanged: false,
    hasLostId: false,
    previousNames: new Map(),
  };
}

export function newRow(
  { provider, providerId, owner, name, at, discoveredAt }: Observation,
  now: number,
): RepositoryTable {
  return {
    id: 0,
    provider,
    provider_id: providerId ?? null,
    owner,
    name,
    name_key: nameKey(owner, name),
    url: defaultUrl(provider, `${owner}/${name}`),
    description: null,
    homepage: null,
    language: null,
    license: null,
    topics: "[]",
    stars: null,
    forks: null,
    open_issues: null,
    watchers: null,
    fork: null,
    archived: null,
    availability: "AVAILABLE",
    created_at: null,
    pushed_at: null,
    discovered_at: discoveredAt ?? at ?? now,
    refreshed_at: null,
    counted_at: null,
    next_refresh_at: null,
    import_source: null,
    refresh_interval: null,
    known_facts: 0,
    fact_times: null,
  };
}

/** A fact as its column stores it. */
export function columnValue(value: NonNullable<Facts[keyof Facts]> | null): string | number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "object" || value === null) return value;
  return JSON.stringify([...new Set(value.map((topic) => topic.toLowerCase()))].sort());
}

const SCORED_COLUMNS: readonly string[] = ["created_at", "pushed_at", "availability", "import_source"];

/** Changes a column, and notes that it must be written, and which values must be derived again. */
export function setColumn(
  draft: Draft,
  column: (typeof FACT_COLUMNS)[keyof Facts] | "import_source",
  reported: string | number | null,
): void {
  const row: Record<string, string | number | null> = draft.row as never;
  if (column === "availability" && draft.row.availability === "HIDDEN") return;
  const isLost = column === "availability" && reported === "GONE";
  const value = isLost ? lostAvailability(draft.row) : reported;
  if (row[column] === value) return;
  row[column] = value;
  draft.changed = true;
  if (SCORED_COLUMNS.includes(column)) draft.growthChanged = true;
}

/** Sources round creation dates to days, and some count days since then. */
const SAME_CREATION_MS = 30 * DAY_MS;
/** A forge itself always gives the same date. */
const SAME_MOMENT_MS = 60_000;

/** Whether both are known to have been created at the same time. */
export function hasSameCreation({ created_at }: RepositoryTable, { facts }: Observation): boolean {
  const { createdAt } = facts;
  if (created_at === null || createdAt === null || createdAt === undefined) return false;
  return Math.abs(created_at - createdAt) <= SAME_CREATION_MS;
}

/**
 * Whether both are known to have been created at different times. Dates of a forge agree to the minute; those of archives do not.
 * A stored date may be an archive's if one has reported the repository: with an id only whole days are, as sources that know ids
 * give exact dates.
 */
export function hasOtherCreation(
  row: RepositoryTable,
  { facts: { createdAt }, source }: Observation,
): boolean {
  if (row.created_at === null || typeof createdAt !== "number") return false;
  const mayBeImported =
    row.import_source !== null && (row.provider_id === null || row.created_at % DAY_MS === 0);
  const toleranceMs = mayBeImported || source !== undefined ? SAME_CREATION_MS : SAME_MOMENT_MS;
  return Math.abs(row.created_at - createdAt) > toleranceMs;
}

/**
 * Whether a forge has given the id of a repository to another one, as it may after it was restored from a backup: name and
 * creation date differ. A rename changes the name alone. After a restored backup the two are often days apart.
 */
export function isReusedId(row: RepositoryTable, observation: Observation): boolean {
  const { owner, name, isNameless } = observation;
  return (
    !isNameless && nameKey(owner, name) !== nameKey(row.owner, row.name) && hasOtherCreation(row, observation)
  );
}

/** Whether a forge lists a repository under a new id: same name and same moment of creation. */
export function hasNewId({ created_at }: RepositoryTable, { facts: { createdAt } }: Observation): boolean {
  if (created_at === null || typeof createdAt !== "number") return false;
  return Math.abs(created_at - createdAt) <= SAME_MOMENT_MS;
}

/** A repository may change as much as another one of its name within more time. */
const SAME_CHANGE_MS = 30 * DAY_MS;

/**
 * Whether an observation without an id is about another repository than the one that has its name: it was created at another time,
 * and has less than half or more than double the stars. If one of the dates is unknown: within 30 days its description changed, and
 * both stars and forks by this much. In seven years of weekly lists and half a year of daily ones that happened twice, each time to a reused name.
 */
export function isReusedName(row: RepositoryTable, observation: Observation): boolean {
  if (row.provider_id !== null) return false;
  const { at, facts } = observation.first ?? observation;
  const { createdAt, description, stars, forks } = facts;
  if (!differ(row.stars, stars)) return false;
  if (row.created_at !== null && typeof createdAt === "number") return !hasSameCreation(row, observation);
  if (at === null || row.refreshed_at === null || row.description === null) return false;
  const isSoon = at > row.refreshed_at && at <= row.refreshed_at + SAME_CHANGE_MS;
  const isDescribed = typeof description === "string" && description !== row.description;
  return isSoon && isDescribed && differ(row.forks, forks);
}

/** Whether one of two known counts is more than double the other. */
function differ(one: number | null, other: number | null | undefined): boolean {
  if (one === null || other === null || other === undefined) return false;
  return 2 * one < other || 2 * other < one;
}

/** Whether an observation is about a repository that has lost its present name since, as an export writes it. */
export function isAboutLostName({ owner, name, at, previousNames = [] }: Observation): boolean {
  const key = nameKey(owner, name);
  return (
    at !== null && previousNames.some(({ fullName, until }) => fullNameKey(fullName) === key && until >= at)
  );
}
