import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider } from "../../src/forges/contract.js";
import { createForgejo, listForgejo, PAGE_SIZE } from "../../src/forges/forgejo/forgejo.js";
import type { ForgeRecord } from "../../src/forges/lists.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { startForge } from "../support/forge/forge.js";
import { SkippingClock } from "../support/manual-clock.js";
import { idsOfWalk, scripted, settingsOf } from "../support/upstream.js";

const NOW = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;

interface Row {
  id: number;
  stars: number;
}

const recordOf = ({ id, stars }: Row): ForgeRecord => ({
  isPublic: true,
  repository: {
    ...{ providerId: String(id), owner: "o", name: `r${id}`, url: null, description: null, homepage: null },
    ...{ language: null, license: null, topics: null, stars, forks: null, openIssues: null, watchers: null },
    ...{ fork: null, archived: null, createdAt: null, pushedAt: null },
  },
});

/** A walk over a list that may change between two pages. Returns the ids seen and the number of pages. */
function walk(
  rows: readonly Row[],
  { minStars, now = NOW, between }: { minStars: number; now?: number; between?: (page: number) => void },
) {
  const seen = new Set<number>();
  let pages = 0;
  let byId = rows.toSorted((a, b) => a.id - b.id);
  let byStars = rows.toSorted((a, b) => b.stars - a.stars || a.id - b.id);
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const request = listForgejo(cursor, { minStars, now });
    assert.ok((cursor ?? "").length <= 4_000);
    if (between !== undefined) {
      between(pages);
      byId = rows.toSorted((a, b) => a.id - b.id);
      byStars = rows.toSorted((a, b) => b.stars - a.stars || a.id - b.id);
    }
    const query = new URLSearchParams(request.path.split("?")[1]);
    const list = query.get("sort") === "stars" ? byStars : byId;
    const from = (Number(query.get("page")) - 1) * PAGE_SIZE;
    const page = list.slice(from, from + PAGE_SIZE);
    pages++;
    for (const { id, stars } of page) if (stars >= minStars) seen.add(id);
    const total = list.length;
    cursor = request.next({
      records: page.map(recordOf),
      rows: page.length,
      hasMore: from + PAGE_SIZE < total && page.length > 0,
      total,
    });
  }
  return { seen, pages };
}

/** Like a large public instance: one in nine has a star at all. */
const skewed = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    stars: i % 9 === 0 ? 1 + Math.floor(5_000 / (1 + (i % 4_001))) : 0,
  }));

test("a walk reads what has stars and a seventh of the rest, instead of everything", () => {
  const rows = skewed(300_000);
  const starred = rows.filter(({ stars }) => stars >= 1);
  const { seen, pages } = walk(rows, { minStars: 1 });
  assert.equal(seen.size, starred.length);
  assert.ok(pages <= Math.ceil(starred.length / PAGE_SIZE) + 300_000 / PAGE_SIZE / 7 + 3, `${pages} pages`);
  assert.equal(walk(rows, { minStars: 0 }).pages, 6_000);
});

test("the parts by id of seven days are the whole list", () => {
  for (const count of [1, 49, 50, 51, 349, 350, 351, 2_000]) {
    const asked = new Set<number>();
    for (let day = 0; day < 7; day++) {
      let cursor: string | null = "stars:1:9:9";
      for (let isFirst = true; cursor !== null; isFirst = false) {
        const request = listForgejo(cursor, { minStars: 5, now: NOW + day * DAY_MS });
        const page = Number(/page=(\d+)/.exec(request.path)?.[1]);
        if (!isFirst) asked.add(page);
        const records = isFirst
          ? Array.from({ length: PAGE_SIZE }, (_, i) => recordOf({ id: i + 1, stars: 1 }))
          : [recordOf({ id: page, stars: 1 })];
        const hasMore = isFirst || page * PAGE_SIZE < count;
        cursor = request.next({ records, rows: records.length, hasMore, total: count });
      }
    }
    assert.equal(asked.size, Math.ceil(count / PAGE_SIZE), `${count} repositories`);
  }
});

test("while stars are given a walk misses at most those that pass it, and the next one sees them", () => {
  const rows = skewed(5_000);
  let at = 0;
  const between = () => {
    // Far more than on any real forge: with each page one repository in 125 gains stars.
    for (let i = 0; i < 40; i++) {
      at = (at + 977) % 5_000;
      const row = rows[at];
      if (row !== undefined) row.stars += 1 + (i % 3);
    }
  };
  const wanted = new Set(rows.filter(({ stars }) => stars >= 2).map(({ id }) => id));
  const { seen } = walk(rows, { minStars: 2, between });
  const missed = [...wanted].filter((id) => !seen.has(id));
  assert.ok(missed.length <= wanted.size * 0.03, `${missed.length} of ${wanted.size}`);
  const later = walk(rows, { minStars: 2 }).seen;
  for (const id of missed) assert.ok(later.has(id));
});

test("a list that is not in the order of stars, or that repeats itself, is noticed", () => {
  const context = { minStars: 1, now: NOW };
  const page = (rows: Row[]) => ({
    records: rows.map(recordOf),
    rows: rows.length,
    hasMore: true,
    total: 900,
  });
  const unsorted = listForgejo(null, context).next(
    page([
      { id: 1, stars: 4 },
      { id: 2, stars: 9 },
    ]),
  );
  assert.equal(unsorted, "ids:1:0:0");
  assert.match(listForgejo(unsorted, context).path, /sort=id&order=asc&limit=50&page=1$/);
  const first = listForgejo(null, context).next(page([{ id: 9, stars: 4 }]));
  assert.equal(first, "stars:2:4:9");
  assert.throws(() => listForgejo(first, context).next(page([{ id: 9, stars: 4 }])), { kind: "malformed" });
  assert.equal(listForgejo(first, context).next({ records: [], rows: 0, hasMore: false, total: 0 }), null);
});

test("pages by stars that repeat in a cycle, or follow the last one, end a walk; invalid rows count as rows", () => {
  const context = { minStars: 1, now: NOW };
  const list = (ids: number[], stars: number, total: number | null) => ({
    records: ids.map((id) => recordOf({ id, stars })),
    rows: ids.length,
    hasMore: true,
    total,
  });
  for (const length of [1, 2, 3, 7]) {
    let cursor: string | null = null;
    let pages = 0;
    const next = () => {
      cursor = listForgejo(cursor, context).next(list([(pages++ % length) + 1], 5, null));
    };
    assert.throws(() => {
      for (;;) next();
    }, /repeats itself/);
    assert.ok(pages <= 4 * length, `${pages} pages in a cycle of ${length}`);
  }
  const third = listForgejo("stars:3:5:1", context);
  assert.throws(() => third.next(list([7, 8], 5, 4)), /repeats itself/);
  assert.equal(third.next(list([7, 8], 5, 5)), "stars:4:5:1");
  assert.equal(third.next(list([7, 8], 17, 50)), "ids:1:0:0", "far more stars than on the page before");
  const partial = { ...list([7], 0, 700), rows: 50 };
  assert.equal(third.next(partial), listForgejo("stars:2:5:1", context).next({ ...partial, rows: 50 }));
  assert.ok(Number(/^ids:(\d+):/.exec(third.next(partial) ?? "")?.[1]) <= 14);
});

test("a last page whose only row is invalid ends a walk", async () => {
  const fetch = scripted((path) => {
    const rows = path.includes("page=1") ? 50 : 1;
    const data = Array.from({ length: rows }, (_, i) => ({
      ...{ id: i + 1, stars_count: rows > 1 ? 9 : -1, full_name: `o/r${i}` },
    }));
    return { body: { ok: true, data } };
  });
  const clock = new SkippingClock(NOW);
  const provider = createForgejo(settingsOf("forgejo", { minStars: 1 }), { fetch, clock });
  const { next } = await provider.discover(null, signal);
  assert.equal(next, "stars:2:9:1");
  assert.deepEqual(await provider.discover(next, signal), { repositories: [], next: null });
});

test("a walk without links goes on while the total says so, however short the pages are", async () => {
  const all = Array.from({ length: 75 }, (_, i) => ({
    id: i + 1,
    stars_count: 90 - i,
    full_name: `o/r${i}`,
  }));
  const fetch = scripted((path) => {
    const page = Number(/page=(\d+)/.exec(path)?.[1]);
    return {
      headers: { "x-total-count": "75" },
      body: { ok: true, data: all.slice((page - 1) * 20, page * 20) },
    };
  });
  const settings = settingsOf("forgejo", { minStars: 1 });
  const provider = createForgejo(settings, { fetch, clock: new SkippingClock(NOW) });
  const seen = new Set(await idsOfWalk(provider));
  assert.deepEqual([seen.size, fetch.sent.length], [75, 5]);
});

test("cursors of older versions and invalid ones start a new walk", () => {
  const context = { minStars: 1, now: NOW };
  for (const cursor of [
    "",
    "3:150",
    "stars:0:1",
    "stars:1",
    "stars:2:9",
    "ids:1:2",
    "ids:1:2:-1",
    "x".repeat(4_000),
    "{}",
  ])
    assert.equal(listForgejo(cursor, context).path, listForgejo(null, context).path);
});

test("a version that rejects the order is walked by id, and fails otherwise as before", async () => {
  const rows = Array.from({ length: 3 }, (_, i) => ({ id: i + 1, full_name: `o/r${i}`, stars_count: i }));
  const fetch = scripted((path) =>
    path.includes("sort=stars")
      ? { status: 422, body: { message: "Invalid sort mode" } }
      : { body: { ok: true, data: rows } },
  );
  const provider = createForgejo(settingsOf("forgejo", { minStars: 1 }), {
    fetch,
    clock: new SkippingClock(NOW),
  });
  const { repositories, next } = await provider.discover(null, signal);
  assert.deepEqual([repositories.length, next], [2, null]);
  assert.deepEqual(
    fetch.sent.map(({ path }) => /sort=(\w+)/.exec(path)?.[1]),
    ["stars", "id"],
  );
  const closed = scripted(() => ({ status: 422, body: { message: "no" } }));
  const other = createForgejo(settingsOf("forgejo", { minStars: 1 }), {
    fetch: closed,
    clock: new SkippingClock(NOW),
  });
  await assert.rejects(other.discover(null, signal), { kind: "malformed" });
});

for (const starOrder of ["stable", "unstable", "none"] as const) {
  test(`a week of walks over a forge whose order by stars is ${starOrder} sees everything`, async (t) => {
    const clock = new SkippingClock(NOW);
    const forge = await startForge({ kind: "forgejo", clock, repositories: 900 });
    t.after(() => forge.close());
    Object.assign(forge.switches, { starOrder, listingAgeMs: 0 });
    const settings = settingsOf("forgejo", { url: forge.url, minStars: 20 });
    const fetch = async (url: string) => {
      const response = await globalThis.fetch(url);
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const provider: Provider = createForgejo(settings, { fetch, clock });
    const wanted = () =>
      [...forge.catalogue.truth(clock.now())].filter(
        ({ visibility, stars, createdAt }) => visibility === "public" && stars >= 20 && createdAt < NOW,
      );
    const seen = new Set<string>();
    const before = wanted();
    for (let day = 0; day < 7; day++) {
      for (const id of await idsOfWalk(provider)) seen.add(id);
      clock.advance(DAY_MS);
    }
    const missed = before.filter(({ id }) => !seen.has(String(id)) && wanted().some((one) => one.id === id));
    assert.deepEqual(
      missed.map(({ fullName }) => fullName),
      [],
    );
    assert.ok(before.length > 100);
  });
}
