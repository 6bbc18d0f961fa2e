import type { ProviderSettings } from "../config/config.js";
import { HOUR_MS } from "../lib/clock.js";
import type { Opening, Provider } from "./contract.js";
import { UpstreamFailure } from "./failures.js";
import { createForgejo } from "./forgejo/forgejo.js";
import { apiRoot, createGithub } from "./github/github.js";
import { createGitlab } from "./gitlab/gitlab.js";
import { createGogs } from "./gogs/gogs.js";
import { dateOf, numberOf } from "./responses.js";
import { createTransport, type UpstreamFetch } from "./transport.js";

export interface OpenProvider {
  provider: Provider;
  close(): Promise<void>;
}

/** How a provider of each kind is created. */
export const CREATE = {
  github: createGithub,
  gitlab: createGitlab,
  forgejo: createForgejo,
  gogs: createGogs,
} as const;

/** Opens the provider that the settings describe. Sends nothing before the first call. */
export function openProvider(
  settings: ProviderSettings,
  { clock, userAgent, proxy, onDate, log, responseMs }: Opening,
): OpenProvider {
  const { kind, url, name, mayBePrivate } = settings;
  const origins = kind === "github" ? [url, apiRoot(url)] : [url];
  const privateSetting = `SIDEREAL_${name}_PRIVATE`;
  const options = { origins, mayBePrivate, privateSetting, userAgent, proxy };
  const { fetch, close } = createTransport({ ...options, ...(responseMs !== undefined && { responseMs }) });
  const logging = logRequests(fetch, name, { clock, log });
  const connection = { fetch: checkClock(logging, name, { clock, onDate }), clock };
  return { provider: CREATE[kind](settings, connection), close };
}

/** Longest logged path: one of a search may have the names of many repositories. */
const MAX_PATH = 300;

/** Logs each request to a forge at the level debug, without its headers and its body, which hold tokens. */
export function logRequests(
  fetch: UpstreamFetch,
  provider: string,
  { clock, log }: Pick<Opening, "clock" | "log">,
): UpstreamFetch {
  return async (url, request) => {
    const began = clock.monotonic();
    const { pathname = "", search = "" } = URL.parse(url) ?? {};
    const path = (pathname + search).slice(0, MAX_PATH);
    const note = (outcome: Record<string, unknown>) => {
      const { method = "GET" } = request;
      log.debug(
        { provider, method, path, ...outcome, ms: Math.round(clock.monotonic() - began) },
        "requested",
      );
    };
    try {
      const response = await fetch(url, request);
      const { status, headers } = response;
      note({ status, remaining: numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining") });
      return response;
    } catch (error) {
      note({ failure: error instanceof UpstreamFailure ? error.message : "unexpected" });
      throw error;
    }
  };
}

/** How far apart the two clocks may be; longer than any response takes or a cache keeps it. */
const MAX_SKEW_MS = HOUR_MS;

/** Rejects responses whose `Date` differs from our time: one of the two clocks is wrong. */
export function checkClock(
  fetch: UpstreamFetch,
  name: string,
  { clock, onDate }: Pick<Opening, "clock" | "onDate">,
): UpstreamFetch {
  return async (url, request) => {
    const response = await fetch(url, request);
    const time = dateOf(response.headers);
    if (time === null) return response;
    onDate?.(name, time);
    const skewMs = time - clock.now();
    if (Math.abs(skewMs) <= MAX_SKEW_MS) return response;
    const hours = Math.round(Math.abs(skewMs) / HOUR_MS);
    const direction = skewMs > 0 ? "behind" : "ahead of";
    throw new UpstreamFailure("clock", `this machine's clock is ${hours} h ${direction} that of ${name}`);
  };
}
