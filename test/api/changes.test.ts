import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS, HOUR_MS, isoTime } from "../../src/lib/clock.js";
import { updateDerived } from "../../src/modules.js";
import { bumpRevision, forgetRemoved, noteChanges } from "../../src/repositories/changes.js";
import { errorOf } from "../support/answers.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

interface Change {
  id: string;
  fullName: string;
  availability: string;
  kinds: string[];
  joinedTo?: string;
  record?: { fullName: string } | null;
}

/** Time after which no cached response shows what was before a change. */
const ANNOUNCED_MS = 2_000;

onBothEngines("What changed since a cursor", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
  });

  const cursor = async (): Promise<string> => (await world.get("/api/changes")).body.meta.nextCursor;
  /** All changes since a cursor, in parts of `limit`, with the cursor at their end. */
  async function follow(since: string, limit = 100) {
    const changes: Change[] = [];
    await world.modules.live.current();
    world.clock.advance(ANNOUNCED_MS);
    for (let next = since; ; ) {
      const { status, body } = await world.get(`/api/changes?since=${next}&limit=${limit}&include=record`);
      assert.equal(status, 200, JSON.stringify(body));
      changes.push(...body.data);
      next = body.meta.nextCursor;
      if (!body.meta.hasMore) return { changes, next };
    }
  }
  /** Applies changes to a copy of the catalogue, as the documentation says. */
  const applyTo = (copy: Map<string, unknown>, changes: readonly Change[]) => {
    for (const { id, record } of changes) {
      if (record) copy.set(id, record);
      else copy.delete(id);
    }
  };
  /** All listed repositories, by id. */
  const shown = async () => {
    const { body } = await world.get("/api/repos?limit=100&sort=created");
    return new Map<string, unknown>(body.data.map((one: Change) => [one.id, one]));
  };
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
    const copy = new Map<string, unknown>();
    let next = "start";
    for (let round = 0; round < 12; round++) {
      await world.record(
        ...[round, round + 3, round * 2].map((i) =>
          known(`b/r${i % 7}v${round % 4}`, `b${i % 7}`, [round, 10 + round]),
        ),
      );
      if (round % 3 === 0) await updateDerived(world.modules);
      const { body } = await world.get(`/api/changes?since=${next}&limit=2&include=record`);
      applyTo(copy, body.data);
      next = body.meta.nextCursor;
      world.clock.advance(700);
    }
    applyTo(copy, (await follow(next, 2)).changes);
    const current = await shown();
    assert.ok(current.size > 9);
    for (const [id, record] of current) assert.deepEqual(copy.get(id), record);
  });

  test("begins with all repositories, also unavailable ones, and continues with what changed meanwhile", async () => {
    await world.record(known("e/one", "e1", [1, 1]), known("e/two", "e2", [1, 1]));
    const first = (await world.get("/api/changes?since=start&limit=3&include=record")).body;
    assert.equal(first.meta.hasMore, true);
    await world.record(known("e/one", "e1", [7, 2]));
    const { changes, next } = await follow(first.meta.nextCursor, 3);
    const all: Change[] = [...first.data, ...changes];
    const ids = all.map(({ id }) => Number(id));
    assert.equal(new Set(ids).size, ids.length - 1, "each once, and one again");
    assert.deepEqual(all.find(({ fullName }) => fullName === "a/gone")?.kinds, ["NEW", "GONE"]);
    assert.equal(all.find(({ fullName }) => fullName === "e/two")?.record?.fullName, "e/two");
    assert.deepEqual(kinds(all.slice(-1)), { "e/one": ["COUNTS"] });
    assert.deepEqual((await follow(next)).changes, []);
  });

  test("names those that were joined to another one, and those that were deleted, for 400 days", async () => {
    const { modules, clock } = world;
    const { database, catalog } = modules;
    const old = observation("f/old", [], { at: 0, facts: { stars: 1 } });
    await world.record(old, known("f/name", "f1", [9, 1]), known("f/last", "f2", [1, 1]));
    const idOf = async (name: string) => (await catalog.findByName("GITHUB", name))?.repository.id ?? 0;
    const [oldId, id, lastId] = [await idOf("f/old"), await idOf("f/name"), await idOf("f/last")];
    const since = await follow(await cursor());
    await catalog.joinRenamed({ provider: "GITHUB", from: "f/old", to: "f/name" });
    const joined = await follow(since.next);
    assert.deepEqual(
      joined.changes.find((one) => one.id === String(oldId)),
      {
        ...{ id: String(oldId), provider: "GITHUB", fullName: "f/old", availability: "RENAMED" },
        ...{ kinds: ["JOINED"], joinedTo: String(id), record: null },
      },
    );
    await database.dialect.exclusively(database.write, "catalogue", (tx) => catalog.removeIn(tx, lastId));
    const deleted = await follow(joined.next);
    assert.deepEqual(deleted.changes, [
      {
        ...{ id: String(lastId), provider: null, fullName: null, availability: null },
        ...{ kinds: ["DELETED"], record: null },
      },
    ]);
    const all = (await follow("start")).changes.map((one) => one.id);
    assert.ok(!all.includes(String(oldId)) && !all.includes(String(lastId)));

    assert.equal(await forgetRemoved(database, clock.now() + 399 * DAY_MS), 0);
    await world.record(known("f/name", "f1", [10, 2]));
    const late = await follow(deleted.next);
    assert.equal(await forgetRemoved(database, clock.now() + 400 * DAY_MS), 1);
    assert.equal(errorOf(await world.get(`/api/changes?since=${joined.next}`)).code, "CURSOR_EXPIRED");
    assert.deepEqual((await follow(late.next)).changes, [], "a copy that has seen it continues");
  });

  test("comes no sooner than lists have it, also cached ones", async () => {
    await world.record(known("g/one", "g1", [1, 1]));
    const { next: since } = await follow(await cursor());
    const stars = async () =>
      (await world.get("/api/repos?fullName=g/one")).body.data.map((one: { stars: number }) => one.stars);
    assert.deepEqual(await stars(), [1]);
    await world.record(known("g/one", "g1", [5, 2]));
    for (let waited = 1; ; waited++) {
      const { data } = (await world.get(`/api/changes?since=${since}`)).body;
      const read = await stars();
      if (data.length > 0) return assert.deepEqual(read, [5]);
      assert.ok(waited < 50, "it is announced within five seconds");
      world.clock.advance(100);
    }
  });

  test("is nothing after a rebuild that changes no growth", async () => {
    await world.record(known("d/one", "90", [1, 1]), known("d/one", "90", [5, 2]));
    await updateDerived(world.modules);
    const { next } = await follow(await cursor());
    world.clock.advance(24 * HOUR_MS);
    await updateDerived(world.modules);
    assert.deepEqual((await follow(next)).changes, []);
  });

  test("is a 410 that says to read all again, once all may have changed or the cursor is of another store", async () => {
    const since = await cursor();
    await world.modules.database.write.transaction().execute(bumpRevision);
    assert.equal(
      (await world.get(`/api/changes?since=${since}`)).status,
      200,
      "the growth of all is no change",
    );
    const cursorOf = (...position: (string | number)[]) =>
      Buffer.from(JSON.stringify(position)).toString("base64url");
    const [store] = JSON.parse(Buffer.from(since, "base64url").toString());
    const [later, foreign] = [cursorOf(store, 1e12, 1e12, 1), cursorOf("another", 1, 1, 1)];
    const expired = {
      status: 410,
      code: "CURSOR_EXPIRED",
      message: "All repositories may have changed since. Drop the copy, and begin again with since=start.",
    };
    for (const old of [later, foreign])
      assert.deepEqual(errorOf(await world.get(`/api/changes?since=${old}`)), expired);
    for (const wrong of ["x", "WzFd", "WzEsMSwxLDFd", "W10", "bnVsbA"])
      assert.equal(errorOf(await world.get(`/api/changes?since=${wrong}`)).code, "INVALID_REQUEST");
    const ids = Array.from({ length: 50_001 }, (_, i) => i + 1);
    const { dialect, write } = world.modules.database;
    await write.transaction().execute((tx) => noteChanges(tx, dialect, ids));
    assert.deepEqual(errorOf(await world.get(`/api/changes?since=${since}`)), expired);
    assert.ok((await follow("start")).changes.length > 9);
  });

  test("updatedAfter and sort=updated list what was read from the forge last, to the millisecond", async () => {
    await world.record(
      ...[900, 100, 500].map((ms) => observation(`c/r${ms}`, daily(1), { at: NOW + HOUR_MS + ms })),
    );
    const { body } = await world.get("/api/repos?sort=updated&limit=3");
    const times = body.data.map((one: { refreshedAt: string }) => one.refreshedAt);
    assert.deepEqual(
      times,
      [900, 500, 100].map((ms) => isoTime(NOW + HOUR_MS + ms)),
    );
    const since = await world.get(`/api/repos?updatedAfter=${times[1]}&sort=updated&order=asc`);
    const read = since.body.data.map((one: { refreshedAt: string }) => one.refreshedAt);
    assert.deepEqual(read, [times[1], times[0]]);
  });
});
