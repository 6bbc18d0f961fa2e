import type { Clock } from "../clock.js";
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
  return { provider: CREATE[settings.kind](settings, { fetch, clock }), close };
}
