import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const SOURCE = "github-ranking";
const file = (days: number) => ({
  source: SOURCE,
  file: `github-ranking-${days}.csv`,
  capturedAt: NOW - days * DAY_MS,
  rows: 2,
  zeros: 0,
  damage: [],
});
const SEEN = "2026-04-29T12:00:00.000Z";

onSqliteAndLong("How recent responses are", (engine) => {
  let world: World;
  let ids: Record<string, string>;

  before(async () => {
    world = await createWorld(engine);
    const { catalog } = world.modules;
    await catalog.recordFiles([file(1), file(0)]);
    await world.record(
      observation("here/still", daily(100, 110, 130), { source: SOURCE, facts: { language: "Go" } }),
      // It grew, and then the newest file no longer had it.
      observation("gone/name", [snapshot(48, 4_000), snapshot(24, 4_900)], {
        source: SOURCE,
        facts: { language: "Go" },
      }),
    );
    const { data } = (await world.get("/api/repos?sort=stars")).body;
    ids = Object.fromEntries(data.map((one: { fullName: string; id: string }) => [one.fullName, one.id]));
  });

  test("a repository that the newest file no longer has is stale everywhere, and in no list by growth", async () => {
    const seen = (one: { fullName: string; lastSeenAt: string; stale: boolean }) => [
      one.fullName,
      one.lastSeenAt,
      one.stale,
    ];
    const both = [
      ["gone/name", SEEN, true],
      ["here/still", "2026-04-30T12:00:00.000Z", false],
    ];
    assert.deepEqual((await world.get("/api/repos?sort=stars")).body.data.map(seen), both);
    assert.deepEqual((await world.get("/api/repos?q=gone")).body.data.map(seen), both.slice(0, 1));
    const { data } = (await world.get("/api/search/suggest?q=gone")).body;
    assert.deepEqual(data.repositories.map(seen), both.slice(0, 1));
    const detail = (await world.get("/api/repos/github/gone/name")).body.data;
    assert.deepEqual([seen(detail), detail.trends["24h"]], [both[0], null]);
    const { meta } = (await world.get(`/api/repos/${ids["gone/name"]}/metrics`)).body;
    assert.deepEqual([meta.lastSeenAt, meta.stale], [SEEN, true]);
    const { series } = (await world.get("/api/embed/chart?repo=github:gone/name")).body.data;
    assert.deepEqual(series.map(seen), both.slice(0, 1));
    for (const sort of ["trending", "stars-gained", "stars-delta"]) {
      const listed = (await world.get(`/api/repos?sort=${sort}`)).body.data;
      assert.deepEqual(
        listed.map((one: { fullName: string }) => one.fullName),
        ["here/still"],
        sort,
      );
    }
    const csv = (await world.get("/api/repos?sort=stars&format=csv")).body.split("\r\n");
    assert.match(csv[1], /,2026-04-29T12:00:00\.000Z,true,2026-04-29T12:00:00\.000Z,1,,,,$/);
    assert.match(
      (await world.get("/api/embed/badge.svg?repo=github:gone/name")).body,
      /not seen since 29 Apr 2026/,
    );
    assert.match((await world.get("/api/feeds/stars.atom")).body, /not seen since 2026-04-29/);
  });

  test("the summary counts fresh and stale repositories, and names the newest file", async () => {
    const { data } = (await world.get("/api/stats/summary")).body;
    assert.deepEqual([data.freshRepositories, data.staleRepositories], [1, 1]);
    const [{ provider, freshRepositories, staleRepositories, ageDays }] = data.providers;
    assert.deepEqual([provider, freshRepositories, staleRepositories, ageDays], ["GITHUB", 1, 1, 1]);
    assert.deepEqual(data.newestFiles, [
      { source: SOURCE, file: "github-ranking-0.csv", capturedAt: "2026-04-30T12:00:00.000Z", ageDays: 0 },
    ]);
  });

  /** Repositories of an archive: one count a day, some seconds apart, without the given days before the last. */
  const archive = (missing: readonly number[] = []) =>
    Array.from({ length: 12 }, (_, i) =>
      observation(
        `archive/r${i}`,
        Array.from({ length: 30 }, (_, day) => 29 - day)
          .filter((day) => !missing.includes(day))
          .map((day) => snapshot(24 * day + 19 - i / 3_600, 1_000 + (29 - day) * (5 + i))),
      ),
    );

  test("a few later counts empty no list: it says how many were counted when, and its time is their median", async () => {
    const other = await createWorld(engine);
    await other.record(...archive());
    await other.record(...[0, 1, 2].map((i) => observation(`archive/r${i}`, [snapshot(0, 1_400)])));
    const measured = [
      { from: "2026-04-30T12:00:00.000Z", to: "2026-04-30T12:00:00.000Z", repositoryCount: 3 },
      { from: "2026-04-29T17:00:03.000Z", to: "2026-04-29T17:00:11.000Z", repositoryCount: 9 },
    ];
    const { data, meta } = (await other.get("/api/trending")).body;
    assert.equal(data.length, 12);
    assert.deepEqual(meta.measured, measured);
    assert.match(meta.asOf, /^2026-04-29T17:00:/);
    const summary = (await other.get("/api/stats/summary")).body.data;
    assert.deepEqual(
      [summary.measured, summary.providers[0].measured, summary.freshRepositories],
      [measured, measured, 12],
    );
    assert.match((await other.get("/api/feeds/trending.atom")).body, /as of 2026-04-29[^:<]*: 3 later\./);
    assert.match((await other.get("/explore?sort=trending")).body, /19 hours ago<\/time>; 3 later/);
    const own = (await other.get("/api/repos/github/archive/r5")).body.data;
    assert.equal(own.asOf, "2026-04-29T17:00:05.000Z");
  });

  test("a missing day empties no list, and the response says how far the counts are apart", async () => {
    const other = await createWorld(engine);
    await other.record(
      ...archive([1]).map((one, i) => ({
        ...one,
        // Later by seconds than two days before.
        snapshots: [...one.snapshots].map((each, at, all) =>
          at === all.length - 1 ? { ...each, capturedAt: each.capturedAt + i * 1_000 } : each,
        ),
      })),
    );
    const { data } = (await other.get("/api/trending")).body;
    assert.equal(data.length, 12);
    for (const { trend } of data) assert.ok(Math.abs(trend.hours - 48) < 0.01);
  });

  test("every response with growth has its age, which follows the days also if nothing is recorded", async () => {
    const cached = await createWorld(engine, { SIDEREAL_CACHE_MB: "1" });
    await cached.record(observation("a/b", daily(100, 110), { facts: { language: "Go", topics: ["web"] } }));
    const ages = async () => {
      const meta = [
        "/api/repos",
        "/api/trending",
        "/api/facets/languages",
        "/api/facets/topics",
        "/api/repos/1/metrics",
      ];
      const data = ["/api/repos/github/a/b", "/api/stats/summary", "/api/embed/chart?repo=github:a/b"];
      return [
        ...(await Promise.all(meta.map(async (path) => (await cached.get(path)).body.meta.ageDays))),
        ...(await Promise.all(data.map(async (path) => (await cached.get(path)).body.data.ageDays))),
        (await cached.get("/api/home")).body.data.summary.ageDays,
      ];
    };
    const texts = async () => {
      const { body: feed } = await cached.get("/api/feeds/trending.atom");
      const { body: badge } = await cached.get("/api/embed/badge.svg?repo=github:a/b&kind=stars");
      const { body: chart } = await cached.get("/api/embed/chart.svg?repo=github:a/b");
      return [feed, badge, chart].map((text) => /[\d,]+ days? ago/.exec(text)?.[0]);
    };
    assert.deepEqual(new Set(await ages()), new Set([0]));
    assert.deepEqual(new Set(await texts()), new Set([undefined]));
    cached.clock.advance(DAY_MS);
    assert.deepEqual(new Set(await ages()), new Set([1]));
    cached.clock.advance(89 * DAY_MS);
    assert.deepEqual(new Set(await ages()), new Set([90]), "cached responses of the day before are not sent");
    assert.deepEqual(new Set(await texts()), new Set(["90 days ago"]));
  });

  test("if the date of creation is unknown, the youth of a repository counts from when it was first seen", async () => {
    const other = await createWorld(engine);
    const old = Array.from({ length: 60 }, (_, i) => 5_000 + i);
    await other.record(
      observation("old/known", daily(...old)),
      observation("new/name", daily(20, 60, 150)),
      observation("new/dated", daily(20, 60, 150), { facts: { createdAt: NOW - 3 * DAY_MS } }),
    );
    const { data } = (await other.get("/api/new-hot")).body;
    const since = data.map((one: { fullName: string; trend: { newSince: string } }) => [
      one.fullName,
      one.trend.newSince,
    ]);
    assert.deepEqual(since.sort(), [
      ["new/dated", "CREATED"],
      ["new/name", "FIRST_SEEN"],
    ]);
    const { trends } = (await other.get("/api/repos/github/old/known")).body.data;
    assert.equal(trends["24h"].newSince, null);
  });

  test("a gain that counts in part says so in feeds and badges", async () => {
    const other = await createWorld(engine);
    const stars = [1_000, 1_000, 9_000];
    await other.record(
      observation(
        "shifted/level",
        stars.map((count, i) => snapshot(24 * (stars.length - 1 - i), count, { forks: 10 })),
      ),
    );
    const words = /\+8,000 in 24 hours, none counted: far more than usual without forks to match/;
    const { body: ofStars } = await other.get("/api/feeds/stars.atom?window=24h");
    assert.match(ofStars, words);
    const { body: badge } = await other.get("/api/embed/badge.svg?repo=github:shifted/level&kind=gain");
    assert.match(badge, /\+8,000 stars in 24 hours, none counted/);
  });
});
