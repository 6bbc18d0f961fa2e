import assert from "node:assert/strict";
import { test } from "node:test";
import { Catalog, type Facts, type Observation } from "../../src/catalog/catalog.js";
import { DAY_MS, systemClock } from "../../src/clock.js";
import type { Database } from "../../src/database/database.js";
import { buildIndex } from "../../src/lists/index/build.js";
import type { IndexMessage } from "../../src/lists/index/list-index.js";
import { INDEXED_ORDERS } from "../../src/lists/index/read-orders.js";
import {
  decodeCursor,
  type Filters,
  followIndex,
  ListIndex,
  type ListRows,
  type ListSpec,
  type Lists,
  listKey,
  SORTS,
  type Sort,
  startIndexBuilder,
} from "../../src/lists/lists.js";
import { createLog } from "../../src/log.js";
import { Rankings, WINDOWS } from "../../src/rankings/rankings.js";
import { Search } from "../../src/search/search.js";
import { onBothEngines } from "../support/engines.js";
import { indexOf, listOf, openLists } from "../support/lists.js";
import { ManualClock } from "../support/manual-clock.js";
import { examples, fc } from "../support/properties.js";
import { NOW } from "../support/world.js";

/** More than 64, so that a topic of all repositories is in the index. */
const REPOSITORIES = 90;

const LANGUAGES = ["Rust", "RUST", "rust", "C++", null];
const LICENSES = ["MIT", "GPL-3.0 OR MIT", null];
const TOPICS = ["common", "frequent", "rare-1", "rare-2"];
/** Few values, so that most rows share theirs; and extreme ones. */
const COUNTS = [0, 0, 1, 1, 7, 7, 7, 1_000, 1e12, null];
const TIMES = [NOW - 400 * DAY_MS, NOW - 400 * DAY_MS + 1, NOW - 3 * DAY_MS, NOW - DAY_MS, null];

const facts = fc.record({
  stars: fc.constantFrom(...COUNTS),
  forks: fc.constantFrom(...COUNTS),
  language: fc.constantFrom(...LANGUAGES),
  license: fc.constantFrom(...LICENSES),
  topics: fc.subarray(TOPICS, { maxLength: 3 }),
  createdAt: fc.constantFrom(...TIMES),
  pushedAt: fc.constantFrom(...TIMES),
  archived: fc.constantFrom(true, false, false, null),
  fork: fc.constantFrom(true, false, false, null),
  availability: fc.constantFrom(
    "AVAILABLE" as const,
    "AVAILABLE" as const,
    "AVAILABLE" as const,
    "GONE" as const,
  ),
});

/** Stars at the begin and the end of the windows; equal for most, much less for one that is anomalous. */
const movement = fc.constantFrom(0, 0, 0, 1, 1, 25, -1, -400);

const catalogue = fc.array(fc.tuple(facts, movement), { minLength: REPOSITORIES, maxLength: REPOSITORIES });

function observationOf(index: number, given: Facts, moved: number): Observation {
  const stars = Math.min(given.stars ?? 0, 1e9);
  const snapshot = (days: number, count: number) => ({
    capturedAt: NOW - days * DAY_MS,
    stars: Math.max(0, count),
    forks: index % 5 === 0 ? null : Math.round(count / 3),
    openIssues: null,
    watchers: null,
    source: "OBSERVED" as const,
  });
  return {
    provider: index % 4 === 0 ? "CODEBERG" : "GITHUB",
    owner: "owner",
    name: `name-${index}`,
    at: NOW,
    facts: { ...given, description: index % 2 === 0 ? "even" : "odd" },
    snapshots:
      index % 7 === 0
        ? [snapshot(0, stars)]
        : [7, 6, 1, 0].map((days) => snapshot(days, stars + (7 - days) * moved)),
  };
}

const TIME_BOUNDS = [0, NOW - 400 * DAY_MS + 1, NOW - DAY_MS, NOW];

const FILTERS: readonly Filters[] = [
  ...["GITHUB", "CODEBERG", "NOWHERE"].map((provider) => ({ provider })),
  ...[["rust"], ["c++", "rust"], ["no-such-language"]].map((languages) => ({ languages })),
  ...[["common"], ["frequent", "rare-1"], ["rare-1", "rare-2"], ["no-such-topic"]].map((topics) => ({
    topics,
  })),
  ...["MIT", "mit"].map((license) => ({ license })),
  ...[0, 1, 2, 1e12].flatMap((stars) => [
    { minStars: stars },
    { maxStars: stars },
    { minStars: 1, maxStars: stars },
  ]),
  ...TIME_BOUNDS.flatMap((time) => [{ createdAfter: time }, { createdBefore: time }, { pushedAfter: time }]),
  ...[true, false].flatMap((flag) => [{ archived: flag }, { fork: flag }]),
  { reliableOnly: true },
  { excludeAnomalous: true },
];

/** Few filters at a time, or hardly any list has rows. */
const filters = fc
  .array(fc.constantFrom(...FILTERS), { maxLength: 3 })
  .map((some): Filters => Object.assign({}, ...some));

const list = fc.record({
  filters,
  scope: fc.constantFrom<ListSpec["scope"][]>(
    { kind: "all" },
    { kind: "all" },
    { kind: "all" },
    { kind: "search", text: "even" },
  ),
  sort: fc.constantFrom(...SORTS.filter((sort): sort is Exclude<Sort, "relevance"> => sort !== "relevance")),
  direction: fc.constantFrom("asc" as const, "desc" as const),
  window: fc.constantFrom(...WINDOWS),
  limit: fc.integer({ min: 1, max: 12 }),
});

onBothEngines("The list index", (engine) => {
  let database: Database;
  const clock = new ManualClock(NOW);
  const record = async (repositories: readonly Observation[]) => {
    const catalog = new Catalog(database, clock);
    await catalog.record(repositories);
    await new Rankings(database, clock, createLog("silent")).update({ all: true });
    await new Search(database, catalog, clock).update();
  };

  /** All pages of a list, each by the cursor of the one before. */
  async function pagesOf(lists: Lists, spec: ListSpec): Promise<ListRows[]> {
    const pages: ListRows[] = [];
    for (let page = spec.page; ; ) {
      const found = await lists.read({ ...spec, page });
      pages.push(found);
      if (found.nextCursor === null) return pages;
      page = { limit: page.limit, after: decodeCursor(listKey(spec), found.nextCursor) };
    }
  }

  test("gives the rows, totals and cursors that SQL gives, for any catalogue and list", async () => {
    await fc.assert(
      fc.asyncProperty(catalogue, fc.array(list, { minLength: 25, maxLength: 25 }), async (made, specs) => {
        database = await engine.open();
        await record(made.map(([given, moved], i) => observationOf(i, given, moved)));
        const index = await indexOf(database, clock);
        const withIndex = openLists(database, clock, index);
        const withSql = openLists(database, clock);
        for (const { limit, ...given } of specs) {
          const spec = listOf({ ...given, page: { limit, offset: 0 } });
          const what = JSON.stringify(spec);
          const [actual, expected] = [await pagesOf(withIndex, spec), await pagesOf(withSql, spec)];
          assert.ok(
            actual.every(({ plan }) => plan.plan === "index"),
            what,
          );
          const plain = ({ plan: _, ...page }: ListRows) => page;
          assert.deepEqual(actual.map(plain), expected.map(plain), what);
          const offset = limit * 2;
          const numbered = { ...spec, page: { limit, offset } };
          assert.deepEqual(plain(await withIndex.read(numbered)), plain(await withSql.read(numbered)), what);
        }
      }),
      { numRuns: examples(25) },
    );
  });

  /** Ninety repositories of one kind, but for what is given. */
  const plainCatalogue = (factsOf: (index: number) => Facts = () => ({}), at = NOW): Observation[] =>
    Array.from({ length: REPOSITORIES }, (_, i) => {
      const made = observationOf(i, { stars: i, forks: 1, topics: ["common"], language: "Rust" }, i % 3);
      return { ...made, at, facts: { ...made.facts, ...factsOf(i) } };
    });

  test("that is not current gives rows as they are now: none contradicts the filters, and they are in order", async () => {
    database = await engine.open();
    await record(plainCatalogue());
    const index = await indexOf(database, clock);
    const lists = openLists(database, clock, index);
    const filters: Filters = { languages: ["rust"], archived: false, minStars: 10 };
    const spec = listOf({ filters, page: { limit: 7, offset: 0 } });
    const before = await pagesOf(lists, spec);
    assert.equal(before.flatMap(({ rows }) => rows).length, REPOSITORIES - 10);
    const later = plainCatalogue(
      (i) => ({
        stars: i % 5 === 0 ? 0 : 100 + i,
        archived: i % 7 === 0,
        availability: i % 11 === 0 ? "GONE" : "AVAILABLE",
        language: i % 13 === 0 ? "Zig" : "RUST",
      }),
      NOW + 1,
    );
    await record(later.filter((_, i) => i % 2 === 0));
    const pages = await pagesOf(lists, spec);
    assert.ok(pages.every(({ plan }) => plan.plan === "index"));
    const rows = pages.flatMap((page) => page.rows.map(({ repository }) => repository));
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length, "no row twice");
    for (const { stars, archived, availability, language } of rows) {
      assert.ok((stars ?? 0) >= 10 && archived !== true && availability === "AVAILABLE");
      assert.equal(language?.toLowerCase(), "rust");
    }
    for (const page of pages) {
      const stars = page.rows.map(({ repository }) => repository.stars ?? 0);
      assert.deepEqual(
        stars,
        stars.toSorted((a, b) => b - a),
      );
    }
    const unchanged = Array.from({ length: REPOSITORIES }, (_, i) => `name-${i}`).filter(
      (_, i) => i % 2 === 1 && i >= 10,
    );
    const names = new Set(rows.map(({ name }) => name));
    assert.deepEqual(
      unchanged.filter((name) => !names.has(name)),
      [],
      "no row that did not change is missing",
    );

    await indexOf(database, clock, index);
    const [fresh, sql] = [await pagesOf(lists, spec), await pagesOf(openLists(database, clock), spec)];
    const shown = (all: ListRows[]) =>
      all.flatMap((page) => page.rows.map(({ repository }) => repository.id));
    assert.deepEqual(shown(fresh), shown(sql));
  });

  test("serves lists that are not current for ten minutes only, and those that SQL reads quickly not at all", async () => {
    database = await engine.open();
    await record(plainCatalogue());
    const index = await indexOf(database, clock);
    const lists = openLists(database, clock, index);
    const planOf = async (filters: Filters) => (await lists.read(listOf({ filters }))).plan.plan;
    assert.equal(await planOf({}), "index");
    await record(plainCatalogue(() => ({ stars: 5 }), NOW + 1));
    assert.notEqual(await planOf({ archived: false }), "index");
    assert.equal(await planOf({ languages: ["rust"] }), "index");
    const { version } = index;
    clock.advance(10 * 60_000 + 1);
    assert.notEqual(await planOf({ languages: ["rust"] }), "index");
    await indexOf(database, clock, index);
    assert.equal(await planOf({}), "index");
    assert.notEqual(index.version, version, "cached responses of the old index are not kept");
    const { version: next } = index;
    await indexOf(database, clock, index);
    assert.equal(index.version, next, "nothing was read from an index that was not current");
  });

  test("stays within its memory, and leaves to SQL what does not fit", async () => {
    database = await engine.open();
    await record(plainCatalogue());
    const sizeOf = async (maxBytes: number) => {
      const index = new ListIndex(clock);
      const send = (message: IndexMessage) => index.accept(message);
      return { index, ...(await buildIndex({ source: database, maxBytes, clock, send })) };
    };
    const whole = await sizeOf(1e9);
    assert.deepEqual(whole.left, []);
    const some = await sizeOf(whole.bytes - 1);
    assert.ok(some.bytes < whole.bytes && some.left.length > 0);
    const [sort, window] = some.left[0]?.split(" ") ?? [];
    const left = INDEXED_ORDERS.find((order) => order.sort === sort && order.window === window);
    assert.ok(left !== undefined);
    const plans = await Promise.all(
      [{ sort: "stars", window: "7d" } as const, left].map(
        async (order) => (await openLists(database, clock, some.index).read(listOf(order))).plan.plan,
      ),
    );
    assert.deepEqual(plans, ["index", "gather"]);
    const none = await sizeOf(1_000);
    assert.match(none.problem ?? "", /memory/);
    assert.equal((await openLists(database, clock, none.index).read(listOf())).plan.plan, "gather");
  });

  test("is not built where ids are far above the number of repositories", async () => {
    database = await engine.open();
    const [first, ...others] = plainCatalogue();
    assert.ok(first !== undefined);
    await record([{ ...first, preferredId: 1_000_000 }, ...others]);
    const { problem } = await buildIndex({ source: database, maxBytes: 1e9, clock, send: () => {} });
    assert.match(problem ?? "", /1000089/);
  });

  test("is built by a thread, which sends it to all that follow it, also later", async () => {
    database = await engine.open();
    await record(plainCatalogue());
    const location = engine.location();
    const revision = await new Catalog(database, clock).revision();
    const follow = async () => {
      const index = new ListIndex(clock);
      const { promise, resolve } = Promise.withResolvers<void>();
      const accept = index.accept.bind(index);
      index.accept = (message) => {
        accept(message);
        if (message.kind === "built") resolve();
      };
      const leave = followIndex(index, location);
      return { index, built: promise, leave };
    };
    const first = await follow();
    const stop = startIndexBuilder({
      location,
      maxBytes: 1e9,
      logLevel: "silent",
      clock: systemClock,
      log: createLog("silent"),
      readRevision: async () => revision,
    });
    try {
      await first.built;
      assert.equal(first.index.freshness(revision), "current");
      const second = await follow();
      await second.built;
      assert.equal(second.index.freshness(revision), "current");
      const spec = listOf({ sort: "stars-gained", window: "7d" });
      const found = await openLists(database, clock, second.index).read(spec);
      assert.equal(found.plan.plan, "index");
      assert.deepEqual(found.rows, (await openLists(database, clock).read(spec)).rows);
      second.leave();
    } finally {
      first.leave();
      await stop();
    }
  });
});
