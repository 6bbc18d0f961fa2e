import type { ArchiveFile, Damage, DamageKind } from "../catalog/catalog.js";
import { isoTime } from "../clock.js";
import type { CsvLayout } from "./formats.js";
import type { Line } from "./lines.js";

/** A file is damaged if this many of its rows, or more than this part of them, are not valid text: a few may be the source's. */
const BROKEN_ROWS = 5;
const BROKEN_PART = 0.01;

/** A file of an archive that was read; what messages call the file that it is, or is in, and itself. */
export interface CheckedFile extends ArchiveFile {
  readFrom: string;
  label: string;
}

/** What is counted of the rows of one time. */
interface Counts {
  rows: number;
  zeros: number;
  broken: number;
}

/**
 * Notices what is wrong with a CSV file while it is read. What can only be seen beside other files of the archive is left to
 * the catalogue. Where rows have times of their own, those of each time count as a file, whatever file they are in.
 */
export class FileCheck {
  readonly label: string;
  readonly #name: string;
  #layout: CsvLayout | undefined;
  readonly #damage: Damage[] = [];
  readonly #counts = new Map<number, Counts>();
  /** The time of the last row. */
  #at: number | undefined;
  #refused = 0;

  /** `label` is what messages call the file, `name` is without folders. */
  constructor(label: string, name: string) {
    this.label = label;
    this.#name = name;
  }

  /** The header was read. `capturedAt` is the time of all rows, unless they have their own. */
  begin(layout: CsvLayout, capturedAt: number | undefined): void {
    this.#layout = layout;
    if (layout.timeOfFile && capturedAt !== undefined) this.#countsAt(capturedAt);
  }

  /** A row was read. */
  row(line: Line, isBroken: boolean): void {
    if ("observation" in line) {
      const { at, snapshots } = line.observation;
      const counts = this.#countsAt(at ?? 0);
      counts.rows++;
      for (const { stars, forks } of snapshots) if (stars === 0 || forks === 0) counts.zeros++;
    } else if ("skipped" in line) {
      const counts = this.#countsAt(line.at);
      counts.rows++;
      counts.zeros++;
    } else this.#refused++;
    if (isBroken && this.#at !== undefined) this.#countsAt(this.#at).broken++;
  }

  /** The file as a whole is damaged. */
  found(kind: DamageKind, reason: string): void {
    this.#damage.push({ kind, reason });
  }

  /** The files that were read; what is wrong with the file as a whole is wrong with the last of them. */
  files(): CheckedFile[] {
    const layout = this.#layout;
    if (layout === undefined) return [];
    return [...this.#counts].map(([capturedAt, { rows, zeros, broken }]) => ({
      readFrom: this.label,
      label: layout.timeOfFile ? this.label : `${this.label} (${isoTime(capturedAt)})`,
      source: layout.name,
      file: layout.timeOfFile ? this.#name : isoTime(capturedAt),
      capturedAt,
      rows,
      zeros,
      damage: [
        ...(capturedAt === this.#at ? this.#damage : []),
        ...(rows === 0 ? this.#noRows() : []),
        ...(broken >= BROKEN_ROWS || broken > BROKEN_PART * rows ? [encoding(broken, rows)] : []),
      ],
    }));
  }

  /** Whether not even the time of the file is known, as rows of its layout have their own and it has none. */
  get isEmpty(): boolean {
    return this.#layout !== undefined && this.#counts.size === 0 && this.#refused === 0;
  }

  #noRows(): Damage[] {
    if (this.#damage.some(({ kind }) => kind === "UNREADABLE")) return [];
    if (this.#refused === 0) return [{ kind: "HEADER_ONLY", reason: "a header and no rows" }];
    return [{ kind: "UNREADABLE", reason: `none of its ${this.#refused} rows could be read` }];
  }

  #countsAt(at: number): Counts {
    this.#at = at;
    let counts = this.#counts.get(at);
    if (counts === undefined) {
      counts = { rows: 0, zeros: 0, broken: 0 };
      this.#counts.set(at, counts);
    }
    return counts;
  }
}

function encoding(broken: number, rows: number): Damage {
  return {
    kind: "ENCODING",
    reason: `${broken.toLocaleString("en-US")} of ${rows.toLocaleString("en-US")} rows are not valid UTF-8`,
  };
}
