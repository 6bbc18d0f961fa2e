import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { type CsvError, parse } from "csv-parse";
import { type CsvLayout, type FileFacts, type FormatName, layoutOf } from "./formats.js";
import type { Line } from "./read-files.js";
import { Refusal } from "./values.js";

/** A record longer than this is a quote that was never closed. */
const MAX_RECORD_BYTES = 256 * 1024;

/**
 * Reads a CSV file of a known layout: quotes, line breaks inside them, CRLF and a byte order mark as RFC 4180 and
 * practice have them. Every row is answered with what it says or why it is refused, in groups as the file is read.
 * Throws Refusal when the file as a whole cannot be read.
 */
export async function* readCsv(
  input: Readable,
  facts: FileFacts,
  wanted?: FormatName,
): AsyncGenerator<Line[]> {
  let lines: Line[] = [];
  let rows: CsvRows | undefined;
  let previousLine = 0;
  let failure: unknown;
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: MAX_RECORD_BYTES,
    // Taken here rather than from the stream, which would hand over one record at a time.
    on_record: (record: string[], context) => {
      const line = previousLine + 1;
      previousLine = context.lines;
      if (rows === undefined) rows = new CsvRows(checkedLayout(record, facts, wanted), record, facts);
      else lines.push(rows.read(record, line));
      return null;
    },
  });
  parser.on("skip", (error: CsvError) => {
    lines.push({ line: previousLine + 1, refused: csvReason(error) });
    previousLine = Number(error.lines ?? previousLine);
  });
  parser.on("error", (error) => {
    failure ??= error;
  });
  parser.resume();
  for await (const chunk of input) {
    await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
    if (failure !== undefined) break;
    yield lines.splice(0);
  }
  if (failure === undefined)
    await finished(parser.end()).catch((error) => {
      failure = error;
    });
  if (failure !== undefined) {
    if (!isCsvError(failure)) throw failure;
    lines.push({
      line: previousLine + 1,
      refused: `${csvReason(failure)}; the rest of the file was not read`,
    });
  }
  yield lines;
  lines = [];
  if (rows === undefined) throw new Refusal("the file is empty");
}

/** Reads the records of one file by the names of its columns. */
class CsvRows {
  readonly #layout: CsvLayout;
  readonly #places: ReadonlyMap<string, number>;
  readonly #facts: FileFacts;
  #record: readonly string[] = [];

  constructor(layout: CsvLayout, header: readonly string[], facts: FileFacts) {
    this.#layout = layout;
    this.#places = new Map(header.map((column, i) => [column, i]));
    this.#facts = facts;
  }

  read(record: readonly string[], line: number): Line {
    if (record.length !== this.#places.size) {
      return { line, refused: `${record.length} columns instead of ${this.#places.size}` };
    }
    this.#record = record;
    try {
      const said = this.#layout.read(this.#cell, this.#facts);
      return typeof said === "string" ? { line, skipped: said } : { line, observation: said };
    } catch (error) {
      if (error instanceof Refusal) return { line, refused: error.message };
      throw error;
    }
  }

  readonly #cell = (column: string): string | undefined => this.#record[this.#places.get(column) ?? -1];
}

function checkedLayout(
  header: readonly string[],
  facts: FileFacts,
  wanted: FormatName | undefined,
): CsvLayout {
  const layout = layoutOf(header);
  if (layout === undefined)
    throw new Refusal(`no known layout has the columns ${header.slice(0, 12).join(", ").slice(0, 200)}`);
  if (wanted !== undefined && layout.name !== wanted)
    throw new Refusal(`the columns are those of ${layout.name}, not of ${wanted}`);
  if (layout.timeOfFile && facts.capturedAt === undefined) {
    throw new Refusal(
      "the time of its snapshots is not known: name it like ranking-2026-04-30.csv, or give --date or --manifest",
    );
  }
  return layout;
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("CSV_");
}

const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quote is opened and never closed",
  CSV_INVALID_CLOSING_QUOTE: "something follows a closing quote",
  INVALID_OPENING_QUOTE: "a quote stands inside an unquoted field",
  CSV_MAX_RECORD_SIZE: "the record is too long; a quote may never be closed",
};

function csvReason(error: CsvError): string {
  return REASONS[error.code] ?? "the record is not CSV";
}
