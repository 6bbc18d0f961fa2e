import assert from "node:assert/strict";
import { before, test } from "node:test";
import { FACET_SORTS } from "../../src/discovery/facets.js";
import { SORTS, WATCHLIST_SORTS } from "../../src/discovery/query.js";
import { RANKINGS } from "../../src/growth/definitions.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { NAMED } from "../support/named.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

onSqliteAndLong("rankings", (engine) => {
  let world: World;
  const names = async (path: string): Promise<string[]> => {
    const { body, status } = await world.get(path);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map((repository: { fullName: string }) => repository.fullName);
  };
  const facts = { pushedAt: NOW - DAY_MS, language: "Go", topics: ["web"] };

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("giant/steady", daily(150_000, 150_040), { facts }),
      observation("tiny/start", daily(3, 8), { facts }),
      observation("honest/growth", daily(2_000, 2_060), { facts }),
      observation("young/hot", daily(40, 140), {
        facts: { ...facts, createdAt: NOW - 10 * DAY_MS, language: "Rust" },
      }),
      observation("small/forge", daily(60, 90), {
        provider: "CODEBERG",
        facts: { ...facts, language: "Zig" },
      }),
      observation("late/reading", [snapshot(50, 500), snapshot(5, 900)], { facts }),
      observation("failed/reading", daily(9_000, 9_010, 0, 9_020), { facts }),
      observation("lost/stars", daily(5_000, 4_400), { facts }),
      observation("old/archive", daily(100, 400), { facts: { ...facts, archived: true } }),
    );
  });

  test("neither the giant nor the tiny one leads, and all forges are compared by one measure", async () => {
    const order = await names("/api/trending");
    assert.deepEqual(order.slice(0, 2).sort(), ["late/reading", "young/hot"]);
    assert.ok(order.indexOf("honest/growth") < order.indexOf("small/forge"), "all forges by one measure");
    assert.ok(order.indexOf("honest/growth") < order.indexOf("giant/steady"));
    assert.ok(order.indexOf("honest/growth") < order.indexOf("tiny/start"));
    assert.ok(!order.includes("lost/stars"), "nothing was gained");
    assert.ok(!order.includes("old/archive"), "archived");
    const all = await names("/api/repos");
    assert.deepEqual(all.slice(0, order.length), order, "so it begins without a sort");
    assert.deepEqual(all.slice(order.length).sort(), ["lost/stars", "old/archive"]);
  });

  test("each ranking is the list with its sort fixed", async () => {
    assert.deepEqual(await names("/api/rising"), await names("/api/repos?sort=rising"));
    // The others are older at their pace.
    const young = ["late/reading", "young/hot", "honest/growth", "small/forge", "tiny/start"];
    assert.deepEqual(await names("/api/new-hot"), young);
    assert.deepEqual(await names("/api/trending?language=zig"), ["small/forge"]);
    assert.equal((await world.get("/api/trending?window=7d")).body.meta.sort, "trending");
  });

  test("rising is a list of 24h and 7d without ranks, and its other addresses name what there is", async () => {
    const other = await createWorld(engine);
    await other.record(observation("far/above", daily(100, 110, 120, 130, 140, 400), { facts }));
    for (const [path, message] of [
      ["rising?", "must be one of 24h, 7d"],
      ["repos?sort=Rising&", "sort=rising needs 24h or 7d"],
      ["feeds/rising.atom?", "sort=rising needs 24h or 7d"],
    ] as const) {
      for (const window of ["24h", "7d"])
        assert.equal((await other.request(`/api/${path}window=${window}`)).status, 200, path + window);
      assert.deepEqual(
        errorOf(await other.get(`/api/${path}window=30d`)),
        invalid("window", message, { allowed: ["24h", "7d"] }),
        path,
      );
    }
    const { data } = (await other.get("/api/rising")).body;
    assert.deepEqual([data.length, data[0]?.trend.scores.rising], [1, 26]);
    assert.deepEqual((await other.get("/api/home")).body.data.rising.repositories, data);
    const { ranks } = (await other.get("/api/repos/github/far/above")).body.data;
    assert.ok(ranks.length > 0 && ranks.every(({ ranking }: { ranking: string }) => ranking !== "rising"));
  });

  test("lists by gain are in the order of what counts, and by the plain difference on request", async () => {
    const other = await createWorld(engine);
    const counts = { forks: 10 };
    await other.record(
      observation(
        "shifted/level",
        [48, 24, 0].map((hours) => snapshot(hours, hours === 0 ? 9_000 : 1_000, counts)),
      ),
      observation("honest/growth", daily(2_000, 2_060)),
      observation("fewer/stars", daily(500, 480)),
    );
    const listed = async (query: string) =>
      (await other.get(`/api/repos?${query}`)).body.data.map((one: { fullName: string }) => one.fullName);
    assert.deepEqual(await listed("sort=stars-gained"), ["honest/growth", "shifted/level", "fewer/stars"]);
    assert.deepEqual(await listed("sort=stars-delta"), ["shifted/level", "honest/growth"]);
    assert.deepEqual(await listed("sort=stars-delta&order=asc"), ["honest/growth", "shifted/level"]);
    const { trend } = (await other.get("/api/repos?sort=stars-delta")).body.data[0];
    assert.equal(trend.starsDelta, 8_000);
    assert.ok(trend.starsCounted < 60);
  });

  test("forks gained are by their number", async () => {
    const other = await createWorld(engine);
    const forked = (name: string, stars: [number, number], forks: [number, number]) =>
      observation(name, [
        snapshot(24, stars[0], { forks: forks[0] }),
        snapshot(0, stars[1], { forks: forks[1] }),
      ]);
    await other.record(
      forked("big/steady", [90_000, 90_400], [20_000, 20_060]),
      forked("small/growing", [300, 400], [20, 60]),
      forked("no/forks", [300, 400], [20, 20]),
    );
    const listed = async (path: string) =>
      (await other.get(path)).body.data.map((one: { fullName: string }) => one.fullName);
    assert.deepEqual((await listed("/api/repos?sort=forks-gained")).slice(0, 2), [
      "big/steady",
      "small/growing",
    ]);
    const { ranks } = (await other.get("/api/repos/github/small/growing")).body.data;
    const place = ranks.find(
      (rank: { ranking: string; window: string; scope: string }) =>
        rank.ranking === "forks-gained" && rank.window === "24h" && rank.scope === "overall",
    );
    assert.equal(place?.position, 2);
  });

  test("reliableOnly leaves out what covers the window badly", async () => {
    const trend = async (name: string) =>
      (await world.get(`/api/repos/github/${name}`)).body.data.trends["24h"];
    assert.equal((await trend("late/reading")).confidence, 0.43);
    assert.equal((await trend("late/reading")).reliable, false);
    assert.equal((await trend("honest/growth")).reliable, true);
    assert.ok((await names("/api/trending")).includes("late/reading"));
    assert.ok(!(await names("/api/trending?reliableOnly=true")).includes("late/reading"));
    assert.ok(!(await names("/api/repos?sort=stars&reliableOnly=true")).includes("late/reading"));
  });

  test("an anomaly is shown with its figures, and can be left out", async () => {
    const { data } = (await world.get("/api/repos/github/failed/reading")).body;
    assert.deepEqual(data.trends["24h"].anomalies, [
      {
        kind: "FAILED_READING",
        measure: "stars",
        at: "2026-04-29T12:00:00.000Z",
        until: "2026-04-29T12:00:00.000Z",
        reason: "0 stars between readings of 9,010: a failed reading",
        before: 9_010,
        after: 0,
      },
    ]);
    assert.equal(data.trends["24h"].starsDelta, 10, "a doubtful reading is never compared");
    assert.equal(data.trends["24h"].reliable, false);
    const purge = (await world.get("/api/repos/github/lost/stars")).body.data.trends["24h"].anomalies[0];
    assert.deepEqual([purge.kind, purge.reason], ["PURGE", "600 of 5,000 stars fewer in one step"]);
    assert.ok(!(await names("/api/repos?sort=stars&excludeAnomalous=true")).includes("lost/stars"));
    assert.ok((await names("/api/repos?sort=stars")).includes("lost/stars"));
  });

  test("explain=true gives the values from which the score follows, by every form of the address", async () => {
    const forms = ["honest/growth", "by-full-name?fullName=honest/growth&", "by-full-name/honest%2Fgrowth"];
    for (const form of forms) {
      const { data } = (
        await world.get(`/api/repos/github/${form}${form.endsWith("&") ? "" : "?"}explain=true`)
      ).body;
      assert.equal(data.explanation.version, 4);
      assert.equal(data.explanation.windows["30d"], null);
      const { score, formula, values } = data.explanation.windows["24h"].trending;
      assert.equal(score, data.trends["24h"].scores.trending);
      assert.equal(formula, "gained ÷ (usual day + 10)^0.6");
      assert.ok(Math.abs(values.gained / (values.usualDay + 10) ** 0.6 - score) < 0.01);
    }
    assert.equal("explanation" in (await world.get("/api/repos/github/honest/growth")).body.data, false);
  });

  test("a repository tells its places overall, in its provider, language and topics", async () => {
    const { ranks } = (await world.get("/api/repos/github/young/hot")).body.data;
    const place = (ranking: string, window: string | null, scope: string) =>
      ranks.find(
        (rank: Record<string, unknown>) =>
          rank.ranking === ranking && rank.window === window && rank.scope === scope,
      );
    assert.deepEqual(place("new-hot", "24h", "overall"), {
      ranking: "new-hot",
      window: "24h",
      scope: "overall",
      name: null,
      position: 2,
    });
    assert.deepEqual(place("trending", "24h", "language"), {
      ranking: "trending",
      window: "24h",
      scope: "language",
      name: "Rust",
      position: 1,
    });
    assert.equal(place("stars", null, "overall").position, 7);
    assert.equal(place("stars", null, "topic").name, "web");
    assert.equal(place("trending", "30d", "overall").position, 1, "a window may begin with the creation");
  });

  test("the first page shows ten of each, falling back to 7 days only where they show more", async () => {
    const { data } = (await world.get("/api/home")).body;
    assert.deepEqual(
      data.trending.repositories.map((repository: { fullName: string }) => repository.fullName),
      await names("/api/trending"),
    );
    assert.deepEqual([data.trending.window, data.trending.isFallback], ["24h", false]);
    assert.equal(data.summary.repositoryCount, 9);
    assert.deepEqual(data.languages[0], {
      name: "Go",
      repositoryCount: 7,
      stars: 166_828,
      starsGained: 215,
      measuredCount: 7,
    });
  });

  test("places are kept day by day, and the last time of a day stands", async () => {
    const other = await createWorld(engine);
    await other.record(observation("a/one", daily(100, 150)), observation("b/two", daily(100, 120)));
    await other.record(observation("b/two", [snapshot(-1, 300)]));
    await other.record(
      observation("a/one", [snapshot(-24, 160)]),
      observation("b/two", [snapshot(-25, 320)]),
    );
    const places = async (id: number) => {
      const { body } = await other.get(`/api/repos/${id}/ranks`);
      return body.data
        .filter((rank: Record<string, unknown>) => rank.ranking === "stars-gained" && rank.window === "24h")
        .map((rank: { date: string; position: number }) => [rank.date, rank.position]);
    };
    assert.deepEqual(await places(1), [
      ["2026-04-30", 2],
      ["2026-05-01", 2],
    ]);
    assert.deepEqual(await places(2), [
      ["2026-04-30", 1],
      ["2026-05-01", 1],
    ]);
    assert.equal((await other.get("/api/repos/99/ranks")).status, 404);
  });

  test("while 24 hours show too little, the first page shows 7 days and says so", async () => {
    const young = await createWorld(engine);
    const sixDays = Array.from({ length: 12 }, (_, i) =>
      observation(`week/r${i}`, [snapshot(144, 100), snapshot(0, 150 + i)]),
    );
    await young.record(...sixDays);
    const { trending } = (await young.get("/api/home")).body.data;
    assert.deepEqual([trending.window, trending.isFallback, trending.repositories.length], ["7d", true, 10]);
    assert.equal(trending.repositories[0].trend.window, "7d");
  });
});

/** Other spellings of a name such as `new-hot`. */
const spellings = (name: string): string[] => [
  name.replaceAll("-", "_"),
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  name.toUpperCase(),
  name.replaceAll("-", "_").toUpperCase(),
];

onSqliteAndLong("Names of rankings", (engine) => {
  let world: World;
  /** The body of a response without what depends on the time or the address. */
  const read = async (path: string) => {
    const { status, body } = await world.get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    return body;
  };

  before(async () => {
    world = await createWorld(engine);
    await world.record(...NAMED);
  });

  test("are written with hyphens everywhere", async () => {
    for (const name of [...RANKINGS, ...SORTS, ...WATCHLIST_SORTS, ...FACET_SORTS])
      assert.match(name, /^[a-z]+(-[a-z]+)*$/);
    for (const path of ["trending", "rising", "new-hot"])
      assert.equal((await read(`/api/${path}`)).meta.sort, path);
    const { ranks } = (await read("/api/repos/github/facebook/react")).data;
    assert.ok(ranks.some(({ ranking }: { ranking: string }) => ranking === "stars-gained"));
    const history = (await read(`/api/repos/1/ranks?window=all`)).data;
    for (const { ranking } of [...ranks, ...history]) assert.ok(RANKINGS.includes(ranking), ranking);
  });

  test("of lists are accepted in every spelling, and the response is the same", async () => {
    for (const sort of SORTS.filter((name) => name !== "relevance")) {
      const expected = await read(`/api/repos?sort=${sort}`);
      assert.equal(expected.meta.sort, sort);
      for (const other of spellings(sort))
        assert.deepEqual(await read(`/api/repos?sort=${other}`), expected, other);
    }
    const { body } = await world.send("POST", "/api/watchlists", { ids: ["1", "2"] });
    const list = `/api/watchlists/${body.data.token}/repositories`;
    for (const sort of WATCHLIST_SORTS) {
      const expected = await read(`${list}?sort=${sort}`);
      for (const other of spellings(sort))
        assert.deepEqual(await read(`${list}?sort=${other}`), expected, other);
    }
  });

  test("in one spelling continue the list of another", async () => {
    const first = await read("/api/repos?sort=stars_gained&limit=2");
    assert.ok(first.meta.nextCursor !== null);
    const rest = await read(`/api/repos?sort=starsGained&limit=2&cursor=${first.meta.nextCursor}`);
    assert.deepEqual(
      [...first.data, ...rest.data],
      (await read("/api/repos?sort=stars-gained&limit=4")).data,
    );
  });

  test("of facets, badges and feeds are accepted in every spelling", async () => {
    for (const sort of FACET_SORTS) {
      const expected = await read(`/api/facets/languages?sort=${sort}`);
      for (const other of spellings(sort))
        assert.deepEqual(await read(`/api/facets/languages?sort=${other}`), expected, other);
    }
    assert.deepEqual(
      await read("/api/facets/languages?sort=repositories"),
      await read("/api/facets/languages?sort=repository-count"),
    );
    for (const ranking of RANKINGS) {
      const badge = `/api/embed/badge.svg?repo=github:facebook/react&ranking=`;
      const expected = await read(`${badge}${ranking}`);
      for (const other of spellings(ranking))
        assert.deepEqual(await read(`${badge}${other}`), expected, other);
    }
    const feed = await (await world.request("/api/feeds/new-hot.atom")).text();
    for (const other of spellings("new-hot"))
      assert.equal(await (await world.request(`/api/feeds/${other}.atom`)).text(), feed, other);
  });

  test("in pages are accepted as links of before have them", async () => {
    for (const path of [
      "/explore?sort=new_hot",
      "/languages/C?sort=stars_gained",
      "/topics?sort=stars_gained",
    ])
      assert.equal((await world.request(path, { headers: { Accept: "text/html" } })).status, 200, path);
  });

  test("that are none of these are refused with the allowed ones", async () => {
    for (const sort of [
      "new--hots",
      "hot",
      "trending ",
      "fork-growth",
      "activity",
      "constructor",
      "__proto__",
      "",
    ]) {
      const { status, body } = await world.get(`/api/repos?sort=${encodeURIComponent(sort)}`);
      assert.equal(status, 400, sort);
      assert.deepEqual(body.error.details[0].allowed, [...SORTS]);
    }
  });
});
