import assert from "node:assert/strict";
import { before, test } from "node:test";
import { readVersion } from "../../src/lib/version.js";
import { onSqlite } from "../support/engines.js";
import { call, connectMcp, ERAS, message, newClient, PING } from "../support/mcp.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

onSqlite("/mcp", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(observation("a/one", daily(1, 2, 3)));
  });

  const send = async (body: unknown, headers: Record<string, string> = {}, own = world) => {
    const response = await own.request("/mcp", message(body, headers));
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };

  for (const era of ERAS)
    test(`speaks both generations of the protocol, with instructions (${era})`, async () => {
      const client = await connectMcp(world, { era });
      assert.equal(client.getNegotiatedProtocolVersion(), era === "auto" ? "2026-07-28" : "2025-11-25");
      assert.match(client.getInstructions() ?? "", /counted gain/);
      assert.deepEqual(
        [client.getServerVersion()?.name, client.getServerVersion()?.version],
        ["sidereal", readVersion()],
      );
      assert.equal((await call(client, "get_repositories", { repositories: "github:a/one" })).isError, false);
      await client.close();
    });

  test("keeps nothing: calls need no handshake, and get no session", async () => {
    const { status, headers, text } = await send({
      jsonrpc: "2.0",
      id: "x",
      method: "tools/call",
      params: { name: "get_repositories", arguments: { repositories: "github:a/one" } },
    });
    assert.deepEqual([status, headers.get("mcp-session-id")], [200, null]);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(JSON.parse(text).id, "x");
  });

  test("has no stream and nothing to delete", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const response = await world.request("/mcp", { method, headers: { Accept: "text/event-stream" } });
      assert.deepEqual([response.status, response.headers.get("allow")], [405, "OPTIONS, POST"]);
    }
    const client = newClient("auto");
    assert.ok(client);
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const { text } = await send(
      { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: { notifications: {}, _meta: meta } },
      { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen" },
    );
    assert.match(JSON.parse(text).error.message, /limit reached/);
  });

  const REFUSED: readonly [string, unknown, Record<string, string>, number, RegExp][] = [
    ["a batch", [PING, PING], {}, 400, /Batches are not supported/],
    ["an empty batch", [], {}, 400, /Batches are not supported/],
    ["what is no JSON", "{", {}, 400, /not valid JSON/],
    ["an id with half a character", { ...PING, id: "\ud800" }, {}, 400, /half a character/],
    ["what is no message", { hello: 1 }, {}, 400, /-3\d{4}/],
    ["a text", "5", {}, 400, /-3\d{4}/],
    ["null", "null", {}, 400, /-3\d{4}/],
    ["more than 16 KiB", { ...PING, params: { x: "x".repeat(17_000) } }, {}, 413, /PAYLOAD_TOO_LARGE/],
    ["another type", PING, { "Content-Type": "text/plain" }, 415, /UNSUPPORTED_MEDIA_TYPE/],
    ["an unknown revision", PING, { "MCP-Protocol-Version": "1999-01-01" }, 400, /rotocol version/],
    ["a key that nobody has", PING, { Authorization: "Bearer sid_x" }, 401, /INVALID_API_KEY/],
  ];
  for (const [what, body, headers, status, expected] of REFUSED)
    test(`refuses ${what} with ${status}`, async () => {
      const response = await send(body, headers);
      assert.equal(response.status, status, response.text);
      assert.match(response.text, expected);
    });

  test("responds to unknown methods and malformed calls with an error of JSON-RPC", async () => {
    for (const body of [
      { ...PING, method: "resources/list" },
      { ...PING, method: "tools/call", params: {} },
      { ...PING, method: "tools/call", params: { name: 5 } },
      { ...PING, method: "__proto__" },
    ]) {
      const { status, text } = await send(body);
      assert.equal(status, 200);
      assert.ok(JSON.parse(text).error.code < -32_000, text);
    }
    assert.equal((await send({ jsonrpc: "2.0", method: "notifications/initialized" })).status, 202);
  });

  test("is open to pages of any origin if the API is, with the headers that clients send", async () => {
    const { status, headers } = await send(PING, { Origin: "https://elsewhere.example" });
    assert.deepEqual([status, headers.get("access-control-allow-origin")], [200, "*"]);
    const preflight = await world.request("/mcp", { method: "OPTIONS" });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /MCP-Protocol-Version/);
  });

  test("of a private instance is closed to pages of other origins, and open to programs", async () => {
    const own = await createWorld(engine, { SIDEREAL_BASE_URL: "http://localhost:3000" });
    const create = { ...PING, method: "tools/call", params: { name: "create_watchlist", arguments: {} } };
    for (const origin of ["https://elsewhere.example", "http://localhost:1", "null"]) {
      const { status, headers, text } = await send(create, { Origin: origin }, own);
      assert.deepEqual([status, headers.get("access-control-allow-origin")], [403, null], origin);
      assert.match(text, /FORBIDDEN/);
    }
    assert.equal((await send(create, { Origin: "http://localhost:3000" }, own)).status, 200);
    assert.equal((await send(create, {}, own)).status, 200);
  });

  test("names pages below the path of the base URL, and follows redirects there", async () => {
    const own = await createWorld(engine, { SIDEREAL_BASE_URL: "https://example.org/tools/sidereal" });
    await own.record(observation("old/name", daily(1, 2, 3), { providerId: "7" }));
    await own.record(observation("new/name", [], { providerId: "7", at: NOW + 1 }));
    const params = { name: "get_repositories", arguments: { repositories: "github:old/name" } };
    const response = await own.request(
      "/tools/sidereal/mcp",
      message({ ...PING, method: "tools/call", params }),
    );
    const { result } = JSON.parse(await response.text());
    const [named] = result.structuredContent.repositories;
    assert.equal(named.repository, "github:new/name");
    assert.equal(named.page, "https://example.org/tools/sidereal/repos/github/new/name");
  });
});
