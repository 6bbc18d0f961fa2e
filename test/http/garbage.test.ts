import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { after, before, test } from "node:test";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { syntheticRepository } from "../../bench/synthetic/synthetic.js";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { collectGarbage, collectYoung } from "../support/collect-garbage.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, GENEROUS, NOW } from "../support/world.js";

// Or V8 may at times make objects old from the beginning, as it sees that many outlive a collection during a response.
setFlagsFromString("--no-allocation-site-pretenuring");

/** Before the first measured request, whose code is compiled by then. */
const WARM_UP = 100;
const REQUESTS = 100;
/** Bytes that a request may leave. */
const MOST = 8_000;
const ATTEMPTS = 5;

/** Bytes of objects on the heap, without code. */
function bytesOnHeap(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => !/^(code|read_only)/.test(name));
  return spaces.reduce((sum, { space_used_size: used }) => sum + used, 0);
}

// V8 cannot free what an old object leads to before it collects all garbage, also where that object is garbage itself. Then each
// collection of young objects copies the remains of earlier requests, while requests wait.
onBothEngines("Requests", (engine) => {
  let service: Service;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  before(async () => {
    const world = await createWorld(engine);
    const others = { repositories: 100, days: 10, seed: 1, end: NOW };
    await world.record(...Array.from({ length: 100 }, (_, i) => syntheticRepository(i, others)));
    const env = {
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_CACHE_MB: "0",
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
    };
    const context = { config: loadConfig(env), clock: world.clock, log: createLog("silent") };
    service = await startService(context, world.modules);
  });
  after(async () => {
    agent.destroy();
    await service.stop();
  });

  const ask = (path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      get(`${service.url}${path}`, { agent }, (response) => {
        assert.equal(response.statusCode, 200, path);
        response.resume().once("end", resolve);
      }).once("error", reject);
    });

  /** Bytes that each request leaves to the next full collection. */
  async function leftBy(path: string): Promise<number> {
    for (let i = 0; i < WARM_UP; i++) await ask(path);
    collectGarbage();
    for (let i = 0; i < REQUESTS; i++) {
      await ask(path);
      collectYoung();
    }
    collectYoung();
    const before = bytesOnHeap();
    collectGarbage();
    return (before - bytesOnHeap()) / REQUESTS;
  }

  test("leave no garbage to full collections", async () => {
    for (const path of [
      "/",
      "/explore",
      "/languages",
      "/api/repos",
      "/api/repos/1",
      "/api/search/suggest?q=a",
    ]) {
      let left = Number.POSITIVE_INFINITY;
      // V8 also frees what it compiled and learned, once. What requests leave is there each time.
      for (let attempt = 0; attempt < ATTEMPTS && left >= MOST; attempt++) left = await leftBy(path);
      process.stdout.write(`# ${path} leaves ${Math.round(left)} bytes\n`);
      assert.ok(left < MOST, `${path} leaves ${Math.round(left)} bytes`);
    }
  });
});
