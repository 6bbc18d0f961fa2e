import assert from "node:assert/strict";
import { test } from "node:test";
import type { UpstreamRepository } from "../../src/forges/contract.js";
import { type FailureKind, UpstreamFailure } from "../../src/forges/failures.js";
import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { createGithub } from "../../src/forges/github/github.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { Stretch } from "../../src/tracking/cadence.js";
import { Recorder } from "../../src/tracking/recorder.js";
import { Reporter } from "../../src/tracking/report.js";
import { due, readTracked, type Tracked } from "../../src/tracking/schedule.js";
import { untrack } from "../../src/tracking/untrack.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { snapshotsOf } from "../support/snapshots.js";
import { heldLease } from "../support/tracking.js";
import { settingsOf } from "../support/upstream.js";

const MINUTE_MS = 60_000;
const CREATE = { github: createGithub, forgejo: createForgejo } as const;

/** A row of a search on GitHub. */
const ROW: UpstreamRepository = {
  providerId: "7",
  nodeId: "R_seven",
  owner: "octo",
  name: "seven",
  url: "https://github.com/octo/seven",
  description: "Seven",
  homepage: null,
  language: "Go",
  license: "MIT",
  topics: ["web", "CLI"],
  stars: 1_000,
  forks: 50,
  openIssues: 9,
  watchers: null,
  fork: false,
  archived: false,
  createdAt: Date.UTC(2020, 0, 1),
  pushedAt: Date.UTC(2026, 3, 1),
};
const OWN: UpstreamRepository = { ...ROW, watchers: 40 };

async function start(engine: Engine, kind: keyof typeof CREATE = "github") {
  const clock = new ManualClock(Date.UTC(2026, 3, 30, 12));
  const log = createLog("silent");
  const modules = buildModules(await engine.open(), { clock, log });
  const { database } = modules;
  const settings = settingsOf(kind, { name: "FORGE" });
  const fetch = () => Promise.reject(new UpstreamFailure("unreachable", "no network in tests"));
  const provider = CREATE[kind](settings, { fetch, clock });
  const reporter = new Reporter(clock.now());
  const { signal } = new AbortController();
  const lease = await heldLease(database, clock);
  const recorder = new Recorder({
    modules,
    lease,
    provider,
    clock,
    reporter,
    stretch: new Stretch(),
    failedHistories: new Set(),
    chance: () => 0.5,
    signal,
    log,
  });
  const known = async (): Promise<Tracked> => {
    const providerIds = [ROW.providerId];
    const [one] = await readTracked(database.read, database.dialect, { provider: "FORGE", providerIds });
    assert.ok(one);
    return one;
  };
  return {
    clock,
    modules,
    lease,
    reporter,
    page: (...rows: UpstreamRepository[]) => recorder.recordPage(rows),
    /** Records a reading of the own record. */
    own: async (repository: UpstreamRepository, etag: string | null = null) =>
      recorder.record([{ asked: await known(), result: { kind: "found", repository, etag } }]),
    /** Records that a second endpoint too fails to return the own record. */
    deny: async (kind: FailureKind) => {
      const failure = new UpstreamFailure(kind, kind);
      const asked = await known();
      await recorder.record([{ asked, result: { kind: "failed", failure }, isConfirmed: true }]);
    },
    recorder,
    known,
    repository: async () => {
      const [one] = await modules.catalog.findMany([(await known()).repositoryId]);
      assert.ok(one);
      return one;
    },
    counts: async () =>
      (await snapshotsOf(database, (await known()).repositoryId)).map(({ stars, watchers }) => [
        stars,
        watchers,
      ]),
    tracking: async () =>
      database.read
        .selectFrom("tracking")
        .innerJoin("repositories", "id", "repository_id")
        .selectAll()
        .executeTakeFirstOrThrow(),
  };
}

onSqliteAndLong("A response about a repository that was untracked meanwhile", (engine) => {
  for (const deletes of [false, true])
    test(`changes nothing, ${deletes ? "deleted" : "kept"}`, async () => {
      const { modules, page, recorder, known, counts, repository } = await start(engine);
      await page(ROW);
      const asked = await known();
      await untrack(modules, await repository(), { deletes });
      const result = { kind: "found", repository: { ...OWN, stars: 2_000 }, etag: null } as const;
      await recorder.record([{ asked, result }]);
      assert.equal((await modules.catalog.dump(0, 10)).length, deletes ? 0 : 1);
      if (deletes) return;
      assert.deepEqual(await counts(), [[1_000, null]]);
      assert.equal((await repository()).nextRefreshAt, null);
    });
});

onSqliteAndLong("A row of a list about a known repository", (engine) => {
  test("is a reading like any other, sets the next due time, and replaces nothing that it does not have", async () => {
    const { clock, page, own, counts, repository, tracking, reporter } = await start(engine);
    assert.equal(await page(ROW), 1);
    clock.advance(HOUR_MS);
    await own(OWN, '"one"');
    clock.advance(HOUR_MS);
    const renamed = { ...ROW, owner: "moved", stars: 1_100, license: null, archived: true };
    assert.equal(await page(renamed), 0);
    assert.deepEqual(await counts(), [
      [1_000, null],
      [1_000, 40],
      [1_100, null],
    ]);
    const { fullName, license, archived, stars, watchers, refreshedAt } = await repository();
    assert.deepEqual([fullName, license, archived, stars, watchers], ["moved/seven", "MIT", true, 1_100, 40]);
    assert.equal(refreshedAt, clock.now());
    const { refresh_interval, next_refresh_at } = await tracking();
    // 100 stars in an hour.
    assert.equal(refresh_interval, HOUR_MS);
    assert.equal(next_refresh_at, clock.now() + 0.9 * HOUR_MS);
    const { listed, refreshed } = reporter.report;
    assert.deepEqual([listed, refreshed], [1, 1]);
  });

  test("replaces no node id of the present form by one of the old form, and neither does any other reading", async () => {
    const { clock, page, own, known, recorder, lease } = await start(engine);
    const nodeId = async () => (await known()).nodeId;
    const OLD = "MDEwOlJlcG9zaXRvcnk3";
    await page({ ...ROW, nodeId: OLD });
    assert.equal(await nodeId(), OLD);
    clock.advance(HOUR_MS);
    await own(OWN);
    assert.equal(await nodeId(), "R_seven");
    clock.advance(HOUR_MS);
    await page({ ...ROW, nodeId: OLD });
    assert.equal(await nodeId(), "R_seven", "a list");
    clock.advance(HOUR_MS);
    await own({ ...OWN, nodeId: OLD });
    assert.equal(await nodeId(), "R_seven", "its own record");
    const found = { ...OWN, nodeId: OLD };
    await lease.write((tx) =>
      recorder.recordNamed(tx, found, { at: clock.now(), requested: `${found.owner}/${found.name}` }),
    );
    assert.equal(await nodeId(), "R_seven", "a lookup by name");
    await own({ ...OWN, nodeId: "R_other" });
    assert.equal(await nodeId(), "R_other");
  });

  test("does not correct the own record for a quarter of an hour, as search indexes lag", async () => {
    const { clock, page, own, counts, repository } = await start(engine);
    await page(ROW);
    clock.advance(HOUR_MS);
    await own({ ...OWN, stars: 2_000, description: "New" });
    clock.advance(14 * MINUTE_MS);
    await page({ ...ROW, stars: 1_900 });
    assert.equal((await counts()).length, 2);
    assert.equal((await repository()).description, "New");
    clock.advance(MINUTE_MS);
    await page({ ...ROW, stars: 1_990 });
    assert.deepEqual((await counts()).at(-1), [1_990, null]);
  });

  for (const kind of ["github", "forgejo"] as const)
    test(`does not bring back what its own record denied, but makes that due within a day: ${kind}`, async () => {
      const { clock, page, own, deny, repository, tracking, counts, reporter } = await start(engine, kind);
      await page(ROW);
      for (let i = 0; i < 8; i++) {
        clock.advance(7 * DAY_MS);
        await deny("blocked");
      }
      const { next_refresh_at } = await tracking();
      assert.ok((next_refresh_at ?? 0) > clock.now() + 4 * DAY_MS);
      clock.advance(HOUR_MS);
      await page({ ...ROW, stars: 1_100, name: "other" });
      const { availability, fullName } = await repository();
      assert.deepEqual([availability, fullName, (await counts()).length], ["BLOCKED", "octo/seven", 1]);
      const brought = await tracking();
      assert.equal(brought.next_refresh_at, clock.now() + DAY_MS);
      assert.deepEqual([brought.failures, brought.node_id, reporter.report.listed], [8, null, 0]);
      clock.advance(HOUR_MS);
      await page(ROW);
      assert.equal((await tracking()).next_refresh_at, brought.next_refresh_at, "rows do not put it off");
      await own(OWN);
      assert.deepEqual([(await repository()).availability, (await tracking()).failures], ["AVAILABLE", 0]);
    });

  test("that has the id of another one schedules it like any new one, without what belonged to that", async () => {
    const { clock, modules, page, own, tracking } = await start(engine);
    await page(ROW);
    clock.advance(HOUR_MS);
    await own(OWN, '"one"');
    const old = (await tracking()).repository_id;
    clock.advance(HOUR_MS);
    const createdAt = (ROW.createdAt ?? 0) + 20 * DAY_MS;
    assert.equal(await page({ ...ROW, owner: "mallory", name: "spoon", nodeId: "R_new", createdAt }), 0);
    const rows = await modules.database.read.selectFrom("tracking").selectAll().execute();
    assert.equal(rows.length, 2);
    const newcomer = rows.find(({ repository_id }) => repository_id !== old);
    assert.ok(newcomer);
    const { node_id, etag, failures, detailed_at, missing_since } = newcomer;
    assert.deepEqual([node_id, etag, failures, detailed_at, missing_since], [null, null, 0, null, null]);
    assert.ok((newcomer.details_due ?? 0) <= clock.now() + DAY_MS && newcomer.history_due !== null);
    clock.advance(2 * DAY_MS);
    const queue = { queue: "refresh", at: clock.now(), limit: 5 } as const;
    assert.equal((await due(modules.database.read, "FORGE", queue)).length, 2);
  });

  test("is recorded once if pages overlap or a page is read again, unless it says something new", async () => {
    const { clock, page, counts, repository } = await start(engine);
    await page(ROW, ROW);
    assert.equal((await counts()).length, 1, "twice on a page");
    for (let i = 0; i < 5; i++) {
      clock.advance(5 * MINUTE_MS);
      assert.equal(await page(ROW), 0);
    }
    assert.equal((await counts()).length, 1);
    await page({ ...ROW, name: "renamed" });
    assert.equal((await repository()).fullName, "octo/renamed");
    clock.advance(MINUTE_MS);
    await page({ ...ROW, name: "renamed", stars: 1_001 });
    assert.deepEqual((await counts()).at(-1), [1_001, null]);
    clock.advance(30 * MINUTE_MS);
    const before = (await counts()).length;
    await page({ ...ROW, name: "renamed", stars: 1_001 });
    assert.equal((await counts()).length, before + 1, "it confirms the counts");
  });

  test("plans a second reading if its counts have fallen doubtfully", async () => {
    const { clock, page, tracking, reporter } = await start(engine);
    await page(ROW);
    clock.advance(HOUR_MS);
    await page({ ...ROW, stars: 0 });
    const { doubted_at, recheck_at } = await tracking();
    assert.equal(doubted_at, clock.now());
    assert.ok(recheck_at !== null && recheck_at <= clock.now() + 6 * MINUTE_MS);
    assert.equal(reporter.report.doubted, 1);
  });

  test("ends a condition once it changes what is stored, also for a request that is under way", async () => {
    const { clock, page, own, recorder, known, counts, tracking } = await start(engine);
    await page(ROW);
    clock.advance(HOUR_MS);
    await own(OWN, '"one"');
    clock.advance(HOUR_MS);
    await page(ROW);
    assert.equal((await tracking()).etag, '"one"', "nothing has changed");
    const asked = await known();
    clock.advance(HOUR_MS);
    await page({ ...ROW, stars: 1_010 });
    assert.equal((await tracking()).etag, null);
    const before = await counts();
    await recorder.record([{ asked, result: { kind: "unchanged" } }]);
    assert.deepEqual(await counts(), before, "the forge confirmed other counts");
    assert.equal((await tracking()).next_refresh_at, clock.now());
    await own({ ...OWN, stars: 1_010 }, '"two"');
    clock.advance(HOUR_MS);
    await recorder.record([{ asked: await known(), result: { kind: "unchanged" } }]);
    assert.deepEqual((await counts()).at(-1), [1_010, 40]);
  });

  test("schedules an imported repository that had no schedule", async () => {
    const { clock, modules, page, tracking, counts } = await start(engine);
    const { providerId, owner, name } = ROW;
    const at = clock.now() - DAY_MS;
    await modules.catalog.record([
      { provider: "FORGE", providerId, owner, name, at, facts: { stars: 900 }, snapshots: [] },
    ]);
    assert.equal(await page(ROW), 0);
    assert.deepEqual(await counts(), [[1_000, null]]);
    const { next_refresh_at, refresh_interval, history_due } = await tracking();
    assert.ok((next_refresh_at ?? 0) > clock.now() && refresh_interval !== null && history_due !== null);
  });
});

onSqliteAndLong("The own record of a repository", (engine) => {
  test("is due within the first day, then weekly, if lists are incomplete", async () => {
    const { clock, page, own, tracking } = await start(engine);
    await page(ROW);
    const first = await tracking();
    assert.equal(first.detailed_at, null);
    const firstDue = first.details_due ?? 0;
    assert.ok(firstDue > clock.now() && firstDue <= clock.now() + DAY_MS);
    clock.advance(HOUR_MS);
    await own(OWN);
    const { detailed_at, details_due } = await tracking();
    assert.equal(detailed_at, clock.now());
    const due = (details_due ?? 0) - clock.now();
    assert.ok(due > 5 * DAY_MS && due <= 7 * DAY_MS, `${due / DAY_MS} days`);
    for (let day = 0; day < 6; day++) {
      clock.advance(DAY_MS);
      await page({ ...ROW, stars: 1_000 + day });
    }
    assert.equal((await tracking()).details_due, details_due, "lists do not put it off");
  });

  test("counts as read only if it was, and is due again as after any failure", async () => {
    const { clock, page, own, deny, tracking } = await start(engine);
    await page(ROW);
    clock.advance(HOUR_MS);
    await own(OWN);
    const { detailed_at } = await tracking();
    clock.advance(HOUR_MS);
    for (const [kind, hours] of [
      ["malformed", 1],
      ["gone", 2],
    ] as const) {
      await deny(kind);
      const failed = await tracking();
      assert.equal(failed.detailed_at, detailed_at);
      assert.equal(failed.details_due, clock.now() + hours * HOUR_MS);
    }
  });

  test("is never due if lists have all fields", async () => {
    const { clock, page, own, tracking } = await start(engine, "forgejo");
    await page(ROW);
    assert.equal((await tracking()).details_due, null);
    clock.advance(HOUR_MS);
    await own(OWN);
    assert.equal((await tracking()).details_due, null);
  });
});
