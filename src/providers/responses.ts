/** Reads the responses of forges: quota headers, status and ETag. */
import { type Clock, HOUR_MS } from "../clock.js";
import { type FailureKind, UpstreamFailure } from "./contract.js";
import { MAX_WAIT_MS, type QuotaReport } from "./quota.js";
import type { UpstreamResponse } from "./transport.js";
import { readError, wordsOfBody } from "./words.js";

/** How long to wait when a forge asks to slow down without saying how long; GitHub asks for at least this. */
export const SLOW_DOWN_MS = 60_000;
/** Forges count per hour at most, so a reset further away than this means that a clock is wrong. */
const MAX_PERIOD_MS = HOUR_MS + 60_000;

/** Longer ETags are not kept. */
const MAX_ETAG = 200;

/** GitHub's and GitLab's words for an account that may not be used. */
const ACCOUNT_CLOSED = /your account (?:was|is|has been) (?:suspended|blocked|deactivated)/i;
/** How much of a body that is not JSON is searched for a reason. */
const MAX_SEARCHED = 10_000;

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
  if (isOfAccount(response)) report.isRejected = true;
  else if (status < 400) report.isRejected = false;
  const retryMs = retryAfterMs(headers, clock);
  // A used-up limit ends the use of one resource; a limit on bursts ends all use of the token.
  const isUsedUp = remaining === 0 && resetAt !== null && isCounted;
  if (retryMs !== null) report.blockedUntil = clock.now() + retryMs;
  else if (isLimit(response) && !isUsedUp) report.blockedUntil = clock.now() + SLOW_DOWN_MS;
  return report;
}

/** Names a request in the message of its failure. */
export interface RequestName {
  what: string;
  /** Removed from the forge's words. */
  secrets: readonly string[];
}

/** Whether a token is refused whatever it is used for: it is invalid, or its account is suspended. */
export function isOfAccount({ status, text }: UpstreamResponse): boolean {
  if (status === 401) return true;
  const message = status === 403 ? readError(text)?.message : undefined;
  return typeof message === "string" && ACCOUNT_CLOSED.test(message);
}

/** The failure that a status indicates, with the forge's own words; null for 2xx and 304. */
export function failureOf(
  response: UpstreamResponse,
  { what, secrets }: RequestName,
  clock: Clock,
): UpstreamFailure | null {
  const { status, headers, text } = response;
  if ((status >= 200 && status < 300) || status === 304) return null;
  const retryMs = retryAfterMs(headers, clock);
  const retryAt = retryMs === null ? null : clock.now() + retryMs;
  const reason = wordsOfBody(text, secrets);
  const fail = (kind: FailureKind, until: number | null = null) =>
    new UpstreamFailure(kind, `${what}: status ${status}`, { until, reason });
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

/** The failure of a request that was not about one repository: a missing address is then a fault of the response. */
export function notOfRepository(failure: UpstreamFailure): UpstreamFailure {
  const isOfRepository = ["gone", "private", "blocked", "renamed"].includes(failure.kind);
  return isOfRepository ? failure.as("malformed") : failure;
}

/** Whether a response asks to slow down. GitHub uses 403 for that too, as for a missing permission. */
function isLimit(response: UpstreamResponse): boolean {
  const { status, headers, text } = response;
  if (status === 429) return true;
  if (status !== 403) return false;
  if (headers.has("retry-after")) return true;
  if (numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining") === 0) return true;
  // The only sign of GitHub's secondary limits is the message.
  const body = readError(text);
  const message = body === undefined ? text.slice(0, MAX_SEARCHED) : body.message;
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
  const date = Date.parse(headers.get("date") ?? "");
  return Math.min(MAX_WAIT_MS, Math.max(0, Number.isNaN(date) ? byOurs : at - date));
}

/** The first of these headers that is a plain number. */
function numberOf(headers: Headers, ...names: string[]): number | null {
  for (const name of names) {
    const text = headers.get(name)?.trim() ?? "";
    if (/^\d{1,12}$/.test(text)) return Number(text);
  }
  return null;
}
