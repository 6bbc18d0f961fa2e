import type { ProviderSettings, ProxySettings } from "../../config/config.js";
import { proxyOf } from "../../config/config.js";
import type { Clock } from "../../lib/clock.js";
import type { Logger } from "../../lib/log.js";
import { readVersion, userAgentOf } from "../../lib/version.js";
import type { TokenCheck } from "../contract.js";
import { UpstreamFailure } from "../failures.js";

/** Longest wait for a forge, as somebody waits for the result. */
const PATIENCE_MS = 15_000;
/** Maximum number of concurrent checks: people enter one token after the other. */
const MAX_CHECKS = 4;
let checks = 0;

interface CheckContext {
  clock: Clock;
  log: Logger;
  config: { contact: string | undefined; proxy: ProxySettings | undefined; proxyProblem: string | undefined };
}

/**
 * Checks a token at its forge. Requests go only to the address in the forge's settings, with this token alone. Throws UpstreamFailure,
 * `refused` for a token that the forge does not accept; and ConfigError if the proxy cannot be used.
 */
export async function checkToken(
  { clock, log, config }: CheckContext,
  settings: ProviderSettings,
  token: string,
): Promise<TokenCheck> {
  if (checks >= MAX_CHECKS) throw new UpstreamFailure("quota", "other tokens are being checked");
  checks++;
  try {
    const { tokenSource: _, ...rest } = settings;
    // Loaded when it is needed: a service that only serves has no other use for it.
    const { openProvider } = await import("../open-provider.js");
    const userAgent = userAgentOf(readVersion(), config.contact);
    const opening = { clock, log, userAgent, proxy: proxyOf(config) };
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
