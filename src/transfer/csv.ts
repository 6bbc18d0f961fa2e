import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { layoutOf } from "./csv-layouts.js";
import { CsvRecords } from "./csv-records.js";
import type { CsvLayout, FileFacts, FormatName } from "./formats.js";
import type { Line } from "./lines.js";
import { brief, Refusal } from "./values.js";

/**
 * Reads a CSV file of a known layout: one result per row, in groups as the file is read. Throws Refusal when the file as a
 * whole cannot be read.
 */
export async function* readCsv(
  input: Readable,
  facts: FileFacts,
  wanted?: FormatName,
): AsyncGenerator<Line[]> {
  const decoder = new StringDecoder("utf8");
  const records = new CsvRecords();
  let rows: CsvRows | undefined;
  const read = (text: string, isEnd: boolean): Line[] => {
    const lines: Line[] = [];
    for (const record of isEnd ? [...records.read(text), ...records.end()] : records.read(text)) {
      if (rows === undefined) {
        if ("fault" in record) throw new Refusal(`the header line: ${record.fault}`);
        rows = new CsvRows(checkedLayout(record.cells, facts, wanted), record.cells, facts);
      } else if ("fault" in record) lines.push({ line: record.line, refused: record.fault });
      else lines.push(rows.read(record.cells, record.line));
    }
    return lines;
  };
  for await (const chunk of input) yield read(decoder.write(chunk), false);
  yield read(decoder.end(), true);
  if (rows === undefined) throw new Refusal("the file is empty");
}

/** Reads the records of one file by the names of its columns. */
class CsvRows {
  readonly #layout: CsvLayout;
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #columns: number;
  readonly #facts: FileFacts;
  #record: readonly string[] = [];

  constructor(layout: CsvLayout, header: readonly string[], facts: FileFacts) {
    this.#layout = layout;
    this.#indexes = new Map(header.map((column, i) => [column, i]));
    this.#columns = header.length;
    this.#facts = facts;
  }

  read(record: readonly string[], line: number): Line {
    if (record.length !== this.#columns)
      return { line, refused: `${record.length} columns instead of ${this.#columns}` };
    this.#record = record;
    try {
      const result = this.#layout.read(this.#cell, this.#facts);
      return typeof result === "string" ? { line, skipped: result } : { line, observation: result };
    } catch (error) {
      if (error instanceof Refusal) return { line, refused: error.message };
      throw error;
    }
  }

  readonly #cell = (column: string): string | undefined => this.#record[this.#indexes.get(column) ?? -1];
}

function checkedLayout(
  header: readonly string[],
  facts: FileFacts,
  wanted: FormatName | undefined,
): CsvLayout {
  const layout = layoutOf(header);
  if (layout === undefined)
    throw new Refusal(`no known layout has the columns ${brief(header.slice(0, 12).join(", "), 200)}`);
  if (wanted !== undefined && layout.name !== wanted)
    throw new Refusal(`the columns belong to ${layout.name}, not to ${wanted}`);
  if (layout.timeOfFile && facts.capturedAt === undefined) {
    throw new Refusal(
      "the capture time of its snapshots is unknown: name it like ranking-2026-04-30.csv, or use --date or --manifest",
    );
  }
  return layout;
}
