import assert from "node:assert/strict";
import { test } from "node:test";
import type { UpstreamRepository } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { Recorder } from "../../src/tracking/recorder.js";
import { RefreshLane } from "../../src/tracking/refresh-lane.js";
import { readTracked } from "../../src/tracking/schedule.js";
import { backfillStep } from "../../src/tracking/star-history.js";
import { onSqliteAndLong } from "../support/engines.js";
import { github, NOW, node, restRow, type Scripted, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";
import { snapshotsOf } from "../support/snapshots.js";
import { heldLease, laneOf } from "../support/tracking.js";

const RESET = NOW + HOUR_MS;
const limits = (remaining: number) => ({
  "x-ratelimit-resource": "core",
  "x-ratelimit-limit": "5000",
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(RESET / 1_000),
});

const rowOf = (id: number, nodeId: string | null): UpstreamRepository => ({
  ...{ providerId: String(id), nodeId, owner: "octo", name: `r${id}`, url: `https://github.com/octo/r${id}` },
  ...{ language: null, license: null, topics: null, stars: 10, forks: 0, openIssues: 0, watchers: null },
  ...{ fork: false, archived: false, createdAt: Date.UTC(2020, 0, 1), pushedAt: Date.UTC(2026, 0, 1) },
});

onSqliteAndLong("The refresh lane", (engine) => {
  async function start(rest: () => Scripted) {
    const clock = new SkippingClock(NOW);
    const modules = buildModules(await engine.open(), { clock, log: createLog("silent") });
    const fetch = scriptedFetch(({ ids }) =>
      ids.length === 0
        ? rest()
        : {
            body: {
              data: {
                rateLimit: null,
                nodes: ids.map((id) =>
                  node({ id, databaseId: Number(id.slice(2)), nameWithOwner: `octo/r${id.slice(2)}` }),
                ),
              },
            },
          },
    );
    const provider = github(fetch, { clock, tokens: ["secret-1"], minStars: 0 });
    const lane = laneOf({ modules, lease: await heldLease(modules.database, clock), clock }, provider);
    const { reporter } = lane;
    const { write } = modules.database;
    return {
      ...{ clock, modules, fetch, lane, reporter },
      makeDue: () => write.updateTable("repositories").set({ next_refresh_at: clock.now() }).execute(),
      singles: () => fetch.sent.filter(({ url }) => !url.pathname.endsWith("/graphql")).length,
    };
  }

  test("lets repositories that are read one by one wait for their quota alone, so that they hold up no others", async () => {
    const { modules, lane, reporter, makeDue, singles, fetch } = await start(() => ({
      status: 403,
      headers: limits(0),
      body: { message: "API rate limit exceeded" },
    }));
    // More than fit into a batch, and first in the queue.
    const rows = Array.from({ length: 130 }, (_, i) => rowOf(i + 1, i < 120 ? null : `R_${i + 1}`));
    await new Recorder(lane).recordPage(rows);
    // One is known by name alone.
    await modules.database.write
      .updateTable("repositories")
      .set({ provider_id: null })
      .where("name", "=", "r1")
      .execute();
    await makeDue();
    const refresh = new RefreshLane(lane);
    for (let step = 0; step < 3; step++) assert.ok((await refresh.step()).waitMs < HOUR_MS / 2);
    const repositories = await modules.database.read
      .selectFrom("repositories")
      .select(["name", "refreshed_at", "next_refresh_at"])
      .execute();
    const numberOf = (name: string) => Number(name.slice(1));
    const single = repositories.filter(({ name }) => numberOf(name) <= 120);
    assert.ok(single.every(({ next_refresh_at }) => (next_refresh_at ?? 0) >= RESET));
    assert.equal(single.length, 120);
    assert.equal(singles(), 1);
    assert.equal(fetch.sent.flatMap(({ ids }) => ids).length, 10);
    assert.equal(reporter.report.refreshed, 10);
    assert.ok((reporter.report.failures.quota ?? 0) <= 3, "each batch reports it once");
  });

  test("records each count at the time of its own response, however long the batch took", async () => {
    const { clock, modules, lane } = await start(() => ({ body: restRow() }));
    const recorder = new Recorder(lane);
    await recorder.recordPage([rowOf(7, null)]);
    clock.advance(HOUR_MS);
    const { read, dialect } = modules.database;
    const [asked] = await readTracked(read, dialect, { provider: "GITHUB", providerIds: ["7"] });
    assert.ok(asked);
    const at = clock.now() - 60_000;
    const repository = { ...rowOf(7, null), stars: 12 };
    await recorder.record([{ asked, result: { kind: "found", repository, etag: null, at } }]);
    const last = (await snapshotsOf(modules.database, asked.repositoryId)).at(-1);
    assert.deepEqual([last?.capturedAt, last?.stars], [at, 12]);
  });

  test("shares its quota: the backfill leaves a reserve of it", async () => {
    const { modules, lane, singles } = await start(() => ({ body: [], headers: limits(500) }));
    await new Recorder(lane).recordPage([rowOf(1, "R_1"), rowOf(2, "R_2")]);
    assert.equal((await backfillStep(lane)).hasResponse, true);
    assert.equal((await backfillStep(lane)).waitMs, 10 * 60_000);
    assert.equal(singles(), 1);
    const left = await modules.database.read
      .selectFrom("tracking")
      .select("repository_id")
      .where("history_due", "is not", null)
      .execute();
    assert.equal(left.length, 1);
  });
});
