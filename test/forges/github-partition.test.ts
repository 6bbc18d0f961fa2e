import assert from "node:assert/strict";
import { test } from "node:test";
import {
  advance,
  FIRST_WALK,
  queryOf,
  rangeOf,
  type Walk,
  walkSchema,
} from "../../src/forges/github/discover.js";
import { NOW, type Searchable, search } from "../support/github.js";
import { fc } from "../support/properties.js";

const EARLIEST = Date.UTC(2007, 0, 1) / 1000;
const LATEST = NOW / 1000 + 86_400;

interface Change {
  /** Called before each request. */
  before?(): void;
  /** Whether the result of this request is incomplete. */
  isCutShort?(request: number): boolean;
  /** The stars a row shows, if different from those it was sorted by. */
  shown?(row: Searchable): number;
}

/** Walks to the end; returns the rows and the number of requests. */
function walkAll(repositories: Searchable[], minStars: number, change: Change = {}) {
  const seen = new Map<number, number>();
  let requests = 0;
  for (let walk: Walk | null = FIRST_WALK; walk !== null; ) {
    assert.deepEqual(walkSchema.parse(JSON.parse(JSON.stringify(walk))), walk);
    change.before?.();
    requests++;
    assert.ok(JSON.stringify(walk).length < 2000);
    assert.ok(requests < 20_000, `no end in sight: ${JSON.stringify(walk)}`);
    const range = rangeOf(walk, minStars);
    const found = search(repositories, queryOf(range), range.page);
    const isIncomplete = change.isCutShort?.(requests) ?? false;
    const rows = isIncomplete ? found.rows.slice(0, 3) : found.rows;
    for (const row of rows) if (!seen.has(row.id)) seen.set(row.id, requests);
    const stars = rows.map((row) => change.shown?.(row) ?? row.stars);
    walk = advance(
      walk,
      { total: isIncomplete ? 3 : found.total, isIncomplete, stars },
      { minStars, now: NOW },
    );
  }
  return { seen, requests };
}

const missing = (repositories: Searchable[], minStars: number, seen: Map<number, number>) =>
  repositories.filter(({ id, stars }) => stars >= minStars && !seen.has(id));

/** Clusters: many with the same count, many created at the same time. */
const repositories = fc
  .array(
    fc.record({
      stars: fc.oneof(fc.nat(20), fc.nat(2_000), fc.nat(500_000)),
      created: fc.integer({ min: EARLIEST, max: LATEST }),
      copies: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 400 })),
      secondsApart: fc.oneof(fc.constant(0), fc.nat(5), fc.nat(100_000)),
    }),
    { minLength: 0, maxLength: 60 },
  )
  .map((lumps) =>
    lumps
      .flatMap(({ stars, created, copies, secondsApart }) =>
        Array.from({ length: copies }, (_, i) => ({
          stars,
          created: Math.min(LATEST, created + i * secondsApart),
        })),
      )
      .map((one, id) => ({ id, ...one })),
  );

test("every repository with at least minStars stars is visited, for any distribution of stars and creation times", () => {
  fc.assert(
    fc.property(repositories, fc.constantFrom(0, 1, 10, 1000, 20_000), (all, minStars) => {
      const { seen } = walkAll(all, minStars);
      assert.deepEqual(missing(all, minStars, seen), []);
      assert.ok(all.every(({ id, stars }) => stars >= minStars || !seen.has(id)));
    }),
    { numRuns: 60 },
  );
});

test("5,000 repositories with the same number of stars are all visited, in few requests", () => {
  // Most of them recent, as on GitHub.
  const all = Array.from({ length: 5000 }, (_, id) => ({
    id,
    stars: 12,
    created: Math.floor(LATEST - ((5000 - id) / 5000) ** 3 * (LATEST - EARLIEST)),
  }));
  const { seen, requests } = walkAll(all, 10);
  assert.equal(seen.size, 5000);
  assert.ok(requests <= 120, `${requests} requests`);
});

test("1,000 repositories created in the same second with the same number of stars are all visited", () => {
  const all = Array.from({ length: 1000 }, (_, id) => ({ id, stars: 7, created: NOW / 1000 - 5_000_000 }));
  assert.equal(walkAll(all, 5).seen.size, 1000);
});

test("the most popular come first, and an empty forge takes few requests", () => {
  const all = Array.from({ length: 20_000 }, (_, id) => ({
    id,
    stars: Math.floor(400_000 / (id + 1)) + 10,
    created: EARLIEST + ((id * 104_729) % 6_000) * 100_000,
  }));
  const { seen, requests } = walkAll(all, 10);
  assert.equal(seen.size, 20_000);
  assert.ok(requests <= 400, `${requests} requests`);
  const firstOf = (from: number, to: number) =>
    Math.max(...all.slice(from, to).map(({ id }) => seen.get(id) ?? 0));
  assert.ok(firstOf(0, 90) <= 2);
  assert.ok(firstOf(0, 1000) <= 20);
  assert.ok(walkAll([], 10).requests <= 2);
});

test("a repository with constant stars is visited while all others change, appear and disappear", () => {
  fc.assert(
    fc.property(repositories, fc.nat(), (all, seed) => {
      let state = seed;
      const next = () => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return state >> 8;
      };
      const moving = all.map((one) => ({ ...one, isStill: one.id % 2 === 0 }));
      const movers = moving.filter(({ isStill }) => !isStill);
      const { seen } = walkAll(moving, 5, {
        before: () => {
          for (let i = 0; i < 20 && movers.length > 0; i++) {
            const mover = movers[next() % movers.length];
            if (mover !== undefined) mover.stars = Math.max(0, mover.stars + (next() % 41) - 20);
          }
        },
      });
      const still = moving.filter(({ isStill }) => isStill);
      // Paging is needed only for more than a page of one second; only there rows may be missed.
      const perSecond = new Map<string, number>();
      for (const { stars, created } of all) {
        const key = `${stars} ${created}`;
        perSecond.set(key, (perSecond.get(key) ?? 0) + 1);
      }
      const cuttable = still.filter(
        ({ stars, created }) => (perSecond.get(`${stars} ${created}`) ?? 0) <= 60,
      );
      assert.deepEqual(missing(cuttable, 5, seen), []);
    }),
    { numRuns: 60 },
  );
});

test("a search that sorts by older counts than it shows hides nothing", () => {
  fc.assert(
    fc.property(repositories, fc.integer({ min: -300, max: 300 }), (all, change) => {
      const shown = ({ id, stars }: Searchable) => (id % 7 === 0 ? Math.max(0, stars + change) : stars);
      assert.deepEqual(missing(all, 3, walkAll(all, 3, { shown }).seen), []);
    }),
    { numRuns: 60 },
  );
});

test("incomplete results are requested again", () => {
  fc.assert(
    fc.property(repositories, fc.array(fc.boolean(), { minLength: 1 }), (all, pattern) => {
      let inARow = 0;
      const { seen } = walkAll(all, 3, {
        isCutShort: (request) => {
          inARow = pattern[request % pattern.length] === true && inARow < 4 ? inARow + 1 : 0;
          return inARow > 0;
        },
      });
      assert.deepEqual(missing(all, 3, seen), []);
    }),
    { numRuns: 40 },
  );
});

test("a search that is always incomplete, or always announces more, does not stop the walk", () => {
  const all = Array.from({ length: 300 }, (_, id) => ({ id, stars: id, created: EARLIEST + id }));
  assert.ok(walkAll(all, 5, { isCutShort: () => true }).requests < 300);

  let walk: Walk | null = FIRST_WALK;
  for (let requests = 0; walk !== null; requests++) {
    assert.ok(requests < 2000);
    walk = advance(walk, { total: 5000, isIncomplete: false, stars: [] }, { minStars: 10, now: NOW });
  }
});
