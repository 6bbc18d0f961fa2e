import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { onBothEngines } from "../support/engines.js";
import { openRequestWorld as open, SECOND } from "../support/requests.js";

onBothEngines("Requests that nobody waits for", (engine) => {
  test("come after those of people, and leave histories to the backfill; their list gets what is found", async (t) => {
    const { world, request, repositories, stateOf } = await open(engine, t);
    await world.stop();
    const { trackRequests, watchlists, database } = world.modules;
    const { watchlist, token } = await watchlists.create("Found", []);
    const names = repositories.slice(1, 6).map(({ fullName }) => ({ provider: "GITHUB", fullName }));
    const queue = async (addresses: typeof names) => {
      const options = { watchlistId: watchlist.id };
      return (await trackRequests.add(addresses, { isBatch: true }, options)).map((row) => row?.public_id);
    };
    const ids = await queue([...names, { provider: "GITHUB", fullName: "no/such" }]);
    const again = await queue(names);
    assert.deepEqual(again, ids.slice(0, 5));
    const person = await request(repositories[0]?.fullName ?? "");
    assert.equal((await trackRequests.find(person))?.position, 1);
    await world.restart();
    await world.pass(60 * SECOND);
    assert.equal(await stateOf(person), "FINISHED");
    const states = await Promise.all(ids.map((id) => stateOf(id ?? "")));
    assert.deepEqual(states, [...names.map(() => "FINISHED"), "FAILED"]);
    const { items } = await watchlists.get({ token });
    assert.equal(items.length, 5);
    const waiting = await database.read.selectFrom("tracking").selectAll().execute();
    assert.equal(waiting.length, 6);
  });

  test("go into every list that they were queued for, also the one that joined during the history", async (t) => {
    const { world, request, repositories, stateOf } = await open(engine, t);
    await world.stop();
    const { trackRequests, watchlists } = world.modules;
    const [first, second] = repositories;
    assert.ok(first && second);
    const lists = [
      await watchlists.create("One", []),
      await watchlists.create("Two", []),
      await watchlists.create("Late", []),
    ];
    const [one, two, late] = lists;
    assert.ok(one && two && late);
    const both = [first, second].map(({ fullName }) => ({ provider: "GITHUB", fullName }));
    for (const { watchlist } of [one, two, two])
      await trackRequests.add(both, { isBatch: true }, { watchlistId: watchlist.id });
    const person = await request(first.fullName);
    world.forge("GITHUB").switches.fault = ({ kind }) => (kind === "history" ? "status-500" : undefined);
    await world.restart();
    await world.pass(3 * SECOND);
    assert.equal(await stateOf(person), "FOUND");
    await trackRequests.add(both.slice(0, 1), { isBatch: true }, { watchlistId: late.watchlist.id });
    await world.pass(30 * SECOND);
    const sizes = [];
    for (const { token } of lists) sizes.push((await watchlists.get({ token })).items.length);
    assert.deepEqual(sizes, [2, 2, 1]);
    const left = await world.modules.database.read.selectFrom("wanted").select("watchlists").execute();
    assert.deepEqual(left, [{ watchlists: null }, { watchlists: null }]);
  });

  test("are not lost with their list", async (t) => {
    const { world, repositories, stateOf } = await open(engine, t);
    const { trackRequests, watchlists } = world.modules;
    const { watchlist, token } = await watchlists.create("Deleted", []);
    const [first] = repositories;
    assert.ok(first);
    const [wanted] = await trackRequests.add(
      [{ provider: "GITHUB", fullName: first.fullName }],
      { isBatch: true },
      { watchlistId: watchlist.id },
    );
    await watchlists.remove({ token });
    await world.pass(10 * SECOND);
    assert.equal(await stateOf(wanted?.public_id ?? ""), "FINISHED");
  });
});

onBothEngines("Old requests", (engine) => {
  test("are removed a week after they finished, and given up if no worker works them off", async (t) => {
    const { world, request, stateOf } = await open(engine, t);
    const id = await request("no/such");
    await world.pass(5 * SECOND);
    assert.equal(await stateOf(id), "FAILED");
    await world.stop();
    const left = await request("no/other");
    const elsewhere = await world.modules.trackRequests.add([{ provider: "GITLAB", fullName: "a/b" }], {
      isBatch: true,
    });
    const { write } = world.modules.database;
    const recorded = await request("no/history");
    await write
      .updateTable("wanted")
      .set({ repository_id: 1, pages: 3 })
      .where("public_id", "=", recorded)
      .execute();
    const restartLater = async () => {
      world.clock.advance(8 * DAY_MS);
      await world.modules.deletionClock.force();
      await world.restart();
      await world.pass(5 * SECOND);
    };
    await restartLater();
    assert.equal(await stateOf(id), "none");
    assert.equal(await stateOf(recorded), "FINISHED", "only its history is left to the backfill");
    assert.equal(await stateOf(left), "FAILED");
    assert.equal(await stateOf(elsewhere[0]?.public_id ?? ""), "FAILED");
    await restartLater();
    assert.equal(await stateOf(left), "none");
  });
});
