/**
 * A repository while a batch is recorded: its row with the changes so far, and the rules by which an observation is about it or
 * about another one.
 */

import { defaultUrl } from "../config/config.js";
import type { BulkColumns, BulkTable, RepositoryTable } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import type { Observation } from "./observation.js";
import { type FACT_COLUMNS, type Facts, nameKey } from "./repository.js";
import { lostAvailability } from "./visibility.js";

/** Facts that change by the hour. Each keeps the value of the newest source or snapshot that reports it. */
export const COUNTS = ["stars", "forks", "openIssues", "watchers"] as const;
export type Count = (typeof COUNTS)[number];

/** The row of a repository, and which parts of it must be written. */
export interface Draft {
  row: RepositoryTable;
  /** When each count was reported last; of those of earlier batches, the time of the stars. */
  countedAt: Record<Count, number | null>;
  isNew: boolean;
  changed: boolean;
  /** Whether something other than snapshots changed that growth and scores depend on. */
  growthChanged: boolean;
  /** Whether its provider's id has been taken or replaced. */
  hasLostId: boolean;
  previousNames: Map<string, { fullName: string; until: number }>;
}

/** All columns with their bulk types, in the order in which rows are written. */
const REPOSITORY_COLUMNS = {
  id: "bigint",
  provider: "text",
  provider_id: "text",
  owner: "text",
  name: "text",
  name_key: "text",
  url: "text",
  description: "text",
  homepage: "text",
  language: "text",
  license: "text",
  topics: "text",
  stars: "bigint",
  forks: "bigint",
  open_issues: "bigint",
  watchers: "bigint",
  fork: "smallint",
  archived: "smallint",
  availability: "text",
  created_at: "bigint",
  pushed_at: "bigint",
  discovered_at: "bigint",
  refreshed_at: "bigint",
  counted_at: "bigint",
  next_refresh_at: "bigint",
  import_source: "text",
  refresh_interval: "bigint",
  known_facts: "bigint",
} as const satisfies Record<keyof RepositoryTable, BulkColumns[string]>;

export const REPOSITORY_COLUMN_NAMES = Object.keys(REPOSITORY_COLUMNS) as (keyof RepositoryTable)[];

/** Columns of `tracking`, which alone decides when a repository is refreshed. */
const SCHEDULE_COLUMNS: readonly (keyof RepositoryTable)[] = ["next_refresh_at", "refresh_interval"];
/** The columns that recording writes. */
export const RECORDED_COLUMN_NAMES = REPOSITORY_COLUMN_NAMES.filter(
  (name) => !SCHEDULE_COLUMNS.includes(name),
);
export const RECORDED: BulkTable = {
  table: "repositories",
  columns: Object.fromEntries(RECORDED_COLUMN_NAMES.map((name) => [name, REPOSITORY_COLUMNS[name]])),
  key: ["id"],
};

export function draftOf(row: RepositoryTable, isNew: boolean): Draft {
  return {
    row,
    countedAt: {
      stars: row.counted_at,
      forks: row.counted_at,
      openIssues: row.counted_at,
      watchers: row.counted_at,
    },
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
  };
}

/** A fact as its column stores it. */
export function columnValue(value: NonNullable<Facts[keyof Facts]> | null): string | number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "object" || value === null) return value;
  return JSON.stringify([...new Set(value.map((topic) => topic.toLowerCase()))].sort());
}

const SCORED_COLUMNS: readonly string[] = ["created_at", "pushed_at", "availability", "import_source"];

/** Changes a column, and notes what must be written or derived again. */
export function setColumn(
  draft: Draft,
  column: (typeof FACT_COLUMNS)[keyof Facts] | "import_source",
  reported: string | number | null,
): void {
  const row: Record<string, string | number | null> = draft.row as never;
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
 * both stars and forks by this much. In eight years of lists of 3,500 repositories that happened twice, each time to a reused name.
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
    at !== null && previousNames.some(({ fullName, until }) => fullName.toLowerCase() === key && until >= at)
  );
}
