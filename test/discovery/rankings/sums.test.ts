import assert from "node:assert/strict";
import { before, test } from "node:test";
import { syntheticRepository } from "../../../bench/synthetic/synthetic.js";
import type { RollupTable } from "../../../src/database/database.js";
import type { Facet, FacetKind } from "../../../src/discovery/facets.js";
import type { Rankings } from "../../../src/discovery/rankings.js";
import { WINDOW_HOURS, WINDOWS, type Window } from "../../../src/growth/definitions.js";
import { DAY_MS, HOUR_MS } from "../../../src/lib/clock.js";
import type { Repository } from "../../../src/repositories/repository.js";
import { onBothEngines } from "../../support/engines.js";
import { discoveryOf } from "../../support/lists.js";
import { NOW } from "../../support/world.js";

onBothEngines("Facets and the summary", (engine) => {
  let rankings: Rankings;
  let rollups: RollupTable[] = [];
  let repositories: Repository[] = [];
  let snapshots: { provider: string; capturedAt: number }[] = [];

  before(async () => {
    const database = await engine.open();
    const { catalog, rankings: own } = discoveryOf(database);
    rankings = own;
    const options = { repositories: 400, days: 40, seed: 8, end: NOW };
    await catalog.record(Array.from({ length: 400 }, (_, i) => syntheticRepository(i, options)));
    await rankings.update();
    const dumped = await catalog.dump(0, 1_000);
    repositories = dumped.map(({ repository }) => repository);
    snapshots = dumped.flatMap((each) =>
      each.snapshots.map(({ capturedAt }) => ({ provider: each.repository.provider, capturedAt })),
    );
    rollups = await database.read.selectFrom("rollups").selectAll().execute();
  });

  test("facets are the totals of listed repositories", async () => {
    const newest = Math.max(...repositories.map(({ refreshedAt }) => refreshedAt ?? 0));
    const modelFacets = (kind: FacetKind, window: Window, provider: string | undefined) => {
      const facets = new Map<string, Facet>();
      for (const repository of repositories) {
        const { id, language, topics, stars, availability } = repository;
        if (availability !== "AVAILABLE" || (provider !== undefined && repository.provider !== provider))
          continue;
        for (const name of kind === "topic" ? topics : language === null ? [] : [language]) {
          const facet = facets.get(name) ?? {
            ...{ name, repositories: 0, recent: 0, stars: 0 },
            ...{ starsGained: 0, measured: 0 },
          };
          const rollup = rollups.find(
            (row) => row.repository_id === id && row.window_hours === WINDOW_HOURS[window],
          );
          facet.repositories++;
          if ((repository.refreshedAt ?? 0) > newest - 30 * DAY_MS) facet.recent++;
          facet.stars += stars ?? 0;
          if (rollup !== undefined) {
            facet.starsGained += rollup.stars_delta;
            facet.measured++;
          }
          facets.set(name, facet);
        }
      }
      return [...facets.values()];
    };
    for (const kind of ["language", "topic"] as const) {
      for (const window of WINDOWS) {
        for (const provider of [undefined, "GITHUB", "CODEBERG"]) {
          for (const sort of ["repository-count", "stars", "stars-gained"] as const) {
            const request = {
              kind,
              window,
              sort,
              limit: 100,
              offset: 0,
              ...(provider === undefined ? {} : { provider }),
            };
            const page = await rankings.facets(request);
            // Those with few measured repositories come after the others.
            const keys = {
              "repository-count": (facet: Facet) => [facet.repositories],
              stars: (facet: Facet) => [facet.stars],
              "stars-gained": ({ starsGained, measured }: Facet) => [
                measured >= 5 ? 2 : Number(measured > 0),
                starsGained,
              ],
            };
            const difference = (a: Facet, b: Facet) =>
              keys[sort](b)
                .map((key, i) => key - (keys[sort](a)[i] ?? 0))
                .find((by) => by !== 0);
            const expected = modelFacets(kind, window, provider).sort(
              (a, b) => difference(a, b) ?? (a.name < b.name ? -1 : 1),
            );
            assert.deepEqual(page.facets, expected.slice(0, request.limit), JSON.stringify(request));
            assert.equal(page.total, expected.length);
          }
        }
      }
    }
  });

  test("days add up the gains of those that are known over 30 days", async () => {
    const gainsOf = new Map(
      rollups.flatMap(({ repository_id: id, days }) =>
        days === null ? [] : [[id, days.split(",").map(Number)]],
      ),
    );
    assert.ok(gainsOf.size > 300);
    for (const { repository_id: id, window_hours: hours, stars_delta: delta } of rollups)
      if (hours === 720) assert.equal(gainsOf.get(id)?.reduce((sum, gain) => sum + gain, 0) ?? delta, delta);
    for (const kind of ["language", "topic"] as const) {
      const { facets } = await rankings.facets({ kind, window: "30d", sort: "stars", limit: 20, offset: 0 });
      const found = await rankings.facetDays(
        kind,
        facets.map(({ name }) => name),
      );
      for (const [name, { gains, known }] of found) {
        const members = repositories.filter(
          ({ availability, language, topics, id }) =>
            availability === "AVAILABLE" &&
            (kind === "topic" ? topics.includes(name) : language === name) &&
            gainsOf.has(id),
        );
        const sum = (day: number) =>
          members.reduce((total, { id }) => total + (gainsOf.get(id)?.[day] ?? 0), 0);
        assert.deepEqual(
          { gains, known },
          { gains: Array.from({ length: 30 }, (_, day) => sum(day)), known: members.length },
        );
      }
    }
  });

  test("the summary counts repositories and snapshots", async () => {
    const summary = await rankings.summary();
    const listed = repositories.filter(({ availability }) => availability === "AVAILABLE");
    const providers = [...new Set(repositories.map(({ provider }) => provider))].sort().map((provider) => {
      const own = snapshots.filter((each) => each.provider === provider).map(({ capturedAt }) => capturedAt);
      const newestAt = Math.max(...own);
      const here = listed.filter((each) => each.provider === provider);
      return {
        provider,
        repositories: here.length,
        snapshots: own.length,
        // Counted by the hour, without the hour in which the 24 began.
        snapshots24h: own.filter((at) => Math.floor(at / HOUR_MS) > Math.floor((newestAt - DAY_MS) / HOUR_MS))
          .length,
        refreshed24h: here.filter(({ refreshedAt }) => (refreshedAt ?? 0) > newestAt - DAY_MS).length,
        overdueRefreshes: 0,
        // All are observed, neither tracked nor of an archive, within half of 30 days.
        freshRepositories: here.length,
        staleRepositories: 0,
        newestAt,
        ageDays: 0,
      };
    });
    assert.deepEqual(
      summary.providers.map(({ asOf: _, measured: __, ...provider }) => provider),
      providers,
    );
    for (const { asOf, measured, newestAt, repositories: count } of summary.providers) {
      assert.equal(
        measured.reduce((total, group) => total + group.repositories, 0),
        count,
      );
      assert.ok(asOf !== null && asOf <= (newestAt ?? 0) && asOf >= (measured.at(-1)?.from ?? 0));
    }
    const sum = (key: "repositories" | "snapshots" | "snapshots24h" | "refreshed24h") =>
      providers.reduce((total, each) => total + each[key], 0);
    assert.equal(summary.repositories, listed.length);
    assert.equal(summary.repositories, sum("repositories"));
    assert.equal(summary.snapshots, snapshots.length);
    assert.equal(summary.snapshots24h, sum("snapshots24h"));
    assert.equal(summary.refreshed24h, sum("refreshed24h"));
    assert.equal(summary.languages, new Set(listed.flatMap(({ language }) => language ?? [])).size);
    assert.equal(summary.topics, new Set(listed.flatMap(({ topics }) => topics)).size);
    assert.equal(summary.generatedAt, NOW);
  });
});
