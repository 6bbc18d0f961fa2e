import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { FAULTS, type Fault, type FaultName } from "../support/forge/forge.js";
import { createTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";
import { checkTruth, makeAllDue, makeRefreshesDue } from "./truth.js";

const FORGES: readonly TrackedForge[] = [
  { kind: "github", name: "GITHUB", repositories: 8, catalogue: "quiet" },
  { kind: "gitlab", name: "GITLAB", repositories: 8, catalogue: "quiet" },
  { kind: "forgejo", name: "CODEBERG", repositories: 8, catalogue: "quiet" },
];
const NAMES = FORGES.map(({ name }) => name);
const LIST = "/api/repos?sort=stars&limit=100";

/** Faults that need real timeouts have their own test. */
const QUICK = FAULTS.filter((name) => name !== "slow" && name !== "stall");
const OF_EACH_SORT: readonly FaultName[] = ["status-404", "html"];
/** Just over the maximum, as compressing is slow. */
const OVERSIZED_BYTES = 17 * 2 ** 20;
/** Costly to receive, so they last only an hour, and only at one forge: all are reached in the same way. */
const COSTLY: readonly FaultName[] = ["huge", "gzip-bomb"];
/** Faults whose responses still contain correct data. */
const HARMLESS: readonly FaultName[] = ["proto-keys", "lone-surrogates"];
/** Per lane: a call, its halves down to one repository, and retries after 30 s, 1 min, 2 min …; per repository, one, and the control of a loss. */
const REQUESTS_IN_FIRST_HOUR = 60;
const REQUESTS_IN_LATER_HOURS = 40;

const faultOf = (name: FaultName, forge: string): Fault => {
  if (!COSTLY.includes(name)) return { name };
  return forge === "CODEBERG" ? { name, bytes: OVERSIZED_BYTES } : { name: "status-500" };
};

onSqliteAndLong("While a forge misbehaves", (engine) =>
  describe("for hours", () => {
    let world: TrackingWorld;
    before(async () => {
      world = await createTrackingWorld(await engine.open(), FORGES, { idleMs: 10 * 60_000 });
      await world.pass(HOUR_MS);
      await makeAllDue(world);
      await world.pass(HOUR_MS);
    });
    after(() => world.close());

    // What is recorded does not depend on the kind of fault, so one of each group is enough there.
    const played = engine.name === "sqlite" ? QUICK : QUICK.filter((name) => OF_EACH_SORT.includes(name));
    for (const name of played) {
      test(`readers notice nothing, nothing false is recorded, and work continues afterwards: ${name}`, async () => {
        const { clock, forge, get, pass } = world;
        const known = await get(LIST);
        assert.equal(known.body.data.length, 24);
        await makeAllDue(world);
        for (const one of NAMES) forge(one).switches.fault = () => faultOf(name, one);
        const faultFrom = clock.now();
        for (let hour = 0; hour < (COSTLY.includes(name) ? 1 : 3); hour++) {
          const asked = NAMES.map((one) => forge(one).counters.requests);
          await pass(HOUR_MS);
          NAMES.forEach((one, i) => {
            const requests = forge(one).counters.requests - (asked[i] ?? 0);
            const bound = hour === 0 ? REQUESTS_IN_FIRST_HOUR : REQUESTS_IN_LATER_HOURS;
            assert.ok(requests <= bound, `${one}: ${requests} requests in hour ${hour}`);
          });
          const list = await get(LIST);
          assert.equal(list.status, 200);
          assert.deepEqual(whatMatters(list.body.data), whatMatters(known.body.data));
          const detail = await get(
            `/api/repos/GITHUB/${known.body.data.find((one: { provider: string }) => one.provider === "GITHUB").fullName}`,
          );
          assert.deepEqual([detail.status, detail.body.data?.availability], [200, "AVAILABLE"]);
        }
        for (const one of NAMES) forge(one).switches.fault = null;
        const faultUntil = clock.now();
        const isBack = async () =>
          (await get(LIST)).body.data.every(
            ({ refreshedAt }: { refreshedAt: string }) => Date.parse(refreshedAt) > faultUntil,
          );
        // Within ten hours; passing all of them costs more.
        for (let hour = 0; hour < 10 && !(await isBack()); hour++) await pass(HOUR_MS);
        const inFault = await checkTruth(world, { from: faultFrom, to: faultUntil });
        if (!HARMLESS.includes(name)) assert.equal(inFault, 0, "snapshots were taken from spoilt answers");
        for (const { refreshedAt, availability } of (await get(LIST)).body.data) {
          assert.equal(availability, "AVAILABLE");
          assert.ok(Date.parse(refreshedAt) > faultFrom, "a repository was not refreshed again");
        }
        for (const one of NAMES) assert.deepEqual(forge(one).violations, []);
        assert.deepEqual(
          world.logged.filter((line) => JSON.parse(line).level >= 50),
          [],
        );
      });
    }

    test("a forge that is down does not delay others", async () => {
      const { forge, pass } = world;
      await makeRefreshesDue(world);
      forge("GITLAB").switches.fault = () => "status-502";
      const before = NAMES.map((one) => forge(one).counters.refreshed);
      await pass(HOUR_MS);
      const refreshed = NAMES.map((one, i) => forge(one).counters.refreshed - (before[i] ?? 0));
      forge("GITLAB").switches.fault = null;
      assert.ok((refreshed[0] ?? 0) >= 8 && (refreshed[2] ?? 0) >= 8, `${refreshed}`);
      assert.equal(refreshed[1], 0);
    });
  }),
);

// biome-ignore lint/suspicious/noExplicitAny: bodies whose shape is proved elsewhere.
const whatMatters = (data: any[]) =>
  data.map(({ id, fullName, availability, description, language }) => ({
    id,
    fullName,
    availability,
    description,
    language,
  }));
