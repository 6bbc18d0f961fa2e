import { findForge, type ProviderSettings, siteOf } from "../../config/config.js";
import type { Clock } from "../../lib/clock.js";

const RECENT_MS = 1_000;

/** Lists the providers with entered tokens for their present address. */
interface Entered {
  providers(): Promise<readonly string[]>;
}

function publicSettings(name: string): ProviderSettings | undefined {
  const forge = findForge(name);
  if (forge === undefined) return undefined;
  const { kind, minStars } = forge;
  return { name, kind, url: siteOf(forge), tokens: [], requestsPerHour: null, minStars, mayBePrivate: false };
}

/** The settings of a forge that is tracked, or would be with a token. */
export function settingsAmong(
  configured: readonly ProviderSettings[],
  name: string,
): ProviderSettings | undefined {
  return configured.find((one) => one.name === name) ?? publicSettings(name);
}

/** The forges to track: those of the settings, and public ones for which somebody has entered a token. */
export class TrackedForges {
  readonly #configured: readonly ProviderSettings[];
  readonly #tokens: Entered;
  readonly #clock: Clock;
  #known: readonly ProviderSettings[];
  /** Monotonic. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: { configured: readonly ProviderSettings[]; tokens: Entered; clock: Clock }) {
    this.#configured = options.configured;
    this.#tokens = options.tokens;
    this.#clock = options.clock;
    this.#known = options.configured;
  }

  /** At most a second old. Reads one small table at most once a second; while that fails, the last list is returned. */
  async current(): Promise<readonly ProviderSettings[]> {
    if (this.#clock.monotonic() - this.#readAt >= RECENT_MS) {
      this.#reading ??= this.read().then(
        () => undefined,
        () => undefined,
      );
      await this.#reading;
      this.#reading = undefined;
    }
    return this.#known;
  }

  /** As `current`, read now. */
  async read(): Promise<readonly ProviderSettings[]> {
    const entered = await this.#tokens.providers();
    this.#readAt = this.#clock.monotonic();
    const configured = new Set(this.#configured.map(({ name }) => name));
    const added = entered
      .filter((name) => !configured.has(name))
      .flatMap((name) => publicSettings(name) ?? []);
    this.#known = [...this.#configured, ...added];
    return this.#known;
  }

  get known(): readonly ProviderSettings[] {
    return this.#known;
  }

  settingsOf(name: string): ProviderSettings | undefined {
    return settingsAmong(this.#configured, name);
  }

  /** Whether a forge is tracked because of the settings, whatever tokens are entered. */
  isConfigured(name: string): boolean {
    return this.#configured.some((one) => one.name === name);
  }
}
