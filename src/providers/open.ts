import { type Clock, HOUR_MS } from "../clock.js";
import { UpstreamFailure } from "./failures.js";
import type { UpstreamFetch } from "./fetch.js";
import { createForgejo } from "./forgejo/forgejo.js";
import { createGithub } from "./github/github.js";
import { createGitlab } from "./gitlab/gitlab.js";
import type { Provider, ProviderSettings } from "./providers.js";
import { createTransport } from "./transport.js";

/** A provider and the connections it holds. */
export interface OpenProvider {
  provider: Provider;
  /** Ends all its connections; requests under way fail as `unreachable`. */
  close(): Promise<void>;
}

const CREATE = { github: createGithub, gitlab: createGitlab, forgejo: createForgejo } as const;

/** GitHub's public API has a host of its own. */
function originsOf({ kind, url }: ProviderSettings): string[] {
  return kind === "github" && url === "https://github.com" ? [url, "https://api.github.com"] : [url];
}

/** The provider that the settings describe. Nothing is sent before the first call. */
export function openProvider(settings: ProviderSettings, clock: Clock, userAgent: string): OpenProvider {
  const { mayBePrivate } = settings;
  const { fetch, close } = createTransport({ origins: originsOf(settings), mayBePrivate, userAgent });
  const provider = CREATE[settings.kind](settings, { fetch: checkClock(fetch, settings.name, clock), clock });
  return { provider, close };
}

/** How far two clocks may be apart; more than any answer takes on its way, or a cache keeps. */
const MAX_SKEW_MS = HOUR_MS;

/** Lets nothing through that a forge says at quite another time than ours: one of the two clocks is wrong. */
export function checkClock(fetch: UpstreamFetch, name: string, clock: Clock): UpstreamFetch {
  return async (url, request) => {
    const answer = await fetch(url, request);
    const skewMs = Date.parse(answer.headers.get("date") ?? "") - clock.now();
    // A forge that tells no time is believed.
    if (Number.isNaN(skewMs) || Math.abs(skewMs) <= MAX_SKEW_MS) return answer;
    const hours = Math.round(Math.abs(skewMs) / HOUR_MS);
    const direction = skewMs > 0 ? "behind" : "ahead of";
    throw new UpstreamFailure("clock", `this machine's clock is ${hours} h ${direction} that of ${name}`);
  };
}
