import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS, HOUR_MS, isoTime } from "../../src/lib/clock.js";
import { errorOf, invalid, NO_HISTORY } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import {
  createWorld,
  daily,
  NOW,
  observation,
  snapshot,
  snapshotsEvery,
  type World,
} from "../support/world.js";

/** Hours in a day, for snapshots that are told by their age. */
const DAY = DAY_MS / HOUR_MS;

onSqliteAndLong("GET /api/repos/:id/metrics", (engine) => {
  let world: World;
  let ids: Record<string, string>;
  const times = (body: { data: { capturedAt: string }[] }) => body.data.map((point) => point.capturedAt);
  const metrics = (name: string, query = "") => world.get(`/api/repos/${ids[name]}/metrics${query}`);

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("a/days", [
        snapshot(400 * DAY, 1),
        snapshot(90 * DAY + 1, 2),
        snapshot(90 * DAY, 3),
        snapshot(30 * DAY + 1, 4),
        snapshot(30 * DAY, 5),
        snapshot(1 * DAY, 6, { forks: 2, openIssues: 1, watchers: 9, source: "BACKFILLED" }),
        snapshot(0, 7, { forks: 3, openIssues: 0, watchers: 9, source: "OBSERVED" }),
      ]),
      observation(
        "b/gaps",
        [20, 19, 18, 17, 13.5, 13, 12, 11.8, 11, 10].map((days, i) => snapshot(days * DAY, i)),
      ),
      observation("c/quiet", [snapshot(40 * DAY, 10)]),
      observation("d/none", []),
      observation("e/minutes", snapshotsEvery(1 / 6, 2_001)),
      observation("f/hours", snapshotsEvery(1, 2_001)),
      observation("g/days", snapshotsEvery(24, 2_001)),
      observation("h/full", snapshotsEvery(24, 2_000)),
      observation("group/sub/old", daily(5, 6), { provider: "GITLAB", at: NOW }),
      observation("i/gone", daily(8, 9), { facts: { availability: "GONE" } }),
    );
    // The provider's newest snapshot is older than the clock: its windows end there.
    await world.record(
      observation("x/y/forgotten", [snapshot(50 * DAY, 1), snapshot(20 * DAY, 2)], { provider: "FORGE" }),
    );
    const list = await world.get("/api/repos?sort=created&limit=100");
    ids = Object.fromEntries(
      list.body.data.map((repository: { name: string; owner: string; id: string }) => [
        `${repository.owner[0]}/${repository.name}`,
        repository.id,
      ]),
    );
    ids["i/gone"] = (await world.get("/api/repos/github/i/gone")).body.data.id;
  });

  test("30 days by default, oldest first, with every count as it was captured", async () => {
    const { status, body } = await metrics("a/days");
    assert.equal(status, 200);
    const unknown = { forks: null, openIssues: null, watchers: null, source: "IMPORTED", counts: true };
    assert.deepEqual(body, {
      data: [
        { capturedAt: "2026-03-31T12:00:00.000Z", stars: 5, ...unknown },
        {
          capturedAt: "2026-04-29T12:00:00.000Z",
          stars: 6,
          forks: 2,
          openIssues: 1,
          watchers: 9,
          source: "BACKFILLED",
          counts: true,
        },
        {
          capturedAt: "2026-04-30T12:00:00.000Z",
          stars: 7,
          forks: 3,
          openIssues: 0,
          watchers: 9,
          source: "OBSERVED",
          counts: true,
        },
      ],
      meta: {
        repositoryId: ids["a/days"],
        window: "30d",
        from: "2026-03-31T12:00:00.000Z",
        to: null,
        asOf: "2026-04-30T12:00:00.000Z",
        resolution: "all",
        thinned: false,
        pointCount: 3,
        gaps: [],
        nextRefreshAt: null,
        ageDays: 0,
        lastSeenAt: "2026-04-30T12:00:00.000Z",
        stale: false,
        history: NO_HISTORY,
      },
    });
  });

  test("90 days and all reach further back", async () => {
    const stars = async (window: string) => {
      const { body } = await metrics("a/days", `?window=${window}`);
      assert.equal(body.meta.window, window);
      assert.equal(body.meta.pointCount, body.data.length);
      return body.data.map((point: { stars: number }) => point.stars);
    };
    assert.deepEqual(await stars("90d"), [3, 4, 5, 6, 7]);
    assert.deepEqual(await stars("all"), [1, 2, 3, 4, 5, 6, 7]);
    assert.equal((await metrics("a/days", "?window=90d")).body.meta.from, "2026-01-30T12:00:00.000Z");
    assert.equal((await metrics("a/days", "?window=all")).body.meta.from, null);
  });

  test("from and to choose days, to alone ends the window, and days in the wrong order are refused", async () => {
    const stars = async (query: string) => {
      const { body } = await metrics("a/days", query);
      return body.data.map((point: { stars: number }) => point.stars);
    };
    assert.deepEqual(await stars("?from=2026-01-30&to=2026-03-31"), [2, 3, 4, 5]);
    assert.deepEqual(await stars("?from=2026-04-29&to=2026-04-29"), [6]);
    assert.deepEqual(await stars("?from=2026-04-29"), [6, 7]);
    assert.deepEqual(await stars("?window=30d&to=2026-04-29"), [4, 5, 6]);
    assert.deepEqual(await stars("?from=2026-05-01"), []);
    assert.deepEqual(await stars("?from=2026-03-31T12:00:00Z&to=2026-04-29T12:00:00Z"), [5, 6]);
    assert.deepEqual(await stars("?from=2026-03-31T12:00:00.001Z&to=2026-04-29T13:59:59%2B02:00"), []);
    assert.deepEqual(
      await stars(`?from=${Date.UTC(2026, 2, 31, 12)}&to=${Date.UTC(2026, 3, 29, 12)}`),
      [5, 6],
    );
    const ending = (await metrics("a/days", "?window=30d&to=2026-04-01")).body;
    assert.deepEqual(
      [ending.meta.window, ending.meta.from, ending.meta.to],
      ["30d", "2026-03-03T00:00:00.000Z", "2026-04-02T00:00:00.000Z"],
    );
    const exact = (await metrics("a/days", "?window=90d&to=2026-04-01T06:00:00Z")).body.meta;
    assert.deepEqual([exact.from, exact.to], ["2026-01-01T06:00:00.000Z", "2026-04-01T06:00:00.000Z"]);
    const { window, from, to } = (await metrics("a/days", "?from=2026-04-29&to=2026-04-29")).body.meta;
    assert.deepEqual([window, from, to], [null, "2026-04-29T00:00:00.000Z", "2026-04-30T00:00:00.000Z"]);
    const wrong = await metrics("a/days", "?from=2026-04-29&to=2026-04-28");
    assert.deepEqual(errorOf(wrong), invalid("to", "must not be before from"));
    const file = await metrics("a/days", "?from=2026-04-29&to=2026-04-30&format=csv");
    assert.match(
      file.headers.get("content-disposition") ?? "",
      new RegExp(`"sidereal-${ids["a/days"]}-2026-04-29-2026-04-30.csv"`),
    );
  });

  test("days have up to 10,000 snapshots, more than 2,000 of one repository and of several", async () => {
    const { body } = await metrics("e/minutes", "?from=2026-01-01");
    assert.deepEqual([body.meta.resolution, body.meta.pointCount], ["all", 2_001]);
    const several = await world.get(`/api/metrics?repo=${ids["e/minutes"]}&from=2026-01-01`);
    assert.deepEqual([several.body.meta.resolution, several.body.meta.pointCount], ["all", 2_001]);
    assert.deepEqual(several.body.data[0].points, body.data);
  });

  test("windows end with the repository's own newest counts, not at the clock and not with those of another one", async () => {
    const forgotten = await metrics("x/forgotten");
    assert.equal(forgotten.body.meta.asOf, isoTime(NOW - 20 * DAY_MS));
    assert.equal(forgotten.body.meta.from, isoTime(NOW - 50 * DAY_MS));
    assert.deepEqual(times(forgotten.body), [isoTime(NOW - 50 * DAY_MS), isoTime(NOW - 20 * DAY_MS)]);
    const quiet = await metrics("c/quiet");
    assert.equal(quiet.body.meta.asOf, isoTime(NOW - 40 * DAY_MS));
    assert.deepEqual(times(quiet.body), [isoTime(NOW - 40 * DAY_MS)]);
  });

  test("says where nobody looked, and which snapshots do not count", async () => {
    const { body } = await metrics("b/gaps");
    assert.equal(body.data.length, 10);
    assert.deepEqual(body.meta.gaps, [
      { from: isoTime(NOW - 17 * DAY_MS), to: isoTime(NOW - 13.5 * DAY_MS) },
    ]);
    const own = await createWorld(engine);
    await own.record(observation("o/failed", daily(9_000, 9_010, 20, 9_030, 9_040)));
    for (const path of ["/api/repos/1/metrics?", "/api/metrics?repo=1&"]) {
      const { data } = (await own.get(`${path}window=all`)).body;
      const points: { counts: boolean }[] = data[0].points ?? data;
      assert.deepEqual(
        points.map(({ counts }) => counts),
        [true, true, false, true, true],
      );
    }
  });

  test("at most 2,000 points: the last one of each step of time, and says which", async () => {
    // Weeks begin on Monday; 1970-01-01 was a Thursday.
    for (const [name, hours, resolution, bucketMs, offset] of [
      ["e/minutes", 1 / 6, "1h", HOUR_MS, 0],
      ["f/hours", 1, "2h", 2 * HOUR_MS, 0],
      ["g/days", 24, "1w", 7 * DAY_MS, 3 * DAY_MS],
    ] as const) {
      const { body } = await metrics(name, "?window=all");
      const lastOfBucket = new Map(
        snapshotsEvery(hours, 2_001).map(({ capturedAt, stars }) => [
          Math.floor((capturedAt + offset) / bucketMs),
          { capturedAt: isoTime(capturedAt), stars },
        ]),
      );
      assert.deepEqual(
        body.data.map((point: { capturedAt: string; stars: number }) => ({
          capturedAt: point.capturedAt,
          stars: point.stars,
        })),
        [...lastOfBucket.values()],
        name,
      );
      const { pointCount, gaps, thinned } = body.meta;
      assert.deepEqual([body.meta.resolution, pointCount, gaps], [resolution, lastOfBucket.size, []], name);
      assert.equal(thinned, true);
    }
  });

  test("step= gives the last snapshot of each longer step; one that is too fine gives the next that fits", async () => {
    for (const [step, resolution, points, thinned] of [
      ["all", "2h", 1_001, true],
      ["1h", "2h", 1_001, true],
      ["6h", "6h", 335, false],
      ["12h", "12h", 168, false],
      ["1d", "1d", 84, false],
      ["1w", "1w", 13, false],
      ["4w", "4w", 4, false],
    ] as const) {
      const { body } = await metrics("f/hours", `?window=all&step=${step}`);
      const { meta } = body;
      assert.deepEqual(
        [meta.resolution, meta.pointCount, meta.thinned, body.data.length],
        [resolution, points, thinned, points],
        step,
      );
      assert.equal(body.data.at(-1).capturedAt, isoTime(NOW));
    }
    assert.deepEqual(
      errorOf(await metrics("f/hours", "?step=3h")),
      invalid("step", "must be one of all, 1h, 2h, 6h, 12h, 1d, 1w, 4w", {
        allowed: ["all", "1h", "2h", "6h", "12h", "1d", "1w", "4w"],
      }),
    );
  });

  test("2,000 points are not thinned", async () => {
    const { body } = await metrics("h/full", "?window=all");
    assert.equal(body.meta.resolution, "all");
    assert.equal(body.data.length, 2_000);
    assert.equal(body.meta.pointCount, 2_000);
  });

  test("format=csv gives the same points as a file", async () => {
    const { status, headers, body } = await metrics("a/days", "?format=csv");
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "text/csv; charset=utf-8");
    assert.equal(
      headers.get("content-disposition"),
      `attachment; filename="sidereal-${ids["a/days"]}-30d.csv"`,
    );
    assert.equal(
      body,
      [
        "capturedAt,stars,forks,openIssues,watchers,source,counts,repositoryId,provider,fullName",
        `2026-03-31T12:00:00.000Z,5,,,,IMPORTED,true,${ids["a/days"]},GITHUB,a/days`,
        `2026-04-29T12:00:00.000Z,6,2,1,9,BACKFILLED,true,${ids["a/days"]},GITHUB,a/days`,
        `2026-04-30T12:00:00.000Z,7,3,0,9,OBSERVED,true,${ids["a/days"]},GITHUB,a/days`,
        "",
      ].join("\r\n"),
    );
    assert.equal((await metrics("d/none", "?format=csv")).body.split("\r\n").length, 2);
  });

  test("a repository without snapshots has an empty series, a gone one keeps its own", async () => {
    assert.deepEqual((await metrics("d/none")).body.data, []);
    assert.equal((await metrics("i/gone")).body.data.length, 2);
  });

  test("an identifier that no repository has answers 404, however large", async () => {
    for (const id of ["999999", "9007199254740993", "9223372036854775807", "9".repeat(19)]) {
      assert.deepEqual(errorOf(await world.get(`/api/repos/${id}/metrics`)), {
        status: 404,
        code: "NOT_FOUND",
        message: "No repository has this id.",
      });
    }
  });

  test("what is no identifier is refused", async () => {
    for (const id of ["1".repeat(20), "0", "01", "-1", "1.0", "1e3", "a", "%20", "١"]) {
      assert.deepEqual(
        errorOf(await world.get(`/api/repos/${id}/metrics`)),
        invalid("id", "must be an id: 1 to 19 digits without a leading 0"),
        id,
      );
    }
  });
});
