import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { LagSamples } from "../../src/database/replicas/lag.js";
import type { ServerFacts } from "../../src/database/replicas/probe.js";
import { serverName } from "../../src/database/replicas/public-reads.js";
import { type Source, Sources } from "../../src/database/replicas/sources.js";
import { ReplicaRefused } from "../../src/database/replicas/status.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const PRIMARY: ServerFacts = {
  isReplica: false,
  position: 1_000,
  system: "7000",
  timeline: 1,
  database: "sidereal",
  schema: "public",
};
const REPLICA: ServerFacts = { ...PRIMARY, isReplica: true };

/** Servers without a network, by name; undefined: it does not respond. */
type Servers = Record<string, ServerFacts | undefined>;

async function follow(servers: Servers) {
  const clock = new ManualClock(NOW);
  const { log, lines } = recordedLog("info");
  const sourceOf = (name: string): Source => {
    // Nothing runs statements here.
    const pool = undefined as unknown as Source["pool"];
    return { name, url: name, pool };
  };
  const names = Object.keys(servers).filter((name) => name !== "primary");
  const sources = new Sources({
    primary: sourceOf("primary"),
    replicas: names.map(sourceOf),
    maxLagMs: 10_000,
    clock,
    log,
    probe: (name) => ({
      async facts() {
        const facts = servers[name];
        if (facts === undefined) throw new Error("it does not respond");
        return facts;
      },
      close() {},
    }),
  });
  after(() => sources.close());
  await sources.start();
  /** Lets seconds pass, in each of which every server is examined, and the primary has written `bytes` more. */
  const pass = async (seconds: number, bytes = 0) => {
    for (let i = 0; i < seconds; i++) {
      if (servers.primary !== undefined)
        servers.primary = { ...servers.primary, position: servers.primary.position + bytes };
      await clock.whenSleeping(() => names.length + 1);
      clock.advance(1_000);
      await setImmediate();
    }
    await clock.whenSleeping(() => names.length + 1);
  };
  const stateOf = (name: string) => sources.status.find((one) => one.name === name)?.state;
  return { sources, lines, pass, stateOf, servers };
}

/** A replica that has everything that the primary of `servers` has. */
const caughtUp = ({ primary = PRIMARY }: Servers): ServerFacts => ({ ...primary, isReplica: true });

test("lag is the age of the newest position that a replica has reached, by one clock", () => {
  const samples = new LagSamples();
  assert.equal(samples.lagAt(1_000), null);
  for (const [position, at] of [
    [100, 0],
    [200, 1_000],
    [200, 5_000],
    [300, 6_000],
  ] as const)
    samples.record(position, at);
  assert.equal(samples.lagAt(99), null);
  assert.equal(samples.lagAt(100), 6_000);
  // While nothing was written, the replica that had it all was not behind.
  assert.equal(samples.lagAt(299), 1_000);
  assert.equal(samples.lagAt(300), 0);
  assert.equal(samples.lagAt(1_000), 0);
});

test("positions are kept for an hour, and not from another history", () => {
  const samples = new LagSamples();
  for (let second = 0; second <= 4_000; second++) samples.record(second, 1_000 * second);
  assert.equal(samples.lagAt(399), null);
  assert.equal(samples.lagAt(400), 3_600_000);
  samples.record(10, 4_001_000);
  assert.equal(samples.lagAt(9), null);
});

test("public reads go to the first replica, and to the next one when it goes away", async () => {
  const { sources, servers, pass, stateOf } = await follow({ primary: PRIMARY, a: REPLICA, b: REPLICA });
  assert.equal(sources.current.name, "a");
  const { generation } = sources;
  servers.a = undefined;
  await pass(1);
  assert.equal(stateOf("a"), "away");
  assert.equal(sources.current.name, "b");
  assert.ok(sources.generation > generation);
  servers.b = undefined;
  await pass(1);
  assert.equal(sources.current, sources.primary);
});

test("a replica that has come back is used after five seconds, not sooner", async () => {
  const { sources, servers, pass, lines } = await follow({ primary: PRIMARY, a: REPLICA });
  sources.leave(sources.current, new Error("the connection was lost"));
  assert.equal(sources.current, sources.primary);
  await pass(5);
  assert.equal(sources.current, sources.primary);
  // Once more away in between: the five seconds begin again.
  servers.a = undefined;
  await pass(1);
  servers.a = REPLICA;
  await pass(5);
  assert.equal(sources.current, sources.primary);
  await pass(1);
  assert.equal(sources.current.name, "a");
  assert.deepEqual(
    lines.filter(({ msg }) => msg.startsWith("public reads")).map(({ msg }) => msg),
    [
      "public reads go to a replica",
      "public reads go to the primary: no replica is usable",
      "public reads go to a replica",
    ],
  );
});

test("a replica beyond the maximum lag is not used until it has caught up", async () => {
  const { sources, servers, pass, stateOf } = await follow({ primary: PRIMARY, a: REPLICA });
  await pass(10, 100);
  assert.equal(sources.current.name, "a");
  assert.equal(sources.status[0]?.lagMs, 10_000);
  await pass(1, 100);
  assert.equal(stateOf("a"), "lagging");
  assert.equal(sources.current, sources.primary);
  servers.a = caughtUp(servers);
  await pass(7);
  assert.equal(sources.current.name, "a");
  assert.deepEqual(sources.status, [{ name: "a", state: "ready", lagMs: 0, isUsed: true }]);
});

test("while the primary is away, a replica is used however long that takes", async () => {
  const { sources, servers, pass } = await follow({ primary: PRIMARY, a: REPLICA });
  await pass(3, 100);
  servers.primary = undefined;
  await pass(600);
  assert.equal(sources.current.name, "a");
  assert.equal(sources.status[0]?.lagMs, 3_000);
});

test("a primary that cannot be examined is logged once, as no replica is used until it can", async () => {
  const { sources, servers, pass, stateOf, lines } = await follow({ primary: undefined, a: REPLICA });
  await pass(5);
  assert.equal(stateOf("a"), "starting");
  assert.equal(sources.current, sources.primary);
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ["the primary cannot be examined: the lag of replicas is not measured"],
  );
  servers.primary = PRIMARY;
  await pass(7);
  assert.equal(sources.current.name, "a");
});

test("a replica that was promoted is not used, nor one that still follows the previous primary", async () => {
  const { sources, servers, pass, stateOf, lines } = await follow({
    primary: PRIMARY,
    a: REPLICA,
    b: REPLICA,
  });
  servers.a = { ...PRIMARY, timeline: 2 };
  await pass(1);
  assert.equal(stateOf("a"), "promoted");
  assert.equal(sources.current.name, "b");
  const { generation } = sources;
  // The address of the primary now leads to the promoted server, where fewer bytes may have been written.
  servers.primary = { ...PRIMARY, timeline: 2, position: 900 };
  await pass(1);
  assert.ok(sources.generation > generation);
  await pass(1);
  assert.equal(stateOf("b"), "diverged");
  assert.equal(sources.current, sources.primary);
  servers.b = caughtUp(servers);
  await pass(7);
  assert.equal(sources.current.name, "b");
  assert.ok(lines.some(({ msg }) => msg === "another server has become the primary"));
});

test("a standby behind the address of the primary is not taken for it", async () => {
  const { sources, servers, pass } = await follow({ primary: PRIMARY, a: REPLICA });
  servers.primary = { ...REPLICA, position: 5_000 };
  await pass(20);
  assert.equal(sources.current.name, "a");
});

for (const [what, facts] of [
  ["cluster", { ...REPLICA, system: "7001" }],
  ["database", { ...REPLICA, database: "other" }],
  ["schema", { ...REPLICA, schema: "other" }],
] as const) {
  test(`a server with another ${what} is refused at the start, and not used later`, async () => {
    await assert.rejects(follow({ primary: PRIMARY, a: facts }), (error) => {
      assert.ok(error instanceof ReplicaRefused);
      assert.match(error.message, /^SIDEREAL_DATABASE_READ_URL: a is not a replica of the database/);
      return true;
    });
    const { sources, servers, pass, stateOf } = await follow({ primary: PRIMARY, a: REPLICA });
    servers.a = facts;
    await pass(1);
    assert.equal(stateOf("a"), "foreign");
    assert.equal(sources.current, sources.primary);
  });
}

test("the primary itself among the replicas keeps nothing from starting, and is not used as one", async () => {
  const { sources, stateOf } = await follow({ primary: PRIMARY, a: PRIMARY });
  assert.equal(stateOf("a"), "promoted");
  assert.equal(sources.current, sources.primary);
});

test("the name of a server contains no password", () => {
  assert.equal(serverName("postgres://user:secret@db2.example/sidereal"), "db2.example:5432");
  assert.equal(serverName("postgres://user:secret@[::1]:6000/sidereal?password=secret"), "[::1]:6000");
  assert.equal(serverName("postgres:///sidereal?host=/run/postgresql&user=x"), "/run/postgresql:5432");
  assert.equal(serverName("postgres://user:se cret@:x"), "a replica");
});
