import { type Config, findForge, type ProviderSettings, PUBLIC_FORGES, siteOf } from "../../config/config.js";
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
  const none = { tokens: [], requestsPerHour: null, mayBePrivate: false } as const;
  return { name, kind, url: siteOf(forge), minStars, ...none, onDemand: true };
}

/** The settings of a forge that is tracked, or would be with a token. */
export function settingsAmong(
  configured: readonly ProviderSettings[],
  name: string,
): ProviderSettings | undefined {
  return configured.find((one) => one.name === name) ?? publicSettings(name);
}

/**
 * The forges to track: those of the settings, and on demand the public ones for which somebody has entered a token; without any in the
 * settings all public ones.
 */
export class TrackedForges {
  readonly #configured: readonly ProviderSettings[];
  readonly #added: readonly string[];
  readonly #tokens: Entered;
  readonly #clock: Clock;
  #known: readonly ProviderSettings[];
  /** Monotonic. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: {
    config: Pick<Config, "providers" | "dataDir" | "databaseUrl">;
    tokens: Entered;
    clock: Clock;
  }) {
    const { providers, dataDir, databaseUrl } = options.config;
    this.#configured = providers;
    // A worker is another process, which cannot share a store in memory.
    const mayWork = databaseUrl !== undefined || dataDir !== ":memory:";
    this.#added = providers.length === 0 && mayWork ? PUBLIC_FORGES.map(({ name }) => name) : [];
    this.#tokens = options.tokens;
    this.#clock = options.clock;
    this.#known = this.#with(this.#added);
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
    this.#known = this.#with([...new Set([...this.#added, ...entered])]);
    return this.#known;
  }

  #with(added: readonly string[]): readonly ProviderSettings[] {
    const others = added.filter((name) => !this.isConfigured(name));
    return [...this.#configured, ...others.flatMap((name) => publicSettings(name) ?? [])];
  }

  /** Whether only requested repositories are tracked on this forge. */
  isOnDemand(name: string): boolean {
    return this.settingsOf(name)?.onDemand === true;
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
