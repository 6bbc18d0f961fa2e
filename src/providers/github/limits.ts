import type { Clock } from "../../clock.js";
import { failureOf, SLOW_DOWN_MS, toldBy } from "../answers.js";
import { UpstreamFailure } from "../failures.js";
import type { UpstreamAnswer } from "../fetch.js";
import type { Told } from "../quota.js";

/** What answers are told apart by stands at their begin. */
const LOOKED_AT = 2000;

/** What an answer tells of the token that it was asked with, when that was taken from `resource`. */
export function githubTold(answer: UpstreamAnswer, resource: string, clock: Clock): Told {
  const { limit, remaining, resetAt, ...told } = toldBy(answer, clock);
  const counted = (answer.headers.get("x-ratelimit-resource") ?? resource) === resource;
  // An allowance that is spent ends the use of this resource; the limits on bursts end all use of the token.
  const isSpent = remaining === 0 && resetAt !== undefined;
  if (told.blockedUntil === undefined && isLimit(answer) && !(isSpent && counted)) {
    told.blockedUntil = clock.now() + SLOW_DOWN_MS;
  }
  // A token that is refused, and another allowance than this one, would be counted in the wrong place.
  if (!counted || told.refused) return told;
  return {
    ...told,
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetAt !== undefined && { resetAt }),
  };
}

/** The failure that an answer stands for; null for 2xx, 304 and redirects. `what` is for the message. */
export function githubFailure(answer: UpstreamAnswer, what: string, clock: Clock): UpstreamFailure | null {
  const { status, text } = answer;
  if (status >= 300 && status < 400) return null;
  if (status === 403 && /"block"\s*:/.test(text.slice(0, LOOKED_AT))) {
    return new UpstreamFailure("blocked", `${what}: status ${status}, blocked`);
  }
  const failure = failureOf(answer, what, clock);
  if (failure?.kind !== "refused" || !isLimit(answer)) return failure;
  const until = githubTold(answer, "", clock).blockedUntil ?? clock.now() + SLOW_DOWN_MS;
  return new UpstreamFailure("quota", `${what}: status ${status}, a limit`, { until });
}

/** The same failure for a request that was about no repository: then its address is not what it should be. */
export function aboutNone(failure: UpstreamFailure): UpstreamFailure {
  const isAboutOne = ["gone", "private", "blocked", "renamed"].includes(failure.kind);
  return isAboutOne ? new UpstreamFailure("malformed", failure.message) : failure;
}

/** Whether it asks to come back later. Limits come with the same status as a missing permission. */
function isLimit({ status, headers, text }: UpstreamAnswer): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  if (headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0") return true;
  return /rate limit|abuse detection/i.test(text.slice(0, LOOKED_AT));
}
