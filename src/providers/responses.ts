/** Reads the responses of forges: quota headers, status, ETag and JSON. */
import { z } from "zod";
import { type Clock, DAY_MS, HOUR_MS } from "../clock.js";
import { type FailureKind, UpstreamFailure } from "./contract.js";
import type { QuotaReport } from "./quota.js";
import type { UpstreamResponse } from "./transport.js";

/** How long to wait when a forge asks to slow down without saying how long; GitHub asks for at least this. */
export const SLOW_DOWN_MS = 60_000;
/** Forges count per hour at most, so a reset further away than this means that a clock is wrong. */
const MAX_PERIOD_MS = HOUR_MS + 60_000;

/** Longer ETags are not kept. */
const MAX_ETAG = 200;

/** Longer bodies are not error messages of an API. */
const MAX_ERROR_LENGTH = 10_000;
const errorSchema = z.object({ message: z.string().catch(""), block: z.unknown().optional() });

const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The ETag of a response, for a conditional request; null without one. */
export function etagOf(headers: Headers): string | null {
  const tag = headers.get("etag");
  return tag !== null && tag.length <= MAX_ETAG ? tag : null;
}

/**
 * What a response says about the token it was requested with, for `Quota.learn`: limits in the headers of GitHub, GitLab and
 * the IETF draft, `Retry-After`, and whether the token was rejected. `resource`: the limit the request counted against.
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
  if (status === 401) report.isRejected = true;
  const retryMs = retryAfterMs(headers, clock);
  // A used-up limit ends the use of one resource; a limit on bursts ends all use of the token.
  const isUsedUp = remaining === 0 && resetAt !== null && isCounted;
  if (retryMs !== null) report.blockedUntil = clock.now() + retryMs;
  else if (isLimit(response) && !isUsedUp) report.blockedUntil = clock.now() + SLOW_DOWN_MS;
  return report;
}

/** The failure that a status indicates; null for 2xx and 304. `what` names the request in the message. */
export function failureOf(response: UpstreamResponse, what: string, clock: Clock): UpstreamFailure | null {
  const { status, headers } = response;
  if ((status >= 200 && status < 300) || status === 304) return null;
  const retryMs = retryAfterMs(headers, clock);
  const retryAt = retryMs === null ? null : clock.now() + retryMs;
  const fail = (kind: FailureKind, until: number | null = null) =>
    new UpstreamFailure(kind, `${what}: status ${status}`, { until });
  if (status >= 300 && status < 400) return fail("renamed");
  if (status === 401) return fail("refused");
  if (status === 403 && readError(response)?.block !== undefined) return fail("blocked");
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

/** The failure of a request that was not about one repository: a missing address is then a fault of the response. */
export function notOfRepository(failure: UpstreamFailure): UpstreamFailure {
  const isOfRepository = ["gone", "private", "blocked", "renamed"].includes(failure.kind);
  return isOfRepository ? new UpstreamFailure("malformed", failure.message) : failure;
}

/**
 * Parses JSON. Throws UpstreamFailure `malformed` for anything else and for values nested deeper than `maxDepth`; the
 * depth is checked first, so that no recursive parser sees such a text.
 */
export function parseJson(text: string, maxDepth: number = MAX_DEPTH): unknown {
  if (/^\s*</.test(text)) throw new UpstreamFailure("malformed", "the response is a page, not JSON");
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

/** Whether a response asks to slow down. GitHub uses 403 for that too, as for a missing permission. */
function isLimit(response: UpstreamResponse): boolean {
  const { status, headers, text } = response;
  if (status === 429) return true;
  if (status !== 403) return false;
  if (headers.has("retry-after")) return true;
  if (numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining") === 0) return true;
  // The only sign of GitHub's secondary limits is the message.
  const message = readError(response)?.message ?? text.slice(0, MAX_ERROR_LENGTH);
  return /rate limit|abuse detection/i.test(message);
}

/** The body of an error response; undefined when it is not JSON. */
function readError({ text }: UpstreamResponse): z.output<typeof errorSchema> | undefined {
  if (text.length > MAX_ERROR_LENGTH) return undefined;
  try {
    return errorSchema.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

/** Remaining requests and, in ms since 1970, when the count is reset. */
function remainderOf(headers: Headers, clock: Clock): { remaining: number | null; resetAt: number | null } {
  const remaining = numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining");
  const reset = numberOf(headers, "x-ratelimit-reset", "ratelimit-reset");
  if (reset === null) return { remaining, resetAt: null };
  // The IETF draft counts seconds from now, the others seconds since 1970.
  const waitMs = reset < 1e9 ? reset * 1000 : waitUntil(reset * 1000, headers, clock);
  return { remaining, resetAt: clock.now() + waitMs };
}

/** `Retry-After` in ms, from seconds or a date; null when absent or invalid. */
function retryAfterMs(headers: Headers, clock: Clock): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : waitUntil(at, headers, clock);
}

/** Time until `at`, a time on the forge's clock. When our clock makes that implausible, the `Date` header decides. */
function waitUntil(at: number, headers: Headers, clock: Clock): number {
  const byOurs = at - clock.now();
  if (byOurs >= 0 && byOurs <= MAX_PERIOD_MS) return byOurs;
  const date = Date.parse(headers.get("date") ?? "");
  return Math.min(DAY_MS, Math.max(0, Number.isNaN(date) ? byOurs : at - date));
}

/** The first of these headers that is a plain number. */
function numberOf(headers: Headers, ...names: string[]): number | null {
  for (const name of names) {
    const text = headers.get(name)?.trim() ?? "";
    if (/^\d{1,12}$/.test(text)) return Number(text);
  }
  return null;
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
