import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openRequestWorld as open, SECOND } from "../support/requests.js";

const WITHOUT_TOKEN = { tokens: [], repositories: 90, onDemand: true } as const;

onSqliteAndLong("Without a token, on demand", (engine) => {
  test("71 pasted names have counts within the hour, before any second page of a history", async (t) => {
    const { world, repositories, request } = await open(engine, t, WITHOUT_TOKEN);
    const forge = world.forge("GITHUB");
    const names = repositories.slice(0, 78).map(({ fullName }) => fullName);
    const [renamed] = forge.catalogue.ids().filter((id) => id === repositories[20]?.id);
    const at = world.clock.now();
    forge.catalogue.add({ kind: "renamed", id: renamed ?? 0, at, to: "moved/elsewhere" });
    forge.switches.listingAgeMs = 0;
    const sent: string[] = [];
    forge.switches.fault = ({ kind, query }) => {
      sent.push(kind === "history" ? `history ${query.get("page")}` : kind);
      return undefined;
    };
    for (const name of names.slice(0, 7)) await request(name);
    const pasted = [...names.slice(7), "no/such"].map((fullName) => ({ provider: "GITHUB", fullName }));
    const { trackRequests, database } = world.modules;
    const listId = await trackRequests.addPasted(pasted, undefined);
    const last = async () => {
      const requests = await database.read
        .selectFrom("wanted")
        .selectAll()
        .where("kind", "=", "repository")
        .orderBy("id")
        .execute();
      const known = requests.filter(({ repository_id }) => repository_id !== null).length;
      const row = requests.findLast((one) => one.finished_at === null && one.repository_id === null);
      return { known, waiting: row && (await trackRequests.find(row.public_id)) };
    };
    await world.pass(60 * SECOND);
    const soon = await last();
    assert.ok(soon.known > 20, `${soon.known} within a minute`);
    await world.pass(4 * 60 * SECOND);
    const list = await trackRequests.findList(listId);
    assert.deepEqual([list?.recorded, list?.failed, list?.waiting], [71, 1, 0], JSON.stringify(list));
    assert.deepEqual(list?.requests[0]?.fullName, "no/such");
    const firstOld = sent.findIndex((one) => /^history ([2-9]|\d\d)/.test(one));
    const lastLookup = sent.findLastIndex((one) => one === "search" || one === "repository");
    assert.ok(firstOld === -1 || firstOld > lastLookup, sent.join());
    assert.ok(sent.filter((one) => one === "repository").length <= 3, "only what a search does not find");
    await world.pass(HOUR_MS);
    assert.deepEqual(forge.violations, []);
  });

  test("names that no search finds wait for the quota, and the estimate is kept", async (t) => {
    const { world, request } = await open(engine, t, { ...WITHOUT_TOKEN, everyMs: 20 * SECOND });
    const forge = world.forge("GITHUB");
    forge.spend(null, "core", 50);
    const { trackRequests } = world.modules;
    const pasted = Array.from({ length: 40 }, (_, i) => ({ provider: "GITHUB", fullName: `no/such-${i}` }));
    const listId = await trackRequests.addPasted(pasted, undefined);
    const rows = await world.modules.database.read.selectFrom("wanted").selectAll().execute();
    const id = rows.at(-1)?.public_id ?? "";
    await world.pass(40 * 60 * SECOND);
    world.worker.wake();
    await world.pass(SECOND);
    const waiting = await trackRequests.find(id);
    assert.equal(waiting?.state, "WAITING");
    const promised = world.clock.now() + (waiting.estimatedSeconds ?? 0) * SECOND;
    assert.ok(promised - world.clock.now() > 60 * SECOND, `${waiting.estimatedSeconds} s`);
    await world.pass(promised + 30 * SECOND - world.clock.now());
    assert.equal((await trackRequests.find(id))?.state, "FAILED");
    assert.equal((await trackRequests.findList(listId))?.failed, 40);
    // A person comes first, whatever waits.
    const person = await request("no/such-person");
    await world.pass(40 * SECOND);
    assert.equal((await trackRequests.find(person))?.state, "FAILED");
    assert.deepEqual(forge.violations, []);
  });

  test("a search that fails does not keep names from being looked up", async (t) => {
    const { world, repositories, request, stateOf } = await open(engine, t, WITHOUT_TOKEN);
    world.forge("GITHUB").switches.fault = ({ kind }) => (kind === "search" ? "status-500" : undefined);
    const ids = [];
    for (const { fullName } of repositories.slice(0, 3)) ids.push(await request(fullName));
    await world.pass(5 * 60 * SECOND);
    for (const id of ids) assert.notEqual((await world.modules.trackRequests.find(id))?.repositoryId, null);
    assert.notEqual(await stateOf(ids[0] ?? ""), "WAITING");
  });
});
