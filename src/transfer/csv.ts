import type { Readable } from "node:stream";
import { type CsvError, type Info, parse } from "csv-parse";
import { type CsvLayout, type FileFacts, type FormatName, layoutOf } from "./formats.js";
import type { Line } from "./transfer.js";
import { Refusal } from "./values.js";

/** A record longer than this is a quote that was never closed. */
const MAX_RECORD_BYTES = 256 * 1024;

/**
 * Reads a CSV file of a known layout: quotes, line breaks inside them, CRLF and a byte order mark as RFC 4180 and
 * practice have them. Every row is answered with what it says or why it is refused. Throws Refusal when the file as a
 * whole cannot be read.
 */
export async function* readCsv(input: Readable, facts: FileFacts, wanted?: FormatName): AsyncGenerator<Line> {
  const broken: Line[] = [];
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: MAX_RECORD_BYTES,
  });
  parser.on("skip", (error: CsvError) =>
    broken.push({ line: Number(error.lines ?? 0), refused: csvReason(error) }),
  );
  input.on("error", (error) => parser.destroy(error));
  input.pipe(parser);

  let layout: CsvLayout | undefined;
  let places = new Map<string, number>();
  let row: string[] = [];
  let width = 0;
  let previousLine = 0;
  const cell = (column: string): string | undefined => row[places.get(column) ?? -1];
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      yield* broken.splice(0);
      const line = previousLine + 1;
      previousLine = info.lines;
      if (layout === undefined) {
        layout = checkedLayout(record, facts, wanted);
        places = new Map(record.map((column, i) => [column, i]));
        width = record.length;
        continue;
      }
      row = record;
      yield record.length === width
        ? readRow(layout, cell, facts, line)
        : { line, refused: `${record.length} columns instead of ${width}` };
    }
  } catch (error) {
    if (!isCsvError(error)) throw error;
    yield* broken.splice(0);
    yield { line: previousLine + 1, refused: `${csvReason(error)}; the rest of the file was not read` };
    return;
  }
  yield* broken.splice(0);
  if (layout === undefined) throw new Refusal("the file is empty");
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

function readRow(
  layout: CsvLayout,
  cell: (column: string) => string | undefined,
  facts: FileFacts,
  line: number,
): Line {
  try {
    const said = layout.read(cell, facts);
    return typeof said === "string" ? { line, skipped: said } : { line, observation: said };
  } catch (error) {
    if (error instanceof Refusal) return { line, refused: error.message };
    throw error;
  }
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
