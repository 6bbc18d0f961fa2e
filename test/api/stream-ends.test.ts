import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { ApiKeys } from "../../src/accounts/api-keys.js";
import { type KeyedRequest, Usage } from "../../src/accounts/usage.js";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { Lists } from "../../src/discovery/lists/lists.js";
import type { ListSpec } from "../../src/discovery/lists/spec.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { createWorld, GENEROUS, NOW, observation, snapshot } from "../support/world.js";

/** Enough for a stream that no system buffers: 20 kB each. */
const REPOSITORIES = 1_000;
const DESCRIPTION = "é".repeat(10_000);
const PATH = "/api/repos.ndjson?sort=stars";
const END = "0\r\n\r\n";

/** What a client got of a stream. */
interface Got {
  text: string;
  /** The error of the connection; undefined if it was closed as usual. */
  error: Error | undefined;
}

onSqliteAndLong("A stream that ends early", (engine) => {
  let database: Database;
  let clock: ManualClock;
  let service: Service;
  let keys: ApiKeys;
  let account: string;
  let key: { id: number; secret: string };
  const recorded: KeyedRequest[] = [];

  before(async () => {
    const world = await createWorld(engine);
    ({ database } = world.modules);
    account = await addAccount(database, "ann@example.org");
    await world.record(
      ...Array.from({ length: REPOSITORIES }, (_, i) =>
        observation(`big/r${i}`, [snapshot(0, i)], { facts: { description: DESCRIPTION } }),
      ),
    );
  });
  after(() => service.stop());

  const start = async () => {
    clock = new ManualClock(NOW);
    const log = createLog("silent");
    const modules = buildModules(database, { clock, log });
    keys = new ApiKeys(accountsContext(database, clock));
    const config = loadConfig({
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_LOG_LEVEL: "silent",
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
    });
    service = await startService({ config, clock, log }, modules);
  };
  beforeEach(async (t) => {
    if (service === undefined) await start();
    recorded.length = 0;
    (t as TestContext).mock.method(Usage.prototype, "record", (request: KeyedRequest) => {
      recorded.push(request);
    });
    const created = await keys.create(account, `key ${Math.random()}`);
    key = { id: created.key.id, secret: created.secret };
  });
  const retire = () => keys.revoke(account, key.id);

  /** Opens a stream and reads its beginning, then nothing. */
  const open = async (version = "1.1"): Promise<Socket> => {
    const socket = connect(service.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `GET ${PATH} HTTP/${version}\r\nHost: 127.0.0.1:${service.port}\r\nX-API-Key: ${key.secret}\r\n\r\n`,
    );
    await once(socket, "readable");
    return socket;
  };
  /** Reads a stream to its end. */
  const readOn = async (socket: Socket): Promise<Got> => {
    const chunks: Buffer[] = [];
    let error: Error | undefined;
    socket.on("error", (one) => {
      error = one;
    });
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.subarray(-END.length).toString("latin1") === END) socket.end();
    });
    await closed;
    return { text: Buffer.concat(chunks).toString("latin1"), error };
  };
  const until = async (isDone: () => boolean) => {
    while (!isDone()) await setImmediate();
  };
  /** Fails unless the key can open a stream again, which is whole. */
  const assertFree = async () => {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
        headers: { "X-API-Key": key.secret },
      });
      const text = await response.text();
      if (response.status === 429) continue;
      assert.equal(response.status, 200, text);
      assert.equal(text.split("\n").length, REPOSITORIES + 1);
      return;
    }
  };

  test("is recorded with its bytes when it ends; whole, with all of them", async () => {
    const { text, error } = await readOn(await open());
    assert.equal(error, undefined);
    assert.ok(text.endsWith(END));
    await until(() => recorded.length === 1);
    const [{ status, bytes, code, route }] = recorded as [KeyedRequest];
    assert.deepEqual([status, code, route], [200, null, "/api/repos.ndjson"]);
    const plain = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
      headers: { "X-API-Key": key.secret, "Accept-Encoding": "identity" },
    });
    assert.equal(bytes, (await plain.arrayBuffer()).byteLength);
    await retire();
  });

  test("because its client has gone is recorded without an error", async () => {
    const socket = await open();
    socket.resetAndDestroy();
    await until(() => recorded.length === 1);
    assert.deepEqual([recorded[0]?.status, recorded[0]?.code], [200, null]);
    await retire();
  });

  /** Lets the second batch of streams fail, after the first was sent. */
  const failLater = (t: TestContext) => {
    const real = Lists.prototype.read;
    t.mock.method(Lists.prototype, "read", function (this: Lists, spec: ListSpec) {
      if ("after" in spec.page) throw new Error("the database has failed");
      return real.call(this, spec);
    });
  };

  test("because the database failed is cut short, and the next one is whole", async (t) => {
    failLater(t);
    const { text, error } = await readOn(await open());
    assert.match(String(error), /ECONNRESET/);
    assert.ok(!text.endsWith(END));
    await until(() => recorded.length === 1);
    assert.deepEqual([recorded[0]?.status, recorded[0]?.code], [500, "INTERNAL"]);
    t.mock.restoreAll();
    await assertFree();
    await retire();
  });

  test("before its first row is an ordinary error", async () => {
    await sql`alter table repositories rename to hidden`.execute(database.write);
    const response = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
      headers: { "X-API-Key": key.secret },
    });
    await sql`alter table hidden rename to repositories`.execute(database.write);
    assert.equal(response.status, 500);
    assert.match(await response.text(), /"code":"INTERNAL"/);
    await assertFree();
    await retire();
  });

  test("over HTTP/1.0 is reset, as only the end of the connection ends a whole one", async (t) => {
    const whole = await readOn(await open("1.0"));
    assert.equal(whole.error, undefined);
    assert.equal(whole.text.split("\n").filter((line) => line.startsWith('{"id"')).length, REPOSITORIES);
    assert.ok(!/transfer-encoding/i.test(whole.text.slice(0, 2_000)));
    await until(() => recorded.length === 1);
    failLater(t);
    assert.match(String((await readOn(await open("1.0"))).error), /ECONNRESET/);
  });
});
