import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { layoutOf } from "./csv-layouts.js";
import { type CsvRecord, CsvRecords } from "./csv-records.js";
import type { FileCheck } from "./file-check.js";
import type { CsvLayout, FileFacts, FormatName } from "./formats.js";
import type { Line } from "./lines.js";
import { brief, Refusal } from "./values.js";

/** What the decoder puts where bytes are not valid UTF-8. */
const REPLACEMENT = "\uFFFD";

/** What is known of a file before it is read. */
export interface CsvOptions extends FileFacts {
  /** The layout that it must have; by default any. */
  wanted?: FormatName;
  /** Notices what is wrong with the file. */
  check?: FileCheck;
}

/**
 * Reads a CSV file of a known layout: one result per row, in groups as the file is read. Throws Refusal when the file as a whole cannot be read.
 */
export async function* readCsv(
  input: Readable,
  { wanted, check, ...facts }: CsvOptions,
): AsyncGenerator<Line[]> {
  const decoder = new StringDecoder("utf8");
  const records = new CsvRecords();
  let rows: CsvRows | undefined;
  let last: CsvRecord | undefined;
  let isBroken = false;
  const linesOf = (found: readonly CsvRecord[]): Line[] => {
    const lines: Line[] = [];
    for (const record of found) {
      last = record;
      if (rows === undefined) {
        if ("fault" in record) throw new Refusal(`the header line: ${record.fault}`);
        const layout = checkedLayout(record.cells, facts, wanted);
        check?.begin(layout, facts.capturedAt);
        rows = new CsvRows(layout, record.cells, facts);
        continue;
      }
      const line = "fault" in record ? { line: record.line, refused: record.fault } : rows.read(record);
      check?.row(line, isBroken && "cells" in record && record.cells.some(hasReplacement));
      lines.push(line);
    }
    return lines;
  };
  for await (const chunk of input) {
    const text = decoder.write(chunk);
    isBroken ||= hasReplacement(text);
    yield linesOf(records.read(text));
  }
  const rest = linesOf(records.read(decoder.end()));
  const isInsideLine = records.isInsideLine;
  yield [...rest, ...linesOf(records.end())];
  if (rows === undefined) throw new Refusal("the file is empty");
  const cut = cutOff(last, rows.columns, isInsideLine);
  if (cut !== undefined) check?.found("CUT_OFF", `cut off: ${cut}`);
}

const hasReplacement = (text: string): boolean => text.includes(REPLACEMENT);

/** How the last record shows that the file goes on behind it; undefined if it does not. */
function cutOff(last: CsvRecord | undefined, columns: number, isInsideLine: boolean): string | undefined {
  if (last === undefined) return undefined;
  if ("fault" in last) return `line ${last.line}: ${last.fault}`;
  if (last.cells.length < columns)
    return `the last row, line ${last.line}, has ${last.cells.length} of ${columns} columns`;
  return isInsideLine ? `the last row, line ${last.line}, has no line end` : undefined;
}

/** Reads the records of one file by the names of its columns. */
class CsvRows {
  readonly #layout: CsvLayout;
  readonly #indexes: ReadonlyMap<string, number>;
  readonly columns: number;
  readonly #facts: FileFacts;
  #record: readonly string[] = [];

  constructor(layout: CsvLayout, header: readonly string[], facts: FileFacts) {
    this.#layout = layout;
    this.#indexes = new Map(header.map((column, i) => [column, i]));
    this.columns = header.length;
    this.#facts = facts;
  }

  read({ cells, line }: { cells: readonly string[]; line: number }): Line {
    if (cells.length !== this.columns)
      return { line, refused: `${cells.length} columns instead of ${this.columns}` };
    this.#record = cells;
    try {
      const result = this.#layout.read(this.#cell, this.#facts);
      return "skipped" in result ? { line, ...result } : { line, observation: result };
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
