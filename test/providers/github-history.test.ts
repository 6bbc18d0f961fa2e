import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/clock.js";
import { failureOf, github, NOW, ref, restRow, scriptedFetch } from "../support/github.js";
import { ManualClock } from "../support/manual-clock.js";

const signal = new AbortController().signal;

const week = (sunday: number, days: number[]) => ({ week: sunday / 1000, total: 0, days });
const SUNDAY = Date.UTC(2026, 3, 26);

test("a history page has days, none in the future, and a cursor", async () => {
  const fetch = scriptedFetch(({ url }) => {
    const page = Number(url.searchParams.get("page"));
    const weeks = Array.from({ length: page === 3 ? 2 : 30 }, (_, i) =>
      week(SUNDAY - 7 * DAY_MS * (30 * (page - 1) + i), [0, 1, 2, 3, 4, 5, 6]),
    );
    return { body: weeks };
  });
  const provider = github(fetch);
  const days = new Map<number, number>();
  let cursor: string | null = null;
  do {
    const page = await provider.history(ref(), cursor, signal);
    for (const { day, gained } of page?.days ?? []) days.set(day, gained);
    cursor = page?.next ?? null;
  } while (cursor !== null);
  assert.equal(fetch.sent.length, 3);
  assert.equal(days.size, 62 * 7 - 2);
  assert.equal(Math.max(...days.keys()), Math.floor(NOW / DAY_MS) * DAY_MS);
  for (const [day, gained] of days) assert.deepEqual([day % DAY_MS, gained], [0, new Date(day).getUTCDay()]);
});

test("an instance without star histories is not asked again for a day", async () => {
  const clock = new ManualClock(NOW);
  const fetch = scriptedFetch(({ url }) =>
    url.pathname.endsWith("/history") ? { status: 404 } : { body: restRow() },
  );
  const provider = github(fetch, { clock });
  assert.equal(await provider.history(ref(), null, signal), null);
  assert.equal(await provider.history(ref(), null, signal), null);
  assert.equal(fetch.sent.length, 2);
  clock.advance(DAY_MS);
  assert.equal(await provider.history(ref(), null, signal), null);
  assert.equal(fetch.sent.length, 4);
});

test("a missing repository does not mean that the instance lacks histories", async () => {
  const fetch = scriptedFetch(({ url }) =>
    url.pathname.includes("seven") || url.pathname.endsWith("/7") ? { status: 404 } : { body: [] },
  );
  const provider = github(fetch);
  assert.equal((await failureOf(provider.history(ref(), null, signal))).kind, "gone");
  assert.deepEqual(await provider.history(ref({ fullName: "octo/eight" }), "no cursor", signal), {
    days: [],
    next: null,
  });
});

test("an invalid history is malformed", async () => {
  for (const body of [
    {},
    [week(SUNDAY, [1, 2])],
    [week(SUNDAY, [1, 2, 3, 4, 5, 6, -7])],
    [week(-1, [0, 0, 0, 0, 0, 0, 0])],
    Array(1000).fill(week(0, [0, 0, 0, 0, 0, 0, 0])),
  ]) {
    assert.equal(
      (await failureOf(github(scriptedFetch(() => ({ body }))).history(ref(), null, signal))).kind,
      "malformed",
    );
  }
});
