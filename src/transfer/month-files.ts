import { join } from "node:path";
import type { Snapshot } from "../catalog/catalog.js";
import { isoTime } from "../clock.js";
import { ParquetFile, type WrittenFile } from "./parquet-file.js";
import { SNAPSHOT_COLUMNS, SnapshotRows } from "./parquet-rows.js";

/** Most snapshots in a row group: large enough to be read quickly, and written within half a second. */
const GROUP_SNAPSHOTS = 131_072;
/** Most snapshots of all months that wait to be written, of 56 bytes each. */
const WAITING_SNAPSHOTS = 1_000_000;

/** Bounds of what waits; tests use smaller ones. */
interface Bounds {
  group: number;
  waiting: number;
}

interface Month {
  month: string;
  file: ParquetFile;
  rows: SnapshotRows;
}

/**
 * One Parquet file of snapshots for each month (UTC), all written at the same time, since the catalogue is read repository by
 * repository. Rows stay in the order in which they are added.
 */
export class MonthFiles {
  readonly #folder: string;
  readonly #metadata: Readonly<Record<string, string>>;
  readonly #bounds: Bounds;
  readonly #months = new Map<string, Month>();
  #waiting = 0;
  /** The month of the last snapshot, and its bounds in ms since 1970. */
  #last: { month: Month; from: number; until: number } | undefined;

  /** `metadata` goes into each file. */
  constructor(
    folder: string,
    metadata: Readonly<Record<string, string>>,
    bounds: Bounds = { group: GROUP_SNAPSHOTS, waiting: WAITING_SNAPSHOTS },
  ) {
    this.#folder = folder;
    this.#metadata = metadata;
    this.#bounds = bounds;
  }

  /** A promise only if the row completes a row group: then no other may be added before it resolves. */
  add(repositoryId: number, snapshot: Snapshot): Promise<void> | undefined {
    const month = this.#monthOf(snapshot.capturedAt);
    month.rows.add(repositoryId, snapshot);
    this.#waiting++;
    if (month.rows.length >= this.#bounds.group) return this.#write(month);
    if (this.#waiting < this.#bounds.waiting) return undefined;
    const largest = [...this.#months.values()].reduce((a, b) => (b.rows.length > a.rows.length ? b : a));
    return this.#write(largest);
  }

  /** Writes the rest. Returns the files, oldest month first. */
  async finish(): Promise<(WrittenFile & { month: string })[]> {
    const finished: (WrittenFile & { month: string })[] = [];
    const months = [...this.#months.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
    for (const month of months) {
      if (month.rows.length > 0) await this.#write(month);
      finished.push({ month: month.month, ...(await month.file.finish()) });
    }
    return finished;
  }

  #write({ file, rows }: Month): Promise<void> {
    this.#waiting -= rows.length;
    return file.add(rows.take());
  }

  #monthOf(at: number): Month {
    if (this.#last !== undefined && at >= this.#last.from && at < this.#last.until) return this.#last.month;
    const name = isoTime(at).slice(0, 7);
    let month = this.#months.get(name);
    if (month === undefined) {
      const file = new ParquetFile(join(this.#folder, `${name}.parquet`), SNAPSHOT_COLUMNS, this.#metadata);
      month = { month: name, file, rows: new SnapshotRows() };
      this.#months.set(name, month);
    }
    const date = new Date(at);
    const [year, index] = [date.getUTCFullYear(), date.getUTCMonth()];
    this.#last = { month, from: Date.UTC(year, index), until: Date.UTC(year, index + 1) };
    return month;
  }
}
