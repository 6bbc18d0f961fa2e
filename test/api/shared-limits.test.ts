import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { openModules } from "../../src/modules.js";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { ManualClock } from "../support/manual-clock.js";
import { unknownSession } from "../support/members.js";
import { RedisServer, WITHOUT_REDIS } from "../support/redis.js";
import { beforeRefill } from "../support/refill.js";
import { GENEROUS, NOW } from "../support/world.js";

const LIMIT = 12;
const LOOKUPS = 5;

describe("Shared limits", { skip: WITHOUT_REDIS }, () =>
  onSqlite("Two services that count in one Redis", (engine) => {
    const server = RedisServer.ofSuite();
    const services: Service[] = [];
    // Only Redis has a real clock here, so no time limit of a service depends on this machine.
    const clock = new ManualClock(NOW);
    let callers = 0;

    before(async () => {
      const log = createLog("silent");
      const config = loadConfig({
        ...GENEROUS,
        SIDEREAL_PORT: "0",
        SIDEREAL_AUTH_SECRET: "s".repeat(40),
        SIDEREAL_REDIS_URL: server.url,
        SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
        ...limits(`default=${LIMIT},lookup=${LOOKUPS}`),
      });
      await engine.open();
      const { url: databaseUrl, dataDir } = engine.location();
      const context = { config: { ...config, databaseUrl, dataDir }, clock, log };
      for (let i = 0; i < 2; i++) services.push(await startService(context, await openModules(context)));
    });
    after(() => Promise.all(services.map((service) => service.stop())));

    /** Asks the services in turn, from an address that nobody has used. */
    const newcomer = () => {
      const address = `198.18.1.${++callers}`;
      let turn = 0;
      return async (path = "/api/stats/summary", headers: Record<string, string> = {}) => {
        const { port } = services[turn++ % 2] ?? {};
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { "X-Forwarded-For": address, ...headers },
        });
        const text = await response.text();
        const left = Number(response.headers.get("x-ratelimit-remaining"));
        return { status: response.status, left, text, headers: response.headers };
      };
    };

    /** A test whose numbers hold until an allowance refills by the clock of Redis. */
    const testBeforeRefill = (name: string, prove: () => Promise<void>) =>
      test(name, () => beforeRefill(prove));

    testBeforeRefill("one after the other, exactly as many pass as are told, whoever is asked", async () => {
      const ask = newcomer();
      for (let left = LIMIT - 1; left >= 0; left--) {
        const answer = await ask("/api/repos?sort=stars");
        assert.deepEqual([answer.status, answer.left], [200, left]);
      }
      const refused = await ask();
      assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "5"]);
      const limits = JSON.parse((await ask("/api/limits")).text).data.buckets[0];
      assert.deepEqual([limits.bucket, limits.remaining], ["default", 0]);
    });

    testBeforeRefill(
      "a bad key costs ten, and a cached answer that has not changed nothing, for both",
      async () => {
        const ask = newcomer();
        assert.equal((await ask("/api/stats/summary", { "X-API-Key": "sid_nothing" })).left, LIMIT - 10);
        const answer = await ask("/api/repos?sort=stars");
        assert.deepEqual([answer.status, answer.left], [200, 1]);
        const again = await ask("/api/repos?sort=stars", {
          "If-None-Match": answer.headers.get("etag") ?? "",
        });
        assert.deepEqual([again.status, again.left], [304, 1]);
        assert.deepEqual([(await ask()).left, (await ask()).status], [0, 429]);
      },
    );

    testBeforeRefill("sessions that nobody knows are looked up as often as one service allows", async () => {
      const ask = newcomer();
      const guess = (i: number) => ask("/api/stats/summary", { Cookie: unknownSession(i, "") });
      const answers = await Promise.all(Array.from({ length: 2 * LOOKUPS }, (_, i) => guess(i)));
      const counted = answers.map(
        ({ status, headers }) => `${status} ${headers.get("x-ratelimit-resource")}`,
      );
      const expected = ["200 default", "429 lookup"].flatMap((one) => new Array<string>(LOOKUPS).fill(one));
      assert.deepEqual(counted.sort(), expected);
    });

    test("when Redis dies in the middle, at most twice the limit passes, and all are answered", async () => {
      const ask = newcomer();
      const statuses: number[] = [];
      const asked = async () => void statuses.push((await ask()).status);
      await Promise.all(Array.from({ length: LIMIT / 2 }, asked));
      const burst = Promise.all(Array.from({ length: 30 }, asked));
      await server.kill();
      await burst;
      await Promise.all(Array.from({ length: 60 }, asked));
      const passed = statuses.filter((status) => status === 200).length;
      assert.equal(statuses.length, LIMIT / 2 + 90);
      assert.ok(passed >= LIMIT && passed <= 2 * LIMIT + services.length, `${passed} passed`);
      assert.deepEqual(new Set(statuses), new Set([200, 429]));
      const other = newcomer();
      assert.deepEqual([(await other()).status, (await other()).status], [200, 200]);
      await server.start();
      const isShared = async () => {
        const next = newcomer();
        return [(await next()).left, (await next()).left].join() === `${LIMIT - 1},${LIMIT - 2}`;
      };
      // Each attempt to connect gets twice the time of the one before.
      for (let ms = 1; !(await isShared()); ms *= 2) {
        clock.advance(1_000);
        await setTimeout(ms);
      }
    });
  }),
);
