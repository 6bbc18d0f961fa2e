import assert from "node:assert/strict";
import { before, test } from "node:test";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createList, idsFrom } from "../support/watchlists.js";
import { type Answer, createWorld, observation, snapshot, type World } from "../support/world.js";

onSqliteAndLong("/api/watchlists/:token/repositories and /metrics", (engine) => {
  let world: World;
  const create = async (ids: string[] = []) => `/api/watchlists/${(await createList(world, { ids })).token}`;
  const add = (list: string, repositoryId: unknown) => world.send("POST", `${list}/items`, { repositoryId });
  const names = (answer: Answer): string[] =>
    answer.body.data.map((repository: { fullName: string }) => repository.fullName);

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation(
        "a/one",
        [snapshot(48, 10, { forks: 1 }), snapshot(24, 12, { forks: 2 }), snapshot(1, 20, { forks: 3 })],
        {
          facts: { pushedAt: 3_000, createdAt: 9_000 },
        },
      ),
      observation("b/two", [snapshot(50, 100), snapshot(2, 90)], {
        facts: { pushedAt: 1_000, createdAt: 5_000 },
      }),
      observation("c/gone", [snapshot(30, 7)], { facts: { availability: "GONE", pushedAt: 2_000 } }),
      observation("d/none", []),
      observation("x/y/lab", [snapshot(40 * 24, 1_000), snapshot(0, 1_001)], { provider: "GITLAB" }),
      ...Array.from({ length: 25 }, (_, i) => observation(`more/r${i}`)),
    );
  });

  test("its repositories with their growth, in the order of adding; a gone one stays, marked", async () => {
    const list = await create(["3", "2", "1"]);
    const answer = await world.get(`${list}/repositories?window=24h`);
    assert.equal(answer.status, 200);
    assert.deepEqual(names(answer), ["c/gone", "b/two", "a/one"]);
    assert.deepEqual(answer.body.meta, {
      page: 1,
      limit: 25,
      total: 3,
      totalIsExact: true,
      hasMore: false,
      nextCursor: null,
      window: "24h",
      sort: "added",
      corrected: null,
      asOf: "2026-04-30T10:00:00.000Z",
      ageDays: 0,
      measured: ["2026-04-30T11:00:00.000Z", "2026-04-30T10:00:00.000Z", "2026-04-29T06:00:00.000Z"].map(
        (time) => ({ from: time, to: time, repositoryCount: 1 }),
      ),
    });
    const [gone] = (await world.get("/api/repos?id=3")).body.data;
    assert.equal(gone.availability, "GONE");
    assert.deepEqual(answer.body.data[0], { ...gone, addedAt: "2026-04-30T12:00:00.000Z" });
    assert.equal(answer.body.data[2].trend.starsDelta, 8);
    const month = await world.get(`${list}/repositories?window=30d`);
    assert.deepEqual(
      month.body.data.map((repository: { trend: unknown }) => repository.trend),
      [null, null, null],
    );
  });

  test("sorts its repositories by every order, the unknown last", async () => {
    const list = await create(["4", "2", "3", "1"]);
    const sorted = async (query: string) => names(await world.get(`${list}/repositories?${query}`));
    assert.deepEqual(await sorted("sort=added"), ["d/none", "b/two", "c/gone", "a/one"]);
    assert.deepEqual(await sorted("sort=added&order=desc"), ["a/one", "c/gone", "b/two", "d/none"]);
    assert.deepEqual(await sorted("sort=stars"), ["b/two", "a/one", "c/gone", "d/none"]);
    assert.deepEqual(await sorted("sort=stars&order=asc"), ["c/gone", "a/one", "b/two", "d/none"]);
    assert.deepEqual(await sorted("sort=forks"), ["a/one", "d/none", "c/gone", "b/two"]);
    assert.deepEqual(await sorted("sort=pushed"), ["a/one", "c/gone", "b/two", "d/none"]);
    assert.deepEqual(await sorted("sort=created"), ["a/one", "b/two", "d/none", "c/gone"]);
    assert.deepEqual(
      errorOf(await world.get(`${list}/repositories?sort=name`)),
      invalid("sort", "must be one of added, trending, stars-gained, stars, forks, pushed, created", {
        allowed: ["added", "trending", "stars-gained", "stars", "forks", "pushed", "created"],
      }),
    );
  });

  test("sorts its repositories by what they gained in the window, those without a trend last", async () => {
    const list = await create(["4", "3", "2", "1", "5"]);
    const sorted = async (query: string) => names(await world.get(`${list}/repositories?${query}`));
    // One has gained, one has lost, and of the others too little is known.
    const gained = ["a/one", "b/two", "x/y/lab", "d/none", "c/gone"];
    assert.deepEqual(await sorted("sort=stars-gained&window=24h"), gained);
    const lost = ["b/two", "a/one", "c/gone", "d/none", "x/y/lab"];
    assert.deepEqual(await sorted("sort=stars-gained&window=24h&order=asc"), lost);
    assert.deepEqual((await sorted("sort=trending&window=24h"))[0], "a/one");
    for (const [order, expected] of [
      ["desc", gained],
      ["asc", lost],
    ] as const) {
      const walked: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const place: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const page = await world.get(
          `${list}/repositories?sort=stars-gained&window=24h&order=${order}&limit=2${place}`,
        );
        walked.push(...names(page));
        cursor = page.body.meta.nextCursor;
      }
      assert.deepEqual(walked, expected);
    }
  });

  test("its repositories are walked by cursor without repeating or skipping, while it changes", async () => {
    const list = await create(idsFrom(1, 30));
    for (const query of ["", "&order=desc", "&sort=stars", "&sort=created&order=asc"]) {
      const whole = names(await world.get(`${list}/repositories?limit=100${query}`));
      assert.equal(whole.length, 30);
      const walked: string[] = [];
      let path = `${list}/repositories?limit=7${query}`;
      for (;;) {
        const page = await world.get(path);
        assert.equal(page.status, 200);
        walked.push(...names(page));
        // What was read already leaves the list, and comes back at its end.
        const [first] = page.body.data;
        if (query === "" && walked.length === 7) {
          await world.send("DELETE", `${list}/items/${first.id}`);
        }
        if (page.body.meta.nextCursor === null) break;
        path = `${list}/repositories?limit=7${query}&cursor=${page.body.meta.nextCursor}`;
      }
      assert.deepEqual(walked, whole, query);
      if (query === "") await add(list, "1");
    }
  });

  test("a cursor of one list does not fit another", async () => {
    const [one, other] = await Promise.all([create(idsFrom(1, 3)), create(idsFrom(1, 3))]);
    const { body } = await world.get(`${one}/repositories?limit=2`);
    const error = errorOf(await world.get(`${other}/repositories?limit=2&cursor=${body.meta.nextCursor}`));
    assert.deepEqual([error.status, error.code], [400, "INVALID_REQUEST"]);
  });

  test("the counts added up, of those known at both ends, and how many these are", async () => {
    const list = await create(["1", "2", "3", "4"]);
    const { status, body } = await world.get(`${list}/metrics`);
    assert.equal(status, 200);
    const point = (capturedAt: string, stars: number) => ({
      capturedAt,
      stars,
      ...{ forks: null, openIssues: null, watchers: null },
    });
    assert.deepEqual(body, {
      data: [
        point("2026-04-28T10:30:00.000Z", 110),
        // Half a day of the two between the snapshots of the second one.
        point("2026-04-29T10:30:00.000Z", 12 + 95),
        point("2026-04-30T10:30:00.000Z", 110),
      ],
      meta: { window: "30d", pointCount: 3, stepDays: 1, repositoryCount: 4, measuredCount: 2 },
    });
  });

  test("a repository that is first seen in the time does not count", async () => {
    const list = await create(["5", "1"]);
    for (const [window, days] of [
      ["30d", 30],
      ["90d", 40],
      ["all", 40],
    ] as const) {
      const { data, meta } = (await world.get(`${list}/metrics?window=${window}`)).body;
      assert.deepEqual([meta.pointCount, meta.measuredCount, meta.repositoryCount], [days + 1, 1, 2]);
      assert.deepEqual([data[0].stars, data.at(-1).stars], [1_000, 1_001]);
    }
  });
});
