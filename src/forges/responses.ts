/**
 * Reads the responses of forges: ETag, quota headers, the failure that a status indicates, and the forge's own words about it. A
 * forge may repeat the headers of our request in an error, so its words are made safe for the log and for `status`: one line of
 * bounded length, without markup, our tokens and anything that looks like a secret.
 */
import { z } from "zod";
import { type Clock, HOUR_MS } from "../lib/clock.js";
import { cleanText } from "../repositories/repositories.js";
import { type FailureKind, UpstreamFailure } from "./failures.js";
import { parseJson } from "./fields.js";
import { MAX_WAIT_MS, type QuotaReport } from "./quota.js";
import type { UpstreamResponse } from "./transport.js";

/** How long to wait after a rate limit without a time; GitHub demands at least this. */
export const SLOW_DOWN_MS = 60_000;
/** Forges count per hour at most, so a reset further away than this means that a clock is wrong. */
const MAX_PERIOD_MS = HOUR_MS + 60_000;
const MAX_ETAG = 200;
/** GitHub's and GitLab's words for an account that may not be used. */
const ACCOUNT_CLOSED = /your account (?:was|is|has been) (?:suspended|blocked|deactivated)/i;
/** Characters of a body that is not JSON that are searched for a rate limit. */
const MAX_PAGE_SEARCHED = 10_000;

/** The ETag of a response, for a conditional request; null without one. */
export function etagOf(headers: Headers): string | null {
  const tag = headers.get("etag");
  return tag !== null && tag.length <= MAX_ETAG ? tag : null;
}

/**
 * The facts in a response about its token, for `Quota.learn`: limits in the headers of GitHub, GitLab and the IETF draft, `Retry-After`,
 * and whether the token was rejected. `resource`: the limit the request counted against.
 */
export function readQuota(response: UpstreamResponse, resource: string, clock: Clock): QuotaReport {
  const { status, headers } = response;
  const report: QuotaReport = {};
  const limit = numberOf(headers, "x-ratelimit-limit", "ratelimit-limit");
  const { remaining, resetAt } = remainderOf(headers, clock);
  // A response to a rejected token has the anonymous limit, and GitHub may report another limit than this one.
  const isCounted = status !== 401 && (headers.get("x-ratelimit-resource") ?? resource) === resource;
  if (isCounted) {
    if (limit !== null) report.limit = limit;
    if (remaining !== null) report.remaining = remaining;
    if (resetAt !== null) report.resetAt = resetAt;
  }
  if (isTokenRefused(response)) report.isRejected = true;
  else if (status < 400) report.isRejected = false;
  const retryMs = retryAfterMs(headers, clock);
  // A used-up limit ends the use of one resource; a limit on bursts ends all use of the token.
  const isUsedUp = remaining === 0 && resetAt !== null && isCounted;
  if (retryMs !== null) report.blockedUntil = clock.now() + retryMs;
  else if (isLimit(response) && !isUsedUp) report.blockedUntil = clock.now() + SLOW_DOWN_MS;
  return report;
}

interface RequestName {
  what: string;
  /** Follows the status of a redirect that is not followed. */
  whereTo?: string;
  secrets: readonly string[];
}

/** Whether the token itself is refused: it is invalid, or its account is suspended. */
export function isTokenRefused({ status, text }: UpstreamResponse): boolean {
  if (status === 401) return true;
  const message = status === 403 ? readError(text)?.message : undefined;
  return typeof message === "string" && ACCOUNT_CLOSED.test(message);
}

/** Whether access is refused to a token that works otherwise. */
export function isRefusal(response: UpstreamResponse): boolean {
  if (response.status !== 403 || isTokenRefused(response) || isLimit(response)) return false;
  return readError(response.text)?.block === undefined;
}

/** The failure that a status indicates, with the forge's own words; null for 2xx and 304. */
export function failureOf(
  response: UpstreamResponse,
  { what, whereTo = "", secrets }: RequestName,
  clock: Clock,
): UpstreamFailure | null {
  const { status, headers, text } = response;
  if ((status >= 200 && status < 300) || status === 304) return null;
  const retryMs = retryAfterMs(headers, clock);
  const retryAt = retryMs === null ? null : clock.now() + retryMs;
  const reason = wordsOfBody(text, secrets);
  const fail = (kind: FailureKind, until: number | null = null) =>
    new UpstreamFailure(kind, `${what}: status ${status}${kind === "renamed" ? whereTo : ""}`, {
      until,
      reason,
    });
  if (status >= 300 && status < 400) return fail("renamed");
  if (status === 401) return fail("refused");
  if (status === 403 && readError(text)?.block !== undefined) return fail("blocked");
  if (isLimit(response)) {
    const { remaining, resetAt } = remainderOf(headers, clock);
    const reset = remaining === 0 ? resetAt : null;
    return fail("quota", retryAt ?? reset ?? clock.now() + SLOW_DOWN_MS);
  }
  if (status === 403) return fail("refused");
  if (status === 404 || status === 410) return fail("gone");
  if (status === 451) return fail("blocked");
  if (status >= 500 || status === 408) return fail("unreachable", retryAt);
  return fail("malformed");
}

/** Whether a response is a rate limit. GitHub uses 403 for that too, as for a missing permission. */
function isLimit(response: UpstreamResponse): boolean {
  const { status, headers, text } = response;
  if (status === 429) return true;
  if (status !== 403) return false;
  if (headers.has("retry-after")) return true;
  if (numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining") === 0) return true;
  // The only sign of GitHub's secondary limits is the message.
  const body = readError(text);
  const message = body === undefined ? text.slice(0, MAX_PAGE_SEARCHED) : body.message;
  return typeof message === "string" && /rate limit|abuse detection/i.test(message);
}

/** Remaining requests and, in ms since 1970, when the count is reset: at most MAX_WAIT_MS from now. */
function remainderOf(headers: Headers, clock: Clock): { remaining: number | null; resetAt: number | null } {
  const remaining = numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining");
  const reset = numberOf(headers, "x-ratelimit-reset", "ratelimit-reset");
  if (reset === null) return { remaining, resetAt: null };
  // The IETF draft counts seconds from now, the others seconds since 1970.
  const waitMs = reset < 1e9 ? Math.min(MAX_WAIT_MS, reset * 1000) : waitUntil(reset * 1000, headers, clock);
  return { remaining, resetAt: clock.now() + waitMs };
}

/** `Retry-After` in ms, from seconds or a date, at most MAX_WAIT_MS; null when absent or invalid. */
function retryAfterMs(headers: Headers, clock: Clock): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,100}$/.test(text)) return Math.min(MAX_WAIT_MS, Number(text) * 1000);
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : waitUntil(at, headers, clock);
}

/** Time until `at`, a time on the forge's clock. When our clock makes that implausible, the `Date` header decides. */
function waitUntil(at: number, headers: Headers, clock: Clock): number {
  const byOurs = at - clock.now();
  if (byOurs >= 0 && byOurs <= MAX_PERIOD_MS) return byOurs;
  const date = dateOf(headers);
  return Math.min(MAX_WAIT_MS, Math.max(0, date === null ? byOurs : at - date));
}

/** The time on the forge's clock when it responded. */
export function dateOf(headers: Headers): number | null {
  const date = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(date) ? null : date;
}

/** Whether the `Link` header announces a next page. Its address is ignored: ours come from cursors. */
export function hasNextPage(headers: Headers): boolean {
  return /;\s*rel="?next\b/i.test(headers.get("link") ?? "");
}

/** The first of these headers that is a plain number. */
export function numberOf(headers: Headers, ...names: string[]): number | null {
  for (const name of names) {
    const text = headers.get(name)?.trim() ?? "";
    if (/^\d{1,12}$/.test(text)) return Number(text);
  }
  return null;
}

const MAX_WORDS = 200;
/** Characters that are searched for our tokens, and then for anything that looks like a secret. */
const MAX_READ = 5_000;
const MAX_SEARCHED = 1_000;
/** Longer bodies are not error messages of an API. */
const MAX_ERROR_LENGTH = 10_000;
const MAX_ERROR_DEPTH = 3;
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

const errorSchema = z.object({
  message: z.unknown().optional(),
  error: z.unknown().optional(),
  error_description: z.unknown().optional(),
  errors: z.unknown().optional(),
  block: z.unknown().optional(),
});
type ErrorBody = z.output<typeof errorSchema>;

/** The body of an error response; undefined when it is not JSON. */
function readError(text: string): ErrorBody | undefined {
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

/** The first words of a text, without a word that is cut off: it may be the unrecognizable start of a token. */
function wholeWords(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, Math.max(0, text.lastIndexOf(" ", maxLength)));
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((safe, secret) => safe.replaceAll(secret, REDACTED), text);
}

/** The first text in a value, as forges also send lists of messages, and messages by field. */
function firstText(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (typeof value !== "object" || value === null || depth === MAX_ERROR_DEPTH) return undefined;
  if ("message" in value && typeof value.message === "string") return value.message;
  for (const inner of Object.values(value).slice(0, 10)) {
    const found = firstText(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
