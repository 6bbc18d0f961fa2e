import { labelOf, type StoredToken } from "../forge-tokens/forge-tokens.js";
import { type ProviderSettings, PUBLIC_FORGES } from "../forges.js";
import type { TokenQuota } from "../providers/providers.js";
import { type PreparedStatus, readPreparedStatus } from "../tracking/tracking.js";
import type { PageRequest } from "./page-request.js";

/** A stored token and what its worker last said about it. */
export interface ShownToken extends StoredToken {
  quota: TokenQuota[];
}

/** A forge as the page of tokens shows it. */
export interface TokenForge {
  name: string;
  /** Undefined: the settings do not name it any more, so its tokens can only be removed. */
  settings: ProviderSettings | undefined;
  isTracked: boolean;
  /** Whether the settings turn it on, whatever tokens there are. */
  isConfigured: boolean;
  /** The tokens of the settings, in words; undefined without any. */
  ofSettings: string | undefined;
  entered: ShownToken[];
  /** Why no token can be sent to it. */
  problem: string | undefined;
}

/** The forges that can have tokens: those that are tracked, and the public ones; and those that still have some. */
export async function readTokenForges({ modules }: Pick<PageRequest, "modules">): Promise<TokenForge[]> {
  const { forges, forgeTokens, database } = modules;
  const [tracked, entered, status] = await Promise.all([
    forges.current(),
    forgeTokens.list(),
    readPreparedStatus(database),
  ]);
  const known = [...tracked, ...PUBLIC_FORGES].map(({ name }) => name);
  const names = [...new Set([...known, ...entered.map(({ provider }) => provider)])];
  return names.map((name) => {
    const settings = forges.settingsOf(name);
    return {
      name,
      settings,
      isTracked: tracked.some((one) => one.name === name),
      isConfigured: forges.isConfigured(name),
      ofSettings: settings && wordsOfSettings(settings),
      entered: entered
        .filter(({ provider }) => provider === name)
        .map((token) => ({ ...token, quota: quotaOf(token, status) })),
      problem: settings && forgeTokens.barrierOf(settings),
    };
  });
}

function wordsOfSettings({ tokens, tokenSource }: ProviderSettings): string | undefined {
  switch (tokenSource?.kind) {
    case "app":
      return "a GitHub App, from the settings";
    case "command":
      return "tokens of a command, from the settings";
    case "file":
      return `${countOf(tokens.length)}, from a file of the settings`;
    default:
      return tokens.length === 0 ? undefined : `${countOf(tokens.length)}, from the settings`;
  }
}

const countOf = (tokens: number): string => (tokens === 1 ? "1 token" : `${tokens} tokens`);

/** The quota of a token, as the worker of its forge that reported last saw it. */
function quotaOf({ id, provider }: StoredToken, status: PreparedStatus | undefined): TokenQuota[] {
  const worker = status?.providers.find((one) => one.provider === provider)?.workers[0];
  return worker?.report.quota.filter(({ token }) => token === labelOf(id)) ?? [];
}
