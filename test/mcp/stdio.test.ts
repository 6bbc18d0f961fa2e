import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, updateDerived } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { type Engine, onSqlite, onSqliteAndLong } from "../support/engines.js";
import { call, ERAS, type Era, newClient, PING } from "../support/mcp.js";
import { serve } from "../support/serving.js";
import { daily, observation } from "../support/world.js";

const MAIN = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));
const world = new CommandWorld();
/** A service that runs on this machine would be used: nothing listens at this port. */
const NO_SERVICE = { SIDEREAL_PORT: "1" };

/** Starts `sidereal mcp` as hosts do, and connects to it. */
async function start(
  t: TestContext,
  { args = [], settings = {}, era = "legacy" }: Starting,
): Promise<{ client: Client; pid: number | null }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...args],
    cwd: world.folder,
    env: { PATH: process.env.PATH ?? "", ...NO_SERVICE, ...settings },
    stderr: "ignore",
  });
  const client = newClient(era);
  await client.connect(transport);
  t.after(() => client.close());
  return { client, pid: transport.pid };
}

interface Starting {
  args?: readonly string[];
  settings?: Record<string, string>;
  era?: Era;
}

/** A store with two repositories, and the settings that lead to it. */
async function filledStore(engine: Engine): Promise<Record<string, string>> {
  const modules = buildModules(await engine.open(), { clock: systemClock, log: createLog("silent") });
  await modules.catalog.record([observation("a/one", daily(1, 2, 3)), observation("b/two", daily(4, 5, 9))]);
  await updateDerived(modules);
  const { url, dataDir } = engine.location();
  return url === undefined ? { SIDEREAL_DATA_DIR: dataDir } : { SIDEREAL_DATABASE_URL: url };
}

onSqliteAndLong("sidereal mcp", (engine) => {
  for (const era of ERAS)
    test(`reads the local store with the tools that change nothing (${era})`, async (t) => {
      const settings = await filledStore(engine);
      const { client } = await start(t, { settings, era });
      const { tools } = await client.listTools();
      assert.ok(tools.length > 4);
      assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint));
      const { data } = await call(client, "search_repositories", { sort: "stars" });
      assert.deepEqual(
        data.repositories.map(({ repository }: { repository: string }) => repository),
        ["github:b/two", "github:a/one"],
      );
      // Nobody limits it.
      for (let i = 0; i < 130; i++)
        assert.equal(
          (await call(client, "get_repositories", { repositories: "github:a/one" })).isError,
          false,
        );
      const missing = await call(client, "create_watchlist");
      assert.equal(missing.error?.code, "NOT_FOUND");
    });

  for (const [name, optionsOf] of [
    ["a service over the network", (url: string) => ["--url", url]],
    ["the service of this machine, if it runs,", () => []],
  ] as const)
    test(`uses ${name} and writes nothing but messages`, async () => {
      const settings = await filledStore(engine);
      const serving = await serve(world, world.newDataDir(), settings);
      const options = optionsOf(serving.url);
      try {
        const input = [
          {
            ...PING,
            method: "tools/call",
            params: { name: "create_watchlist", arguments: { name: "Mine" } },
          },
          {
            ...PING,
            id: 2,
            method: "tools/call",
            params: { name: "list_ranking", arguments: { window: "9d" } },
          },
        ];
        const running = world.start(world.newDataDir(), ["mcp", ...options], {
          SIDEREAL_PORT: new URL(serving.url).port,
        });
        let stdout = "";
        running.process.stdout?.on("data", (text) => {
          stdout += text;
        });
        for (const message of input) running.process.stdin?.write(`${JSON.stringify(message)}\n`);
        while (stdout.split("\n").length <= input.length)
          await once(running.process.stdout ?? process, "data");
        running.process.stdin?.end();
        const ended = await running.ended;
        assert.deepEqual([ended.code, ended.stderr], [0, ""]);
        const results = stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
        assert.deepEqual(results.map(({ id }) => id).sort(), [1, 2]);
        const [created, failed] = results.sort((a, b) => a.id - b.id);
        const { page } = created.result.structuredContent;
        assert.ok(page.startsWith(`${serving.url}/watchlists/`));
        assert.equal((await fetch(page)).status, 200);
        assert.match(failed.result.content[0].text, /^VALIDATION_FAILED: window/);
      } finally {
        await serving.stop();
      }
    });
});

onSqlite("sidereal mcp", () => {
  test("creates no store: without one it exits with 2, and says what to do", async () => {
    const dataDir = world.newDataDir();
    const { code, stdout, stderr } = await world.run(dataDir, ["mcp"], { settings: NO_SERVICE });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /there is no store in .*; set SIDEREAL_DATA_DIR, or use --url/);
    assert.deepEqual(readdirSync(dataDir), []);
  });

  const ADDRESSES: readonly [string, RegExp][] = [
    ["ftp://a.example", /must be an http or https address/],
    ["nonsense", /must be an http or https address/],
    ["https://user:secret@a.example", /without credentials/],
    ["https://:secret@a.example", /without credentials/],
    ["https://a.example?x=1", /without credentials, query and fragment/],
    ["http://repositories.example", /must begin with https, as an API key is sent there/],
  ];
  for (const [address, expected] of ADDRESSES)
    test(`--url ${address} with a key is refused`, async () => {
      const settings = { SIDEREAL_API_KEY: "sid_secret" };
      const { code, stdout, stderr } = await world.run(world.newDataDir(), ["mcp", "--url", address], {
        settings,
      });
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, expected);
    });

  /** A server instead of a service. */
  async function fake(t: TestContext, respond: RequestListener): Promise<string> {
    const server = createServer(respond).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  }

  /** What a tool call gets from `sidereal mcp --url`. */
  async function callAt(url: string, settings: Record<string, string> = {}): Promise<string> {
    const running = world.start(world.newDataDir(), ["mcp", "--url", url], settings);
    const params = { name: "search_repositories", arguments: {} };
    running.process.stdin?.write(`${JSON.stringify({ ...PING, id: 8, method: "tools/call", params })}\n`);
    const [line] = await once(running.process.stdout ?? process, "data");
    running.process.stdin?.end();
    assert.equal((await running.ended).code, 0);
    const { id, result } = JSON.parse(line);
    assert.deepEqual([id, result.isError], [8, true]);
    return result.content[0].text;
  }

  test("sends the key of a file, and passes on what to wait", async (t) => {
    const seen: unknown[] = [];
    const url = await fake(t, ({ url, headers }, response) => {
      seen.push(url, headers.authorization, headers["mcp-method"], headers["mcp-name"]);
      response.writeHead(429, { "Retry-After": "7" });
      response.end('{"data":null,"error":{"code":"RATE_LIMITED","message":"Too many."}}');
    });
    const file = join(world.folder, "key");
    writeFileSync(file, "sid_fromfile\n");
    const text = await callAt(url, { SIDEREAL_API_KEY_FILE: file });
    assert.deepEqual(seen, ["/base/mcp", "Bearer sid_fromfile", "tools/call", "search_repositories"]);
    assert.equal(text, "RATE_LIMITED: Too many. Try again in 7 seconds, not earlier.");
  });

  const STRANGE: readonly [string, RequestListener, RegExp][] = [
    ["a page", (_, response) => response.end("<html>"), /^HTTP_200: The service at .* has no tools here/],
    ["an error page", (_, response) => response.writeHead(502).end("<html>"), /^HTTP_502/],
    [
      "a redirect to elsewhere",
      (_, response) => response.writeHead(301, { Location: "http://169.254.169.254/api/" }).end(),
      /^HTTP_301/,
    ],
    ["nothing", (_, response) => void response.destroy(), /^UNAVAILABLE: The service at .* did not respond/],
  ];
  for (const [what, respond, expected] of STRANGE)
    test(`a service that returns ${what} is an error that a model can read`, async (t) => {
      assert.match(await callAt(await fake(t, respond)), expected);
    });

  test("skips lines that are no messages", async () => {
    const url = "http://127.0.0.1:9";
    const running = world.start(world.newDataDir(), ["mcp", "--url", url]);
    running.process.stdin?.write(`nonsense\n{"a":1}\n${JSON.stringify({ ...PING, id: 8 })}\n`);
    const [line] = await once(running.process.stdout ?? process, "data");
    const { id, error } = JSON.parse(line);
    assert.equal(id, 8);
    assert.match(error.message, /^UNAVAILABLE/);
    running.process.stdin?.end();
    assert.equal((await running.ended).code, 0);
  });

  test("ends at the signal to stop", async () => {
    const running = world.start(world.newDataDir(), ["mcp", "--url", "http://127.0.0.1:9"]);
    running.process.stdin?.write(`${JSON.stringify(PING)}\n`);
    await once(running.process.stdout ?? process, "data");
    running.process.kill("SIGTERM");
    assert.equal((await running.ended).code, 0);
  });

  for (const era of ERAS)
    test(`uses a service over the network like its own tools (${era})`, async (t) => {
      const serving = await serve(world, world.newDataDir(), {});
      t.after(() => serving.stop());
      const { client } = await start(t, { args: ["--url", serving.url], era });
      assert.ok((await client.listTools()).tools.length > 6);
      assert.equal((await call(client, "search_repositories")).isError, false);
    });
});
