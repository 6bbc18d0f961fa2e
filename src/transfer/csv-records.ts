/** A record longer than this is a quote that was never closed, or no CSV at all. */
const MAX_RECORD_LENGTH = 256 * 1024;

const TOO_LONG = "the record is too long; a quote may never be closed";
const NOT_CLOSED = "a quote is opened and never closed";
const AFTER_QUOTE = "something follows a closing quote";
const INSIDE_FIELD = "a quote stands inside an unquoted field";

/** A record, or why there is none to be had from the line. Lines count from 1; the line is where the record begins. */
export type CsvRecord = { line: number } & ({ cells: string[] } | { fault: string });

/** A record found in the text: its cells and the place after its line break. */
interface Parsed {
  cells: string[];
  next: number;
}

/**
 * Splits a CSV text into records as it comes in (RFC 4180; LF and CRLF, also mixed; a byte order mark and empty lines are
 * passed over). A broken record costs only the line it begins on: reading goes on at the line after it, so that one stray
 * quote cannot swallow the rows behind it. The result does not depend on where the text was cut.
 */
export class CsvRecords {
  #rest = "";
  #line = 1;
  #began = false;
  /** Inside a line that is too long, until its end. */
  #passingOver = false;

  /** The records that end in this part of the text, or before it. */
  read(text: string): CsvRecord[] {
    return this.#take(this.#rest + text, false);
  }

  /** The records that the end of the text ends. */
  end(): CsvRecord[] {
    return this.#take(this.#rest, true);
  }

  #take(text: string, isEnd: boolean): CsvRecord[] {
    const records: CsvRecord[] = [];
    let at = this.#began || !text.startsWith("\uFEFF") ? 0 : 1;
    if (text !== "") this.#began = true;
    if (this.#passingOver) {
      const end = text.indexOf("\n");
      at = end === -1 ? text.length : this.#nextLine(end);
    }
    let quote = -1;
    while (at < text.length) {
      const found = text.indexOf("\n", at);
      const end = found === -1 ? text.length : found;
      if (end - at > MAX_RECORD_LENGTH) {
        records.push({ line: this.#line, fault: TOO_LONG });
        this.#passingOver = found === -1;
        at = found === -1 ? text.length : this.#nextLine(end);
        continue;
      }
      if (found === -1 && !isEnd) break;
      if (quote < at) quote = (text.indexOf('"', at) + 1 || text.length + 1) - 1;
      if (quote >= end) {
        const line = text.slice(at, text[end - 1] === "\r" && end > at ? end - 1 : end);
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
        records.push({ line: this.#line, cells: parsed.cells });
        for (let i = end; i !== -1 && i < parsed.next; i = text.indexOf("\n", i + 1)) this.#line++;
        at = parsed.next;
      }
    }
    this.#rest = text.slice(at);
    return records;
  }

  /** Goes on after a line break. */
  #nextLine(lineBreak: number): number {
    this.#line++;
    this.#passingOver = false;
    return lineBreak + 1;
  }
}

const UNQUOTED = /[^",\n]*/y;

/** The record at a place, why it is broken, or undefined when more of the text is needed to know. */
function parseRecord(text: string, at: number, isEnd: boolean): Parsed | string | undefined {
  const cells: string[] = [];
  const more = text.length - at > MAX_RECORD_LENGTH ? TOO_LONG : undefined;
  for (let place = at; ; ) {
    let value = "";
    const isQuoted = text[place] === '"';
    if (isQuoted) {
      for (let from = place + 1; ; ) {
        const close = text.indexOf('"', from);
        if (close === -1) return more ?? (isEnd ? NOT_CLOSED : undefined);
        if (close - at > MAX_RECORD_LENGTH) return TOO_LONG;
        if (text[close + 1] !== '"') {
          value += text.slice(from, close);
          place = close + 1;
          break;
        }
        value += text.slice(from, close + 1);
        from = close + 2;
      }
    } else {
      UNQUOTED.lastIndex = place;
      value = UNQUOTED.exec(text)?.[0] ?? "";
      place += value.length;
      if (text[place] === '"') return INSIDE_FIELD;
    }
    if (place - at > MAX_RECORD_LENGTH) return TOO_LONG;
    const isBreak = text[place] === "\n" || (text[place] === "\r" && text[place + 1] === "\n");
    if (text[place] !== "," && !isBreak) {
      const isLast = place >= text.length || (text[place] === "\r" && place + 1 === text.length);
      if (!isLast) return AFTER_QUOTE;
      if (!isEnd) return undefined;
    }
    cells.push(!isQuoted && text[place] !== "," ? value.replace(/\r$/, "") : value);
    if (text[place] !== ",") return { cells, next: text.indexOf("\n", place) + 1 || text.length };
    place++;
  }
}
