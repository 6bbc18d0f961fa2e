import assert from "node:assert/strict";
import { test } from "node:test";
import type { Discovered, PastDays, Provider } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { createTransport } from "../../src/forges/transport.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { type CatalogueOptions, type Forge, ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { github, NOW } from "../support/github.js";
import { IS_LONG } from "../support/long.js";
import { SkippingClock } from "../support/manual-clock.js";

const signal = new AbortController().signal;

/** Walks to the end; returns the ids in the order of first appearance. */
async function walk({ provider, patiently }: Stage): Promise<{ ids: Set<string>; requests: number }> {
  const ids = new Set<string>();
  let requests = 0;
  let cursor: string | null = null;
  do {
    const at: string | null = cursor;
    const page: Discovered = await patiently(() => provider.discover(at, signal));
    requests++;
    for (const { providerId } of page.repositories) ids.add(providerId);
    cursor = page.next;
  } while (cursor !== null);
  return { ids, requests };
}

/** The ids of all repositories that are public now. */
function publicIds({ forge, clock }: Stage): string[] {
  const { catalogue } = forge;
  return catalogue
    .ids()
    .filter((id) => catalogue.get(id, clock.now())?.visibility === "public")
    .map(String);
}

test("tens of thousands of repositories are all found, most stars first, without exceeding a limit", async () => {
  const repositories = IS_LONG ? 50_000 : 12_000;
  await onForge({ repositories }, async (stage) => {
    const { forge, clock } = stage;
    const before = publicIds(stage);
    assert.ok(before.length > 0.98 * repositories);
    const starsOf = (id: string) => forge.catalogue.get(Number(id), NOW)?.stars ?? 0;
    const { ids, requests } = await walk(stage);
    const after = new Set(publicIds(stage));
    assert.deepEqual(
      before.filter((id) => after.has(id) && !ids.has(id)),
      [],
    );
    assert.ok(requests < 0.03 * repositories, `${requests} requests`);
    assert.ok(clock.now() - NOW < HOUR_MS);
    const top = before.toSorted((a, b) => starsOf(b) - starsOf(a)).slice(0, 500);
    const first = new Set([...ids].slice(0, 700));
    assert.deepEqual(
      top.filter((id) => !first.has(id)),
      [],
    );
  });
});

test("star histories match the forge, back to the first day", async () => {
  await onForge({ repositories: 50 }, async ({ forge, provider, clock, patiently }) => {
    const { catalogue } = forge;
    for (const id of catalogue.ids().slice(0, 5)) {
      const repository = catalogue.get(id, NOW);
      if (repository?.visibility !== "public") continue;
      const ref = { providerId: `${id}`, nodeId: null, fullName: repository.fullName, etag: null };
      let cursor: string | null = null;
      let oldest = Number.POSITIVE_INFINITY;
      do {
        const at: string | null = cursor;
        const page: PastDays | null = await patiently(() => provider.history(ref, at, signal));
        assert.ok(page);
        for (const { day, gained } of page.days) {
          assert.equal(gained, catalogue.starsKept(id, day / DAY_MS, clock.now()));
          oldest = Math.min(oldest, day);
        }
        cursor = page.next;
      } while (cursor !== null);
      assert.ok(oldest <= repository.createdAt);
    }
  });
});

/** A fake forge and the GitHub provider for it. */
interface Stage {
  forge: Forge;
  provider: Provider;
  clock: SkippingClock;
  /** Repeats the call until it succeeds, and waits on the clock for the quota. */
  patiently<T>(call: () => Promise<T>): Promise<T>;
}

/** Runs a test with a fake forge and the real transport; asserts at the end that no limit was exceeded. */
async function onForge(
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
