import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { readHidingTarget } from "../../src/repositories/repositories.js";
import { onSqliteAndLong } from "../support/engines.js";
import { NOBODY, openRequestWorld as open, SECOND } from "../support/requests.js";
import { snapshotsOf } from "../support/snapshots.js";

onSqliteAndLong("A requested repository", (engine) => {
  test("is recorded within seconds, and its whole star history soon after, page by page", async (t) => {
    const { world, repositories, request, stateOf, restartSlowly } = await open(engine, t);
    const [first] = repositories;
    assert.ok(first);
    await world.pass(SECOND);
    const id = await request(first.fullName.toUpperCase());
    assert.equal(await stateOf(id), "WAITING");
    await world.pass(SECOND);
    const found = await world.modules.catalog.findByName("GITHUB", first.fullName);
    assert.equal(found?.repository.stars, first.stars);
    await world.pass(20 * SECOND);
    const followed = await world.modules.trackRequests.find(id);
    assert.equal(followed?.state, "FINISHED");
    assert.equal(followed.repositoryId, found.repository.id);
    const history = world.forge("GITHUB").counters.byKind.history ?? 0;
    assert.ok(history > 1 && followed.historyPages === history, `${history} pages`);
    const past = (await snapshotsOf(world.modules.database, found.repository.id)).filter(
      ({ source }) => source === "BACKFILLED",
    );
    const oldest = past[0]?.capturedAt ?? 0;
    assert.ok(oldest - first.createdAt <= 8 * DAY_MS, "back to its first week");
    assert.deepEqual(world.forge("GITHUB").violations, []);
    // Everything that follows from it is derived without waiting for the next turn, which is in an hour.
    assert.notEqual((await world.modules.rankings.standing(found.repository.id)).trends["7d"], null);
    await restartSlowly();
    await world.pass(2 * HOUR_MS);
    assert.equal(world.forge("GITHUB").counters.byKind.history, history, "no page is read twice");
  });

  test("stays tracked with fewer stars than are discovered", async (t) => {
    const { world, repositories, request, restartSlowly } = await open(engine, t);
    const last = repositories.at(-1);
    assert.ok(last && last.stars < NOBODY);
    await request(last.fullName);
    await world.pass(10 * SECOND);
    await restartSlowly();
    await world.pass(27 * HOUR_MS);
    const found = await world.modules.catalog.findByName("GITHUB", last.fullName);
    assert.equal(found?.repository.availability, "AVAILABLE");
    const own = (await snapshotsOf(world.modules.database, found.repository.id)).filter(
      ({ source }) => source === "OBSERVED",
    );
    assert.ok(own.length >= 2, `${own.length} readings in a day`);
  });

  test("that does not exist or is not public fails finally, and may be requested again", async (t) => {
    const { world, repositories, request } = await open(engine, t);
    const [hidden, blocked] = repositories;
    assert.ok(hidden && blocked);
    world.forge("GITHUB").catalogue.override(hidden.id, { visibility: "private" });
    world.forge("GITHUB").catalogue.override(blocked.id, { visibility: "blocked" });
    const ids = [await request("no/such"), await request(hidden.fullName), await request(blocked.fullName)];
    await world.pass(5 * SECOND);
    const reasons = await Promise.all(
      ids.map(async (id) => (await world.modules.trackRequests.find(id))?.failure?.reason),
    );
    assert.deepEqual(reasons, ["NOT_FOUND", "NOT_FOUND", "BLOCKED"]);
    assert.equal(world.forge("GITHUB").counters.byKind.repository, 3);
    world.forge("GITHUB").catalogue.override(hidden.id, { visibility: "public" });
    const again = await request(hidden.fullName);
    assert.notEqual(again, ids[1]);
    await world.pass(2 * SECOND);
    assert.notEqual((await world.modules.trackRequests.find(again))?.repositoryId, null);
  });

  test("that operators hide fails as one that does not exist, and is not recorded", async (t) => {
    const { world, repositories, request } = await open(engine, t);
    const [hidden, other] = repositories;
    assert.ok(hidden && other);
    const target = readHidingTarget(`github:${hidden.fullName}`);
    assert.ok(target);
    await world.modules.catalog.hiding.hide({ target, reason: "a mail", note: null, by: "", endsAt: null });
    const ids = [await request("no/such"), await request(hidden.fullName), await request(other.fullName)];
    await world.pass(10 * SECOND);
    const found = await Promise.all(ids.map((id) => world.modules.trackRequests.find(id)));
    const [none, own] = found;
    assert.deepEqual([own?.state, own?.failure], [none?.state, none?.failure]);
    assert.equal(own?.failure?.reason, "NOT_FOUND");
    const rows = await world.modules.database.read.selectFrom("repositories").select("name").execute();
    assert.equal(rows.length, 1);
  });

  test("is found under its new name, and joins what is known of it", async (t) => {
    const { world, repositories, request } = await open(engine, t);
    const [renamed] = repositories;
    assert.ok(renamed);
    world.forge("GITHUB").catalogue.add({
      kind: "renamed",
      id: renamed.id,
      at: world.clock.now(),
      to: "moved/elsewhere",
    });
    const id = await request(renamed.fullName);
    await world.pass(5 * SECOND);
    const found = await world.modules.trackRequests.find(id);
    const repository = await world.modules.catalog.find(found?.repositoryId ?? 0);
    assert.equal(repository?.fullName, "moved/elsewhere");
    const byOldName = await world.get(`/api/repos/github/${renamed.fullName}`);
    assert.equal(byOldName.status, 301);
  });
});

onSqliteAndLong("A forge that does not respond", (engine) => {
  test("for minutes fails no request: all are looked up once it responds again", async (t) => {
    const { world, request, repositories } = await open(engine, t);
    world.forge("GITHUB").switches.fault = ({ kind }) => (kind === "repository" ? "status-500" : undefined);
    const [first, second] = repositories;
    assert.ok(first && second);
    const ids = [await request(first.fullName), await request(second.fullName)];
    await world.pass(10 * 60 * SECOND);
    for (const id of ids) assert.equal((await world.modules.trackRequests.find(id))?.state, "WAITING");
    const lookups = world.forge("GITHUB").counters.byKind.repository ?? 0;
    assert.ok(lookups > 2 && lookups < 20, `${lookups} lookups`);
    world.forge("GITHUB").switches.fault = null;
    await world.pass(11 * 60 * SECOND);
    for (const id of ids)
      assert.notEqual((await world.modules.trackRequests.find(id))?.repositoryId, null, "found");
  });

  test("for a day fails the request in plain words", async (t) => {
    const { world, request, repositories } = await open(engine, t, { everyMs: 60 * SECOND });
    world.forge("GITHUB").switches.fault = ({ kind }) => (kind === "repository" ? "status-500" : undefined);
    const id = await request(repositories[0]?.fullName ?? "");
    await world.pass(60 * SECOND);
    world.clock.advance(DAY_MS);
    await world.pass(2 * 60 * SECOND);
    const failed = await world.modules.trackRequests.find(id);
    assert.deepEqual([failed?.state, failed?.failure?.reason], ["FAILED", "UNREACHABLE"]);
  });

  test("is named as the reason of the wait when nothing else is due, to repositories and to questions", async (t) => {
    const { world, request } = await open(engine, t, { onDemand: true, tokens: [] });
    world.forge("GITHUB").switches.fault = () => "status-502";
    const id = await request("acme/kite");
    const { trackRequests } = world.modules;
    const forges = world.opened.map(({ provider }) => provider.settings);
    const requester = { hasAccount: false, adding: undefined };
    const asked = await trackRequests.ask("kite", { policy: { access: "everyone", forges }, requester });
    const question = asked.kind === "question" ? asked.id : "";
    for (let waits = 0; waits < 3; waits++) {
      await world.pass(10 * SECOND);
      world.worker.wake();
      await world.pass(1);
      const waiting = await trackRequests.find(id);
      const search = (await trackRequests.findQuestion(question))?.answers[0];
      for (const { waitsUntil, isUnreachable } of [waiting, search].filter((one) => one !== undefined))
        assert.ok(waitsUntil === null || isUnreachable, `${waitsUntil}`);
    }
    const { failing } = world.worker.reporters.get("GITHUB")?.report ?? {};
    assert.equal(failing?.kind, "unreachable");
  });

  test("of everything is distinguished from a spent quota", async (t) => {
    const { world, request, repositories } = await open(engine, t);
    world.forge("GITHUB").switches.fault = () => "status-502";
    const id = await request(repositories[0]?.fullName ?? "");
    await world.pass(60 * SECOND);
    const waiting = await world.modules.trackRequests.find(id);
    assert.deepEqual([waiting?.state, waiting?.isUnreachable], ["WAITING", true]);
    world.forge("GITHUB").switches.fault = null;
    await world.pass(10 * 60 * SECOND);
    const done = await world.modules.trackRequests.find(id);
    assert.deepEqual([done?.state, done?.isUnreachable], ["FINISHED", false]);
  });

  test("for one repository alone holds up no other request", async (t) => {
    const { world, request, repositories } = await open(engine, t);
    const [bad, good] = repositories;
    assert.ok(bad && good);
    let lookups = 0;
    world.forge("GITHUB").switches.fault = ({ kind }) =>
      kind === "repository" && ++lookups === 1 ? "status-500" : undefined;
    const ids = [await request(bad.fullName), await request(good.fullName)];
    await world.pass(6 * SECOND);
    const [, found] = await Promise.all(ids.map((id) => world.modules.trackRequests.find(id)));
    assert.notEqual(found?.repositoryId, null);
  });

  test("for the histories of some alone holds up neither lookups nor the histories of others", async (t) => {
    for (const fault of ["status-404", "status-451", "status-500"] as const) {
      const { world, request, repositories, stateOf } = await open(engine, t);
      const odd = new Set(repositories.slice(0, 2).map(({ id }) => `/api/v3/repositories/${id}/`));
      const isOdd = (path: string) => [...odd].some((prefix) => path.startsWith(prefix));
      world.forge("GITHUB").switches.fault = ({ kind, path }) =>
        kind === "history" && (isOdd(path) || path.includes("/repos/")) ? fault : undefined;
      const ids: string[] = [];
      for (const { fullName } of repositories.slice(0, 5)) ids.push(await request(fullName));
      await world.pass(60 * SECOND);
      for (const id of ids.slice(2)) assert.equal(await stateOf(id), "FINISHED", fault);
      const pages = await Promise.all(
        ids.map(async (id) => (await world.modules.trackRequests.find(id))?.historyPages ?? 0),
      );
      assert.deepEqual(
        pages.map((count) => count > 0),
        [false, false, true, true, true],
      );
      await world.pass(60 * SECOND);
      for (const id of ids.slice(0, 2)) assert.equal(await stateOf(id), "FINISHED", "left to the backfill");
    }
  });

  test("in the middle of a history ends the request; the backfill completes it", async (t) => {
    const { world, request, repositories, stateOf, restartSlowly } = await open(engine, t);
    const [first] = repositories;
    assert.ok(first);
    let pages = 0;
    world.forge("GITHUB").switches.fault = ({ kind }) =>
      kind === "history" && ++pages > 2 ? "status-500" : undefined;
    const id = await request(first.fullName);
    await world.pass(10 * 60 * SECOND);
    assert.equal(await stateOf(id), "FINISHED");
    world.forge("GITHUB").switches.fault = null;
    await restartSlowly();
    await world.pass(30 * HOUR_MS);
    const { rows } = { rows: await world.modules.database.read.selectFrom("tracking").selectAll().execute() };
    assert.deepEqual(
      rows.map(({ history_due }) => history_due),
      [null],
    );
  });
});

onSqliteAndLong("A worker that is killed", (engine) => {
  test("between the response and the record has recorded nothing, and the next one does", async (t) => {
    let crashes = 1;
    const { world, request, repositories, stateOf } = await open(engine, t, {
      wrap: (provider) => ({
        ...provider,
        refreshOne: async (fullName, signal) => {
          const found = await provider.refreshOne(fullName, signal);
          if (crashes-- > 0) throw new Error("the process is gone");
          return found;
        },
      }),
    });
    const [first] = repositories;
    assert.ok(first);
    const id = await request(first.fullName);
    await world.pass(5 * SECOND);
    assert.equal(await stateOf(id), "WAITING");
    await world.pass(90 * SECOND);
    assert.equal(await stateOf(id), "FINISHED");
  });
});

onSqliteAndLong("The quota of a forge", (engine) => {
  test("without a token is shared: requests wait with their place, and refreshes go on", async (t) => {
    const { world, request, repositories } = await open(engine, t, {
      tokens: [],
      repositories: 120,
      minStars: 0,
      everyMs: 20 * SECOND,
    });
    await world.pass(2 * HOUR_MS);
    const known = new Set(
      (await world.modules.database.read.selectFrom("repositories").select("name").execute()).map(
        ({ name }) => name,
      ),
    );
    assert.ok(known.size > 0);
    const ids: string[] = [];
    for (let i = 0; i < 60; i++) ids.push(await request(`no/such-${i}`));
    await world.pass(60 * SECOND);
    const last = await world.modules.trackRequests.find(ids.at(-1) ?? "");
    assert.equal(last?.state, "WAITING");
    assert.ok((last.position ?? 0) > 1 && (last.estimatedSeconds ?? 0) > 30, JSON.stringify(last));
    const { write } = world.modules.database;
    await write.updateTable("repositories").set({ next_refresh_at: world.clock.now() }).execute();
    const before = world.forge("GITHUB").counters.byKind["repository-by-id"] ?? 0;
    await world.pass(4 * HOUR_MS);
    assert.equal((await world.modules.trackRequests.find(ids.at(-1) ?? ""))?.state, "FAILED");
    const refreshed = (world.forge("GITHUB").counters.byKind["repository-by-id"] ?? 0) - before;
    // Walks record counts too, so not all of them are requested one by one.
    assert.ok(refreshed >= 20, `${refreshed} refreshes`);
    assert.deepEqual(world.forge("GITHUB").violations, []);
    assert.ok(repositories.length > 0);
  });

  test("is used for a history that somebody waits for down to a sixth, and the request says when it continues", async (t) => {
    const { world, request, repositories, stateOf } = await open(engine, t, {
      tokens: [],
      everyMs: 20 * SECOND,
    });
    const [first] = repositories;
    assert.ok(first);
    world.forge("GITHUB").spend(null, "core", 47);
    const id = await request(first.fullName);
    await world.pass(60 * SECOND);
    const waiting = await world.modules.trackRequests.progress({
      provider: "GITHUB",
      fullName: first.fullName,
    });
    assert.equal(waiting?.state, "HISTORY");
    assert.equal(waiting.isUnreachable, false, "its quota is spent");
    const waitMs = (waiting.waitsUntil ?? 0) - world.clock.now();
    assert.ok(waitMs > 0 && waitMs <= HOUR_MS, `${waitMs} ms`);
    assert.ok(waiting.points > 100, `${waiting.points} points`);
    const left = world.forge("GITHUB").remaining(null, "core") ?? 0;
    assert.ok(left >= 5 && left <= 10, `${left} left`);
    await world.pass(2 * HOUR_MS);
    assert.equal(await stateOf(id), "FINISHED");
  });
});

onSqliteAndLong("On a forge without star histories", (engine) => {
  test("a request is finished once the repository is recorded", async (t) => {
    for (const kind of ["gitlab", "forgejo"] as const) {
      const { world, repositories, request, stateOf } = await open(engine, t, { kind, name: "WORK" });
      const [first] = repositories;
      assert.ok(first);
      const id = await request(first.fullName);
      await world.pass(3 * SECOND);
      assert.equal(await stateOf(id), "FINISHED");
      assert.notEqual(await world.modules.catalog.findByName("WORK", first.fullName), undefined);
    }
  });
});
