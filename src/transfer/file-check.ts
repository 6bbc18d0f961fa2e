/** The time of a file, and its problems. */

import { type Clock, HOUR_MS, isoTime } from "../lib/clock.js";
import type { ArchiveFile, Damage, DamageKind, FileIdentity } from "../repositories/repositories.js";
import type { CsvLayout } from "./csv-layouts.js";
import type { Line } from "./lines.js";
import { Refusal, time } from "./values.js";

/** A file is damaged if this many of its rows, or more than this part of them, are not valid text: a few may be the source's. */
const BROKEN_ROWS = 5;
const BROKEN_PART = 0.01;

/** A file of an archive that was read, with the labels of the file that it is, or is in, and of itself. */
interface CheckedFile extends ArchiveFile {
  readFrom: string;
  label: string;
}

/** The counts of the rows of one time. */
interface Counts {
  rows: number;
  zeros: number;
  broken: number;
}

/**
 * Notices problems of a CSV file while it is read; the catalogue compares it with other files of the archive. If rows have
 * their own times, those of each time count as a file, whichever file they are in.
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

  /** `label` names the file in messages; `name` is without folders. */
  constructor(label: string, name: string) {
    this.label = label;
    this.#name = name;
  }

  /** The header was read. `capturedAt` is the time of all rows, unless they have their own. */
  begin(layout: CsvLayout, capturedAt: number | undefined): void {
    this.#layout = layout;
    if (layout.timeOfFile && capturedAt !== undefined) this.#countsAt(capturedAt);
  }

  /** The name of its format. */
  get source(): string {
    return this.#layout?.name ?? "ndjson";
  }

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

  /** The file that a row of this time belongs to; undefined if this is no file of an archive. */
  fileAt(capturedAt: number): FileIdentity | undefined {
    const layout = this.#layout;
    if (layout === undefined) return undefined;
    return { source: layout.name, file: layout.timeOfFile ? this.#name : isoTime(capturedAt), capturedAt };
  }

  /** The files that were read, with damage found by comparison. Damage of the file as a whole counts for the last of them. */
  files(held: ReadonlyMap<number, readonly Damage[]>): CheckedFile[] {
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
        ...(held.get(capturedAt) ?? []),
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

/** How far the time of a file in a manifest may be from the date in its name. */
const MAX_DISTANCE_MS = 36 * HOUR_MS;

export interface TimeOptions {
  /** Capture time of files without times, instead of the date in the file name. */
  capturedAt?: number;
  /** File name → capture time; every file must be listed. */
  manifest?: ReadonlyMap<string, number>;
}

/** When the snapshots of a CSV file were taken. */
interface FileTime {
  /** Undefined if unknown. */
  capturedAt: number | undefined;
  /** How the manifest contradicts the name of the file. */
  contradiction?: string;
}

/** The time of a file by its names without folders: the one on the disk, and the one without the ending of its compression. */
export function timeOfFile(
  names: readonly string[],
  { manifest, capturedAt: given }: TimeOptions,
  clock: Clock,
): FileTime {
  const dates = names.at(-1)?.match(/\d{4}-\d{2}-\d{2}/g);
  const dated = (): number => time(dates?.at(-1), "date in the file's name", clock.now());
  if (manifest === undefined)
    return { capturedAt: given ?? (dates === null || dates === undefined ? undefined : dated()) };
  const known = names.map((name) => manifest.get(name)).find((at) => at !== undefined);
  if (known === undefined) throw new Refusal("the manifest does not list this file");
  const named = Date.parse(dates?.at(-1) ?? "");
  if (!(Math.abs(known - named) > MAX_DISTANCE_MS)) return { capturedAt: known };
  const contradiction = `the manifest says ${isoTime(known)}, the file's name ${dates?.at(-1)}`;
  return { capturedAt: known, contradiction };
}
