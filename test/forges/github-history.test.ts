import assert from "node:assert/strict";
import { test } from "node:test";
import { concernsForge } from "../../src/forges/failures.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { failureOf, github, NOW, ref, restRow, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";

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

const isHistory = (url: URL) => url.pathname.endsWith("/history");

test("a repository without a history says nothing about the next one, wherever it comes", async () => {
  for (const status of [404, 410])
    for (const odd of [7, 8, 9]) {
      const fetch = scriptedFetch(({ url }) => {
        const [, , of = ""] = url.pathname.split("/");
        const id = of === "octo" ? odd : Number(of);
        if (!isHistory(url)) return { body: restRow({ id }) };
        return id === odd ? { status } : { body: [] };
      });
      const provider = github(fetch);
      for (const id of [7, 8, 9]) {
        const page = provider.history(ref({ providerId: String(id) }), null, signal);
        if (id === odd) assert.equal((await failureOf(page)).kind, "gone");
        else assert.deepEqual(await page, { days: [], next: null });
      }
    }
});

test("the history of a repository whose name belongs to another one now is its own", async () => {
  const histories: Record<string, unknown> = {
    "/repositories/7/stargazers/history": [week(SUNDAY, [7, 7, 7, 7, 0, 0, 0])],
    "/repos/octo/seven/stargazers/history": [week(SUNDAY, [9, 9, 9, 9, 0, 0, 0])],
    "/repos/octo/moved/stargazers/history": [week(SUNDAY, [7, 7, 7, 7, 0, 0, 0])],
  };
  for (const isById of [true, false]) {
    const clock = new SkippingClock(NOW);
    const fetch = scriptedFetch(({ url: { pathname } }) => {
      if (pathname === "/repositories/7") return { body: restRow({ full_name: "octo/moved" }) };
      const body = isById || pathname.startsWith("/repos/") ? histories[pathname] : undefined;
      return body === undefined ? { status: 404 } : { body };
    });
    const provider = github(fetch, { clock });
    for (let i = 0; i < 2; i++) {
      const page = await provider.history(ref(), null, signal);
      assert.deepEqual(new Set(page.days.map(({ gained }) => gained)), new Set([7, 0]));
    }
    // By name, the name is looked up each time.
    assert.equal(fetch.sent.length, isById ? 2 : 6);
    assert.ok(!fetch.sent.some(({ url }) => url.pathname.startsWith("/repos/octo/seven")));
  }
});

test("of an instance with histories by name only, three different repositories show that", async () => {
  const fetch = scriptedFetch(({ url }) => {
    const [, kind, id = ""] = url.pathname.split("/");
    if (!isHistory(url)) return { body: restRow({ id: Number(id), full_name: `octo/r${id}` }) };
    return kind === "repos" ? { body: [] } : { status: 404 };
  });
  const provider = github(fetch);
  for (const providerId of ["7", "7", "7", "8", "9", "10"])
    await provider.history(ref({ providerId }), null, signal);
  assert.equal(fetch.sent.length, 5 * 3 + 2);
});

test("a history is never followed to another repository", async () => {
  const location = "https://api.github.com/repositories/8/stargazers/history";
  const fetch = scriptedFetch(({ url }) =>
    url.pathname.startsWith("/repositories/8")
      ? { body: [week(SUNDAY, [9, 9, 9, 9, 0, 0, 0])] }
      : { status: 301, headers: { location } },
  );
  assert.equal((await failureOf(github(fetch).history(ref(), null, signal))).kind, "renamed");
  const other = scriptedFetch(({ url }) =>
    isHistory(url) ? { status: 404 } : { body: restRow({ id: 8, full_name: "octo/eight" }) },
  );
  assert.equal((await failureOf(github(other).history(ref(), null, signal))).kind, "malformed");
  assert.equal(other.sent.length, 2);
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

test("a history that GitHub has not prepared yet concerns its repository alone, and says when to ask again", async () => {
  const fetch = scriptedFetch(() => ({ status: 202, body: {} }));
  const failure = await failureOf(github(fetch).history(ref(), null, signal));
  assert.deepEqual([failure.kind, failure.until], ["malformed", NOW + 10 * 60_000]);
  assert.ok(!concernsForge(failure.kind));
});
