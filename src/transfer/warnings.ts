import { type Damage, fileKey, type JudgedFile } from "../catalog/catalog.js";
import type { ReadFile } from "./gathering.js";

/** Damage of a file that an import has read, or of an earlier one that it shows to be damaged. */
export interface ImportWarning extends Damage {
  file: string;
  /** The time of the file; null if it says none. */
  capturedAt: number | null;
}

/** Collects what is wrong with files. Later ones may change the verdict on earlier ones, so it is only known at the end. */
export class WarningLog {
  readonly #files = new Map<string, { label: string; file: JudgedFile }>();
  readonly #warnings: ImportWarning[] = [];

  /** Files that were recorded, and the catalogue's verdict on them and on others. */
  add(read: readonly ReadFile[], judged: readonly JudgedFile[]): void {
    const labels = new Map(read.map((file) => [fileKey(file), file.label]));
    for (const file of judged) {
      const key = fileKey(file);
      const known = this.#files.get(key);
      const isOurs = labels.has(key);
      const label = known?.label ?? (isOurs ? labels.get(key) : `${file.file} (imported before)`);
      if (label !== undefined && (known !== undefined || isOurs || file.isNews))
        this.#files.set(key, { label, file });
    }
  }

  /** A file that has no time, so that the catalogue cannot record it. */
  addHeaderOnly(file: string): void {
    this.#warnings.push({ file, capturedAt: null, kind: "HEADER_ONLY", reason: "a header and no rows" });
  }

  /** The damage of all files, in the order in which they were read; files that share a time have one warning together. */
  warnings(): ImportWarning[] {
    const warnings = [...this.#warnings];
    const times = new Set<string>();
    for (const { label, file } of this.#files.values()) {
      for (const { kind, reason } of file.damage) {
        const time = `${file.source} ${file.capturedAt}`;
        if (kind === "SAME_TIME" && times.has(time)) continue;
        if (kind === "SAME_TIME") times.add(time);
        warnings.push({ file: label, capturedAt: file.capturedAt, kind, reason });
      }
    }
    return warnings;
  }
}
