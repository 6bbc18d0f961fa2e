import assert from "node:assert/strict";
import type { Provider } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { createTransport } from "../../src/forges/transport.js";
import { type CatalogueOptions, type Forge, ForgeCatalogue, startForge } from "./forge/forge.js";
import { github, NOW } from "./github.js";
import { SkippingClock } from "./manual-clock.js";

/** A fake forge and the GitHub provider for it. */
export interface Stage {
  forge: Forge;
  provider: Provider;
  clock: SkippingClock;
  /** Repeats the call until it succeeds, and waits on the clock for the quota. */
  patiently<T>(call: () => Promise<T>): Promise<T>;
}

/** Runs a test with a fake forge and the real transport; asserts at the end that no limit was exceeded. */
export async function onForge(
  { tokens = ["one", "two"], ...options }: Omit<CatalogueOptions, "seed" | "start"> & { tokens?: string[] },
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const clock = new SkippingClock(NOW);
  const catalogue = new ForgeCatalogue({ seed: 1, start: NOW, ...options });
  const forge = await startForge({ kind: "github", clock, catalogue });
  const transport = createTransport({ origins: [forge.url], mayBePrivate: true, userAgent: "sidereal" });
  const provider = github(transport.fetch, { url: forge.url, tokens, minStars: 0, clock });
  const patiently = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof UpstreamFailure) || error.kind !== "quota") throw error;
        assert.ok(error.until !== null && error.until > clock.now());
        clock.advance(error.until - clock.now());
      }
    }
  };
  try {
    await play({ forge, provider, clock, patiently });
    assert.deepEqual(forge.violations, []);
  } finally {
    await transport.close();
    await forge.close();
  }
}
