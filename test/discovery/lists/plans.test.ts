import assert from "node:assert/strict";
import { before, test } from "node:test";
import { syntheticRepository } from "../../../bench/synthetic/synthetic.js";
import { LANGUAGES, TOPICS } from "../../../bench/synthetic/vocabulary.js";
import type { Database } from "../../../src/database/database.js";
import { bound } from "../../../src/database/prepared.js";
import type { Plan } from "../../../src/discovery/lists/find-rows.js";
import type { ListIndex } from "../../../src/discovery/lists/index/list-index.js";
import { type ListRows, Lists } from "../../../src/discovery/lists/lists.js";
import {
  EXACT_TOTAL,
  type Filters,
  isGrowthSort,
  type ListSpec,
  relevanceAt,
  type Sort,
} from "../../../src/discovery/lists/spec.js";
import { GROWTH_ORDER_COLUMNS } from "../../../src/growth/definitions.js";
import type { Trend } from "../../../src/growth/trend.js";
import { DAY_MS } from "../../../src/lib/clock.js";
import type { Repository } from "../../../src/repositories/repository.js";
import { onBothEngines } from "../../support/engines.js";
import { indexOf, listOf, partsOfLists } from "../../support/lists.js";
import { ManualClock } from "../../support/manual-clock.js";
import { examples, fc, IS_LONG } from "../../support/properties.js";
import { NOW } from "../../support/world.js";

const REPOSITORIES = 12_000;
const BATCH = 3_000;

/** The value that a list is sorted by; null if unknown. */
type ValueOf = (repository: Repository) => number | null;
interface Sorting {
  sort: Sort;
  direction: "asc" | "desc";
  value: ValueOf;
  /** Whether repositories without the value are listed, at the end. */
  keepsUnknown: boolean;
}

/** Filters that most repositories pass, and filters that few pass. */
const WIDE: Partial<Filters>[] = [
  { provider: "GITHUB" },
  { languages: LANGUAGES.slice(0, 16).map(([name]) => name.toLowerCase()) },
  { topics: TOPICS.slice(0, 40) },
  { minStars: 0 },
  { maxStars: 1_000_000 },
  { createdAfter: NOW - 5_001 * DAY_MS },
  { createdBefore: NOW },
  { pushedAfter: NOW - 800 * DAY_MS },
  { archived: false },
  { fork: false },
];
const NARROW: Partial<Filters>[] = [
  { provider: "CODEBERG" },
  { languages: ["go", "rust"] },
  { topics: ["cli", "api", "no-such-topic"] },
  { license: "MIT" },
  { license: "mit" },
  { minStars: 500 },
  { minStars: 20, maxStars: 400 },
  { maxStars: 150 },
  { createdAfter: NOW - 900 * DAY_MS, createdBefore: NOW - 500 * DAY_MS },
  { pushedAfter: NOW - 2 * DAY_MS },
  { archived: true },
  { fork: true },
];

/** Whether a repository passes, as the contract defines it and without SQL. */
function passes(repository: Repository, filters: Filters): boolean {
  const { provider, languages, topics, license, minStars, maxStars } = filters;
  const { createdAfter, createdBefore, pushedAfter, archived, fork } = filters;
  const between = (value: number | null, from = 0, to = Number.POSITIVE_INFINITY) =>
    value !== null && value >= from && value <= to;
  return (
    repository.availability === "AVAILABLE" &&
    (provider === undefined || repository.provider === provider) &&
    (languages === undefined || languages.includes(repository.language?.toLowerCase() ?? "")) &&
    (topics === undefined || repository.topics.some((topic) => topics.includes(topic))) &&
    (license === undefined || repository.license?.toLowerCase() === license.toLowerCase()) &&
    ((minStars === undefined && maxStars === undefined) || between(repository.stars, minStars, maxStars)) &&
    (createdAfter === undefined || between(repository.createdAt, createdAfter)) &&
    (createdBefore === undefined || between(repository.createdAt, 0, createdBefore - 1)) &&
    (pushedAfter === undefined || between(repository.pushedAt, pushedAfter)) &&
    (archived === undefined || (repository.archived ?? false) === archived) &&
    (fork === undefined || (repository.fork ?? false) === fork)
  );
}

const EVERY_THIRD = "zebra";
const ALL = "common";

onBothEngines("Lists of more than 10,000", (engine) => {
  let database: Database;
  let all: Repository[] = [];
  let trends = new Map<number, Trend>();
  let sortings: Sorting[] = [];
  const clock = new ManualClock(NOW);
  let index: ListIndex;
  /** Lists that remember nothing yet. */
  const openLists = (watched = database, more: { index?: ListIndex } = {}): Lists =>
    new Lists({ ...partsOfLists(watched, clock), ...more });

  before(async () => {
    database = await engine.open();
    const { catalog, rankings, search } = partsOfLists(database, clock);
    const options = { repositories: REPOSITORIES, days: 3, seed: 5, end: NOW };
    for (let from = 0; from < REPOSITORIES; from += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, i) => {
        const made = syntheticRepository(from + i, options);
        const isEvery = (each: number) => (from + i) % each === 0;
        const facts = {
          ...made.facts,
          description: `${ALL} ${isEvery(3) ? EVERY_THIRD : ""}`,
          ...(isEvery(31) ? { stars: null } : {}),
          ...(isEvery(37) ? { forks: null, createdAt: null } : {}),
          ...(isEvery(41) ? { pushedAt: null, archived: null } : {}),
        };
        return { ...made, facts };
      });
      await catalog.record(batch);
    }
    await rankings.update();
    await search.update();
    await database.dialect.analyze(database.write);
    index = await indexOf(database, clock);
    all = [];
    for (let page = await catalog.dump(0, 1_000); page.length > 0; ) {
      all.push(...page.map(({ repository }) => repository));
      page = await catalog.dump(all.at(-1)?.id ?? 0, 1_000);
    }
    trends = await rankings.trends(
      all.map(({ id }) => id),
      "24h",
    );
    const facts = { stars: "stars", forks: "forks", pushed: "pushedAt", created: "createdAt" } as const;
    const growth = { "stars-gained": "starsCounted", "forks-gained": "forksCounted" } as const;
    const raw = { "stars-delta": "starsDelta", "forks-delta": "forksDelta" } as const;
    const positive = (value: number | null | undefined) => (value && value > 0 ? value : null);
    sortings = (["desc", "asc"] as const).flatMap((direction): Sorting[] => [
      ...(["stars", "forks", "pushed", "created"] as const).map((sort) => ({
        sort,
        direction,
        value: (repository: Repository) => repository[facts[sort]],
        keepsUnknown: true,
      })),
      ...(["stars-gained", "forks-gained"] as const).map((sort) => ({
        sort,
        direction,
        value: ({ id }: Repository) => trends.get(id)?.[growth[sort]] ?? null,
        keepsUnknown: false,
      })),
      ...(["stars-delta", "forks-delta"] as const).map((sort) => ({
        sort,
        direction,
        value: ({ id }: Repository) => positive(trends.get(id)?.[raw[sort]]),
        keepsUnknown: false,
      })),
      {
        sort: "fork-growth",
        direction,
        // Sort keys are whole numbers: scores are stored in hundredths.
        value: ({ id }: Repository) => positive(Math.round(100 * (trends.get(id)?.scores.forkMomentum ?? 0))),
        keepsUnknown: false,
      },
    ]);
  });

  /** All repositories of a list without filters, by plain sorting; kept, as many lists have the same order. */
  const orders = new Map<Sorting, Repository[]>();
  const orderOf = (sorting: Sorting): Repository[] => {
    const kept = orders.get(sorting);
    if (kept !== undefined) return kept;
    const { direction, value, keepsUnknown } = sorting;
    const sign = direction === "desc" ? -1 : 1;
    const sorted = (list: Repository[]) =>
      list.sort((a, b) => sign * ((value(a) ?? 0) - (value(b) ?? 0) || a.id - b.id));
    const known = sorted(all.filter((each) => value(each) !== null));
    const unknown = keepsUnknown ? sorted(all.filter((each) => value(each) === null)) : [];
    const order = [...known, ...unknown];
    orders.set(sorting, order);
    return order;
  };

  /** The whole list, by plain filtering and sorting. */
  const modelOf = (
    filters: Filters,
    sorting: Sorting,
    scope: ListSpec["scope"] = { kind: "all" },
  ): Repository[] => {
    const text = scope.kind === "search" ? scope.text : "";
    return orderOf(sorting).filter(
      (each) => passes(each, filters) && (each.description ?? "").includes(text),
    );
  };

  const rowKeyOf = (repository: Repository, { value }: Sorting) => ({
    sortKey: value(repository) ?? -1,
    id: repository.id,
  });

  /**
   * Reads a page by the plans that it allows: with the index, and without it before and after its total is known. Compares
   * all with the model.
   */
  const check = async (
    { sort, direction }: Sorting,
    more: Partial<ListSpec>,
    model: Repository[],
    from: number,
  ): Promise<{ found: ListRows; plans: Plan["plan"][] }> => {
    const spec = listOf({ sort, direction, ...more });
    const what = JSON.stringify(spec);
    const plans: Plan["plan"][] = [];
    const expected = model.slice(from, from + spec.page.limit);
    const fresh = openLists();
    const indexed = openLists(database, { index });
    const reads = [await fresh.read(spec), await fresh.read(spec), await indexed.read(spec)];
    for (const found of reads) {
      plans.push(found.plan.plan);
      assert.deepEqual(
        found.rows.map(({ repository }) => repository.id),
        expected.map(({ id }) => id),
        what,
      );
      const row = { isStale: false, movedTo: undefined };
      assert.deepEqual(
        found.rows,
        expected.map((repository) => ({ ...row, repository, trend: trends.get(repository.id) })),
        what,
      );
      assert.equal(found.total, Math.min(model.length, EXACT_TOTAL), what);
      assert.equal(found.totalIsExact, model.length <= EXACT_TOTAL, what);
      assert.equal(found.hasMore, model.length > from + spec.page.limit, what);
      assert.equal(found.nextCursor !== null, found.hasMore, what);
    }
    return { found: reads[0] ?? assert.fail(), plans };
  };

  test("every plan gives what plain filtering and sorting gives, for any filters, order and page", async () => {
    const taken = { index: 0, gather: 0, walk: 0 };
    const filtersOf = fc
      .tuple(
        fc.subarray(WIDE, { maxLength: 3 }),
        fc.subarray(NARROW, { maxLength: 2 }),
        fc.integer({ min: 0, max: 2 }),
      )
      .map(([wide, narrow, isWide]): Filters => Object.assign({}, ...wide, ...(isWide > 0 ? [] : narrow)));
    const cases = fc.record({
      filters: filtersOf,
      isSearch: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
      row: fc.nat(),
      limit: fc.integer({ min: 1, max: 100 }),
      sorting: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ filters, isSearch, row, limit, sorting: number }) => {
        const sorting = sortings[number % sortings.length];
        assert.ok(sorting !== undefined);
        const scope = isSearch
          ? ({ kind: "search", text: EVERY_THIRD } as const)
          : ({ kind: "all" } as const);
        const model = modelOf(filters, sorting, scope);
        const at = async (page: ListSpec["page"], from: number) => {
          const { plans } = await check(sorting, { scope, filters, page }, model, from);
          for (const plan of plans) taken[plan]++;
        };
        await at({ limit, offset: 0 }, 0);
        const offset = row % Math.min(EXACT_TOTAL, model.length + 1);
        await at({ limit, offset }, offset);
        const from = row % (model.length + 1);
        const last = model[from - 1];
        if (last !== undefined) await at({ limit, after: rowKeyOf(last, sorting) }, from);
      }),
      { numRuns: examples(60) },
    );
    assert.ok(
      Math.min(taken.gather, taken.walk, taken.index) >= 15,
      `all plans are tried: ${JSON.stringify(taken)}`,
    );
  });

  test("a cursor walks the whole list, beyond 10,000, without a repeat or a gap", async () => {
    const whole = sortings.filter(
      ({ sort }) => !isGrowthSort(sort) || !GROWTH_ORDER_COLUMNS[sort].positiveOnly,
    );
    for (const [i, sorting] of whole.entries()) {
      const filters: Filters = i % 2 === 0 ? {} : { archived: false, minStars: 0 };
      const model = modelOf(filters, sorting);
      assert.ok(model.length > EXACT_TOTAL, `${sorting.sort}: ${model.length}`);
      const lists = openLists(database, i % 2 === 0 ? { index } : {});
      const limit = 2_497;
      // The whole list in some orders, the end of it in the others.
      const begin = IS_LONG || i % 4 === 0 ? 0 : EXACT_TOTAL - 1_000;
      const previous = model[begin - 1];
      let page: ListSpec["page"] =
        previous === undefined ? { limit, offset: 0 } : { limit, after: rowKeyOf(previous, sorting) };
      for (let from = begin; ; from += limit) {
        const { sort, direction } = sorting;
        const found = await lists.read(listOf({ sort, direction, filters, page }));
        assert.deepEqual(
          found.rows.map(({ repository }) => repository.id),
          model.slice(from, from + limit).map(({ id }) => id),
        );
        const last = found.rows.at(-1);
        if (!found.hasMore || last === undefined) break;
        page = { limit, after: rowKeyOf(last.repository, sorting) };
      }
    }
  });

  test("filters choose from a search in its order, with the index and without", async () => {
    const { search } = partsOfLists(database, clock);
    const byId = new Map(all.map((repository) => [repository.id, repository]));
    const sorting: Sorting = { sort: "relevance", direction: "desc", value: () => null, keepsUnknown: true };
    for (const text of [ALL, EVERY_THIRD, `${ALL} a`]) {
      const { ids } = await search.find(text, { limit: EXACT_TOTAL + 1 });
      for (const filters of [...NARROW, { ...NARROW[1], archived: false }, { minStars: 0, fork: false }]) {
        const model = ids.flatMap((id) => {
          const repository = byId.get(id) ?? assert.fail();
          return passes(repository, filters) ? repository : [];
        });
        const scope = { kind: "search", text } as const;
        let page: ListSpec["page"] = { limit: 7, offset: 0 };
        for (let from = 0; from < 14; from += 7) {
          const spec = listOf({ ...sorting, scope, filters, page });
          const expected = model.slice(from, from + 7);
          const [bySql, byIndex] = [openLists(), openLists(database, { index })];
          const [plain, indexed] = [await bySql.read(spec), await byIndex.read(spec)];
          assert.deepEqual([plain.plan.plan, indexed.plan.plan], ["gather", "index"]);
          for (const found of [plain, indexed]) {
            const what = JSON.stringify(spec);
            assert.deepEqual(
              found.rows.map(({ repository }) => repository.id),
              expected.map(({ id }) => id),
              what,
            );
            assert.deepEqual(
              [found.total, found.totalIsExact, found.hasMore],
              [model.length, ids.length <= EXACT_TOTAL, model.length > from + 7],
              what,
            );
          }
          assert.equal(indexed.nextCursor, plain.nextCursor);
          const last = expected.at(-1);
          if (last === undefined) break;
          page = { limit: 7, after: { sortKey: relevanceAt(ids.indexOf(last.id)), id: last.id } };
        }
      }
    }
  });

  test("a page is found by one statement and read with its growth by another, and a search matches once", async () => {
    const statements: string[] = [];
    const read = database.read.withPlugin({
      transformQuery: ({ node }) => {
        statements.push(JSON.stringify(node));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const prepare: Database["prepare"] = (build) => {
      const run = database.prepare(build);
      return (values) => {
        statements.push(bound(database.read, build).text);
        return run(values);
      };
    };
    const fresh = openLists({ ...database, read, prepare });
    const list = listOf({
      scope: { kind: "search", text: ALL },
      sort: "stars-gained",
      filters: { archived: false, excludeAnomalous: true },
    });
    await fresh.read(list);
    statements.length = 0;
    const found = await fresh.read({ ...list, page: { limit: 25, offset: 25 } });
    const ofIndex = statements.filter((statement) => statement.includes("search_"));
    assert.equal(statements.length - ofIndex.length, 2, "one finds the page, one reads it");
    assert.equal(ofIndex.filter((statement) => statement.includes("search_state")).length, 1);
    assert.equal(found.rows.length, 25);
    assert.ok(found.rows.every(({ trend }) => trend !== undefined));
    assert.ok(found.total < EXACT_TOTAL);
    assert.equal(found.totalIsExact, false, "the search was cut off at its 10,000 best matches");
    await fresh.read(list);
    statements.length = 0;
    await fresh.read(list);
    const again = statements.filter((statement) => !statement.includes("search_"));
    assert.equal(again.length, 1, "rows are remembered from their second reading on");
    const exact = await fresh.read({ ...list, scope: { kind: "search", text: EVERY_THIRD } });
    assert.equal(exact.totalIsExact, true);
  });
});
