import assert from "node:assert/strict";
import { test } from "node:test";
import { bestDay, dayGains, gainsOf } from "../../src/charts/charts.js";
import { readHistory } from "../../src/charts/history.js";
import { readLastDays, readStored, WINDOWS, windowMs } from "../../src/growth/growth.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqlite } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { createWorld, NOW, observation, snapshotAt } from "../support/world.js";

/** What is known of a repository: a star history that begins with some undated stars, and totals, of which some failed or are missing. */
const past = fc.record({
  /** Days ago at which the history and the totals begin; the history ends `apart` days before them. */
  historyDays: fc.constantFrom(0, 40, 200, 500),
  totalDays: fc.constantFrom(0, 1, 5, 20, 60),
  apart: fc.constantFrom(0, 0, 5),
  undated: fc.constantFrom(0, 0, 700),
  /** Totals that the history has too few or too many stars for. */
  taken: fc.constantFrom(0, 3, 400),
  perDay: fc.array(fc.nat(60), { minLength: 8, maxLength: 8 }),
  missing: fc.array(fc.nat(60), { maxLength: 12 }),
  failed: fc.constantFrom(undefined, 3, 12),
});

type Past = typeof past extends fc.Arbitrary<infer T> ? T : never;

/** A day before its history; without one long before its totals. */
const createdAt = ({ historyDays, totalDays, apart }: Past) =>
  NOW - (historyDays + apart + totalDays + (historyDays > 0 ? 1 : 400)) * DAY_MS - 7 * 60_000;

function snapshotsOf(one: Past) {
  const { historyDays, totalDays, apart, undated, taken, perDay, missing, failed } = one;
  const gained = (day: number) => perDay[day % perDay.length] ?? 0;
  let stars = historyDays > 0 ? undated : 2_000;
  const countAt = new Map<number, number>();
  for (let day = totalDays + apart + historyDays; day >= 0; day--) {
    stars += gained(day);
    countAt.set(day, stars);
  }
  const at = (day: number) => NOW - day * DAY_MS - 7 * 60_000;
  const history = Array.from({ length: historyDays }, (_, i) => totalDays + apart + historyDays - i);
  const totals = Array.from({ length: totalDays + 1 }, (_, i) => totalDays - i);
  return [
    ...(historyDays > 0 ? [snapshotAt(createdAt(one), undated + taken, { source: "BACKFILLED" })] : []),
    ...history.map((day) => snapshotAt(at(day), (countAt.get(day) ?? 0) + taken, { source: "BACKFILLED" })),
    ...totals
      .filter((day) => day === 0 || day === totalDays || !missing.includes(day))
      .map((day) =>
        snapshotAt(at(day), day === failed ? 4 : (countAt.get(day) ?? 0), { source: "OBSERVED" }),
      ),
  ];
}

onSqlite("No two surfaces differ", (engine) => {
  test("in the gain of a window, the newest count, the bars and the best day", async () => {
    const world = await createWorld(engine);
    const pasts = fc.sample(past, 40);
    await world.record(
      ...pasts.map((one, i) =>
        observation(`o/r${i}`, snapshotsOf(one), {
          facts: { createdAt: createdAt(one) },
        }),
      ),
    );
    const { modules } = world;
    const { body } = await world.get("/api/repos?limit=100&window=30d&sort=stars");
    const ids = body.data.map(({ id }: { id: string }) => Number(id));
    const lastDays = await readLastDays(modules.database, ids);
    let compared = 0;
    for (const { id, fullName, trend } of body.data) {
      const { trends } = (await world.get(`/api/repos/github/${fullName}`)).body.data;
      const repository = await modules.catalog.get(Number(id));
      const words = JSON.stringify(pasts[Number(fullName.slice(3))]);
      assert.deepEqual(trend?.starsDelta, trends["30d"]?.starsDelta, words);
      const chart = (await world.get(`/api/embed/chart?repo=github:${fullName}&window=30d`)).body.data
        .series[0];
      if (trends["30d"] !== null) {
        compared++;
        assert.equal(chart.gained, trends["30d"].starsDelta, words);
        assert.equal(chart.points[0].at, trends["30d"].from, words);
        assert.equal(chart.points.at(-1).at, trends["30d"].to, words);
      }
      const all = await readHistory(modules, repository, { metric: "stars", window: "all", trends: [] });
      const last = all.points.at(-1);
      assert.equal(chart.points.at(-1)?.value, last?.value, words);
      assert.equal(lastDays.get(Number(id))?.at(-1), last?.value, words);
      for (const window of WINDOWS) {
        const badge = (
          await world.get(`/api/embed/badge.svg?repo=github:${fullName}&kind=gain&window=${window}`)
        ).body;
        const gained = trends[window]?.starsDelta;
        const text = gained === undefined ? "unknown" : Math.abs(gained).toLocaleString("en-US");
        if (gained !== undefined && Math.abs(gained) < 1_000)
          assert.ok(badge.includes(text), `${window} ${text} ${words}`);
        assert.ok((trends[window]?.hours ?? 0) <= (2.26 * windowMs(window)) / 3_600_000);
      }
      // Every bar is a difference of counts that are drawn; all together they are the gain, less what nobody saw.
      const gains = gainsOf(all.points);
      const sum = gains.reduce((total, { change }) => total + (change ?? 0), 0);
      if (!all.points.some(({ isApart }) => isApart))
        assert.equal(sum, (last?.value ?? 0) - (all.points[0]?.value ?? 0), words);
      const best = bestDay(dayGains(all.points))?.change ?? 0;
      assert.ok(best <= Math.max(0, ...gains.map(({ change }) => change ?? 0)), words);
      assert.ok(best <= 60 * 1.5, `a best day that no source shows: ${best} ${words}`);
      // The stored snapshots that count are those of the line.
      const stored = (await world.get(`/api/repos/${id}/metrics?window=all`)).body.data;
      const drawn = new Map(all.points.map(({ at, value }) => [at, value]));
      for (const { capturedAt, stars, source, counts } of stored)
        if (source === "OBSERVED")
          assert.equal(drawn.get(Date.parse(capturedAt)), counts ? stars : undefined, words);
      const counting = stored.filter(({ counts }: { counts: boolean }) => counts);
      const [before, after] = [counting[0], counting.at(-1)].map((one) =>
        drawn.get(Date.parse(one.capturedAt)),
      );
      const { starsGained } = await readStored(modules.database, Number(id), {
        lengthMs: undefined,
        step: "all",
      });
      if (before !== undefined && after !== undefined) assert.equal(starsGained, after - before, words);
    }
    assert.ok(compared > 15, String(compared));
  });
});
