import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { buildFront } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { InnerRequest, Sender } from "../../src/http/request.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { GENEROUS, NOW } from "../support/world.js";

const CALLER = { kind: "anonymous", name: "192.0.2.1" } as const;
const SOMEBODY: Sender = {
  caller: CALLER,
  address: CALLER,
  keyId: undefined,
  userAgent: undefined,
  isGone: () => false,
};

async function open(engine: Engine) {
  const clock = new ManualClock(NOW);
  const log = createLog("silent");
  const modules = buildModules(await engine.open(), { clock, log });
  const config = loadConfig({ SIDEREAL_BASE_URL: "https://sidereal.example", ...GENEROUS });
  const front = buildFront({ config, clock, log }, modules);
  const get = (url: string, sender = SOMEBODY) => front.ask(sender, { method: "GET", url });
  return { front, modules, get };
}

/** Counts the repositories that are looked up. */
function countLookups(t: TestContext, { modules }: Awaited<ReturnType<typeof open>>): () => number {
  const { mock } = t.mock.method(modules.catalog, "describe");
  return () => mock.callCount();
}

onBothEngines("A request within another one", (engine) => {
  test("gets what its route returns, errors too", async () => {
    const { get, front } = await open(engine);
    const found = await get("/api/limits");
    assert.equal(found.status, 200);
    assert.equal(JSON.parse(found.body).data.caller, "anonymous");
    const post: InnerRequest = { method: "POST", url: "/api/watchlists", json: { name: "Mine" } };
    assert.equal((await front.ask(SOMEBODY, post)).status, 201);
    for (const [url, status] of [
      ["/api/nothing", 404],
      ["/api/repos?limit=0", 400],
      ["/api/%", 400],
      ["/api/../x", 400],
      ["/api/me", 401],
      ["/api/repos.ndjson", 401],
    ] as const)
      assert.equal((await get(url)).status, status, url);
  });

  test("is not computed when its sender is gone by the time of its turn", async (t) => {
    const world = await open(engine);
    const lookups = countLookups(t, world);
    const first = world.get("/api/repos/github/a/one");
    const second = world.get("/api/repos/github/a/two", { ...SOMEBODY, isGone: () => true });
    await assert.rejects(second, /Nobody waits/);
    assert.equal((await first).status, 404);
    assert.equal(lookups(), 1);
  });
});
