import { concernsForge, type Provider, UpstreamFailure } from "../forges/forges.js";
import { addressReader, linksIn } from "../repositories/repositories.js";
import { type Lane, LEASE_MS, responded, type Step, waiting } from "./lane.js";

/** How often to look for lists: people wait for them, and a check reads an index that is usually empty. */
const IDLE_MS = 1_000;
/** Attempts after which a README counts as unreadable, and the pause between two. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 30_000;

/**
 * Reads READMEs whose links were requested, through the API of their forge, and queues the linked repositories of tracked forges.
 * Contacts no link.
 */
export class ListLane {
  readonly #lane: Lane;
  readonly #providers: readonly Provider[];
  readonly #idleMs: number;

  constructor(
    lane: Lane,
    { providers, idleMs = IDLE_MS }: { providers: readonly Provider[]; idleMs?: number | undefined },
  ) {
    this.#lane = lane;
    this.#providers = providers;
    this.#idleMs = idleMs;
  }

  /** Reads one README, if any waits. */
  async step(): Promise<Step> {
    const { provider, clock, modules, reporter, signal } = this.#lane;
    const { lists } = modules.trackRequests;
    const now = clock.now();
    if (provider.readyAt("recheck") > now) return waiting(this.#idleMs);
    const claim = await lists.claim(provider.name, { now, leasedUntil: now + LEASE_MS });
    if (claim === undefined) return waiting(this.#idleMs);
    try {
      const text = await provider.readme(claim.fullName, signal);
      reporter.succeeded(clock.now());
      const read = addressReader(this.#providers.map(({ settings }) => settings));
      await lists.record(claim, linksIn(text, read).addresses);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || signal.aborted) {
        await lists.postpone(claim, 0);
        throw error;
      }
      reporter.failed(error, clock.now());
      const mayRetry = concernsForge(error.kind) && claim.attempts < MAX_ATTEMPTS;
      const pause = Math.max(RETRY_MS, (error.until ?? 0) - clock.now());
      if (mayRetry) await lists.postpone(claim, clock.now() + pause);
      else await lists.fail(claim, error.kind);
    }
    return responded(0);
  }
}
