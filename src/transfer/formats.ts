import type { Observation } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";

export const FORMATS = ["ndjson", "github-ranking", "awesome-go", "awesome-selfhosted"] as const;
export type FormatName = (typeof FORMATS)[number];

/** What is known of a file besides its content. */
export interface FileFacts {
  /** When its snapshots were taken; undefined if unknown. */
  capturedAt: number | undefined;
  /** Decides which times in it are in the future. */
  clock: Clock;
}

/** A valid row that is not recorded: why, and the time that it is about. */
export interface SkippedRow {
  skipped: string;
  at: number;
}

/** A CSV file with a known header. */
export interface CsvLayout {
  name: FormatName;
  /** Required columns; others are ignored. */
  columns: readonly string[];
  /** Whether rows have no time of their own, but the time of the file. */
  timeOfFile: boolean;
  /**
   * The observation in a row, or why it is skipped. Throws Refusal for an invalid row. `cell` returns a column of the row.
   */
  read(cell: (column: string) => string | undefined, facts: FileFacts): Observation | SkippedRow;
}
