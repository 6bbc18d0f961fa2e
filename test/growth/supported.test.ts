import assert from "node:assert/strict";
import { test } from "node:test";
import { growthOf } from "../../src/growth/gains.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Recency } from "../../src/repositories/recency.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import { historyOf } from "../support/growth.js";
import { counted, days, judged, kinds, ramp } from "../support/readings.js";

test("a reading without forks does not make a supported leap pending, nor a return of its forks", () => {
  const stars = [...ramp(3_000, 5, 20), 4_095, 4_100];
  const forks = [...ramp(300, 0, 20), 391];
  assert.deepEqual(judged(days(stars.slice(0, 21), { forks })).pending, []);
  const unknown = days(stars, { forks });
  assert.deepEqual(judged(unknown).pending, []);
  assert.deepEqual(kinds(unknown), []);
  const doubtful = days(stars, { forks: [...forks, 0] });
  assert.deepEqual(judged(doubtful).pending, []);
  assert.deepEqual(kinds(doubtful), ["UNCONFIRMED 21"]);
  const gone = days([...stars, 4_105, 4_110], { forks: [...forks, null, 301, 302] });
  assert.deepEqual(kinds(gone), ["RETURN 20–23"], "forks that are gone again after such a reading");
});

test("a reading without forks neither raises what counts of an open burst nor opens a cleared one again", () => {
  const stars = [...ramp(1_000, 5, 20), ...ramp(3_095, 5, 6)];
  const seen = (...more: number[]) =>
    days(stars.slice(0, 21 + more.length), { forks: [...ramp(100, 0, 20), ...more] });
  assert.deepEqual([counted(seen(115).slice(0, 21)), counted(seen(115))], [95, 100 + 5]);
  const cleared = judged(seen(115, 160, 190, 200).slice(0, 24));
  assert.equal(cleared.anomalies[0]?.cleared?.by, "BREADTH");
  const later = judged(seen(115, 160, 190, 200));
  assert.deepEqual(later.anomalies, cleared.anomalies);
});

test("a gain of fewer than 80 stars beyond the usual is not pending, however much the repository has moved before", () => {
  const isPending = (stars: readonly number[]) => {
    const last = stars.length - 1;
    const snapshots = stars.map((count, day): Snapshot => {
      const source = "OBSERVED";
      return { capturedAt: day * DAY_MS, stars: count, forks: 100, openIssues: null, watchers: null, source };
    });
    const recency: Recency = {
      fullDays: new Map([["GITHUB", last * DAY_MS]]),
      since: new Map([["GITHUB", 0]]),
      newestFiles: new Map(),
      firstFiles: [],
    };
    return growthOf(historyOf(snapshots), recency).find(({ window }) => window === "24h")?.isPending;
  };
  assert.equal(isPending([...ramp(1_000, 0, 20), 1_070]), false);
  assert.equal(isPending([...ramp(962, 2, 20), 1_070]), false);
  assert.equal(isPending([...ramp(962, 2, 20), 1_090]), true);
});

test("a gain that forks have supported once does not become pending when fewer follow", () => {
  const stars = [...ramp(1_000, 5, 20), 1_295, ...ramp(1_300, 5, 12)];
  const forks = [...ramp(100, 1, 20), 129, ...ramp(129, 0, 12)];
  for (let last = 21; last <= stars.length; last++)
    assert.deepEqual(judged(days(stars.slice(0, last), { forks })).pending, [], `after day ${last - 1}`);
});

test("a burst that goes on with smaller gains is cleared by no fewer forks than its first day", () => {
  const stars = [...ramp(2_000, 5, 20), 2_395, ...ramp(2_430, 35, 6), ...ramp(2_610, 5, 3)];
  const before = ramp(200, 0, 20).map((count, day) => count + Math.floor(day / 2));
  const forks = (later: number) => [...before, ...ramp(209, 0, 7), ...ramp(209 + later, 0, 3)];
  const cleared = (later: number) => judged(days(stars, { forks: forks(later) })).anomalies[0]?.cleared?.by;
  assert.equal(cleared(14), undefined, "enough for a few times the usual day");
  assert.equal(cleared(40), "BREADTH");
});
