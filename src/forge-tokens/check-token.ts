import type { Clock } from "../clock.js";
import { proxyOf } from "../config/config.js";
import type { ProviderSettings, ProxySettings } from "../forges.js";
import { type SharedStates, type TokenCheck, UpstreamFailure } from "../providers/providers.js";
import { readVersion, userAgentOf } from "../version.js";

/** Longest time that somebody waits for a forge. */
const PATIENCE_MS = 15_000;
/** Tokens that are checked at the same time: people enter one after the other. */
const MAX_CHECKS = 4;
let checks = 0;

export interface CheckContext {
  clock: Clock;
  /** Where the requests of all processes are counted; these too. */
  shared: SharedStates;
  config: { contact: string | undefined; proxy: ProxySettings | undefined; proxyProblem: string | undefined };
}

/**
 * Asks a forge about a token. Requests go to the address in the settings of the forge and to no other, with this token alone. Throws
 * UpstreamFailure: `refused` for a token that the forge does not accept; and ConfigError, if the proxy cannot be used.
 */
export async function checkToken(
  { clock, config, shared }: CheckContext,
  settings: ProviderSettings,
  token: string,
): Promise<TokenCheck> {
  if (checks >= MAX_CHECKS) throw new UpstreamFailure("quota", "other tokens are being checked");
  checks++;
  try {
    const { tokenSource: _, ...rest } = settings;
    // Loaded when it is needed: a service that only serves has no other use for it.
    const { openProvider } = await import("../providers/providers.js");
    const userAgent = userAgentOf(readVersion(), config.contact);
    const opening = { clock, userAgent, proxy: proxyOf(config), shared, isUrgent: true };
    const { provider, close } = openProvider({ ...rest, tokens: [token] }, opening);
    const [late, done] = [new AbortController(), new AbortController()];
    void clock.sleep(PATIENCE_MS, done.signal).then(() => late.abort());
    try {
      return await provider.checkToken(late.signal);
    } finally {
      done.abort();
      await close();
    }
  } finally {
    checks--;
  }
}
