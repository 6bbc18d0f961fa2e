/**
 * The words of a forge about a failure, made safe for the log and for `status`: one line of bounded length, without markup, our
 * tokens, and anything that looks like a secret. A forge may repeat the headers of our request in an error.
 */
import { z } from "zod";
import { cleanText } from "../record-rules.js";
import { parseJson } from "./json.js";

/** Maximum length of what is kept. */
const MAX_WORDS = 200;
/** Longer texts are cut before our tokens are looked for in them, and again before anything else is. */
const MAX_READ = 5_000;
const MAX_SEARCHED = 1_000;
/** Longer bodies are not error messages of an API. */
const MAX_ERROR_LENGTH = 10_000;
const MAX_DEPTH = 3;
/** Shorter tokens are no secrets, and would match ordinary words. */
const MIN_SECRET = 4;
const REDACTED = "[redacted]";

/** Text that looks like a token: known prefixes, and JSON web tokens. */
const TOKEN_SHAPES: readonly RegExp[] = [
  /(?:gh[a-z]_|github_pat_|gl[a-z]{2,8}-)[\w.-]{6,}/gi,
  /eyJ[\w.-]{10,}/g,
];
/** Hashes and other long runs, if they contain a digit. */
const LONG_RUN = /[\w+/=-]{20,}/g;
/** A value after the name of a header or a scheme. Values without a digit are ordinary words. */
const CREDENTIAL =
  /\b(authorization|bearer|basic|token|password|secret)\b(["']?\s*[:=]?\s*["']?)(?=\S*\d)[^\s"',;]{6,}/gi;

/** The body of an error of an API; unknown fields are ignored. */
const errorSchema = z.object({
  message: z.unknown().optional(),
  error: z.unknown().optional(),
  error_description: z.unknown().optional(),
  errors: z.unknown().optional(),
  block: z.unknown().optional(),
});
export type ErrorBody = z.output<typeof errorSchema>;

/** The body of an error response; undefined when it is not JSON. */
export function readError(text: string): ErrorBody | undefined {
  if (text.length > MAX_ERROR_LENGTH) return undefined;
  try {
    return errorSchema.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

/** The words in the body of an error response: GitHub's and Forgejo's `message`, GitLab's `error` and its description. */
export function wordsOfBody(text: string, secrets: readonly string[]): string | null {
  const body = readError(text);
  if (body === undefined) return null;
  const { message, error, error_description, errors } = body;
  const parts = [message, error, error_description, errors].flatMap((part) => firstText(part, 0) ?? []);
  return safeWords([...new Set(parts)].join(": "), secrets);
}

/** A text of a forge in its safe form; null when nothing is left of it, or it is a page. */
export function safeWords(text: string, secrets: readonly string[]): string | null {
  if (/^\s*<|<[/!]/.test(text)) return null;
  // Invisible characters go first: they could hide a token from the search for it.
  const plain = cleanText(wholeWords(text, MAX_READ).replaceAll(/[\p{Cf}<>]/gu, ""), MAX_READ);
  if (plain === null) return null;
  let safe = wholeWords(withoutSecrets(plain, secrets), MAX_SEARCHED);
  safe = safe.replaceAll(CREDENTIAL, `$1$2${REDACTED}`);
  for (const shape of TOKEN_SHAPES) safe = safe.replaceAll(shape, REDACTED);
  safe = safe.replaceAll(LONG_RUN, (run) => (/\d/.test(run) ? REDACTED : run));
  return cleanText(safe, MAX_WORDS);
}

/** The first words of a text. A word that is cut off goes: it may be part of a token, which nothing recognizes. */
function wholeWords(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, Math.max(0, text.lastIndexOf(" ", maxLength)));
}

/** The text without our own tokens. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((safe, secret) => safe.replaceAll(secret, REDACTED), text);
}

/** The first text in a value: forges also send lists of messages, and messages by field. */
function firstText(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return undefined;
  if ("message" in value && typeof value.message === "string") return value.message;
  for (const inner of Object.values(value).slice(0, 10)) {
    const found = firstText(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
