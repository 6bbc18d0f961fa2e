import assert from "node:assert/strict";
import { test } from "node:test";
import type { Track } from "../../bench/judge/archive.js";
import { boardsAt, enteredLists, TOP } from "../../bench/judge/boards.js";
import { drawCampaign } from "../../bench/judge/campaign.js";
import { inject } from "../../bench/judge/changes.js";
import { isHeldOut, pickPlace } from "../../bench/judge/hosts.js";
import { graft, templatesOf } from "../../bench/judge/leap.js";
import { findJumps, usualDay } from "../../bench/judge/steps.js";
import { Random } from "../../bench/synthetic/random.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { readingsOf, UNKNOWN } from "../../src/repositories/snapshots/readings.js";

const START = Date.UTC(2026, 0, 1, 4);
const at = (day: number) => START + day * DAY_MS;

/** A track with a reading a day; forks and issues by default grow with the stars. */
function trackOf(
  stars: readonly number[],
  { name = "acme/kite", forks = stars.map((count) => count / 10) } = {},
): Track {
  return {
    name,
    readings: readingsOf(
      stars.map((count, day) => [at(day), count, Math.round(forks[day] ?? UNKNOWN), 20, UNKNOWN, 1]),
    ),
    pushed: Float64Array.from(stars, (_, day) => at(day) - 3 * DAY_MS),
    createdAt: null,
  };
}

/** Daily stars from gains: 1,000 before the first. */
function starsOf(gains: readonly number[]): number[] {
  const stars = [1_000];
  for (const gained of gains) stars.push((stars.at(-1) ?? 0) + gained);
  return stars;
}

const steady = (days: number, gained = 2) => Array.from({ length: days }, () => gained);
const classOf = (gains: readonly number[]) =>
  findJumps(trackOf(starsOf(gains)).readings, 1).map((jump) => jump.class);

test("a jump gains at least 80 stars and five times the usual day before it", () => {
  const jumps = findJumps(trackOf(starsOf([...steady(20), 80, ...steady(20)])).readings, 1);
  assert.deepEqual(
    jumps.map(({ index, gained, usual, forks, openIssues }) => ({ index, gained, usual, forks, openIssues })),
    [{ index: 21, gained: 80, usual: 2, forks: 8, openIssues: 0 }],
  );
  assert.deepEqual(classOf([...steady(20), 79]), []);
  assert.deepEqual(classOf([...steady(20, 20), 99]), []);
  assert.deepEqual(classOf([...steady(20, 20), 100]), ["good"]);
});

test("a jump is bad if a third of it is gone within 14 days, and not if it goes later", () => {
  assert.deepEqual(classOf([...steady(20), 300, ...steady(12, 0), -100]), ["bad"]);
  assert.deepEqual(classOf([...steady(20), 300, ...steady(12, 0), -99]), ["good"]);
  assert.deepEqual(classOf([...steady(20), 300, ...steady(15, 0), -300]), ["good"]);
});

test("forks are counted until 14 days after a jump", () => {
  const gains = [...steady(20), 400, ...steady(20)];
  const breadthOf = (forksOn: number) => {
    const forks = starsOf(gains).map((_, day) => (day >= forksOn ? 180 : 100));
    return findJumps(trackOf(starsOf(gains), { forks }).readings, 1)[0]?.breadthAfter?.toFixed(2);
  };
  // 80 forks for 428 stars, where 100 forks for 1,040 stars were usual.
  assert.equal(breadthOf(35), "1.94");
  assert.equal(breadthOf(36), "0.00");
});

test("errors of the source are classes of their own", () => {
  assert.deepEqual(classOf([...steady(20), -700, ...steady(20, 0), 700]), ["return"]);
  const other = trackOf(starsOf([...steady(20), 5_000]), {
    forks: [...Array.from({ length: 21 }, () => 50), 900],
  });
  assert.deepEqual(
    findJumps(other.readings, 1).map((jump) => jump.class),
    ["reused-name"],
  );
  const { readings } = trackOf(starsOf([...steady(20), 400]));
  const late = readings.numbers.slice();
  late[21 * readings.width] = at(24);
  assert.deepEqual(
    findJumps(readingsOf(chunks(late, readings.width)), 1).map((jump) => jump.class),
    ["gap"],
  );
});

function chunks(numbers: Float64Array, width: number): number[][] {
  return Array.from({ length: numbers.length / width }, (_, i) => [
    ...numbers.subarray(i * width, (i + 1) * width),
  ]);
}

test("every campaign is visible, of the size drawn, and the same for the same seed", () => {
  for (let seed = 0; seed < 300; seed++) {
    const usual = seed % 40;
    const campaign = drawCampaign(new Random(seed), { usual, forksPerStar: 0.2 });
    assert.deepEqual(drawCampaign(new Random(seed), { usual, forksPerStar: 0.2 }), campaign);
    assert.ok(campaign !== undefined);
    const { changes, days, size, visible, purged, forkShare } = campaign;
    const added = changes.stars.slice(0, days);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    assert.ok(size >= 100 && size <= 20_000 && days <= 14, `${size} stars in ${days} days`);
    assert.ok(Math.abs(sum(added) - size) <= days, "rounded by day");
    assert.ok((changes.stars[visible] ?? 0) >= Math.max(80, 5 * usual));
    assert.equal(sum(changes.stars.slice(days)), -purged || 0);
    assert.ok(purged <= 0.8 * size + 1);
    if (forkShare === "none") assert.equal(sum(changes.forks), 0);
    // 0.3 of the usual 0.2, and what chance may add.
    assert.ok(sum(changes.forks) <= 0.06 * size + 5 * Math.sqrt(size));
  }
});

test("no campaign is visible on a repository that gains too much by itself", () => {
  assert.equal(drawCampaign(new Random(1), { usual: 5_000, forksPerStar: 0.2 }), undefined);
});

test("changes are added from their day on and stay, and unknown counts stay unknown", () => {
  const track = trackOf([100, 100, 100, 100], { forks: [10, UNKNOWN, UNKNOWN, 10] });
  const changed = inject(track, 1, {
    stars: [50, -20],
    forks: [5],
    openIssues: [0, 0, -30],
    idleDays: [1, 9],
  });
  assert.deepEqual(
    chunks(changed.readings.numbers, 6).map(([, stars]) => stars),
    [100, 150, 130, 130],
  );
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => changed.readings.count(i, 2)),
    [10, null, null, 15],
  );
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => changed.readings.count(i, 3)),
    [20, 20, 20, 0],
  );
  assert.deepEqual([...changed.pushed], [at(-3), at(0), at(-1), at(0)], "the later of both pushes");
  assert.deepEqual([...track.readings.numbers.subarray(0, 2)], [at(0), 100], "the track itself is unchanged");
});

test("a leap is a template after two quiet weeks, and keeps its breadth on another scale", () => {
  const track = trackOf(starsOf([...steady(30), 600, 300, ...steady(40)]));
  const templates = templatesOf(track, findJumps(track.readings, 1));
  assert.deepEqual(
    templates.map(({ index }) => index),
    [31],
  );
  const [template] = templates;
  assert.ok(template !== undefined && Math.abs((template.breadth ?? 0) - 1) < 0.1, `${template?.breadth}`);
  const host = trackOf(starsOf(steady(60)), { forks: starsOf(steady(60)).map((stars) => stars / 5) });
  const grafted = graft(new Random(3), template, { track: host, start: 40 });
  assert.ok(grafted !== undefined && grafted.visible === 0);
  const [stars = 0] = grafted.changes.stars;
  const [forks = 0] = grafted.changes.forks;
  assert.ok(stars >= 180 && stars <= 2_000, `${stars} stars`);
  assert.ok(forks / stars > 0.15 && forks / stars < 0.25, `${forks} forks for ${stars} stars`);
  const other = trackOf(starsOf(steady(60)), { forks: starsOf(steady(60)) });
  assert.equal(graft(new Random(3), template, { track: other, start: 40 }), undefined, "ten times the forks");
});

test("changes are added to quiet stretches only, and each name is in one half for good", () => {
  const quiet = trackOf(starsOf(steady(120)), { name: "acme/quiet" });
  const fallen = trackOf(starsOf([...steady(60), -90, ...steady(60)]), { name: "acme/fallen" });
  const jumped = trackOf(starsOf([...steady(60), 90, ...steady(60)]), { name: "acme/jumped" });
  for (let seed = 0; seed < 20; seed++) {
    const { track, start } = pickPlace(new Random(seed), [fallen, quiet, jumped]);
    assert.equal(track.name, "acme/quiet");
    assert.equal(usualDay(track.readings, start), 2);
  }
  assert.throws(() => pickPlace(new Random(1), [fallen]), /no quiet stretch/);
  const names = Array.from({ length: 1_000 }, (_, i) => `acme/kite-${i}`);
  const heldOut = names.filter(isHeldOut);
  assert.deepEqual(names.filter(isHeldOut), heldOut);
  assert.ok(heldOut.length > 400 && heldOut.length < 600, `${heldOut.length}`);
});

test("a list is entered by what its last place does not have", () => {
  const tracks = Array.from({ length: TOP + 5 }, (_, i) =>
    trackOf(starsOf(steady(40, 1).map((_, day) => (day === 39 ? 11 + i : 1))), { name: `acme/kite-${i}` }),
  );
  const source = "github-ranking";
  const boards = boardsAt({ tracks, source }, at(40));
  const quiet = trackOf(starsOf(steady(40, 1)), { name: "acme/quiet" });
  const placeOf = (track: Track) =>
    enteredLists(boards, { track, index: 40, source }).filter(
      ({ order, window, excludeAnomalous }) =>
        order === "stars-gained" && window === "24h" && excludeAnomalous,
    ).length;
  assert.equal(placeOf(quiet), 0);
  // The 25th place gained 16; forks come with the stars, so that nothing is in doubt.
  const gaining = (gained: number) => trackOf(starsOf([...steady(39, 1), gained]), { name: "acme/quiet" });
  assert.equal(placeOf(gaining(16)), 0);
  assert.equal(placeOf(gaining(17)), 1);
  assert.equal(placeOf({ ...gaining(60), name: "acme/kite-29" }), 0, "it was there before");
});
