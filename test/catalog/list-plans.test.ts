import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import {
  Catalog,
  EXACT_TOTAL,
  type Filters,
  type ListRequest,
  type Order,
  plainOrder,
  type Repository,
  type RepositoryPage,
} from "../../src/catalog/catalog.js";
import { DAY_MS, ManualClock } from "../../src/clock.js";
import type { Database } from "../../src/database/database.js";
import { syntheticRepository } from "../../src/demo/demo.js";
import { LANGUAGES, TOPICS } from "../../src/demo/vocabulary.js";
import { Rankings } from "../../src/rankings/rankings.js";
import { onBothEngines } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { NOW } from "../support/world.js";

const REPOSITORIES = 12_500;
const BATCH = 2_500;

/** The value a list is sorted by; null where it is not known. */
type KeyOf = (repository: Repository) => number | null;
interface Sorting {
  name: string;
  order: Order;
  key: KeyOf;
  /** Whether repositories without the value are in the list, at its end. */
  keepsUnknown: boolean;
}

/** Filters that most repositories pass, and filters that few pass. */
const WIDE: Partial<Filters>[] = [
  { provider: "GITHUB" },
  { languages: LANGUAGES.map(([name]) => name) },
  { topics: TOPICS },
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
  { languages: ["Go", "Rust"] },
  { topics: ["cli", "api", "no-such-topic"] },
  { license: "MIT" },
  { minStars: 500 },
  { minStars: 20, maxStars: 400 },
  { maxStars: 150 },
  { createdAfter: NOW - 900 * DAY_MS, createdBefore: NOW - 500 * DAY_MS },
  { pushedAfter: NOW - 2 * DAY_MS },
  { archived: true },
  { fork: true },
];

/** Whether a repository passes, by the words of the contract and not by SQL. */
function passes(repository: Repository, filters: Filters): boolean {
  const { provider, languages, topics, license, minStars, maxStars } = filters;
  const { createdAfter, createdBefore, pushedAfter, archived, fork } = filters;
  const between = (value: number | null, from = 0, to = Number.POSITIVE_INFINITY) =>
    value !== null && value >= from && value <= to;
  return (
    repository.availability === "AVAILABLE" &&
    (provider === undefined || repository.provider === provider) &&
    (languages === undefined || languages.includes(repository.language ?? "")) &&
    (topics === undefined || repository.topics.some((topic) => topics.includes(topic))) &&
    (license === undefined || repository.license === license) &&
    ((minStars === undefined && maxStars === undefined) || between(repository.stars, minStars, maxStars)) &&
    (createdAfter === undefined || between(repository.createdAt, createdAfter)) &&
    (createdBefore === undefined || between(repository.createdAt, 0, createdBefore - 1)) &&
    (pushedAfter === undefined || between(repository.pushedAt, pushedAfter)) &&
    (archived === undefined || (repository.archived ?? false) === archived) &&
    (fork === undefined || (repository.fork ?? false) === fork)
  );
}

onBothEngines("Lists of more than 10,000", (engine) => {
  let database: Database;
  let catalog: Catalog;
  let all: Repository[] = [];
  let sortings: Sorting[] = [];

  before(async () => {
    database = await engine.open();
    const clock = new ManualClock(NOW);
    catalog = new Catalog(database, clock);
    const options = { repositories: REPOSITORIES, days: 3, seed: 5, end: NOW };
    for (let from = 0; from < REPOSITORIES; from += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, i) => {
        const made = syntheticRepository(from + i, options);
        const isUnknown = (each: number) => (from + i) % each === 0;
        const facts = {
          ...made.facts,
          ...(isUnknown(31) ? { stars: null } : {}),
          ...(isUnknown(37) ? { forks: null, createdAt: null } : {}),
          ...(isUnknown(41) ? { pushedAt: null, archived: null } : {}),
        };
        return { ...made, facts };
      });
      await catalog.record(batch);
    }
    const rankings = new Rankings(database, clock);
    await rankings.update();
    await database.dialect.analyze(database.write);
    all = [];
    for (let page = await catalog.dump(0, 1_000); page.length > 0; ) {
      all.push(...page.map(({ repository }) => repository));
      page = await catalog.dump(all.at(-1)?.id ?? 0, 1_000);
    }
    const trends = await rankings.trends(
      all.map(({ id }) => id),
      "24h",
    );
    const columns = { stars: "stars", forks: "forks", pushed: "pushedAt", created: "createdAt" } as const;
    sortings = (["desc", "asc"] as const).flatMap((direction): Sorting[] => [
      ...(["stars", "forks", "pushed", "created"] as const).map((name) => ({
        name: `${name} ${direction}`,
        order: plainOrder(name, direction),
        key: (repository: Repository) => repository[columns[name]],
        keepsUnknown: true,
      })),
      ...(["stars_gained", "forks_gained"] as const).map((name) => ({
        name: `${name} ${direction}`,
        order: rankings.growthOrder(name, "24h", direction),
        key: ({ id }: Repository) =>
          trends.get(id)?.[name === "stars_gained" ? "starsDelta" : "forksDelta"] ?? null,
        keepsUnknown: false,
      })),
    ]);
  });

  /** The whole list as a plain filter and sort gives it. */
  const modelOf = (
    filters: Filters,
    { order, key, keepsUnknown }: Sorting,
    isWithin = false,
  ): Repository[] => {
    const passing = all.filter((each) => passes(each, filters) && (!isWithin || each.id % 3 === 0));
    const sign = order.direction === "desc" ? -1 : 1;
    const sorted = (list: Repository[]) =>
      list.sort((a, b) => sign * ((key(a) ?? 0) - (key(b) ?? 0) || a.id - b.id));
    const known = sorted(passing.filter((each) => key(each) !== null));
    const unknown = keepsUnknown ? sorted(passing.filter((each) => key(each) === null)) : [];
    return [...known, ...unknown];
  };

  const nameOf = (filters: Filters, { name }: Sorting) => `${name} ${JSON.stringify(filters)}`;

  /** Lists, and holds the answer against the model. */
  const check = async (
    request: Omit<ListRequest, "order">,
    sorting: Sorting,
    model: Repository[],
    from: number,
  ): Promise<RepositoryPage> => {
    const what = `${sorting.name} from ${from} ${JSON.stringify(request.filters)}`;
    const page = await catalog.list({ ...request, order: sorting.order });
    const expected = model.slice(from, from + request.limit);
    assert.deepEqual(
      page.repositories.map(({ id }) => id),
      expected.map(({ id }) => id),
      what,
    );
    assert.deepEqual(page.repositories, expected, what);
    assert.deepEqual(
      page.keys,
      expected.map((each) => sorting.key(each) ?? -1),
      what,
    );
    assert.equal(page.total, Math.min(model.length, EXACT_TOTAL), what);
    assert.equal(page.totalIsExact, model.length <= EXACT_TOTAL, what);
    assert.equal(page.hasMore, model.length > from + request.limit, what);
    // The same of a list whose total has been counted before, whatever plan that leads to.
    if (request.within === undefined) {
      const named = { ...request, order: sorting.order, name: nameOf(request.filters, sorting) };
      assert.deepEqual(await catalog.list(named), page, what);
      assert.deepEqual(await catalog.list(named), page, what);
    }
    return page;
  };

  test("both plans give what a plain filter and sort gives, for any filters, order and place", async () => {
    const plans = { gathered: 0, walked: 0 };
    const filtersOf = fc
      .tuple(
        fc.subarray(WIDE, { maxLength: 3 }),
        fc.subarray(NARROW, { maxLength: 2 }),
        fc.integer({ min: 0, max: 2 }),
      )
      .map(([wide, narrow, isWide]): Filters => Object.assign({}, ...wide, ...(isWide > 0 ? [] : narrow)));
    const cases = fc.record({
      filters: filtersOf,
      isWithin: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
      place: fc.nat(),
      limit: fc.integer({ min: 1, max: 100 }),
      sorting: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ filters, isWithin, place, limit, sorting: number }) => {
        const sorting = sortings[number % sortings.length];
        assert.ok(sorting !== undefined);
        const model = modelOf(filters, sorting, isWithin);
        const within = isWithin
          ? { within: sql`select id, id as position from repositories where id % 3 = 0` }
          : {};
        if (model.length > EXACT_TOTAL) plans.walked++;
        else plans.gathered++;
        await check({ filters, limit, offset: 0, ...within }, sorting, model, 0);
        const offset = place % Math.min(EXACT_TOTAL, model.length + 1);
        await check({ filters, limit, offset, ...within }, sorting, model, offset);
        const from = place % (model.length + 1);
        const last = model[from - 1];
        if (last === undefined) return;
        const after = { key: sorting.key(last) ?? -1, id: last.id };
        await check({ filters, limit, offset: 0, after, ...within }, sorting, model, from);
      }),
      { numRuns: 60 },
    );
    assert.ok(plans.gathered >= 15 && plans.walked >= 15, `both plans are tried: ${JSON.stringify(plans)}`);
  });

  test("a list that was counted is read from the head of its order, as far as that fills its pages", async () => {
    const sorting = sortings.find(({ name }) => name === "stars desc");
    assert.ok(sorting !== undefined);
    const filters: Filters = { fork: false, languages: ["Rust"] };
    const model = modelOf(filters, sorting);
    assert.ok(model.length > 200 && model.length < EXACT_TOTAL, String(model.length));
    const gathers: boolean[] = [];
    const { read } = database;
    const counting: Database = {
      ...database,
      read: read.withPlugin({
        transformQuery: ({ node }) => {
          gathers.push(JSON.stringify(node).includes("with m as materialized"));
          return node;
        },
        transformResult: async ({ result }) => result,
      }),
    };
    const watched = new Catalog(counting, new ManualClock(NOW));
    const ask = async (offset: number, limit = 25) => {
      gathers.length = 0;
      const page = await watched.list({
        filters,
        order: sorting.order,
        limit,
        offset,
        name: nameOf(filters, sorting),
      });
      assert.deepEqual(
        page.repositories.map(({ id }) => id),
        model.slice(offset, offset + limit).map(({ id }) => id),
      );
      assert.equal(page.total, model.length);
      return gathers.filter(Boolean).length;
    };
    assert.equal(await ask(0), 1, "the first one counts");
    assert.equal(await ask(0), 0);
    assert.equal(await ask(25), 0);
    assert.equal(await ask(model.length - 10), 1, "the last page is not full");
  });

  test("a cursor walks the whole list, beyond 10,000, without a repeat or a gap", async () => {
    for (const [i, sorting] of sortings.entries()) {
      const filters: Filters = i % 2 === 0 ? {} : { archived: false, minStars: 0 };
      const model = modelOf(filters, sorting);
      assert.ok(model.length > EXACT_TOTAL, sorting.name);
      const limit = 997;
      let after: ListRequest["after"];
      for (let from = 0; ; from += limit) {
        const page = await check(
          { filters, limit, offset: 0, ...(after === undefined ? {} : { after }) },
          sorting,
          model,
          from,
        );
        if (!page.hasMore) break;
        after = { key: page.keys.at(-1) ?? 0, id: page.repositories.at(-1)?.id ?? 0 };
      }
    }
  });
});
