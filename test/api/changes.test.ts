import assert from "node:assert/strict";
import { before, test } from "node:test";
import { HOUR_MS, isoTime } from "../../src/lib/clock.js";
import { updateDerived } from "../../src/modules.js";
import { bumpRevision, noteChanges } from "../../src/repositories/outdated.js";
import { errorOf } from "../support/answers.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

interface Change {
  id: string;
  fullName: string;
  availability: string;
  kinds: string[];
}

onBothEngines("What changed since a cursor", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
  });

  const cursor = async (): Promise<string> => (await world.get("/api/changes")).body.meta.nextCursor;
  /** All changes since a cursor, in parts of `limit`, with the cursor at their end. */
  async function follow(since: string, limit = 100) {
    const changes: Change[] = [];
    for (let next = since; ; ) {
      const { status, body } = await world.get(`/api/changes?since=${next}&limit=${limit}`);
      assert.equal(status, 200, JSON.stringify(body));
      changes.push(...body.data);
      next = body.meta.nextCursor;
      if (!body.meta.hasMore) return { changes, next };
    }
  }
  const kinds = (changes: readonly Change[]) =>
    Object.fromEntries(changes.map(({ fullName, kinds }) => [fullName, kinds]));
  const known = (fullName: string, providerId: string, [stars, at]: readonly [number, number], facts = {}) =>
    observation(fullName, daily(stars), { providerId, at, facts });

  test("is nothing for a new cursor; after that each repository once, with what became of it", async () => {
    await world.record(
      known("a/old", "1", [1, 1]),
      known("a/gone", "2", [1, 1]),
      known("a/same", "3", [1, 1]),
    );
    const since = await cursor();
    assert.deepEqual((await follow(since)).changes, []);
    await world.record(known("a/name", "1", [1, 2]));
    await world.record(known("a/gone", "2", [1, 2], { availability: "GONE" }), known("a/new", "4", [1, 2]));
    await world.record(known("a/name", "1", [7, 3]));
    const expected = { "a/name": ["RENAMED"], "a/gone": ["GONE"], "a/new": ["NEW"] };
    for (const limit of [1, 2, 100]) {
      const { changes, next } = await follow(since, limit);
      assert.deepEqual(kinds(changes), expected);
      assert.equal(changes.length, 3);
      assert.deepEqual((await follow(next)).changes, []);
    }
    const { next } = await follow(since);
    await world.record(known("a/name", "1", [8, 4]));
    assert.deepEqual(kinds((await follow(next)).changes), { "a/name": ["COUNTS"] });
  });

  test("lets a copy that reads in small parts while data changes never miss anything", async () => {
    const copy = new Map<string, string>();
    let next = await cursor();
    const shown = async () => {
      const { body } = await world.get("/api/repos?limit=100&sort=created");
      return new Map<string, string>(body.data.map((one: Change) => [one.id, one.fullName]));
    };
    for (const [id, name] of await shown()) copy.set(id, name);
    for (let round = 0; round < 12; round++) {
      await world.record(
        ...[round, round + 3, round * 2].map((i) =>
          known(`b/r${i % 7}v${round % 4}`, `b${i % 7}`, [round, 10 + round]),
        ),
      );
      const { body } = await world.get(`/api/changes?since=${next}&limit=2`);
      for (const one of body.data) copy.set(one.id, one.fullName);
      next = body.meta.nextCursor;
    }
    const rest = await follow(next, 2);
    for (const one of rest.changes) copy.set(one.id, one.fullName);
    const current = await shown();
    for (const [id, name] of current) assert.equal(copy.get(id), name);
  });

  test("is nothing after the daily rebuild of all growth", async () => {
    await world.record(known("d/one", "90", [1, 1]), known("d/one", "90", [5, 2]));
    const since = await cursor();
    world.clock.advance(24 * HOUR_MS);
    await updateDerived(world.modules);
    assert.deepEqual((await follow(since)).changes, []);
    assert.deepEqual((await follow(await cursor())).changes, []);
  });

  test("is a 410 that says to read all again, once all may have changed or the cursor is of another store", async () => {
    const since = await cursor();
    await world.modules.database.write.transaction().execute(bumpRevision);
    assert.equal(
      (await world.get(`/api/changes?since=${since}`)).status,
      200,
      "the growth of all is no change",
    );
    const later = Buffer.from(JSON.stringify([1e12, 1, 1e12, 1])).toString("base64url");
    const expired = {
      status: 410,
      code: "CURSOR_EXPIRED",
      message:
        "All repositories may have changed since. Request /api/changes without since, then read all repositories again.",
    };
    assert.deepEqual(errorOf(await world.get(`/api/changes?since=${later}`)), expired);
    for (const wrong of ["x", "WzFd", "W10", "bnVsbA"])
      assert.equal(errorOf(await world.get(`/api/changes?since=${wrong}`)).code, "INVALID_REQUEST");
    const ids = Array.from({ length: 50_001 }, (_, i) => i + 1);
    const { dialect, write } = world.modules.database;
    await write.transaction().execute((tx) => noteChanges(tx, dialect, ids));
    assert.deepEqual(errorOf(await world.get(`/api/changes?since=${since}`)), expired);
    assert.deepEqual((await follow(await cursor())).changes, []);
  });

  test("updatedAfter and sort=updated list what was read from the forge last, to the millisecond", async () => {
    await world.record(
      ...[900, 100, 500].map((ms) => observation(`c/r${ms}`, daily(1), { at: NOW + HOUR_MS + ms })),
    );
    const { body } = await world.get("/api/repos?sort=updated&limit=3");
    const times = body.data.map((one: { refreshedAt: string }) => one.refreshedAt);
    assert.deepEqual(times, [900, 500, 100].map((ms) => isoTime(NOW + HOUR_MS + ms)));
    const since = await world.get(`/api/repos?updatedAfter=${times[1]}&sort=updated&order=asc`);
    const read = since.body.data.map((one: { refreshedAt: string }) => one.refreshedAt);
    assert.deepEqual(read, [times[1], times[0]]);
  });
});
