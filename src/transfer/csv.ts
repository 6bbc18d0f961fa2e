/** Reads CSV files of known layouts: splits the text into records, and records into observations. */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { type CsvLayout, type FileFacts, type FormatName, layoutFor } from "./csv-layouts.js";
import type { FileCheck } from "./file-check.js";
import { endless, type Line, MAX_SKIPPED_LENGTH } from "./lines.js";
import { Refusal } from "./values.js";

/** The decoder's sign for bytes that are not valid UTF-8. */
const REPLACEMENT = "\uFFFD";

/** The facts of a file that are known before it is read. */
interface CsvOptions extends FileFacts {
  /** The layout that it must have; by default any. */
  wanted?: FormatName;
  /** Notices problems of the file. */
  check?: FileCheck;
}

/** Reads a CSV file of a known layout: one result per row, in groups. Throws Refusal if the file as a whole cannot be read. */
export async function* readCsv(
  input: Readable,
  { wanted, check, ...facts }: CsvOptions,
): AsyncGenerator<Line[]> {
  const decoder = new StringDecoder("utf8");
  const records = new CsvRecords();
  let readRow: ReturnType<typeof rowReader> | undefined;
  let columns = 0;
  let last: CsvRecord | undefined;
  let isBroken = false;
  const linesOf = (found: readonly CsvRecord[]): Line[] => {
    const lines: Line[] = [];
    for (const record of found) {
      last = record;
      if (readRow === undefined) {
        if ("fault" in record) throw new Refusal(`the header line: ${record.fault}`);
        const layout = layoutFor(record.cells, facts, wanted);
        if (layout.isArchive) check?.begin(layout, facts.capturedAt);
        readRow = rowReader(layout, record.cells, facts);
        columns = record.cells.length;
        continue;
      }
      const line = "fault" in record ? { line: record.line, refused: record.fault } : readRow(record);
      check?.row(line, isBroken && "cells" in record && record.cells.some(hasReplacement));
      lines.push(line);
    }
    return lines;
  };
  for await (const chunk of input) {
    if (last === undefined && isUtf16(chunk)) throw new Refusal("the text is in UTF-16; it must be in UTF-8");
    const text = decoder.write(chunk);
    isBroken ||= hasReplacement(text);
    yield linesOf(records.read(text));
  }
  const rest = linesOf(records.read(decoder.end()));
  const isInsideLine = records.isInsideLine;
  yield [...rest, ...linesOf(records.end())];
  if (readRow === undefined) throw new Refusal("the file is empty");
  const cut = cutOff(last, columns, isInsideLine);
  if (cut !== undefined) check?.found("CUT_OFF", `cut off: ${cut}`);
}

const hasReplacement = (text: string): boolean => text.includes(REPLACEMENT);

/** By the first bytes of a text: its mark of byte order, or the other half of its first letters. */
function isUtf16(start: Buffer): boolean {
  return /^(?:fffe|feff|00..00|..00..00)/.test(start.toString("hex", 0, 4));
}

/** How the last record shows that the file is cut off after it; undefined if it does not. */
function cutOff(last: CsvRecord | undefined, columns: number, isInsideLine: boolean): string | undefined {
  if (last === undefined) return undefined;
  if ("fault" in last) return `line ${last.line}: ${last.fault}`;
  if (last.cells.length < columns)
    return `the last row, line ${last.line}, has ${last.cells.length} of ${columns} columns`;
  return isInsideLine ? `the last row, line ${last.line}, has no line end` : undefined;
}

/** Returns a reader for the records of one file, by the names of its columns. */
function rowReader(layout: CsvLayout, header: readonly string[], facts: FileFacts) {
  const indexes = new Map(header.map((column, i) => [column, i]));
  return ({ cells, line }: { cells: readonly string[]; line: number }): Line => {
    if (cells.length !== header.length)
      return { line, refused: `${cells.length} columns instead of ${header.length}` };
    try {
      const result = layout.read((column) => cells[indexes.get(column) ?? -1], facts);
      return "skipped" in result ? { line, ...result } : { line, observation: result };
    } catch (error) {
      if (error instanceof Refusal) return { line, refused: error.message };
      throw error;
    }
  };
}

/** A longer record is an unclosed quote, or not CSV. */
const MAX_RECORD_LENGTH = 256 * 1024;

const TOO_LONG = "the record is too long; a quote may never be closed";
const NOT_CLOSED = "a quote is opened and never closed";
const AFTER_QUOTE = "unexpected text after a closing quote";
const INSIDE_FIELD = "a quote inside an unquoted field";

/** A record, or why the line has none. `line`: the first line of the record, from 1. */
export type CsvRecord = { line: number } & ({ cells: string[] } | { fault: string });

/** A parsed record: its cells, and the index after its line break. */
interface Parsed {
  cells: string[];
  next: number;
}

/**
 * Splits CSV text into records as it arrives (RFC 4180; LF and CRLF, also mixed; a byte order mark and empty lines are ignored).
 * A broken record loses only the line it begins on: parsing continues on the next line, so that a stray quote cannot swallow
 * the rows after it. The result does not depend on how the text is divided into chunks.
 */
export class CsvRecords {
  #rest = "";
  #line = 1;
  #began = false;
  /** Length of a line that is too long and being skipped; 0: of none. */
  #skipped = 0;

  /** The records completed by this chunk. Throws Refusal at a line that seems to have no end. */
  read(text: string): CsvRecord[] {
    return this.#take(this.#rest + text, false);
  }

  /** The records completed by the end of the text. */
  end(): CsvRecord[] {
    return this.#take(this.#rest, true);
  }

  /** Whether the text so far ends inside a line. */
  get isInsideLine(): boolean {
    return this.#skipped > 0 || (this.#rest !== "" && !this.#rest.endsWith("\n"));
  }

  #take(text: string, isEnd: boolean): CsvRecord[] {
    const records: CsvRecord[] = [];
    let at = this.#began || !text.startsWith("\uFEFF") ? 0 : 1;
    if (text !== "") this.#began = true;
    if (this.#skipped > 0) {
      const end = text.indexOf("\n");
      this.#skipped += end === -1 ? text.length : end;
      if (this.#skipped > MAX_SKIPPED_LENGTH) throw endless(this.#line);
      at = end === -1 ? text.length : this.#nextLine(end);
    }
    let quote = -1;
    while (at < text.length) {
      const found = text.indexOf("\n", at);
      const end = found === -1 ? text.length : found;
      if (end - at > MAX_RECORD_LENGTH) {
        records.push({ line: this.#line, fault: TOO_LONG });
        if (found === -1) this.#skipped = end - at;
        at = found === -1 ? text.length : this.#nextLine(end);
        continue;
      }
      if (found === -1 && !isEnd) break;
      if (quote < at) quote = (text.indexOf('"', at) + 1 || text.length + 1) - 1;
      if (quote >= end) {
        const line = copied(text.slice(at, text[end - 1] === "\r" && end > at ? end - 1 : end));
        if (line !== "") records.push({ line: this.#line, cells: line.split(",") });
        at = this.#nextLine(end);
        continue;
      }
      const parsed = parseRecord(text, at, isEnd);
      if (parsed === undefined) break;
      if (typeof parsed === "string") {
        records.push({ line: this.#line, fault: parsed });
        at = this.#nextLine(end);
      } else {
        records.push({ line: this.#line, cells: parsed.cells.map(copied) });
        for (let i = end; i !== -1 && i < parsed.next; i = text.indexOf("\n", i + 1)) this.#line++;
        at = parsed.next;
      }
    }
    this.#rest = text.slice(at);
    return records;
  }

  /** Moves past a line break. */
  #nextLine(lineBreak: number): number {
    this.#line++;
    this.#skipped = 0;
    return lineBreak + 1;
  }
}

/** V8 keeps a whole text, here a chunk of the file, for a part of it that is still in use. It copies parts shorter than this. */
const SHORTEST_PART = 13;
const copied = (part: string): string => (part.length < SHORTEST_PART ? part : Buffer.from(part).toString());

const UNQUOTED = /[^",\n]*/y;

/** The record at an index, why it is broken, or undefined when more text is needed to decide. */
function parseRecord(text: string, at: number, isEnd: boolean): Parsed | string | undefined {
  const cells: string[] = [];
  const more = text.length - at > MAX_RECORD_LENGTH ? TOO_LONG : undefined;
  for (let index = at; ; ) {
    let value = "";
    const isQuoted = text[index] === '"';
    if (isQuoted) {
      for (let from = index + 1; ; ) {
        const close = text.indexOf('"', from);
        if (close === -1) return more ?? (isEnd ? NOT_CLOSED : undefined);
        if (close - at > MAX_RECORD_LENGTH) return TOO_LONG;
        if (text[close + 1] !== '"') {
          value += text.slice(from, close);
          index = close + 1;
          break;
        }
        value += text.slice(from, close + 1);
        from = close + 2;
      }
    } else {
      UNQUOTED.lastIndex = index;
      value = UNQUOTED.exec(text)?.[0] ?? "";
      index += value.length;
      if (text[index] === '"') return INSIDE_FIELD;
    }
    if (index - at > MAX_RECORD_LENGTH) return TOO_LONG;
    const isBreak = text[index] === "\n" || (text[index] === "\r" && text[index + 1] === "\n");
    if (text[index] !== "," && !isBreak) {
      const isLast = index >= text.length || (text[index] === "\r" && index + 1 === text.length);
      if (!isLast) return AFTER_QUOTE;
      if (!isEnd) return undefined;
    }
    cells.push(!isQuoted && text[index] !== "," ? value.replace(/\r$/, "") : value);
    if (text[index] !== ",") return { cells, next: text.indexOf("\n", index) + 1 || text.length };
    index++;
  }
}
