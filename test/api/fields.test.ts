import assert from "node:assert/strict";
import { before, test } from "node:test";
import { parse } from "csv-parse/sync";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqliteAndLong("fields=", (engine) => {
  let world: World;
  let list: string;

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_CACHE_MB: "8" });
    await world.record(
      observation("a/one", daily(10, 40, 90), { facts: { topics: ["cli", "=cmd"], description: "-1+2" } }),
      observation("b/two", daily(70)),
    );
    const created = await world.send("POST", "/api/watchlists", { ids: ["1", "2"] });
    list = `/api/watchlists/${created.body.data.token}/repositories`;
  });

  test("leaves only these fields of each repository, nested ones where they were, and meta as it is", async () => {
    for (const path of ["/api/repos?sort=stars", "/api/repos?id=1&id=2", `${list}?window=24h`]) {
      const whole = (await world.get(path)).body;
      const { body } = await world.get(
        `${path}&fields=trend.starsDelta,fullName,trend.scores.trending,topics`,
      );
      assert.deepEqual(
        body.data,
        whole.data.map(({ fullName, topics, trend }: Record<string, unknown>) => {
          const { starsDelta, scores } = Object(trend);
          return {
            fullName,
            topics,
            trend: trend === null ? null : { starsDelta, scores: { trending: scores.trending } },
          };
        }),
      );
      assert.deepEqual(body.meta, whole.meta);
      assert.deepEqual((await world.get(`${path}&fields=trend,trend.from`)).body.data[0], {
        trend: whole.data[0].trend,
      });
    }
  });

  test("knows when a repository was added to a watchlist, where there is one", async () => {
    const { body } = await world.get(`${list}?fields=addedAt,id`);
    assert.deepEqual(body.data[0], { id: "1", addedAt: "2026-04-30T12:00:00.000Z" });
    assert.equal((await world.get("/api/repos?fields=addedAt")).status, 400);
  });

  test("leaves only these fields of a repository alone, and of the points of series", async () => {
    const whole = (await world.get("/api/repos/1?window=24h")).body.data;
    const detail = await world.get(
      "/api/repos/1?window=24h&fields=trends.7d.starsDelta,fullName,dataQuality.snapshots",
    );
    assert.deepEqual(detail.body.data, {
      fullName: "a/one",
      trends: { "7d": whole.trends["7d"] === null ? null : { starsDelta: whole.trends["7d"].starsDelta } },
      dataQuality: { snapshots: 3 },
    });
    const series = (await world.get("/api/repos/1/metrics")).body;
    const expected = series.data.map(({ stars }: { stars: number }) => ({ stars, fullName: "a/one" }));
    const picked = await world.get("/api/repos/1/metrics?fields=stars,fullName");
    assert.deepEqual(picked.body, { data: expected, meta: series.meta });
    const several = await world.get("/api/metrics?repo=1&fields=fullName,stars");
    assert.deepEqual(several.body.data[0].points, expected);
    assert.equal(several.body.data[0].repositoryId, "1");
    for (const path of ["/api/repos/1/metrics?", "/api/metrics?repo=1&"]) {
      const { body } = await world.get(`${path}format=csv&fields=stars,fullName`);
      assert.deepEqual(parse(body, { bom: true }), [
        ["stars", "fullName"],
        ...expected.map(({ stars }: { stars: number }) => [String(stars), "a/one"]),
      ]);
      assert.equal((await world.get(`${path}fields=star`)).status, 400);
    }
  });

  test("gives the columns of CSV in their order, and nothing in them is a formula", async () => {
    const { body } = await world.get(
      "/api/repos?sort=stars&format=csv&fields=trend.starsDelta,description,topics,stars,trend.scores",
    );
    const rows: string[][] = parse(body, { bom: true });
    assert.deepEqual(rows[0]?.slice(0, 6), [
      "trend.starsDelta",
      "description",
      "topics",
      "stars",
      "trend.scores.trending",
      "trend.scores.rising",
    ]);
    assert.deepEqual(rows[1]?.slice(0, 4), ["50", "'-1+2", "'=cmd;cli", "90"]);
    assert.deepEqual(rows[2]?.slice(0, 5), ["", "", "", "70", ""]);
  });

  test("in another order is the same response of the cache, except of CSV", async () => {
    const [one, other] = await Promise.all(
      ["stars,fullName", " fullName,stars,stars"].map((fields) =>
        world.get(`/api/repos?sort=stars&fields=${encodeURIComponent(fields)}`),
      ),
    );
    assert.deepEqual(one?.body, other?.body);
    assert.equal(one?.headers.get("etag"), other?.headers.get("etag"));
    const tables = await Promise.all(
      ["stars,fullName", "fullName,stars"].map((fields) =>
        world.get(`/api/repos?sort=stars&format=csv&fields=${fields}`),
      ),
    );
    assert.deepEqual(
      tables.map(({ body }) => body.split("\r\n")[1]),
      ["90,a/one", "a/one,90"],
    );
  });

  test("refuses a name that a repository does not have, with the nearest one, and too many", async () => {
    const refuse = async (fields: string) =>
      errorOf(await world.get(`/api/repos?fields=${encodeURIComponent(fields)}`));
    for (const [fields, message] of [
      ["stars,fulName", 'has no field "fulName"; the nearest is fullName'],
      ["starsDelta", 'has no field "starsDelta"; the nearest is trend.starsDelta'],
      ["trend.startsDelta", 'has no field "trend.startsDelta"; the nearest is trend.starsDelta'],
      ["stars,,forks", 'has no field ""'],
      ["__proto__", 'has no field "__proto__"'],
      ["stars.toFixed", 'has no field "stars.toFixed"'],
      ["x".repeat(1_001), "must be at most 1000 characters"],
    ] as const) {
      const error = await refuse(fields);
      const { message: found } = error.details[0];
      assert.deepEqual(error, invalid("fields", found), fields);
      assert.ok(found.startsWith(message), found);
    }
    assert.deepEqual(
      errorOf(await world.get("/api/repos?fields=stars&fields=forks")),
      invalid("fields", "may be given only once"),
    );
  });
});
