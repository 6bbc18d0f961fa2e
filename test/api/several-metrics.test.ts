import assert from "node:assert/strict";
import { before, test } from "node:test";
import { parse } from "csv-parse/sync";
import { DAY_MS, HOUR_MS, isoTime } from "../../src/lib/clock.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { DEFAULT_LIMITS } from "../support/limits.js";
import {
  createWorld,
  daily,
  NOW,
  observation,
  snapshot,
  snapshotsEvery,
  type World,
} from "../support/world.js";

interface Series {
  repositoryId: string;
  provider: string;
  fullName: string;
  points: { capturedAt: string; stars: number }[];
}

const DAY = DAY_MS / HOUR_MS;

onSqliteAndLong("GET /api/metrics", (engine) => {
  let world: World;
  const read = (query: [string, string][] | string) =>
    world.get(`/api/metrics?${new URLSearchParams(query)}`);
  const namesOf = (body: { data: Series[] }) =>
    body.data.map(({ provider, fullName }) => `${provider}:${fullName}`);

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("old/first", [snapshot(48, 1)], { providerId: "7" }),
      observation("new/name", daily(5, 6), { providerId: "7" }),
      observation(
        "b/gaps",
        [20, 19, 18, 17, 14, 13, 12, 11.8, 11, 10].map((days, i) => snapshot(days * DAY, i)),
      ),
      observation("m/mixed", [
        snapshot(90 * DAY, 3),
        snapshot(30 * DAY, 5, { source: "BACKFILLED" }),
        snapshot(1 * DAY, 6, { forks: 2, openIssues: 1, watchers: 9 }),
        snapshot(0, 7, { forks: 3, openIssues: 0, watchers: 9, source: "OBSERVED" }),
      ]),
      observation("f/hours", snapshotsEvery(1, 2_001)),
      observation("d/none", []),
      observation("i/gone", daily(8, 9), { facts: { availability: "GONE" } }),
    );
    await world.record(
      observation("group/sub/other", [snapshot(50 * DAY, 1), snapshot(20 * DAY, 2)], { provider: "GITLAB" }),
    );
  });

  test("has the series of each repository as its own address has it, in the order of the request", async () => {
    const asked = ["i/gone", "gitlab:group/sub/other", "OLD/first", "b/gaps", "d/none", "m/mixed"];
    const spans = [
      ...["30d", "90d", "all"].map((window) => `window=${window}`),
      "window=30d&to=2026-04-15",
      "from=2026-04-02&to=2026-04-29",
    ];
    for (const span of spans) {
      const window = /^window=(\w+)/.exec(span)?.[1] ?? null;
      const repos = [...asked, "i/gone"].map((repo) => `repo=${encodeURIComponent(repo)}`);
      const { status, body } = await read([...repos, span].join("&"));
      assert.equal(status, 200);
      assert.deepEqual(namesOf(body), [
        "GITHUB:i/gone",
        "GITLAB:group/sub/other",
        "GITHUB:new/name",
        "GITHUB:b/gaps",
        "GITHUB:d/none",
        "GITHUB:m/mixed",
      ]);
      for (const series of body.data) {
        const { repositoryId, provider: _, fullName, renamedFrom, availability, ...rest } = series;
        const one = await world.get(`/api/repos/${repositoryId}/metrics?${span}`);
        const { asOf, lastSeenAt, stale, gaps } = one.body.meta;
        assert.deepEqual(rest, { asOf, lastSeenAt, stale, gaps, points: one.body.data }, fullName);
        assert.equal(renamedFrom, fullName === "new/name" ? "OLD/first" : undefined);
        assert.equal(availability, fullName === "i/gone" ? "GONE" : "AVAILABLE");
      }
      const points = body.data.reduce((sum: number, one: Series) => sum + one.points.length, 0);
      assert.deepEqual(body.meta, {
        window,
        resolution: "all",
        thinned: false,
        pointCount: points,
        asOf: isoTime(NOW),
        ageDays: 0,
        requested: 7,
        missing: [],
      });
    }
  });

  test("takes ids and names together, and lists what it does not find", async () => {
    const { body: gone } = await world.get("/api/repos/github/i/gone");
    const { body } = await read([
      ["repo", "999999"],
      ["repo", gone.data.id],
      ["repo", "No/Such"],
      ["repo", "group/sub/other"],
      ["repo", "999999"],
    ]);
    assert.deepEqual(namesOf(body), ["GITHUB:i/gone", "GITLAB:group/sub/other"]);
    assert.deepEqual([body.meta.requested, body.meta.missing], [5, ["999999", "No/Such"]]);
    assert.deepEqual((await read("repo=999999")).body.data, []);
  });

  test("has one step for all series, the finest by which none has over 2,000 points, or a longer one", async () => {
    const both = "repo=f/hours&repo=new/name&window=all";
    for (const [step, resolution, thinned] of [
      ["all", "2h", true],
      ["1h", "2h", true],
      ["6h", "6h", false],
      ["4w", "4w", false],
    ] as const) {
      const { body } = await read(`${both}&step=${step}`);
      assert.deepEqual([body.meta.resolution, body.meta.thinned], [resolution, thinned]);
      for (const series of body.data) {
        const one = await world.get(
          `/api/repos/${series.repositoryId}/metrics?window=all&step=${resolution}`,
        );
        assert.deepEqual(series.points, one.body.data);
      }
    }
  });

  test("as CSV has the points of all, with their repositories", async () => {
    const query = "repo=m/mixed&repo=i/gone&repo=d/none";
    const { headers, body } = await read(`${query}&format=csv`);
    assert.equal(headers.get("content-disposition"), 'attachment; filename="sidereal-metrics-30d.csv"');
    const rows: Record<string, string>[] = parse(body, { columns: true, bom: true });
    const json = await read(query);
    assert.deepEqual(
      rows,
      json.body.data.flatMap(({ repositoryId, provider, fullName, points }: Series) =>
        points.map((point) => ({
          ...Object.fromEntries(
            Object.entries(point).map(([name, value]) => [name, value === null ? "" : String(value)]),
          ),
          ...{ repositoryId, provider, fullName },
        })),
      ),
    );
  });

  test("refuses what is no reference, and more than 100", async () => {
    assert.deepEqual(
      errorOf(await read("repo=a/b&repo=x")),
      invalid("repo", "must be ids, or names of the form owner/name or provider:owner/name", {
        values: ["x"],
      }),
    );
    const rule = "must be ids, or names of the form owner/name or provider:owner/name, 1 to 100 times";
    assert.deepEqual(
      errorOf(await read(Array.from({ length: 101 }, () => ["repo", "1"]))),
      invalid("repo", rule),
    );
    assert.deepEqual(errorOf(await read("")), invalid("repo", rule));
  });
});

onSqlite("The points of GET /api/metrics", (engine) => {
  const COUNT = 100;
  let world: World;
  const ids = Array.from({ length: COUNT }, (_, i) => `repo=${i + 1}`).join("&");

  before(async () => {
    world = await createWorld(engine, { ...DEFAULT_LIMITS, SIDEREAL_CACHE_MB: "200" });
    await world.record(
      ...Array.from({ length: COUNT }, (_, i) => observation(`a/r${i}`, snapshotsEvery(12, 396 + (i % 3)))),
    );
  });

  const ask = async (query: string, peer: string) => {
    const response = await world.request(`/api/metrics?${query}`, { peer });
    const { headers } = response;
    const used = Number(headers.get("x-ratelimit-limit")) - Number(headers.get("x-ratelimit-remaining"));
    const body: { data: Series[]; meta: { pointCount: number; resolution: string; thinned: boolean } } =
      JSON.parse(await response.text());
    return { status: response.status, used, body };
  };

  test("are at most 20,000, and cost a unit for each 2,000, cached or not", async () => {
    const { body, used } = await ask(`${ids}&window=all`, "198.18.8.1");
    assert.deepEqual([body.meta.resolution, body.meta.thinned], ["1d", true]);
    const counts = body.data.map(({ points }: Series) => points.length);
    assert.equal(
      body.meta.pointCount,
      counts.reduce((sum: number, count: number) => sum + count, 0),
    );
    assert.ok(body.meta.pointCount > 19_000 && body.meta.pointCount <= 20_000, String(body.meta.pointCount));
    assert.equal(used, 1 + Math.floor(body.meta.pointCount / 2_000));
    assert.equal((await ask(`${ids}&window=all`, "198.18.8.2")).used, used);
    assert.equal((await ask(`${ids}&window=all&step=4w`, "198.18.8.3")).used, 1);
    assert.equal((await ask("repo=1&repo=2&window=all", "198.18.8.4")).used, 1);
    assert.equal((await ask(`${ids}&from=2020-01-01`, "198.18.8.5")).used, used);
  });

  test("are counted with the response: the last one may cost more than is left, and the next is refused", async () => {
    const peer = "198.18.8.9";
    assert.equal((await ask(`${ids}&window=30d`, peer)).used, 4);
    assert.equal((await ask(`${ids}&window=all`, peer)).used, 14);
    const last = await ask(`${ids}&window=all`, peer);
    assert.deepEqual([last.status, last.used], [200, 20]);
    assert.equal((await ask("repo=1", peer)).status, 429);
  });
});
