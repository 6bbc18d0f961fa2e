import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Random } from "../../bench/synthetic/random.js";
import { windowMs } from "../../src/growth/definitions.js";
import { type Sum, sumCounts } from "../../src/growth/sums.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import { onBothEngines } from "../support/engines.js";
import { examples, fc } from "../support/properties.js";
import { countTurns } from "../support/turns.js";
import { createWorld, daily, NOW, observation, snapshotAt, type World } from "../support/world.js";

/** Most stars that one of these repositories gains in a day. */
const PACE = 20;

interface Told {
  snapshots: Snapshot[];
  createdAt: number | null;
}

/** Kinds of repositories, by how they come to be known. They gain at most PACE a day. */
const KINDS = [
  "long known",
  "lately seen",
  "created here",
  "with a star history",
  "seldom read",
  "no longer read",
] as const;

function tell(kind: (typeof KINDS)[number], random: Random): Told {
  const days = { "long known": 140, "lately seen": 9, "created here": 9, "with a star history": 4 };
  const end = NOW - (kind === "no longer read" ? 40 * DAY_MS : 0) - random.between(0, 5) * HOUR_MS;
  const length = kind in days ? random.between(2, days[kind as keyof typeof days]) : random.between(60, 140);
  const every = kind === "seldom read" ? 5 : 1;
  const times = Array.from(
    { length: Math.floor(length / every) },
    (_, i) => end - (i * every + random.between(0, 10) / 24) * DAY_MS,
  ).sort((a, b) => a - b);
  const firstAt = times[0] ?? end;
  let stars = kind === "created here" ? random.between(0, PACE) : random.between(2_000, 50_000);
  let last = firstAt;
  const snapshots = times.map((at) => {
    stars += Math.floor((random.between(0, PACE) * (at - last)) / DAY_MS);
    last = at;
    return snapshotAt(Math.round(at), stars, { forks: 7 });
  });
  if (kind === "created here") return { snapshots, createdAt: Math.round(firstAt - 0.9 * DAY_MS) };
  if (kind !== "with a star history") return { snapshots, createdAt: null };
  const held = Math.ceil((snapshots[0]?.stars ?? 0) / PACE);
  const createdAt = Math.round(firstAt - held * DAY_MS);
  const history = Array.from({ length: held - 1 }, (_, i) =>
    snapshotAt(createdAt + (i + 1) * DAY_MS, (i + 1) * PACE, { source: "BACKFILLED" }),
  );
  return { snapshots: [...history, ...snapshots], createdAt };
}

async function sumIn({ modules: { catalog, database } }: World, ids: readonly number[], days?: number) {
  const lengthMs = days === undefined ? undefined : days * DAY_MS;
  return sumCounts(database, await catalog.findMany(ids), { recency: await catalog.recency(), lengthMs });
}

onBothEngines("The sum of the counts of repositories", (engine) => {
  let world: World;
  const told: Told[] = [];
  before(async () => {
    world = await createWorld(engine);
    const random = new Random(11);
    for (let i = 0; i < 60; i++) told.push(tell(KINDS[i % KINDS.length] ?? "long known", random));
    await world.record(
      ...told.map(({ snapshots, createdAt }, i) =>
        observation(`one/r${i}`, snapshots, { at: NOW, facts: { createdAt } }),
      ),
    );
  });
  const sumOf = (ids: readonly number[], days?: number, own = world): Promise<Sum> => sumIn(own, ids, days);
  const idsOf = (kinds: readonly string[], count = 60) =>
    told.slice(0, count).flatMap((_, i) => (kinds.includes(KINDS[i % KINDS.length] ?? "") ? [i + 1] : []));

  /** Those known so long before their newest counts, or created since, if these are recent. */
  function knownOf(ids: readonly number[], length: number, stepMs: number): number[] {
    return ids.filter((id) => {
      const { snapshots, createdAt } = told[id - 1] ?? { snapshots: [], createdAt: null };
      const [first, last] = [snapshots[0], snapshots.at(-1)];
      if (first === undefined || last === undefined || last.capturedAt < NOW - 15 * DAY_MS) return false;
      const start = last.capturedAt - length;
      return first.capturedAt <= start + stepMs / 2 || (createdAt ?? 0) >= start - stepMs / 2;
    });
  }

  /** Those of them with a count from which a window of this length may be measured. */
  const measuredOf = (ids: readonly number[], length: number, stepMs: number): number[] =>
    knownOf(ids, length, stepMs).filter((id) => {
      const { snapshots, createdAt } = told[id - 1] ?? { snapshots: [], createdAt: null };
      const ages = snapshots.map(({ capturedAt }) => (snapshots.at(-1)?.capturedAt ?? 0) - capturedAt);
      const isRead = ages.some((age) => age >= length / 2 && age <= 2.25 * length);
      return isRead || (createdAt ?? 0) >= (snapshots.at(-1)?.capturedAt ?? 0) - length;
    });

  /** Of any repositories, over any time. */
  const checkEach = (check: (ids: number[], days: number | undefined) => Promise<void>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(
        fc.subarray(told.map((_, i) => i + 1)),
        fc.constantFrom(1, 10, 30, 90, 365, undefined),
        check,
      ),
      { numRuns: examples(150) },
    );

  test("is of those known at both ends, and begins when four fifths of the recent ones are known", () =>
    checkEach(async (ids, days) => {
      const sum = await sumOf(ids, days);
      const stepMs = sum.stepDays * DAY_MS;
      const recent = knownOf(ids, 0, stepMs);
      const least = recent.length < 10 ? Math.max(1, recent.length - 1) : Math.ceil(0.8 * recent.length);
      const span = Math.max(0, sum.points.length - 1) * stepMs;
      assert.deepEqual([sum.repositories, sum.measured], [ids.length, measuredOf(ids, span, stepMs).length]);
      const known = knownOf(ids, span, stepMs).length;
      assert.ok(known >= Math.min(recent.length, least), `${known} of ${least}`);
      assert.ok(days === undefined || span <= days * DAY_MS);
      // It could not be longer.
      const oldest = Math.max(0, ...recent.map((id) => rangeOf(told[id - 1])));
      const isAll = span + stepMs > Math.min(days ?? Number.POSITIVE_INFINITY, oldest / DAY_MS) * DAY_MS;
      assert.ok(isAll || knownOf(ids, span + stepMs, stepMs).length < least, `${span / DAY_MS} days`);
    }));

  test("has no step where a repository is created, first seen or no longer read", () =>
    checkEach(async (ids, days) => {
      const { points, stepDays, measured } = await sumOf(ids, days);
      // A window begins with the nearest count, at most half a distance of readings before it.
      const most = measured * PACE * (stepDays + 3);
      for (const [i, { stars }] of points.entries()) {
        const gained = stars - (points[i - 1]?.stars ?? stars);
        assert.ok(gained >= 0 && gained <= most, `${gained} of ${most} at ${i} of ${points.length}`);
      }
    }));

  test("gains in 30 days what the lists of its repositories show", async () => {
    const kinds = ["long known", "created here", "with a star history", "seldom read"];
    for (const count of [6, 20, 60]) {
      const ids = idsOf(kinds, count);
      const { points } = await sumOf(ids, 30);
      assert.equal(points.length, 31);
      const counted = new Set(knownOf(ids, windowMs("30d"), DAY_MS));
      const trends = await world.modules.rankings.trends(ids, "30d");
      let gained = 0;
      for (const [id, { starsDelta }] of trends) if (counted.has(id)) gained += starsDelta;
      assert.equal((points.at(-1)?.stars ?? 0) - (points[0]?.stars ?? 0), gained);
    }
  });

  test("does not count those without recent counts, and ends with the counts that the lists show", async () => {
    const { points, measured } = await sumOf(idsOf(["long known", "no longer read"]), 30);
    const shown = idsOf(["long known"]).map((id) => told[id - 1]?.snapshots.at(-1)?.stars ?? 0);
    assert.ok(measured <= shown.length);
    const lately = await sumOf(idsOf(["long known", "no longer read"]), 1);
    assert.equal(
      lately.points.at(-1)?.stars,
      shown.reduce((sum, stars) => sum + stars, 0),
    );
    assert.ok(points.length > 1);
    assert.deepEqual(await sumOf(idsOf(["no longer read"])), {
      points: [],
      stepDays: 1,
      repositories: 10,
      measured: 0,
    });
    assert.deepEqual((await sumOf([])).points, []);
  });

  test("has the other counts where all of its repositories have them", async () => {
    const totals = await sumOf(idsOf(["long known"]), 1);
    assert.deepEqual(
      totals.points.map(({ forks, openIssues, watchers }) => [forks, openIssues, watchers]),
      Array.from({ length: 2 }, () => [7 * totals.measured, null, null]),
    );
    const { points, measured } = await sumOf(idsOf(["long known", "with a star history"]), 30);
    assert.deepEqual([points[0]?.forks, points.at(-1)?.forks], [null, 7 * measured]);
  });
});

const rangeOf = (one: Told | undefined): number =>
  (one?.snapshots.at(-1)?.capturedAt ?? 0) - (one?.snapshots[0]?.capturedAt ?? 0);

onBothEngines("A long sum", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    const stars = Array.from({ length: 95 }, () => 1);
    await world.record(...Array.from({ length: 200 }, (_, i) => observation(`many/r${i}`, daily(...stars))));
  });
  const sumOf = (count: number, days?: number) =>
    sumIn(
      world,
      Array.from({ length: count }, (_, i) => i + 1),
      days,
    );

  test("has fewer points the more repositories it has, and ends with their newest counts", async () => {
    for (const [count, stepDays] of [
      [10, 1],
      [166, 1],
      [167, 3],
      [200, 3],
    ] as const) {
      const sum = await sumOf(count, 90);
      assert.deepEqual([sum.stepDays, sum.points.length], [stepDays, 90 / stepDays + 1]);
      assert.equal(sum.points.at(-1)?.at, NOW);
      assert.ok(sum.points.every(({ stars }) => stars === count));
    }
  });

  test("covers the window, and no more than there is", async () => {
    const days = async (most?: number) => {
      const { points } = await sumOf(1, most);
      return (NOW - (points[0]?.at ?? 0)) / DAY_MS;
    };
    assert.deepEqual([await days(30), await days(90), await days(365), await days()], [30, 90, 94, 94]);
  });

  test("leaves other work a turn of the event loop after every 50 repositories", async () => {
    assert.ok((await countTurns(sumOf(200))) >= 2);
  });
});
