import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Limits, readLimits } from "../../../src/config/limits.js";
import { type Caller, NETWORK_FACTOR } from "../../../src/http/metering/rates.js";
import { openAllowances } from "../../../src/http/metering/shared-limiter.js";
import { openRedis } from "../../../src/http/redis/redis.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { temporaryFolder } from "../../support/imports.js";
import { freePort } from "../../support/ports.js";
import { redisAddress, WITHOUT_REDIS } from "../../support/redis.js";
import {
  makeCertificate,
  newServers,
  startCluster,
  startSentinelGroup,
  tell,
} from "../../support/redis-group.js";
import { beforeRefill } from "../../support/refill.js";
import { until } from "../../support/until.js";

const LIMIT = 6;
const SECRET = "a secret that all of them have";
let people = 0;
const newcomer = (): Caller => ({ kind: "anonymous", name: `caller ${people++}` });

/** What one process has of Redis at an address, in real time as other programs decide how long they take. */
async function openOne(t: TestContext, url: string, caFile?: string) {
  const limits: Limits = {
    ...readLimits({}, []),
    default: { anonymous: LIMIT, signed_in: LIMIT, key: LIMIT },
  };
  const log = createLog("silent");
  const said: string[] = [];
  log.warn = (...args: unknown[]) => void said.push(JSON.stringify(args));
  const readSecret = async () => SECRET;
  const clock = systemClock;
  const redis = openRedis({ address: redisAddress(url), caFile, clock, log, readSecret });
  t.after(() => redis.close());
  const { client, messages } = redis;
  const allowances = await openAllowances({ limits, redis: client, memory: undefined, clock, readSecret });
  assert.ok(allowances);
  const heard = { revoked: 0, revised: 0 };
  messages.follow({ revoked: () => heard.revoked++, revised: () => heard.revised++ });
  const ask = async (caller: Caller) => allowances.decide(caller, "default", 1);
  return { client, messages, heard, said, ask };
}

type One = Awaited<ReturnType<typeof openOne>>;

/** Two processes count together, and hear of each other. */
async function assertShared(one: One, two: One): Promise<void> {
  await until("both use Redis", async () => one.client.isAvailable && two.client.isAvailable);
  await beforeRefill(async () => {
    const caller = newcomer();
    const left = [];
    for (const { ask } of [one, two, one, two]) left.push((await ask(caller)).remaining);
    assert.deepEqual(left, [5, 4, 3, 2]);
  });
  await until("both receive", async () => one.heard.revoked > 0 && two.heard.revoked > 0);
  const before = two.heard.revoked;
  await one.messages.publish("revoked");
  await until("the message arrives", async () => two.heard.revoked === before + 1);
}

describe("Redis as it is deployed", { skip: WITHOUT_REDIS }, () => {
  test("with TLS only a certificate of the given authority is accepted", async (t) => {
    const [server] = newServers(1);
    assert.ok(server);
    const { ca, cert, key } = makeCertificate(server.folder);
    const port = String(await freePort());
    const files = {
      "tls-cert-file": cert,
      "tls-key-file": key,
      "tls-ca-cert-file": ca,
      "tls-auth-clients": "no",
    };
    await server.start({ port: "0", "tls-port": port, ...files });
    const url = `rediss://127.0.0.1:${port}`;
    await assertShared(await openOne(t, url, ca), await openOne(t, url, ca));
    for (const caFile of [undefined, makeCertificate(temporaryFolder()).ca]) {
      const stranger = await openOne(t, url, caFile);
      assert.equal(stranger.client.isAvailable, false);
      assert.match(stranger.said.join(), /certificate/);
    }
    const named = await openOne(t, `rediss://localhost:${port}`, ca);
    assert.equal(named.client.isAvailable, false, "the certificate is of another name");
  });

  test("a user with no more permissions than documented is enough", async (t) => {
    const [server] = newServers(1);
    assert.ok(server);
    const file = join(server.folder, "users.acl");
    const allowed =
      "~sidereal:* &sidereal:* -@all +evalsha +eval +get +set +del +time +publish +subscribe +ping +info +client|setname";
    writeFileSync(file, `user default off\nuser sidereal on >p@ss ${allowed}\n`);
    await server.start({ aclfile: file });
    const url = `redis://sidereal:p%40ss@127.0.0.1:${server.port}`;
    await assertShared(await openOne(t, url), await openOne(t, url));
    const wrong = await openOne(t, `redis://sidereal:hunter2@127.0.0.1:${server.port}`);
    assert.equal(wrong.client.isAvailable, false);
    assert.match(wrong.said.join(), /WRONGPASS/);
    assert.doesNotMatch(wrong.said.join(), /hunter2/);
  });

  test("a cluster counts all limits of a request together, and passes messages on between its nodes", async (t) => {
    const servers = await startCluster(3);
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
    const one = await openOne(t, `redis+cluster://${nodes.join()}`);
    const two = await openOne(t, `redis+cluster://${nodes[2]}`);
    await assertShared(one, two);
    await beforeRefill(async () => {
      const network = `network ${people++}`;
      let passed = 0;
      for (let host = 0; host < 2 * NETWORK_FACTOR; host++)
        for (let request = 0; request < LIMIT; request++)
          if (
            (await (host % 2 === 0 ? one : two).ask({ ...newcomer(), name: `${network} ${host}`, network }))
              .allowed
          )
            passed++;
      assert.equal(passed, NETWORK_FACTOR * LIMIT);
    });
    for (let i = 0; i < 40; i++) await one.ask(newcomer());
    for (const server of servers) {
      const keys = await tell(server, "keys", "sidereal:limit:*:default:*");
      assert.ok(Array.isArray(keys) && keys.length > 0, "each node has a part of the callers");
    }
    assert.deepEqual([one.said, two.said], [[], []]);
  });

  test("a cluster that has lost a master is away, and each process limits for itself until it is complete", async (t) => {
    const servers = await startCluster(3);
    const one = await openOne(t, `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join()}`);
    assert.equal(one.client.isAvailable, true);
    servers[1]?.pause();
    t.after(() => servers[1]?.resume());
    const callers = Array.from({ length: 30 }, newcomer);
    for (const caller of callers)
      for (let request = 0; request < 2 * LIMIT; request++) {
        const { allowed } = await one.ask(caller);
        assert.equal(allowed, request < LIMIT, `request ${request} of ${caller.name}`);
      }
    assert.equal(one.client.isAvailable, false);
    servers[1]?.resume();
    await until("it is used again", async () => one.client.isAvailable);
  });

  test("after a failover by Sentinel the new master is used, and nobody starts over", async (t) => {
    const { master, replica, sentinels } = await startSentinelGroup("ours");
    const url = `redis+sentinel://127.0.0.1:1,${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/ours`;
    const [one, two] = [await openOne(t, url), await openOne(t, url)];
    await assertShared(one, two);
    const caller = newcomer();
    for (let i = 0; i < LIMIT; i++) assert.equal((await one.ask(caller)).allowed, true);
    await master.kill();
    const killedAt = performance.now();
    let passed = 0;
    await until("the replica is the master, and both use it", async () => {
      if ((await one.ask(caller)).allowed) passed++;
      await setImmediate();
      const role = String(await tell(replica, "info", "replication"));
      return role.includes("role:master") && one.client.isAvailable && two.client.isAvailable;
    });
    const refills = Math.ceil((LIMIT * (performance.now() - killedAt)) / 60_000);
    assert.ok(passed <= refills + 1, `${passed} passed, and ${refills} came back meanwhile`);
    await assertShared(one, two);
  });
});
