import type { Observation } from "../catalog/catalog.js";
import { awesomeGo, awesomeSelfhosted, githubRanking } from "./csv-layouts.js";

export const FORMATS = ["ndjson", "github-ranking", "awesome-go", "awesome-selfhosted"] as const;
export type FormatName = (typeof FORMATS)[number];

/** What a file says about itself, beside its content. */
export interface FileFacts {
  /** When its snapshots were taken; undefined where nothing tells. */
  capturedAt: number | undefined;
}

/** A CSV file with a known header. */
export interface CsvLayout {
  name: FormatName;
  /** Columns that must be there; others are passed over. */
  columns: readonly string[];
  /** Whether every row has the time of the file. */
  timeOfFile: boolean;
  /**
   * What a row says. Throws Refusal for a row that cannot be right; gives a text for one that is left out on purpose.
   * `cell` looks a column of the row up.
   */
  read(cell: (column: string) => string | undefined, facts: FileFacts): Observation | string;
}

const CSV_LAYOUTS: readonly CsvLayout[] = [githubRanking, awesomeGo, awesomeSelfhosted];

/** The layout with these columns; undefined when none fits. */
export function layoutOf(header: readonly string[]): CsvLayout | undefined {
  return CSV_LAYOUTS.find((layout) => layout.columns.every((column) => header.includes(column)));
}
