import assert from "node:assert/strict";
import { test } from "node:test";
import { WINDOWS, windowMs } from "../../src/growth/definitions.js";
import { growthOf } from "../../src/growth/gains.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Recency } from "../../src/repositories/recency.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import { historyOf } from "../support/growth.js";
import { examples, fc } from "../support/properties.js";
import { snapshotAt } from "../support/world.js";

const recency: Recency = { fullDays: new Map(), since: new Map(), newestFiles: new Map(), firstFiles: [] };

/** A file a day for 70 days, taken a few minutes earlier or later, of which some are missing. Their counts move by less than what is doubted. */
const archive = fc
  .array(fc.record({ minutes: fc.nat(40), moved: fc.integer({ min: -9, max: 60 }), isMissing: fc.nat(9) }), {
    minLength: 2,
    maxLength: 70,
  })
  .map((days) => {
    let stars = 20_000;
    return days.flatMap(({ minutes, moved, isMissing }, day): Snapshot[] => {
      stars += moved;
      const at = day * DAY_MS + minutes * 60_000;
      return isMissing === 0 ? [] : [snapshotAt(at, stars, { forks: 2_000 + day, source: "IMPORTED" })];
    });
  })
  .filter((snapshots) => snapshots.length > 0);

/** The plain difference: of the newest total and the nearest one to a window before, half a window to 2.25 windows back. */
function plainGain(totals: readonly Snapshot[], length: number): [from: number, gain: number] | undefined {
  const to = totals.at(-1) ?? assert.fail();
  const distance = ({ capturedAt }: Snapshot) => Math.abs(to.capturedAt - length - capturedAt);
  const [from] = totals
    .filter(({ capturedAt: at }) => to.capturedAt - at >= length / 2 && to.capturedAt - at <= 2.25 * length)
    .sort((a, b) => distance(a) - distance(b) || a.capturedAt - b.capturedAt);
  return from === undefined ? undefined : [from.capturedAt, to.stars - from.stars];
}

const gainsOf = (snapshots: readonly Snapshot[]) =>
  new Map(
    growthOf(historyOf(snapshots), recency).map(({ window, from, starsDelta }) => [
      window,
      [from.at, starsDelta],
    ]),
  );

test("where totals alone cover a window, its gain is their plain difference", () => {
  fc.assert(
    fc.property(archive, (totals) => {
      const gains = gainsOf(totals);
      for (const window of WINDOWS)
        assert.deepEqual(gains.get(window), plainGain(totals, windowMs(window)), window);
    }),
    { numRuns: examples(2_000) },
  );
});

test("a star history before the totals changes no gain that they cover", () => {
  const history = (first: Snapshot): Snapshot[] => {
    const day = Math.floor(first.capturedAt / DAY_MS) * DAY_MS;
    return [40, 30, 20, 10, 1].map((days) =>
      snapshotAt(day - days * DAY_MS + 6 * HOUR_MS, first.stars - 50 * days, { source: "BACKFILLED" }),
    );
  };
  fc.assert(
    fc.property(archive, (totals) => {
      const first = totals[0] ?? assert.fail();
      const to = totals.at(-1)?.capturedAt ?? 0;
      const gains = gainsOf([...history(first), ...totals]);
      for (const window of WINDOWS) {
        const plain = plainGain(totals, windowMs(window));
        if (to - windowMs(window) >= first.capturedAt) assert.deepEqual(gains.get(window), plain, window);
      }
    }),
    { numRuns: examples(1_000) },
  );
});
