import { type DumpedRepository, SNAPSHOT_SOURCES, type Snapshot } from "../repositories/repositories.js";
import type { Column } from "./parquet-file.js";

/** A column, and where its value is in a dumped repository. Times are ms since 1970. */
interface RepositoryColumn extends Column {
  read: (dumped: DumpedRepository) => unknown;
}

const own =
  (field: keyof DumpedRepository["repository"]): RepositoryColumn["read"] =>
  ({ repository }) =>
    repository[field];

/** Columns of `repositories.parquet`. `null` means unknown or never reported. */
export const REPOSITORY_COLUMNS: readonly RepositoryColumn[] = [
  { name: "id", kind: "integer", read: own("id") },
  { name: "provider", kind: "text", read: own("provider") },
  { name: "provider_id", kind: "text", isNullable: true, read: ({ providerId }) => providerId },
  { name: "full_name", kind: "text", read: own("fullName") },
  { name: "url", kind: "text", read: own("url") },
  { name: "description", kind: "text", isNullable: true, read: own("description") },
  { name: "homepage", kind: "text", isNullable: true, read: own("homepage") },
  { name: "language", kind: "text", isNullable: true, read: own("language") },
  { name: "license", kind: "text", isNullable: true, read: own("license") },
  { name: "topics", kind: "texts", read: own("topics") },
  { name: "stars", kind: "integer", isNullable: true, read: own("stars") },
  { name: "forks", kind: "integer", isNullable: true, read: own("forks") },
  { name: "open_issues", kind: "integer", isNullable: true, read: own("openIssues") },
  { name: "watchers", kind: "integer", isNullable: true, read: own("watchers") },
  { name: "fork", kind: "flag", isNullable: true, read: own("fork") },
  { name: "archived", kind: "flag", isNullable: true, read: own("archived") },
  { name: "availability", kind: "text", read: own("availability") },
  { name: "created_at", kind: "time", isNullable: true, read: own("createdAt") },
  { name: "pushed_at", kind: "time", isNullable: true, read: own("pushedAt") },
  { name: "discovered_at", kind: "time", read: own("discoveredAt") },
  { name: "refreshed_at", kind: "time", isNullable: true, read: own("refreshedAt") },
  { name: "import_source", kind: "text", isNullable: true, read: own("importSource") },
  {
    name: "previous_full_names",
    kind: "names",
    read: ({ previousNames }) => previousNames.map(({ fullName, until }) => ({ full_name: fullName, until })),
  },
];

/** Columns of `snapshots/YYYY-MM.parquet`. */
export const SNAPSHOT_COLUMNS: readonly Column[] = [
  { name: "repository_id", kind: "integer" },
  { name: "captured_at", kind: "time" },
  { name: "stars", kind: "integer" },
  { name: "forks", kind: "integer", isNullable: true },
  { name: "open_issues", kind: "integer", isNullable: true },
  { name: "watchers", kind: "integer", isNullable: true },
  { name: "source", kind: "text" },
];

/** Repositories that wait to be written, column by column. */
export class RepositoryRows {
  #values: unknown[][] = REPOSITORY_COLUMNS.map(() => []);
  /** Roughly, the size of their texts. */
  #characters = 0;
  length = 0;

  get characters(): number {
    return this.#characters;
  }

  add(dumped: DumpedRepository): void {
    for (const [i, { read }] of REPOSITORY_COLUMNS.entries()) {
      const value = read(dumped);
      this.#values[i]?.push(value);
      if (typeof value === "string") this.#characters += value.length;
    }
    for (const topic of dumped.repository.topics) this.#characters += topic.length;
    for (const { fullName } of dumped.previousNames) this.#characters += fullName.length;
    this.length++;
  }

  /** Returns and removes the waiting values. */
  take(): unknown[][] {
    const values = this.#values;
    this.#values = REPOSITORY_COLUMNS.map(() => []);
    this.#characters = 0;
    this.length = 0;
    return values;
  }
}

const FIRST_ROOM = 1_024;
/** Numbers of a row: repository, time, stars, forks, open issues, watchers, index of the source. */
const WIDTH = 7;
/** The first of them that may be unknown, and the source. */
const [FIRST_NULLABLE, SOURCE] = [3, 6];
/** Stands for an unknown count. */
const UNKNOWN = -1;

/** Snapshots of one month that wait to be written. Numbers outside the heap, as there may be a million in all. */
export class SnapshotRows {
  #numbers = new Float64Array(FIRST_ROOM * WIDTH);
  length = 0;

  add(repositoryId: number, { capturedAt, stars, forks, openIssues, watchers, source }: Snapshot): void {
    let at = this.length * WIDTH;
    if (at === this.#numbers.length) {
      const grown = new Float64Array(2 * at);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const numbers = this.#numbers;
    numbers[at++] = repositoryId;
    numbers[at++] = capturedAt;
    numbers[at++] = stars;
    numbers[at++] = forks ?? UNKNOWN;
    numbers[at++] = openIssues ?? UNKNOWN;
    numbers[at++] = watchers ?? UNKNOWN;
    numbers[at] = SNAPSHOT_SOURCES.indexOf(source);
    this.length++;
  }

  /** Returns and removes the waiting values of SNAPSHOT_COLUMNS. */
  take(): (number | string | null)[][] {
    const values = SNAPSHOT_COLUMNS.map((_, column) => this.#column(column));
    this.#numbers = new Float64Array(FIRST_ROOM * WIDTH);
    this.length = 0;
    return values;
  }

  // A loop, as there are millions of values.
  #column(column: number): (number | string | null)[] {
    const numbers = this.#numbers;
    const values: (number | string | null)[] = [];
    for (let at = column; values.length < this.length; at += WIDTH) {
      const value = numbers[at] ?? UNKNOWN;
      if (column === SOURCE) values.push(SNAPSHOT_SOURCES[value] ?? "IMPORTED");
      else values.push(column >= FIRST_NULLABLE && value === UNKNOWN ? null : value);
    }
    return values;
  }
}
