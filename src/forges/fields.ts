/**
 * Reads the documents that forges send: JSON of bounded depth, and fields as Zod types, whose output has the right type and a bounded
 * length, without control characters. Objects are read by known keys only, so any others, such as `__proto__`, are dropped.
 */
import { z } from "zod";
import { type Clock, DAY_MS } from "../lib/clock.js";
import {
  cleanText,
  EARLIEST,
  isHomepage,
  isTopic,
  LATEST,
  MAX_COUNT,
  MAX_LABEL,
  MAX_TEXT,
  MAX_TOPICS,
  MAX_URL,
  splitFullName,
} from "../repositories/repositories.js";
import { UpstreamFailure } from "./failures.js";

/** When more rows than this are all invalid, the response is at fault rather than the rows. */
const FEW_ROWS = 10;
/** No forge puts more entries on a page. */
const MAX_PAGE = 1_000;

/** For optional fields: null when the value is invalid, empty or missing. */
export function orNull<T extends z.ZodType>(type: T) {
  return type.nullable().catch(null);
}

/** One field of an object; null when the field or the object is invalid or missing. */
export function inner<T extends z.ZodType>(name: string, type: T) {
  return orNull(z.object({ [name]: type }).transform((object) => object[name] as z.output<T>));
}

/** Reads an object under our names: each with the name of the field there, and its type. */
export function record<F extends Readonly<Record<string, readonly [name: string, type: z.ZodType]>>>(
  fields: F,
) {
  return z.object(Object.fromEntries(Object.values(fields))).transform(
    (row) =>
      Object.fromEntries(Object.entries(fields).map(([ours, [theirs]]) => [ours, row[theirs]])) as {
        -readonly [Name in keyof F]: z.output<F[Name][1]>;
      },
  );
}

/** The errors of a GraphQL response that have this form, among the first `max`. */
export function graphqlErrors<T extends z.ZodType>(type: T, max: number) {
  return z
    .array(z.unknown())
    .optional()
    .catch([])
    .transform((list = []) => list.slice(0, max).flatMap((error) => type.safeParse(error).data ?? []));
}

export const count = z.int().min(0).max(MAX_COUNT);

/** An id assigned by the forge, as digits. */
export const id = z.union([z.int().min(1), z.string().regex(/^[1-9]\d{0,18}$/)]).transform(String);

/** Text in its stored form; null when nothing is left. */
export const text = z.string().transform((value) => cleanText(value, MAX_TEXT));

/** A short text for grouping, such as a language; null when empty or too long. */
export const label = z.string().transform((value) => {
  const cleaned = cleanText(value, MAX_LABEL + 1);
  return cleaned !== null && cleaned.length <= MAX_LABEL ? cleaned : null;
});

/** The valid topics in a list, without duplicates, at most 100. */
export const topics = z.array(z.unknown()).transform((values) => {
  const found = values.slice(0, MAX_PAGE).flatMap((value) => label.safeParse(value).data ?? []);
  return [...new Set(found.filter(isTopic))].slice(0, MAX_TOPICS);
});

/** An absolute http or https URL without credentials, normalized. */
export const webUrl = z.string().transform((value, context) => {
  const url = value.length > MAX_URL ? null : URL.parse(value.trim());
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") {
    if (url.href.length <= MAX_URL) return url.href;
  }
  context.addIssue({ code: "custom", message: "not a web address" });
  return z.NEVER;
});

const MAX_AVATAR_URL = 500;

/** The address of an avatar, which may be relative to its site. */
export const avatarAddress = z.string().min(1).max(MAX_AVATAR_URL);

/** The address as an absolute one; null if it is not valid. `avatars.ts` decides which hosts are contacted. */
export function avatarUrlOn(site: string, address: string | null | undefined): string | null {
  if (address === null || address === undefined) return null;
  const url = webUrl.safeParse(URL.parse(address, `${site}/`)?.href).data;
  return url !== undefined && url.length <= MAX_AVATAR_URL ? url : null;
}

/** The address of an avatar on GitHub, without a query: there its APIs differ for one and the same image, by the size and the version. */
export const githubAvatarUrl = avatarAddress.pipe(webUrl).transform((value) => {
  const url = new URL(value);
  url.search = "";
  return url.href;
});

/**
 * The address of a homepage: a web address as `webUrl` reads it, or one without a scheme, such as `www.example.org/a`, unchanged.
 * Anything else that people write into the field is invalid.
 */
export const homepage = z.string().transform((value, context) => {
  const text = value.trim();
  const address = webUrl.safeParse(text).data;
  if (address !== undefined) return address;
  // Only a text that a browser would accept after https:// is an address, and one label alone is a word.
  const url = /^[^\s/:@\\]+\.[^\s/:@\\]+([:/?#]\S*)?$/u.test(text)
    ? webUrl.safeParse(`https://${text}`).data
    : undefined;
  if (url !== undefined && isHomepage(text) && text === cleanText(text, MAX_URL)) return text;
  context.addIssue({ code: "custom", message: "not the address of a homepage" });
  return z.NEVER;
});

/** An ISO 8601 time with a zone, as ms since 1970. Must lie between 2000 and 2100: others are placeholders or errors. */
export const time = z.string().transform((value, context) => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/.test(value);
  const ms = isTime ? Math.floor(Date.parse(value)) : Number.NaN;
  if (ms >= EARLIEST && ms <= LATEST) return ms;
  context.addIssue({ code: "custom", message: "not a time" });
  return z.NEVER;
});

/** `owner/name`, split at the last slash; the owner may contain slashes. */
export const fullName = z.string().transform((value, context) => {
  const parts = splitFullName(value);
  if (parts !== undefined) return parts;
  context.addIssue({ code: "custom", message: "not a repository name" });
  return z.NEVER;
});

/** Validates a document. Throws UpstreamFailure `malformed` with the names of the invalid fields, not their values. */
export function parseRecord<T extends z.ZodType>(type: T, document: unknown): z.output<T> {
  const parsed = type.safeParse(document);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => issue.path.join(".") || "the document").slice(0, 5);
  throw new UpstreamFailure("malformed", `the response has invalid fields: ${fields.join(", ")}`);
}

/**
 * The valid records of a page; records with an invalid required field are left out, or a single one would stop a walk forever.
 * Throws UpstreamFailure `malformed` if it is not a list, or many records and none of them valid.
 */
export function parseRecords<T extends z.ZodType>(type: T, documents: unknown): z.output<T>[] {
  const page = parseRecord(z.array(z.unknown()).max(MAX_PAGE), documents);
  const valid = page
    .map((document) => type.safeParse(document))
    .flatMap(({ data }) => (data === undefined ? [] : [data]));
  checkSomeValid(valid.length, page.length);
  return valid;
}

/** Throws UpstreamFailure `malformed` if a page has many records and none of them is valid. */
export function checkSomeValid(valid: number, all: number): void {
  if (valid === 0 && all > FEW_ROWS)
    throw new UpstreamFailure("malformed", `none of the ${all} records is valid`);
}

/** A file in the API of every forge. GitHub leaves the content out of files over 1 MB. */
const fileSchema = z.object({ content: z.string(), encoding: z.literal("base64") });

/** The text in the document of a file. Bytes that are not UTF-8 become replacement characters. */
export function textOfFile(document: unknown): string {
  const { content } = parseRecord(fileSchema, document);
  const text = Buffer.from(content, "base64").toString("utf8");
  if (text === "") throw new UpstreamFailure("malformed", "the file is empty or too long");
  return text;
}

const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses JSON. Throws UpstreamFailure `malformed` for anything else and for values nested deeper than `maxDepth`; the
 * depth is checked first, so that no recursive parser sees such a text.
 */
export function parseJson(text: string, maxDepth: number = MAX_DEPTH): unknown {
  if (/^\s*</.test(text))
    throw new UpstreamFailure(
      "malformed",
      "the response is a page, not JSON; usually a sign-in page, or not the address of a forge",
    );
  if (isDeeper(text, maxDepth)) {
    throw new UpstreamFailure("malformed", `the response is nested deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new UpstreamFailure("malformed", "the response is not JSON");
  }
}

function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isString = false;
    } else if (code === QUOTE) isString = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** SPDX identifiers as GitHub writes them, so that a license has the same name on every forge. */
const LICENSES = `0BSD AFL-3.0 AGPL-3.0 Apache-2.0 Artistic-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-2-Clause-Patent BSD-3-Clause
  BSD-3-Clause-Clear BSD-4-Clause BSL-1.0 CC-BY-4.0 CC-BY-SA-4.0 CC0-1.0 CECILL-2.1 CERN-OHL-P-2.0 CERN-OHL-S-2.0
  CERN-OHL-W-2.0 ECL-2.0 EPL-1.0 EPL-2.0 EUPL-1.1 EUPL-1.2 GFDL-1.3 GPL-2.0 GPL-3.0 ISC LGPL-2.1 LGPL-3.0 LPPL-1.3c MIT
  MIT-0 MPL-2.0 MS-PL MS-RL MulanPSL-2.0 NCSA ODbL-1.0 OFL-1.1 OSL-3.0 PostgreSQL Unlicense UPL-1.0 Vim WTFPL Zlib`;

const licenseByKey = new Map(
  LICENSES.split(/\s+/).map((identifier) => [identifier.toLowerCase(), identifier]),
);

/** The SPDX identifier for a forge's license key (`mit`, `GPL-3.0-or-later`); null if unknown. */
export function licenseOf(key: string): string | null {
  return licenseByKey.get(key.toLowerCase().replace(/-(only|or-later)$/, "")) ?? null;
}

const WITHHELD_MS = DAY_MS;

/** The fields that an instance withholds, which are not requested from it for a day. */
export class WithheldFields<Field extends string> {
  readonly #clock: Clock;
  readonly #until = new Map<Field, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(fields: Iterable<Field>): void {
    for (const field of fields) this.#until.set(field, this.#clock.monotonic() + WITHHELD_MS);
  }

  list(): Field[] {
    const now = this.#clock.monotonic();
    return [...this.#until].flatMap(([field, until]) => (until > now ? [field] : [])).sort();
  }
}
