/**
 * Fields of documents that a forge sends, as Zod types: what comes out of them has the right type and a sane length, and holds
 * nothing that no text should hold. Objects are read by name, so keys nobody asked for, `__proto__` among them, stay behind.
 */
import { z } from "zod";
import {
  EARLIEST,
  isTopic,
  LATEST,
  MAX_COUNT,
  MAX_LABEL,
  MAX_TEXT,
  MAX_TOPICS,
  MAX_URL,
  splitFullName,
} from "../record-rules.js";
import { UpstreamFailure } from "./failures.js";

/** More entries than this are on no page of any forge. */
const MAX_PAGE = 1_000;

/** The value where it is right, null where it is wrong, empty or missing. For what a record can do without. */
export function orNull<T extends z.ZodType>(type: T) {
  return type.nullable().catch(null);
}

/** A number of things. */
export const count = z.int().min(0).max(MAX_COUNT);

/** A number given out by the forge, as digits. */
export const id = z.union([z.int().min(1), z.string().regex(/^[1-9]\d{0,18}$/)]).transform(String);

/** A text without control characters and broken surrogates, cut to a sane length; null when nothing is left. */
export const text = z.string().transform((value) => clean(value, MAX_TEXT));

/** A short text that things are filed under; null when nothing is left or it is too long to be one. */
export const label = z.string().transform((value) => {
  const cleaned = clean(value, MAX_LABEL + 1);
  return cleaned !== null && cleaned.length <= MAX_LABEL ? cleaned : null;
});

/** The topics among the values, each once, at most 100. */
export const topics = z.array(z.unknown()).transform((values) => {
  const found = values.slice(0, MAX_PAGE).flatMap((value) => label.safeParse(value).data ?? []);
  return [...new Set(found.filter(isTopic))].slice(0, MAX_TOPICS);
});

/** An address of the web (http, https), in its plain form and without a password. */
export const webUrl = z.string().transform((value, context) => {
  const url = value.length > MAX_URL ? null : URL.parse(value.trim());
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") {
    if (url.href.length <= MAX_URL) return url.href;
  }
  context.addIssue({ code: "custom", message: "no address of the web" });
  return z.NEVER;
});

/** An ISO 8601 time with a zone, as ms since 1970; between 2000 and 2100: others are zero values and faults. */
export const time = z.string().transform((value, context) => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/.test(value);
  const ms = isTime ? Math.floor(Date.parse(value)) : Number.NaN;
  if (ms >= EARLIEST && ms <= LATEST) return ms;
  context.addIssue({ code: "custom", message: "no time" });
  return z.NEVER;
});

/** `owner/name`, split at the last slash; groups nest. */
export const fullName = z.string().transform((value, context) => {
  const parts = splitFullName(value);
  if (parts !== undefined) return parts;
  context.addIssue({ code: "custom", message: "no name of a repository" });
  return z.NEVER;
});

function clean(value: string, maxLength: number): string | null {
  // Far more than is kept is not even looked at.
  const start = value
    .slice(0, 2 * maxLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  // A character that the cut goes through is left out.
  const isCutThrough = /[\uD800-\uDBFF]/.test(start.charAt(maxLength - 1));
  const cut = start.slice(0, isCutThrough ? maxLength - 1 : maxLength).trimEnd();
  return cut === "" ? null : cut.toWellFormed();
}

/** The document, believed. Throws UpstreamFailure `malformed` naming the fields that are wrong, and not their values. */
export function parseRecord<T extends z.ZodType>(type: T, document: unknown): z.output<T> {
  const parsed = type.safeParse(document);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => issue.path.join(".") || "the whole").slice(0, 5);
  throw new UpstreamFailure(
    "malformed",
    `the answer is not of the shape that was asked for: ${fields.join(", ")}`,
  );
}

/**
 * The records of a page that are right; those that are wrong in an essential field are left out. Throws UpstreamFailure
 * `malformed` for what is no list, and for a list in which nothing is right.
 */
export function parseRecords<T extends z.ZodType>(type: T, documents: unknown): z.output<T>[] {
  const page = parseRecord(z.array(z.unknown()).max(MAX_PAGE), documents);
  const right = page
    .map((document) => type.safeParse(document))
    .flatMap(({ data }) => (data === undefined ? [] : [data]));
  if (right.length === 0 && page.length > 0) {
    throw new UpstreamFailure(
      "malformed",
      `none of the ${page.length} records is of the shape that was asked for`,
    );
  }
  return right;
}
