import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/database/database.js";
import { buildIndex } from "../../../src/discovery/lists/index/build.js";
import type { CountRequest, FacetCounts, ValueCounts } from "../../../src/discovery/lists/index/counters.js";
import { ListIndex } from "../../../src/discovery/lists/index/list-index.js";
import type { Lists } from "../../../src/discovery/lists/lists.js";
import type { ListRow } from "../../../src/discovery/lists/rows.js";
import type { Filters, ListSpec } from "../../../src/discovery/lists/spec.js";
import { Rankings } from "../../../src/discovery/rankings.js";
import { Search } from "../../../src/discovery/search/search.js";
import { DAY_MS } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import type { Observation } from "../../../src/repositories/observation.js";
import { Catalog } from "../../../src/repositories/repositories.js";
import { onBothEngines } from "../../support/engines.js";
import { indexOf, listOf, openLists } from "../../support/lists.js";
import { ManualClock } from "../../support/manual-clock.js";
import { examples, fc } from "../../support/properties.js";
import { catalogues, listsOf, observationOf, REPOSITORIES } from "../../support/random-lists.js";
import { countStatements } from "../../support/statements.js";
import { NOW } from "../../support/world.js";

const REQUEST: CountRequest = {
  minStars: [1, 7, 1_000],
  createdAfter: [NOW - 400 * DAY_MS + 1, NOW - 3 * DAY_MS, NOW],
  pushedAfter: [0, NOW - 2 * DAY_MS],
  values: 40,
};

onBothEngines("The counts of a list", (engine) => {
  let database: Database;
  const clock = new ManualClock(NOW);
  const record = async (repositories: readonly Observation[]) => {
    const catalog = new Catalog(database, clock);
    await catalog.record(repositories);
    await new Rankings(database, clock, createLog("silent")).update({ all: true });
    await new Search(database, catalog, clock).update();
  };

  /** All rows of a list without some of its filters, found with SQL. */
  async function rowsWithout(
    lists: Lists,
    spec: ListSpec,
    own: readonly (keyof Filters)[],
  ): Promise<ListRow[]> {
    const others = Object.entries(spec.filters).filter(([name]) => !own.some((one) => one === name));
    const { rows, hasMore } = await lists.read({
      ...spec,
      filters: Object.fromEntries(others),
      page: { limit: REPOSITORIES + 1, offset: 0 },
    });
    assert.equal(hasMore, false);
    return rows;
  }

  test("are those of a naive count of the rows that SQL finds, for any catalogue and list", async () => {
    await fc.assert(
      fc.asyncProperty(
        catalogues,
        fc.array(listsOf, { minLength: 15, maxLength: 15 }),
        async (made, specs) => {
          database = await engine.open();
          await record(made.map(([given, moved], i) => observationOf(i, given, moved)));
          const index = await indexOf(database, clock);
          const withIndex = openLists(database, clock, index);
          const withSql = openLists(database, clock);
          for (const { limit, ...given } of specs) {
            const spec = listOf({ ...given, page: { limit, offset: 0 } });
            const { counts, rows } = await withIndex.read(spec, { counted: REQUEST });
            const what = JSON.stringify(spec);
            if (counts === undefined) {
              assert.deepEqual([spec.scope.kind, rows], ["search", []], what);
              continue;
            }
            await check(counts, (own) => rowsWithout(withSql, spec, own), { spec, what });
            assert.deepEqual(
              (await withIndex.read(spec, { counted: REQUEST })).counts,
              counts,
              "also when remembered",
            );
          }
        },
      ),
      { numRuns: examples(20) },
    );
  });

  async function check(
    counts: FacetCounts,
    rowsOf: (own: readonly (keyof Filters)[]) => Promise<ListRow[]>,
    { spec: { filters }, what }: { spec: ListSpec; what: string },
  ) {
    const named = async (
      counted: ValueCounts,
      own: keyof Filters,
      namesOf: (row: ListRow) => readonly (string | null)[],
    ) => {
      const expected = new Map<string, number>();
      for (const row of await rowsOf([own]))
        for (const name of namesOf(row))
          if (name !== null) expected.set(name.toLowerCase(), 1 + (expected.get(name.toLowerCase()) ?? 0));
      const chosen = [filters[own] ?? []].flat().map((value) => String(value).toLowerCase());
      const actual = new Map(counted.values.map(({ name, count }) => [name.toLowerCase(), count]));
      assert.equal(actual.size, counted.values.length, `each value once: ${what}`);
      for (const value of chosen) assert.ok(actual.has(value), `${value} is chosen: ${what}`);
      for (const [name, count] of expected) {
        // Rare topics are not counted.
        if (own === "topics" && (actual.get(name) ?? null) === null) continue;
        assert.equal(actual.get(name), count, `${own} ${name}: ${what}`);
      }
      for (const [name, count] of actual)
        if (count !== null) assert.equal(count, expected.get(name) ?? 0, `${own} ${name}: ${what}`);
      assert.equal(counted.precision, "exact");
      const sizes = counted.values.map(({ count }) => count ?? 0);
      assert.deepEqual(
        sizes,
        sizes.toSorted((a, b) => b - a),
        `the highest first: ${what}`,
      );
    };
    await named(counts.languages, "languages", ({ repository }) => [repository.language]);
    await named(counts.topics, "topics", ({ repository }) => repository.topics);
    await named(counts.providers, "provider", ({ repository }) => [repository.provider]);
    await named(counts.licenses, "license", ({ repository }) => [repository.license]);
    const bounds = async (
      actual: FacetCounts["minStars"],
      own: readonly (keyof Filters)[],
      { from, valueIn }: { from: readonly number[]; valueIn: (row: ListRow) => number | null },
    ) => {
      const rows = await rowsOf(own);
      const expected = from.map((bound) => rows.filter((row) => (valueIn(row) ?? -1) >= bound).length);
      assert.deepEqual(actual, { precision: "exact", counts: expected }, `${own}: ${what}`);
    };
    await bounds(counts.minStars, ["minStars", "maxStars"], {
      from: REQUEST.minStars,
      valueIn: ({ repository }) => repository.stars,
    });
    await bounds(counts.createdAfter, ["createdAfter", "createdBefore"], {
      from: REQUEST.createdAfter,
      valueIn: ({ repository }) => repository.createdAt,
    });
    await bounds(counts.pushedAfter, ["pushedAfter"], {
      from: REQUEST.pushedAfter,
      valueIn: ({ repository }) => repository.pushedAt,
    });
  }

  const plain = (count: number, factsOf: (index: number) => object = () => ({})): Observation[] =>
    Array.from({ length: count }, (_, i) => {
      const made = observationOf(i, { stars: i, forks: 1, topics: ["common"], language: "Rust" }, i % 3);
      return { ...made, facts: { ...made.facts, ...factsOf(i) } };
    });

  test("take no statement besides those of the list", async () => {
    database = await engine.open();
    await record(plain(70));
    const index = await indexOf(database, clock);
    const spec = listOf({ filters: { languages: ["rust"], topics: ["common"], minStars: 3 } });
    const ran = async (request?: CountRequest) => {
      const counted = countStatements(database);
      await openLists(counted.database, clock, index).read(spec, { counted: request });
      return counted.statements();
    };
    assert.equal(await ran(REQUEST), await ran());
  });

  test("say which facts no repository has", async () => {
    database = await engine.open();
    await record(plain(70, () => ({ license: null, createdAt: null, pushedAt: NOW })));
    const lists = openLists(database, clock, await indexOf(database, clock));
    const { counts } = await lists.read(listOf(), { counted: REQUEST });
    assert.deepEqual(counts?.known, { licenses: false, created: false, pushed: true });
  });

  test("are absent without a recent index, and the responses without them are not kept for the next one", async () => {
    database = await engine.open();
    await record(plain(70));
    assert.equal((await openLists(database, clock).read(listOf(), { counted: REQUEST })).counts, undefined);
    const index = new ListIndex(clock);
    const lists = openLists(database, clock, index);
    const { version } = index;
    assert.equal((await lists.read(listOf(), { counted: REQUEST })).counts, undefined);
    await indexOf(database, clock, index);
    assert.notEqual(index.version, version);
    assert.notEqual((await lists.read(listOf(), { counted: REQUEST })).counts, undefined);
  });

  test("follow the index when it is built again", async () => {
    database = await engine.open();
    await record(plain(70));
    const index = await indexOf(database, clock);
    const lists = openLists(database, clock, index);
    const languages = async () => (await lists.read(listOf(), { counted: REQUEST })).counts?.languages.values;
    assert.deepEqual(await languages(), [{ name: "Rust", count: 70 }]);
    const later = plain(70, (i) => ({ language: i < 30 ? "Zig" : "Rust" }));
    await record(later.map((one) => ({ ...one, at: NOW + 1 })));
    await indexOf(database, clock, index);
    assert.deepEqual(await languages(), [
      { name: "Rust", count: 40 },
      { name: "Zig", count: 30 },
    ]);
  });

  test("name a value by its most common spelling, and at most the values that were requested", async () => {
    database = await engine.open();
    const spelled = ["zig", "Zig", "Zig", "Ada", "C", "C"];
    await record(plain(70, (i) => ({ language: spelled[i] ?? "Rust" })));
    const lists = openLists(database, clock, await indexOf(database, clock));
    const read = async (filters: Filters, values: number) =>
      (await lists.read(listOf({ filters }), { counted: { ...REQUEST, values } })).counts?.languages.values;
    assert.deepEqual(await read({}, 2), [
      { name: "Rust", count: 64 },
      { name: "Zig", count: 3 },
    ]);
    assert.deepEqual(await read({ languages: ["ada", "no such language"] }, 1), [
      { name: "Rust", count: 64 },
      { name: "Ada", count: 1 },
      { name: "no such language", count: 0 },
    ]);
  });

  test("have topics of few repositories in a small catalogue", async () => {
    database = await engine.open();
    await record(plain(70, (i) => ({ topics: i < 2 ? ["few"] : ["common"] })));
    const index = new ListIndex(clock);
    await buildIndex({ source: database, maxBytes: 1e9, clock, send: (message) => index.accept(message) });
    const { counts } = await openLists(database, clock, index).read(listOf(), { counted: REQUEST });
    assert.deepEqual(counts?.topics.values, [
      { name: "common", count: 68 },
      { name: "few", count: 2 },
    ]);
  });
});
