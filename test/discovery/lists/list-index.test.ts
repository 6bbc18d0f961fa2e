import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/database/database.js";
import { buildIndex, INDEXED_ORDERS } from "../../../src/discovery/lists/index/build.js";
import { followIndex, startIndexBuilder } from "../../../src/discovery/lists/index/builder.js";
import type { IndexMessage } from "../../../src/discovery/lists/index/list-index.js";
import { ListIndex } from "../../../src/discovery/lists/index/list-index.js";
import type { ListRows, Lists } from "../../../src/discovery/lists/lists.js";
import { decodeCursor, type Filters, type ListSpec, listKey } from "../../../src/discovery/lists/spec.js";
import { Rankings } from "../../../src/discovery/rankings.js";
import { Search } from "../../../src/discovery/search/search.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import type { Observation } from "../../../src/repositories/observation.js";
import { Catalog } from "../../../src/repositories/repositories.js";
import type { Facts } from "../../../src/repositories/repository.js";
import { onBothEngines } from "../../support/engines.js";
import { indexOf, listOf, openLists } from "../../support/lists.js";
import { ManualClock } from "../../support/manual-clock.js";
import { examples, fc } from "../../support/properties.js";
import { catalogues, listsOf, observationOf, REPOSITORIES } from "../../support/random-lists.js";
import { NOW } from "../../support/world.js";

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
      fc.asyncProperty(
        catalogues,
        fc.array(listsOf, { minLength: 25, maxLength: 25 }),
        async (made, specs) => {
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
            assert.deepEqual(
              plain(await withIndex.read(numbered)),
              plain(await withSql.read(numbered)),
              what,
            );
          }
        },
      ),
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
