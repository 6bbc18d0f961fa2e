import assert from "node:assert/strict";
import { test } from "node:test";
import { createGogs } from "../../src/forges/gogs/gogs.js";
import { SkippingClock } from "../support/manual-clock.js";
import { idsOfWalk, type Scripted, scripted, settingsOf } from "../support/upstream.js";

const signal = new AbortController().signal;

function gogs(answer: (path: string) => Scripted) {
  const fetch = scripted(answer);
  return {
    fetch,
    provider: createGogs(settingsOf("gogs"), { fetch, clock: new SkippingClock(Date.UTC(2026, 0, 1)) }),
  };
}
const row = (id: number, full_name = `o/r${id}`, changes = {}) => ({
  ...{ id, full_name, stars_count: id, html_url: `https://forge.example/${full_name}`, private: false },
  ...changes,
});
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => row(from + i));
const page = (data: unknown[]): Scripted => ({ body: { ok: true, data } });
const ref = (id: number, fullName = `o/r${id}`) => ({
  providerId: String(id),
  nodeId: null,
  fullName,
  etag: null,
});
const NOT_FOUND: Scripted = { status: 404 };

test("gogs: a walk reads pages in any order of ids to the end, with a keyword that matches every name", async () => {
  const pages = [rows(51, 100), rows(1, 50), rows(101, 103)];
  const { fetch, provider } = gogs((path) => page(pages[Number(/page=(\d+)/.exec(path)?.[1]) - 1] ?? []));
  assert.equal(new Set(await idsOfWalk(provider)).size, 103);
  assert.equal(fetch.sent[0]?.path, "/api/v1/repos/search?q=_&limit=50&page=1");
  assert.equal(fetch.sent.length, 3);
});

test("gogs: an instance that ignores the page is noticed, and an unknown cursor starts a new walk", async () => {
  const { fetch, provider } = gogs(() => page(rows(1, 50)));
  const { next } = await provider.discover(null, signal);
  await assert.rejects(provider.discover(next, signal), { kind: "malformed" });
  for (const cursor of ["", "2:x", "0:1", "2", "x".repeat(4_000)]) {
    await provider.discover(cursor, signal);
    assert.match(fetch.sent.at(-1)?.path ?? "", /page=1$/);
  }
});

test("gogs: pages that alternate are noticed", async () => {
  const { fetch, provider } = gogs((path) =>
    page(/page=\d*[13579]$/.test(path) ? rows(1, 50) : rows(51, 100)),
  );
  await assert.rejects(async () => {
    for (let cursor: string | null = null; ; ) cursor = (await provider.discover(cursor, signal)).next;
  }, /repeats itself/);
  assert.equal(fetch.sent.length, 4);
});

test("gogs: rows of old versions, which have zeros in all fields, are no records", async () => {
  const old = row(1, "o/r1", { html_url: "", stars_count: 0, created_at: "0001-01-01T00:00:00Z" });
  await assert.rejects(gogs(() => page(Array(11).fill(old))).provider.discover(null, signal), {
    kind: "malformed",
  });
});

test("gogs: a repository is read by name; a name that another repository has now is a loss", async () => {
  const { fetch, provider } = gogs((path) => (path.endsWith("/o/r3") ? NOT_FOUND : { body: row(1, "o/r1") }));
  const results = await provider.refreshMany([ref(1), ref(2), ref(3)], signal);
  assert.deepEqual(
    results.map((result) => (result.kind === "failed" ? result.failure.kind : result.kind)),
    ["found", "gone", "gone"],
  );
  assert.deepEqual(
    fetch.sent.map(({ path }) => path),
    ["/api/v1/repos/o/r1", "/api/v1/repos/o/r2", "/api/v1/repos/o/r3"],
  );
});

test("gogs: a second reading searches for the id, so a transfer is found, and then reads by name", async () => {
  const moved = gogs((path) =>
    path.includes("/search?q=r1&") ? page([row(5), row(1, "other/r1")]) : NOT_FOUND,
  );
  const found = await moved.provider.recheck(ref(1), signal);
  assert.deepEqual([found.providerId, found.owner, found.name], ["1", "other", "r1"]);
  assert.equal(moved.fetch.sent.length, 1);
  const unlisted = gogs((path) => (path.includes("/search") ? page([]) : { body: row(1) }));
  assert.equal((await unlisted.provider.recheck(ref(1), signal)).providerId, "1");
  const other = gogs((path) =>
    path.includes("/search") ? page([row(7, "o/r1")]) : { body: row(7, "o/r1") },
  );
  await assert.rejects(other.provider.recheck(ref(1), signal), { kind: "gone" });
  const hidden = row(1, "o/r1", { private: true });
  const closed = gogs((path) => (path.includes("/search") ? page([hidden]) : { body: hidden }));
  await assert.rejects(closed.provider.recheck(ref(1), signal), { kind: "private" });
});
