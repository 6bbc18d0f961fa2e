import assert from "node:assert/strict";
import { before, test } from "node:test";
import { addAccount } from "../support/accounts.js";
import { onSqlite } from "../support/engines.js";
import { DEFAULT_LIMITS } from "../support/limits.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** The limits of an installation that sets none, behind a proxy. */
const SETTINGS = {
  ...DEFAULT_LIMITS,
  SIDEREAL_TRUSTED_PROXIES: "10.0.0.1",
};
const METRICS = "/api/repos/1/metrics";
/** Each is a fault of another part of an address. */
const MALFORMED = ["?window=%zz", `?${"&".repeat(200)}`, `?x=${"y".repeat(8_000)}`];

onSqlite("A caller with nothing left", (engine) => {
  let world: World;
  let callers = 0;

  before(async () => {
    world = await createWorld(engine, SETTINGS);
    await world.record(observation("a/one", daily(1, 2)));
  });

  /** GET from an address that nobody has used: with the bucket where it is refused for its limit. */
  const newcomer = () => {
    const client = `198.18.0.${callers++}`;
    return async (path: string, { isProxied = false, headers = {} } = {}) => {
      const sent = isProxied ? { ...headers, "X-Forwarded-For": client } : headers;
      const response = await world.request(path, { headers: sent, peer: isProxied ? "10.0.0.1" : client });
      const { status } = response;
      return status === 429 ? `429 ${response.headers.get("x-ratelimit-resource")}` : String(status);
    };
  };

  for (const isProxied of [false, true])
    test(`is refused before its request is read, ${isProxied ? "through a proxy" : "directly"}`, async () => {
      const [ask, other] = [newcomer(), newcomer()];
      for (let i = 0; i < 20; i++) assert.equal(await ask(METRICS, { isProxied }), "200");
      for (const rest of MALFORMED) {
        assert.equal(await ask(METRICS + rest, { isProxied }), "429 heavy");
        assert.match(await other(METRICS + rest, { isProxied }), /^4(?:00|14)$/);
      }
      for (const path of ["/api/stats/summary", "/api/repos?q=a", "/api/limits", "/healthz"])
        assert.equal(await ask(path, { isProxied }), "200", "what else it has left is served");
      assert.equal(await ask("/api/stats/summary?x=%zz", { isProxied }), "400");
    });

  test("may have a key, which has limits of its own", async () => {
    const account = await addAccount(world.modules.database, "unread@example.org");
    const { secret } = await world.members.keys.create(account, "key");
    const ask = newcomer();
    const headers = { "X-API-Key": secret };
    for (let i = 0; i < 21; i++) await ask(METRICS);
    for (let i = 0; i < 60; i++) assert.equal(await ask(METRICS, { headers }), "200");
    assert.equal(await ask(METRICS + MALFORMED[0], { headers }), "429 heavy");
    assert.equal(await ask(`/api/stats/summary${MALFORMED[0]}`, { headers }), "400");
  });

  test("is refused for the bucket of its search, which is found in a long query without reading it", async () => {
    const ask = newcomer();
    const long = `x=${"y".repeat(400)}`;
    for (let i = 0; i < 120; i++) await ask("/api/stats/summary");
    for (const query of [long, `q=&${long}`, `q&q=a&${long}`, `aq=a&${long}`])
      assert.equal(await ask(`/api/repos?${query}`), "429 default", query);
    for (const query of [`q=a&${long}`, `${long}&%71=a`])
      assert.equal(await ask(`/api/repos?${query}`), "200", query);
    for (let i = 0; i < 120; i++) await ask("/api/search/suggest?q=o");
    assert.equal(await ask(`/api/repos?q=a&${long}&z=%zz`), "429 search");
  });

  test("waits for all that its request costs", async () => {
    const ask = async (path: string) => {
      const { status, headers } = await world.request(path, { peer: "198.19.0.1" });
      return `${status} ${headers.get("retry-after") ?? ""}`;
    };
    for (let i = 0; i < 120; i++) await ask("/api/stats/summary");
    assert.equal(await ask("/api/stats/summary"), "429 1");
    assert.equal(await ask("/api/repos?limit=100"), "429 2");
    world.clock.advance(1_500);
    assert.equal(await ask("/api/repos?limit=100"), "200 ");
  });
});
