import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/clock.js";
import { BackfillLane, DAILY_DAYS, pastSnapshots } from "../../src/tracking/backfill-lane.js";
import { Reporter } from "../../src/tracking/lane.js";
import { onBothEngines } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { allSnapshots, snapshotsOf } from "../support/snapshots.js";
import { createTrackingWorld, type TrackedForge } from "../support/tracking.js";

const FORGE: TrackedForge = { kind: "github", name: "GITHUB", repositories: 4, catalogue: "quiet" };
const DAYS_ON_PAGE = 210;
const TODAY = 20_000;

test("gains of past days add up: daily for 400 days, weekly before", () => {
  const gains = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 600 });
  fc.assert(
    fc.property(gains, fc.integer({ min: 0, max: 1_000 }), (gained, begin) => {
      const days = gained.map((gain, i) => ({ day: (TODAY - i - 1) * DAY_MS, gained: gain }));
      const total = begin + gained.reduce((sum, gain) => sum + gain, 0);
      const now = TODAY * DAY_MS;
      const { snapshots, before } = pastSnapshots({ days }, total, now);
      assert.equal(before, begin);
      for (const { capturedAt, stars, source } of snapshots) {
        assert.equal(source, "BACKFILLED");
        const later = days.filter(({ day }) => day >= capturedAt).reduce((sum, one) => sum + one.gained, 0);
        assert.equal(stars, total - later);
      }
      const times = snapshots.map(({ capturedAt }) => capturedAt);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
      for (const [i, at] of times.entries()) {
        const distance = (times[i + 1] ?? now) - at;
        assert.ok(
          distance === DAY_MS || at === now || (now - at > DAILY_DAYS * DAY_MS && distance <= 7 * DAY_MS),
        );
      }
    }),
  );
});

onBothEngines("The star history of a repository", (engine) => {
  test("is read within half a minute of the first start; an idle lane looks for one every minute", async (t) => {
    const world = await createTrackingWorld(await engine.open(), [FORGE]);
    t.after(() => world.close());
    const { modules, forge, clock, pass, stop, opened } = world;
    await pass(30_000);
    assert.ok((forge("GITHUB").counters.byKind.history ?? 0) > 0);
    await stop();
    await modules.database.write.updateTable("tracking").set({ history_due: null }).execute();
    const [provider] = opened;
    assert.ok(provider);
    const { signal } = new AbortController();
    const reporter = new Reporter(clock.now());
    const lane = new BackfillLane({ modules, clock, reporter, signal, chance: () => 0.5, ...provider });
    const waits: number[] = [];
    for (let look = 0; look < 6; look++) waits.push((await lane.step()).waitMs / 1_000);
    assert.deepEqual(waits, [5, 10, 20, 40, 60, 60]);
  });

  test("is added before our first snapshot, page by page, also across a restart", async (t) => {
    const world = await createTrackingWorld(await engine.open(), [FORGE]);
    t.after(() => world.close());
    const { modules, forge, clock, pass, restart } = world;
    const began = clock.now();
    await pass(90 * 60_000);
    await restart();
    await pass(5 * HOUR_MS);
    const repositories = await modules.database.read.selectFrom("repositories").selectAll().execute();
    assert.equal(repositories.length, 4);
    let longest = 0;
    for (const { id, provider_id, discovered_at } of repositories) {
      assert.ok(discovered_at >= began, "it was discovered when it was discovered");
      const snapshots = await snapshotsOf(modules.database, id);
      const past = snapshots.filter(({ source }) => source === "BACKFILLED");
      const own = snapshots.find(({ source }) => source === "OBSERVED")?.capturedAt ?? 0;
      longest = Math.max(longest, past.length);
      const catalogue = forge("GITHUB").catalogue;
      for (const { capturedAt, stars } of past) {
        assert.ok(capturedAt < own && capturedAt % DAY_MS === 0);
        const truth = catalogue.get(Number(provider_id), capturedAt)?.stars ?? 0;
        // Stars that were withdrawn later are missing.
        assert.ok(Math.abs(stars - truth) <= 0.26 * truth + 5, `${stars} for ${truth}`);
      }
    }
    assert.ok(longest > DAYS_ON_PAGE, `${longest} are no more than a page`);
    assert.deepEqual(forge("GITHUB").violations, []);
  });

  test("that a forge does not offer is skipped silently, and read once it is offered", async (t) => {
    const world = await createTrackingWorld(await engine.open(), [FORGE]);
    t.after(() => world.close());
    const { forge, pass, worker, modules, clock } = world;
    forge("GITHUB").switches.hasHistory = false;
    await pass(2 * HOUR_MS);
    assert.equal(worker.reporters.get("GITHUB")?.report.backfilled, 0);
    assert.deepEqual(worker.reporters.get("GITHUB")?.report.failures, {});
    assert.ok((forge("GITHUB").counters.byKind.history ?? 0) <= 2);
    forge("GITHUB").switches.hasHistory = true;
    await modules.database.write.updateTable("tracking").set({ history_due: clock.now() }).execute();
    await world.restart();
    // Missing features of an instance are remembered for a day.
    clock.advance(DAY_MS);
    await pass(2 * HOUR_MS);
    const sources = (await allSnapshots(modules.database)).map(({ source }) => source);
    assert.ok(sources.includes("BACKFILLED"));
  });
});
