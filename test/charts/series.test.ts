import assert from "node:assert/strict";
import { test } from "node:test";
import { reducePoints } from "../../src/charts/series.js";
import { fc } from "../support/properties.js";

const series = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 0, max: 1_000_000 })), {
    minLength: 1,
    maxLength: 1_500,
  })
  .map((steps) => {
    let at = 0;
    return steps.map(([step, value]) => {
      at += step;
      return { at, value, source: "OBSERVED" as const };
    });
  });

test("a reduced line keeps its first and last point, its extremes, and the ends of its widest gaps", () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 100, max: 400 }), (points, most) => {
      const gaps = points
        .slice(1)
        .map(({ at }, i) => ({ from: points[i]?.at ?? 0, to: at }))
        .filter(({ from, to }) => to - from > 990_000);
      const kept = reducePoints(points, gaps, most);
      assert.ok(kept.length <= most || kept.length === points.length);
      assert.ok(points.length > most || kept.length === points.length);
      assert.equal(kept[0], points[0]);
      assert.equal(kept.at(-1), points.at(-1));
      const values = (some: typeof points) => some.map(({ value }) => value);
      assert.equal(Math.max(...values(kept)), Math.max(...values(points)));
      assert.equal(Math.min(...values(kept)), Math.min(...values(points)));
      const times = new Set(kept.map(({ at }) => at));
      if (gaps.length <= 30) for (const { from, to } of gaps) assert.ok(times.has(from) && times.has(to));
      assert.deepEqual(
        kept,
        points.filter((point) => kept.includes(point)),
      );
    }),
    { numRuns: 200 },
  );
});
