import assert from "node:assert/strict";
import { before, test } from "node:test";
import { AppError } from "../../src/lib/errors.js";
import { addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { DEFAULT_LIMITS } from "../support/limits.js";
import { call, connectMcp, message, PING } from "../support/mcp.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** The limits of an installation that sets none. */
interface Left {
  data: { buckets: { bucket: string; remaining: number }[] };
}

onSqliteAndLong("Calls of tools", (engine) => {
  let world: World;
  let callers = 0;

  before(async () => {
    world = await createWorld(engine, { ...DEFAULT_LIMITS, SIDEREAL_CACHE_MB: "16" });
    await world.record(observation("a/one", daily(1, 2, 3)), observation("b/two", daily(4, 5, 6)));
  });

  /** An address that nobody has used, with what is left to it. */
  const newcomer = () => {
    const peer = `198.18.${callers >> 8}.${callers++ & 255}`;
    const left = async (): Promise<Record<string, number>> => {
      const { data }: Left = JSON.parse(await (await world.request("/api/limits", { peer })).text());
      return Object.fromEntries(data.buckets.map(({ bucket, remaining }) => [bucket, remaining]));
    };
    /** What something costs, by bucket. */
    const costOf = async (run: () => Promise<unknown>): Promise<Record<string, number>> => {
      const before = await left();
      await run();
      const after = await left();
      const costs = Object.entries(before).map(
        ([bucket, units]) => [bucket, units - (after[bucket] ?? 0)] as const,
      );
      return Object.fromEntries(costs.filter(([bucket, units]) => units !== 0 && bucket !== "free"));
    };
    return { peer, costOf };
  };

  test("cost what their routes cost, and nothing besides", async () => {
    const { peer, costOf } = newcomer();
    const client = await connectMcp(world, { peer });
    const single = { repositories: "github:a/one" };
    const compared = { repositories: ["github:a/one", "github:b/two"] };
    const { token } = await world.modules.watchlists.create("Mine", []);
    const costs = {
      filtered: await costOf(() => call(client, "search_repositories", { sort: "stars" })),
      search: await costOf(() => call(client, "search_repositories", { q: "one" })),
      cached: await costOf(() => call(client, "search_repositories", { q: "one" })),
      repository: await costOf(() => call(client, "get_repositories", single)),
      repositories: await costOf(() => call(client, "get_repositories", compared)),
      series: await costOf(() => call(client, "get_series", { ...single, from: "2026-01-01" })),
      several: await costOf(() => call(client, "get_series", compared)),
      compare: await costOf(() => call(client, "compare_repositories", compared)),
      created: await costOf(() => call(client, "create_watchlist", {})),
      added: await costOf(() => call(client, "add_to_watchlist", { token, ...compared })),
      guessed: await costOf(() => call(client, "read_watchlist", { token: "sidw_guess" })),
    };
    assert.deepEqual(costs, {
      filtered: { default: 1 },
      search: { search: 1 },
      cached: { search: 1 },
      repository: { default: 1 },
      repositories: { default: 2 },
      series: { heavy: 1 },
      several: { heavy: 1 },
      compare: { heavy: 2 },
      created: { write: 3 },
      added: { write: 1 },
      guessed: { default: 10 },
    });
  });

  test("that never reach the API, and all other messages, cost one unit", async () => {
    const { peer, costOf } = newcomer();
    const client = await connectMcp(world, { peer });
    const one = { default: 1 };
    assert.deepEqual(await costOf(() => client.listTools()), one);
    assert.deepEqual(await costOf(() => client.ping()), one);
    assert.deepEqual(await costOf(() => call(client, "nothing")), one);
    assert.deepEqual(await costOf(() => call(client, "get_repositories", { wrong: 1 })), one);
    assert.deepEqual(await costOf(() => world.request("/mcp", { ...message([PING, PING]), peer })), one);
    assert.deepEqual(await costOf(() => world.request("/mcp", { ...message("{"), peer })), one);
  });

  test("beyond the limit are tool errors with the seconds to wait, in the same count as the API", async () => {
    const { peer } = newcomer();
    const client = await connectMcp(world, { peer });
    const path = "/api/embed/chart?repo=github:a/one&repo=github:b/two";
    for (let i = 0; i < 5; i++) assert.equal((await world.request(path, { peer })).status, 200);
    const args = { repositories: ["github:a/one", "github:b/two"] };
    for (let i = 0; i < 5; i++)
      assert.equal((await call(client, "compare_repositories", args)).isError, false);
    const refused = await call(client, "compare_repositories", args);
    assert.deepEqual(refused.error, { code: "RATE_LIMITED", retryAfterSeconds: 6 });
    assert.match(refused.text, /^RATE_LIMITED: .*Try again in 6 seconds, not earlier\.$/);
    assert.equal((await world.request(path, { peer })).status, 429);
    world.clock.advance(6_000);
    assert.equal((await call(client, "compare_repositories", args)).isError, false);
  });

  test("over the limit of messages get a 429 like every request", async () => {
    const { peer } = newcomer();
    for (let i = 0; i < 120; i++) await world.request("/mcp", { ...message(PING), peer });
    const response = await world.request("/mcp", { ...message(PING), peer });
    assert.deepEqual([response.status, response.headers.get("retry-after")], [429, "1"]);
  });

  test("count against the key that was sent, and in its usage under the routes of the API", async () => {
    const account = await addAccount(world.modules.database, "tools@example.org");
    const { secret, key } = await world.members.keys.create(account, "agent");
    const client = await connectMcp(world, { headers: { Authorization: `Bearer ${secret}` } });
    await call(client, "list_ranking", { window: "7d" });
    await call(client, "get_series", { repositories: "github:a/one" });
    await call(client, "get_repositories", { repositories: "github:no/such" });
    const view = await world.members.usage.view(account, key.id, "24h");
    assert.deepEqual(
      Object.fromEntries(
        view.endpoints.map(({ method, route, requests }) => [`${method} ${route}`, requests]),
      ),
      {
        // The client tries whether there is a stream, and gets a 405.
        "GET /mcp": 1,
        "POST /mcp": 2,
        "GET /api/trending": 1,
        "GET /api/repos/{provider}/by-full-name": 1,
        "GET /api/metrics": 1,
      },
    );
    const { body } = await world.get("/api/limits", { Authorization: `Bearer ${secret}` });
    const heavy = body.data.buckets.find(({ bucket }: { bucket: string }) => bucket === "heavy");
    assert.equal(heavy.remaining, heavy.limit - 1);
  });

  test("with a key that is not valid are refused, and cost what a guess costs", async () => {
    const { peer, costOf } = newcomer();
    const guess = async () => {
      const response = await world.request("/mcp", { ...message(PING, { "X-API-Key": "sid_wrong" }), peer });
      assert.equal(response.status, 401);
    };
    assert.equal((await costOf(guess)).default, 10);
  });

  test("that the service cannot serve now are tool errors with the seconds to wait, and faults say nothing", async (t) => {
    const own = await createWorld(engine);
    const client = await connectMcp(own);
    let thrown: Error = new AppError("UNAVAILABLE", "The database is not available; try again.");
    t.mock.method(own.modules.catalog, "findByNames", async () => {
      throw thrown;
    });
    const args = { repositories: "github:a/one" };
    const away = await call(client, "get_repositories", args);
    assert.deepEqual(away.error, { code: "UNAVAILABLE", retryAfterSeconds: 5 });
    thrown = new Error("select secret from accounts");
    const fault = await call(client, "get_repositories", args);
    assert.equal(fault.error?.code, "INTERNAL");
    assert.doesNotMatch(fault.text, /secret/);
  });
});
