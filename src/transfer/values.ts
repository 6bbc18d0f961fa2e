import { z } from "zod";
import { type Clock, DAY_MS } from "../lib/clock.js";
import { cleanText, EARLIEST, LATEST, MAX_LABEL, MAX_TEXT } from "../repositories/repositories.js";

/** Why a line or a file is refused, worded for the person who wrote it. */
export class Refusal extends Error {
  /** The line at which a file is refused; 0: as a whole. */
  readonly line: number;

  constructor(reason: string, line = 0) {
    super(reason);
    this.line = line;
  }
}

export const DAMAGED_DATA = "the compressed data is damaged; everything before the damage was read";

/** A count. Throws Refusal, naming the column. */
export function count(text: string | undefined, column: string): number {
  if (text === undefined || !/^\d{1,12}$/.test(text))
    throw new Refusal(`${column}: "${brief(text)}" is not a whole number`);
  return Number(text);
}

/** A count; null when empty. */
export function optionalCount(text: string | undefined, column: string): number | null {
  return text === undefined || text === "" ? null : count(text, column);
}

/** How much the clock of a file's writer may be ahead. */
const CLOCK_ERROR_MS = 2 * DAY_MS;

/** An ISO 8601 time when something was seen; without a zone it is UTC. Throws Refusal for a time after `now` or before 2000. */
export function time(text: string | undefined, column: string, now: number): number {
  const ms = parseIsoTime(text, column);
  if (ms < EARLIEST || ms > now + CLOCK_ERROR_MS)
    throw new Refusal(`${column}: ${text} is before 2000 or in the future`);
  return ms;
}

/** An ISO 8601 time that a forge reported; forges with a wrong clock report future times. Throws Refusal. */
function forgeTime(text: string, column: string): number {
  const ms = parseIsoTime(text, column);
  if (ms < EARLIEST || ms > LATEST) throw new Refusal(`${column}: ${text} is before 2000 or after 2100`);
  return ms;
}

function parseIsoTime(text: string | undefined, column: string): number {
  const match = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/.exec(
    text ?? "",
  );
  const ms =
    match === null
      ? Number.NaN
      : Date.parse(match[4] === undefined || match[7] !== undefined ? match[0] : `${match[0]}Z`);
  const lastOfMonth =
    match === null ? 0 : new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
  if (match === null || Number.isNaN(ms) || Number(match[3]) > lastOfMonth) {
    throw new Refusal(`${column}: "${brief(text)}" is not an ISO 8601 time`);
  }
  return ms;
}

/** Text in its stored form; null when nothing is left. */
export function text(value: string | undefined): string | null {
  return value === undefined ? null : cleanText(value, MAX_TEXT);
}

/** A short text, such as a language. Throws Refusal when it is too long. */
export function label(value: string | undefined, column: string): string | null {
  const clean = text(value);
  if (clean !== null && clean.length > MAX_LABEL)
    throw new Refusal(`${column}: "${brief(clean)}…" is longer than ${MAX_LABEL} characters`);
  return clean;
}

/** A boolean as Python or JSON writes it. */
export function truth(value: string | undefined, column: string): boolean | null {
  if (value === undefined || value === "") return null;
  const word = value.toLowerCase();
  if (word !== "true" && word !== "false")
    throw new Refusal(`${column}: "${brief(value)}" is neither true nor false`);
  return word === "true";
}

/** The beginning of a value, safe to print in a message: it contains no control characters. */
export function brief(value: string | undefined, length = 60): string {
  return (text(value) ?? "").slice(0, length);
}

/** A Zod string converted by `parse`, whose errors become the messages of issues. */
export function parsedBy<T>(parse: (text: string) => T) {
  return z.string().transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({
        code: "custom",
        message: error instanceof Error ? error.message : "invalid",
      });
      return z.NEVER;
    }
  });
}

/** An ISO time when something was seen, as ms since 1970. */
export const seenTimeSchema = (clock: Clock) => parsedBy((value) => time(value, "time", clock.now()));
/** An ISO time reported by a forge, as ms since 1970. */
export const forgeTimeSchema = parsedBy((value) => forgeTime(value, "time"));
