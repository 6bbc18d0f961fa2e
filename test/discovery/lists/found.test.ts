import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/database/database.js";
import type { CountRequest, FacetCounts } from "../../../src/discovery/evaluate.js";
import type { Filters } from "../../../src/discovery/filters.js";
import type { ListRow } from "../../../src/discovery/lists.js";
import type { ListSpec } from "../../../src/discovery/query.js";
import {
  GROWTH_ORDER_COLUMNS,
  GROWTH_ORDERS,
  MEASURES,
  WINDOWS,
  type Window,
} from "../../../src/growth/definitions.js";
import type { Trend } from "../../../src/growth/trend.js";
import { DAY_MS } from "../../../src/lib/clock.js";
import { onBothEngines } from "../../support/engines.js";
import { discoveryOf, listOf } from "../../support/lists.js";
import { ManualClock } from "../../support/manual-clock.js";
import { examples, fc } from "../../support/properties.js";
import { catalogues, listsOf, observationOf } from "../../support/random-lists.js";
import { NOW } from "../../support/world.js";

const REQUEST: CountRequest = {
  minStars: [1, 7, 1_000],
  createdAfter: [NOW - 400 * DAY_MS + 1_000, NOW - 3 * DAY_MS, NOW],
  pushedAfter: [0, NOW - 2 * DAY_MS],
  values: 40,
};

/** A repository with its growth, as it is stored. */
type Plain = Pick<ListRow, "repository"> & { trends: Record<Window, Trend | undefined> };

async function plainRows({ catalog, rankings }: ReturnType<typeof discoveryOf>): Promise<Plain[]> {
  const repositories = (await catalog.dump(0, 1_000)).map(({ repository }) => repository);
  const ids = repositories.map(({ id }) => id);
  const [day, week, month] = await Promise.all(WINDOWS.map((window) => rankings.trends(ids, window)));
  return repositories.map((repository) => ({
    repository,
    trends: {
      "24h": day?.get(repository.id),
      "7d": week?.get(repository.id),
      "30d": month?.get(repository.id),
    },
  }));
}

/** Whether a repository passes, as the contract defines it. */
function passes({ repository, trends }: Plain, { filters, window, scope }: ListSpec): boolean {
  const { provider, language, topic, license, minStars, maxStars } = filters;
  const { createdAfter, createdBefore, pushedAfter, archived, fork, reliableOnly, excludeAnomalous } =
    filters;
  const between = (value: number | null, from = 0, to = Number.POSITIVE_INFINITY) =>
    value !== null && value >= from && value <= to;
  return (
    repository.availability === "AVAILABLE" &&
    (scope.kind !== "search" || repository.description === scope.text) &&
    (provider === undefined || repository.provider === provider) &&
    (language === undefined || language.includes(repository.language?.toLowerCase() ?? "")) &&
    (topic === undefined || repository.topics.some((own) => topic.includes(own))) &&
    (license === undefined || repository.license?.toLowerCase() === license.toLowerCase()) &&
    ((minStars === undefined && maxStars === undefined) || between(repository.stars, minStars, maxStars)) &&
    (createdAfter === undefined || between(repository.createdAt, createdAfter)) &&
    (createdBefore === undefined || between(repository.createdAt, 0, createdBefore - 1)) &&
    (pushedAfter === undefined || between(repository.pushedAt, pushedAfter)) &&
    (archived === undefined || (repository.archived ?? false) === archived) &&
    (fork === undefined || (repository.fork ?? false) === fork) &&
    (!reliableOnly || trends[window]?.reliable === true) &&
    (!excludeAnomalous || trends[window]?.anomalous === false)
  );
}

const PLAIN_KEYS = {
  stars: "stars",
  forks: "forks",
  pushed: "pushedAt",
  created: "createdAt",
  updated: "refreshedAt",
} as const;
/** Scores are stored in hundredths, and cursors hold what is stored. */
const hundredths = (score: number | null) => (score === null ? null : Math.round(100 * score));
const TREND_KEYS = {
  "stars-gained": (trend: Trend) => trend.starsCounted,
  "forks-gained": (trend: Trend) => trend.forksDelta,
  "stars-delta": (trend: Trend) => trend.starsDelta,
  trending: (trend: Trend) => hundredths(trend.scores.trending),
  rising: (trend: Trend) => hundredths(trend.scores.rising),
  "new-hot": (trend: Trend) => hundredths(trend.scores.newHot),
};

/** What a list sorts by; null: unknown; undefined: it does not hold the repository. */
function keyOf({ repository, trends }: Plain, { sort, window }: ListSpec): number | null | undefined {
  if (sort === "relevance" || sort === "added") throw new Error("not compared");
  if (sort in PLAIN_KEYS) return repository[PLAIN_KEYS[sort as keyof typeof PLAIN_KEYS]];
  const growth = sort as keyof typeof TREND_KEYS;
  const trend = trends[window];
  const key = trend === undefined ? null : TREND_KEYS[growth](trend);
  return key === null || (GROWTH_ORDER_COLUMNS[growth].positiveOnly && key <= 0) ? undefined : key;
}

function expectedRows(rows: readonly Plain[], spec: ListSpec): Plain[] {
  const sign = spec.direction === "desc" ? -1 : 1;
  return rows
    .filter((row) => passes(row, spec) && keyOf(row, spec) !== undefined)
    .sort((a, b) => {
      const [x, y] = [keyOf(a, spec) ?? null, keyOf(b, spec) ?? null];
      if ((x === null) !== (y === null)) return x === null ? 1 : -1;
      return sign * ((x ?? 0) - (y ?? 0) || a.repository.id - b.repository.id);
    });
}

function without(spec: ListSpec, ...names: (keyof Filters)[]): ListSpec {
  const kept = Object.entries(spec.filters).filter(([name]) => !names.some((one) => one === name));
  return { ...spec, filters: Object.fromEntries(kept) };
}

function expectedCounts(rows: readonly Plain[], spec: ListSpec): FacetCounts {
  const all = (...own: (keyof Filters)[]) =>
    expectedRows(rows, without(spec, ...own)).map(({ repository }) => repository);
  const byName = (
    names: readonly (string | null)[],
    { chosen = [], isFolded }: { chosen?: readonly string[] | undefined; isFolded: boolean },
  ) => {
    const counts = new Map<string, number>(chosen.map((name) => [name, 0]));
    for (const name of names) {
      const key = isFolded ? name?.toLowerCase() : name;
      if (key) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts].sort();
  };
  const above = (values: readonly (number | null)[], bounds: readonly number[]) =>
    bounds.map((bound) => values.filter((value) => value !== null && value >= bound).length);
  const { filters } = spec;
  const exact = (values: [string, number][]) => ({ precision: "exact" as const, values });
  return {
    language: exact(
      byName(
        all("language").map(({ language }) => language),
        { chosen: filters.language, isFolded: true },
      ),
    ),
    topic: exact(
      byName(
        all("topic").flatMap(({ topics }) => topics),
        { chosen: filters.topic, isFolded: false },
      ),
    ),
    provider: exact(
      byName(
        all("provider").map(({ provider }) => provider),
        {
          chosen: filters.provider === undefined ? [] : [filters.provider.toLowerCase()],
          isFolded: true,
        },
      ),
    ),
    license: exact(
      byName(
        all("license").map(({ license }) => license),
        {
          chosen: filters.license === undefined ? [] : [filters.license.toLowerCase()],
          isFolded: true,
        },
      ),
    ),
    minStars: above(
      all("minStars", "maxStars").map(({ stars }) => stars),
      REQUEST.minStars,
    ),
    createdAfter: above(
      all("createdAfter", "createdBefore").map(({ createdAt }) => createdAt),
      REQUEST.createdAfter,
    ),
    pushedAfter: above(
      all("pushedAfter").map(({ pushedAt }) => pushedAt),
      REQUEST.pushedAfter,
    ),
    known: { license: true, createdAfter: true, pushedAfter: true },
  } as unknown as FacetCounts;
}

/** Counts with their names in one case and order, as those of `expectedCounts`. */
function comparable(counts: FacetCounts | undefined): unknown {
  const fold = ({ precision, values }: FacetCounts["topic"], isFolded: boolean) => ({
    precision,
    values: values.map(({ name, count }) => [isFolded ? name.toLowerCase() : name, count]).sort(),
  });
  return (
    counts && {
      ...counts,
      language: fold(counts.language, true),
      topic: fold(counts.topic, false),
      provider: fold(counts.provider, true),
      license: fold(counts.license, true),
      known: { license: true, createdAfter: true, pushedAfter: true },
    }
  );
}

onBothEngines("What is found in memory", (engine) => {
  const clock = new ManualClock(NOW);

  async function assertFound(
    discovery: ReturnType<typeof discoveryOf>,
    rows: readonly Plain[],
    wanted: WantedList,
  ) {
    const { limit, ...list } = wanted;
    const spec = listOf({ ...list, page: { limit, offset: 0 } });
    const expected = expectedRows(rows, spec);
    const found: number[] = [];
    let page: ListSpec["page"] = { limit, offset: 0 };
    for (;;) {
      const read = await discovery.lists.read({ ...spec, page }, { counted: REQUEST });
      assert.equal(read.total, expected.length, JSON.stringify(spec));
      found.push(...read.rows.map(({ repository }) => repository.id));
      if (page.limit === limit && "offset" in page && expected.length > 0)
        assert.deepEqual(comparable(read.counts), expectedCounts(rows, spec));
      if (!read.hasMore) break;
      // By number, then from a row on.
      const last = expected[found.length - 1];
      assert.ok(
        last !== undefined,
        JSON.stringify([spec, page, found, expected.map((row) => [row.repository.id, keyOf(row, spec)])]),
      );
      page =
        found.length > 3 * limit
          ? { limit, after: { sortKey: keyOf(last, spec) ?? -1, id: last.repository.id } }
          : { limit, offset: found.length };
    }
    assert.deepEqual(
      found,
      expected.map(({ repository }) => repository.id),
      JSON.stringify([spec, expected.map((row) => keyOf(row, spec)), found]),
    );
  }
  type WantedList = Pick<ListSpec, "filters" | "scope" | "sort" | "direction" | "window"> & { limit: number };

  /** The ranks of a repository by a plain sort of all. */
  function expectedRanks(rows: readonly Plain[], id: number): string[] {
    const own = rows.find(({ repository }) => repository.id === id)?.repository;
    if (own?.availability !== "AVAILABLE") return [];
    const scopes: [string, string | null, Filters][] = [
      ["overall", null, {}],
      ["provider", own.provider, { provider: own.provider }],
      ...own.topics.map((topic): [string, string, Filters] => ["topic", topic, { topic: [topic] }]),
    ];
    const ranks = MEASURES.flatMap(({ ranking, window }) =>
      [...scopes, ...(own.language === null ? [] : [["language", own.language, {}] as const])].flatMap(
        ([scope, name, filters]) => {
          const flags = window === null ? {} : { archived: false, fork: false };
          const spec = listOf({ sort: ranking, window: window ?? "24h", filters: { ...filters, ...flags } });
          const among = expectedRows(rows, spec).filter(
            (row) =>
              (keyOf(row, spec) ?? -1) > (window === null ? -1 : 0) &&
              (scope !== "language" || row.repository.language?.toLowerCase() === name?.toLowerCase()),
          );
          const at = among.findIndex(({ repository }) => repository.id === id);
          const limit = { overall: 1_000, provider: 1_000, language: 200, topic: 50 }[scope] ?? 0;
          return at < 0 || at >= limit ? [] : [`${ranking} ${window} ${scope} ${name} ${at + 1}`];
        },
      ),
    );
    return ranks.sort();
  }

  const changes = fc.array(
    fc.tuple(
      fc.nat(94),
      catalogues.map(([first]) => first),
    ),
    { maxLength: 12 },
  );

  test("is what plain filtering, sorting and counting gives, after a load and after changes", async () => {
    await fc.assert(
      fc.asyncProperty(
        catalogues,
        changes,
        fc.array(listsOf, { minLength: 6, maxLength: 10 }),
        async (made, changed, lists) => {
          const database: Database = await engine.open();
          const patched = discoveryOf(database, clock);
          await patched.catalog.record(made.map(([facts, moved], i) => observationOf(i, facts, moved)));
          await patched.rankings.update();
          // Loads the catalogue, so that what follows are changes.
          await patched.live.current();
          const later = changed.flatMap(([i, one]) =>
            one === undefined ? [] : [{ ...observationOf(i, one[0], one[1]), at: NOW + 1, snapshots: [] }],
          );
          if (later.length > 0) await patched.catalog.record(later);
          await patched.rankings.update();
          const loaded = discoveryOf(database, clock);
          const rows = await plainRows(loaded);
          for (const discovery of [patched, loaded]) {
            for (const list of lists) await assertFound(discovery, rows, list);
            for (const { repository } of rows.slice(0, 12)) {
              const ranks = await discovery.rankings.ranks(repository.id);
              const own = ranks.map(
                (rank) => `${rank.ranking} ${rank.window} ${rank.scope} ${rank.name} ${rank.position}`,
              );
              // Which spelling is the newest is tested elsewhere.
              const folded = (texts: readonly string[]) => texts.map((text) => text.toLowerCase()).sort();
              assert.deepEqual(folded(own), folded(expectedRanks(rows, repository.id)));
            }
          }
        },
      ),
      { numRuns: examples(24), endOnFailure: true },
    );
  });

  test("names every growth order", () => {
    assert.deepEqual(Object.keys(TREND_KEYS).sort(), [...GROWTH_ORDERS].sort());
  });
});
