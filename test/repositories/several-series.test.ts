import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readSeveralSeries } from "../../src/growth/reader.js";
import { readSeveralStored, readStored } from "../../src/growth/stored.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { CommonThinning, STEPS, startOfStep } from "../../src/repositories/series.js";
import { readingsOf } from "../../src/repositories/snapshots/readings.js";
import { onBothEngines } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { openCatalog } from "../support/tables.js";
import { countTurns } from "../support/turns.js";
import { NOW, observation, snapshotAt } from "../support/world.js";

describe("Series thinned together", () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 400 * 24 }), { maxLength: 40 });
  const all = fc.array(fc.record({ hours: times, keepsFirst: fc.boolean() }), { minLength: 1, maxLength: 6 });

  test("have the finest step that fits all of them, whatever their order", () => {
    fc.assert(
      fc.property(all, fc.constantFrom(...STEPS), fc.integer({ min: 12, max: 80 }), (given, step, most) => {
        const mostEach = Math.ceil(most / 2);
        const series = given.map(({ hours, keepsFirst }) => ({
          ats: hours.sort((a, b) => a - b).map((hour) => hour * HOUR_MS + 7),
          keepsFirst,
        }));
        const thinned = series.map(({ ats, keepsFirst }) =>
          STEPS.map((one) => {
            const last = new Map(ats.map((at) => [one === "all" ? at : startOfStep(at, one), at]));
            return [...new Set([...(keepsFirst ? ats.slice(0, 1) : []), ...last.values()])];
          }),
        );
        const expected = STEPS.findIndex((_, i) => {
          const lengths = thinned.map((by) => by[i]?.length ?? 0);
          return (
            i >= STEPS.indexOf(step) &&
            Math.max(...lengths) <= mostEach &&
            lengths.reduce((sum, length) => sum + length, 0) <= most
          );
        });
        for (const order of [[...series.keys()], [...series.keys()].reverse()]) {
          const thinning = new CommonThinning({ most, mostEach, step });
          for (const id of order) {
            const { ats, keepsFirst } = series[id] ?? { ats: [], keepsFirst: false };
            const readings = readingsOf(ats.map((at) => [at, 1, 1, 1, 1, 0]));
            thinning.add(id, { readings, keepsFirst });
          }
          const { kept, resolution, isCut } = thinning.end();
          const found = series.map((_, id) =>
            kept
              .get(id)
              ?.snapshots()
              .map(({ capturedAt }) => capturedAt),
          );
          // Points may be left out only where that is said.
          const longest = thinned.map((by) => by.at(-1)?.length ?? 0);
          const isShort = longest.some((length, id) => (kept.get(id)?.length ?? 0) < length);
          assert.equal(isCut, expected === -1 && isShort);
          if (expected !== -1) {
            assert.equal(resolution, STEPS[expected]);
            assert.deepEqual(
              found,
              thinned.map((by) => by[expected]),
            );
          } else {
            assert.equal(resolution, "4w");
            for (const [id, ats] of found.entries()) {
              const whole = thinned[id]?.at(-1) ?? [];
              assert.ok((ats?.length ?? 0) <= mostEach);
              assert.equal(ats?.at(-1), whole.at(-1));
              if (series[id]?.keepsFirst) assert.equal(ats?.[0], whole[0]);
            }
            assert.ok(found.flat().length <= most);
          }
        }
      }),
    );
  });
});

onBothEngines("Several series", (engine) => {
  test("are read in turns, each repository once, whether their ranges are known or not", async () => {
    const { catalog, database } = await openCatalog(engine);
    const history = [snapshotAt(NOW - DAY_MS, 1), snapshotAt(NOW, 2)];
    await catalog.record(Array.from({ length: 120 }, (_, i) => observation(`a/r${i}`, history)));
    const ids = Array.from({ length: 130 }, (_, i) => i + 1);
    for (const recentMs of [undefined, DAY_MS]) {
      const found: number[] = [];
      for await (const [id, { readings }] of readSeveralSeries(database, ids, recentMs)) {
        assert.equal(readings.length, 2);
        found.push(id);
      }
      assert.deepEqual(
        found.sort((a, b) => a - b),
        ids.slice(0, 120),
      );
    }
  });

  test("leave other work a turn of the event loop after every twenty thousand snapshots", async () => {
    const { catalog, database } = await openCatalog(engine);
    const history = (count: number) =>
      Array.from({ length: count }, (_, i) => snapshotAt(NOW - (count - i) * HOUR_MS, i));
    await catalog.recordAll(Array.from({ length: 6 }, (_, i) => observation(`a/r${i}`, history(20_000))));
    const ids = Array.from({ length: 6 }, (_, i) => i + 1);
    const reading = readSeveralStored(database, ids, { lengthMs: undefined, step: "all" });
    assert.ok((await countTurns(reading)) >= 2);
    const { resolution, points, of } = await reading;
    assert.equal(resolution, "12h");
    assert.equal(points, 6 * of(1).points.length);
    assert.deepEqual(
      of(1).points,
      (await readStored(database, 1, { lengthMs: undefined, step: "12h" })).points,
    );
    // In a window of 30 days they are read together.
    const window = { lengthMs: 30 * DAY_MS, step: "1d" } as const;
    const { resolution: _, ...recent } = await readStored(database, 2, window);
    assert.deepEqual((await readSeveralStored(database, ids, window)).of(2), recent);
  });
});
