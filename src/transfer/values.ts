import { z } from "zod";
import { DAY_MS } from "../clock.js";

/** Times before this are not of any forge; they are a fault of the source. */
const EARLIEST = Date.UTC(2000, 0, 1);
const MAX_TEXT = 10_000;
const MAX_LABEL = 100;

/** A reason to refuse a line, in words for the person who wrote it. */
export class Refusal extends Error {}

/** A count as a source writes it. Throws Refusal, naming the column. */
export function count(text: string | undefined, column: string): number {
  if (text === undefined || !/^\d{1,12}$/.test(text))
    throw new Refusal(`${column}: "${brief(text)}" is not a whole number`);
  return Number(text);
}

/** A count that may be left empty. */
export function optionalCount(text: string | undefined, column: string): number | null {
  return text === undefined || text === "" ? null : count(text, column);
}

/** An ISO 8601 time; one without a zone is UTC. Throws Refusal when it is none, or cannot be true. */
export function time(text: string | undefined, column: string): number {
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
  if (ms < EARLIEST || ms > Date.now() + 2 * DAY_MS) {
    throw new Refusal(`${column}: ${text} lies before 2000 or in the future`);
  }
  return ms;
}

/** A text without what no text should hold (control characters, broken surrogates); null when nothing is left. */
export function text(value: string | undefined): string | null {
  if (value === undefined) return null;
  const clean = value
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed()
    .trimEnd();
  return clean === "" ? null : clean;
}

/** A short text that things are filed under, such as a language. Throws Refusal for one that is none. */
export function label(value: string | undefined, column: string): string | null {
  const clean = text(value);
  if (clean !== null && clean.length > MAX_LABEL)
    throw new Refusal(`${column}: "${brief(clean)}…" is longer than ${MAX_LABEL} characters`);
  return clean;
}

/** A truth value as Python or JSON writes it. */
export function truth(value: string | undefined, column: string): boolean | null {
  if (value === undefined || value === "") return null;
  const known: Record<string, boolean> = { true: true, false: false };
  const found = known[value.toLowerCase()];
  if (found === undefined) throw new Refusal(`${column}: "${brief(value)}" is neither true nor false`);
  return found;
}

/** The beginning of a value, for a message: nothing in it can steer a terminal. */
export function brief(value: string | undefined, length = 60): string {
  return (text(value) ?? "").slice(0, length);
}

/** A Zod type for an ISO time, as milliseconds. */
export const isoTimeSchema = z.string().transform((value, context) => {
  try {
    return time(value, "time");
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : "not a time" });
    return z.NEVER;
  }
});
