import { type Clock, DAY_MS, HOUR_MS } from "../clock.js";
import { UpstreamFailure } from "./failures.js";
import type { UpstreamAnswer } from "./fetch.js";
import type { Told } from "./quota.js";

/** How long to wait when a forge asks to slow down and does not say how long; GitHub asks for at least this. */
export const SLOW_DOWN_MS = 60_000;
/** A wait of more than this for a reset is no wait but a clock that is wrong: forges count by the hour at most. */
const LONGEST_PERIOD_MS = HOUR_MS + 60_000;

/** A longer validator is not kept. */
const MAX_ETAG = 200;

/** The validator of an answer, for asking again under a condition; null where there is none. */
export function etagOf(headers: Headers): string | null {
  const tag = headers.get("etag");
  return tag !== null && tag.length <= MAX_ETAG ? tag : null;
}

type Head = Pick<UpstreamAnswer, "status" | "headers">;

/**
 * What the headers of an answer tell of the token it was asked with, for `Quota.learn`: the limits in GitHub's, GitLab's
 * and the IETF's words, `Retry-After` in seconds or as a date, and whether the token was refused (401).
 */
export function toldBy({ status, headers }: Head, clock: Clock): Told {
  const told: Told = {};
  const limit = numberOf(headers, "x-ratelimit-limit", "ratelimit-limit");
  const remaining = numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining");
  const reset = numberOf(headers, "x-ratelimit-reset", "ratelimit-reset");
  if (limit !== null) told.limit = limit;
  if (remaining !== null) told.remaining = remaining;
  if (reset !== null) {
    // The IETF counts seconds from now on, the others those since 1970.
    told.resetAt =
      reset < 1e9 ? clock.now() + reset * 1000 : clock.now() + waitUntil(reset * 1000, headers, clock);
  }
  if (status === 401) told.refused = true;
  const retryMs = retryAfterMs(headers, clock);
  if (retryMs !== null) told.blockedUntil = clock.now() + retryMs;
  else if (status === 429 && !(remaining === 0 && reset !== null))
    told.blockedUntil = clock.now() + SLOW_DOWN_MS;
  return told;
}

/**
 * The failure that a status stands for; null for 2xx and 304. `what` names the thing that was asked for, for the message. A
 * redirect is `renamed`: whoever can follow it looks at it before.
 */
export function failureOf(answer: Head, what: string, clock: Clock): UpstreamFailure | null {
  const { status, headers } = answer;
  if ((status >= 200 && status < 300) || status === 304) return null;
  const told = toldBy(answer, clock);
  const reset = told.remaining === 0 ? (told.resetAt ?? null) : null;
  const until = told.blockedUntil ?? reset;
  const failure = (kind: UpstreamFailure["kind"], time: number | null = null) =>
    new UpstreamFailure(kind, `${what}: status ${status}`, { until: time });
  if (status >= 300 && status < 400) return failure("renamed");
  if (status === 401) return failure("refused");
  if (status === 429) return failure("quota", until);
  if (status === 403) return until === null ? failure("refused") : failure("quota", until);
  if (status === 404 || status === 410) return failure("gone");
  if (status === 451) return failure("blocked");
  if (status >= 500 || status === 408) {
    return failure("unreachable", headers.has("retry-after") ? (told.blockedUntil ?? null) : null);
  }
  return failure("malformed");
}

/** How long `Retry-After` asks to wait; null where it is absent or nonsense. */
function retryAfterMs(headers: Headers, clock: Clock): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : waitUntil(at, headers, clock);
}

/**
 * How long it is until a time that the forge gave. Where that cannot be by our clock, which may be set wrong, it counts by the
 * forge's own, its `Date` header.
 */
function waitUntil(at: number, headers: Headers, clock: Clock): number {
  const byOurs = at - clock.now();
  if (byOurs >= 0 && byOurs <= LONGEST_PERIOD_MS) return byOurs;
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
