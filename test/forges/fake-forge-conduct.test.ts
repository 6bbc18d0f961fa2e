import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { HOUR_MS } from "../../src/lib/clock.js";
import { FAULTS, type FaultName } from "../support/forge/forge.js";
import { forgeWorld } from "../support/forge/world.js";

const KINDS = ["github", "gitlab", "forgejo"] as const;
const SINGLE = {
  github: "/api/v3/repositories/",
  gitlab: "/api/v4/projects/",
  forgejo: "/api/v1/repositories/",
};

test("GitHub's limits are counted per token and resource, and reset in time", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "github");
  const path = `/api/v3/repositories/${forge.catalogue.ids()[0]}`;
  forge.spend("one", "core", 4_998);
  const last = [await get(path), await get(path)];
  assert.deepEqual(
    last.map(({ headers }) => headers.get("x-ratelimit-remaining")),
    ["1", "0"],
  );
  assert.equal(last[0]?.headers.get("x-ratelimit-resource"), "core");
  assert.deepEqual(forge.violations, []);
  const refused = await get(path);
  assert.equal(refused.status, 403);
  assert.match(refused.body.message, /^API rate limit exceeded/);
  assert.equal(forge.violations.length, 1);
  assert.deepEqual(forge.violations[0], {
    kind: "spent",
    at: clock.now(),
    token: "one",
    resource: "core",
    path,
  });
  assert.equal((await get(path, { authorization: "Bearer two" })).status, 200);
  assert.equal((await get("/api/v3/search/repositories?q=x")).status, 200);
  assert.equal((await get("/api/v3/rate_limit")).body.resources.core.remaining, 0);
  const resetAt = Number(refused.headers.get("x-ratelimit-reset")) * 1_000;
  clock.advance(resetAt - clock.now());
  assert.equal((await get(path)).status, 200);
  assert.equal(forge.violations.length, 1);
});

test("without a token the limit is low and GraphQL is refused", async (t) => {
  const { forge, get, query } = await forgeWorld(t, "github");
  const { headers } = await get("/api/v3/search/repositories?q=x", {});
  assert.deepEqual([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-used")], ["10", "1"]);
  assert.equal(
    (await get(`/api/v3/repositories/${forge.catalogue.ids()[0]}`, {})).headers.get("x-ratelimit-limit"),
    "60",
  );
  forge.switches.tokens = new Set(["one"]);
  assert.equal((await get("/api/v3/rate_limit", { authorization: "Bearer stolen" })).status, 401);
  forge.spend("one", "graphql", 5_000);
  const spent = await query("{ rateLimit { cost } }");
  assert.equal(spent.status, 200);
  assert.equal(spent.body.errors[0].type, "RATE_LIMITED");
});

test("bursts are refused with a Retry-After, and an early retry is a violation", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "github");
  const path = `/api/v3/repositories/${forge.catalogue.ids()[0]}`;
  forge.switches.secondary = { concurrent: 100, pointsPerMinute: 3, retryAfterSeconds: 30 };
  for (let i = 0; i < 3; i++) assert.equal((await get(path)).status, 200);
  const refused = await get(path);
  assert.equal(refused.status, 403);
  assert.equal(refused.headers.get("retry-after"), "30");
  clock.advance(29_000);
  await get(path);
  assert.deepEqual(
    forge.violations.map(({ kind }) => kind),
    ["points", "retry-after", "points"],
  );
  assert.equal(forge.counters.peakPerMinute, 5);
  clock.advance(HOUR_MS);
  assert.equal((await get(path)).status, 200);
  assert.equal(forge.violations.length, 3);
});

test("too many concurrent requests are refused too", async (t) => {
  const { forge, get } = await forgeWorld(t, "github");
  const path = `/api/v3/repositories/${forge.catalogue.ids()[0]}`;
  forge.switches.secondary = { concurrent: 2, pointsPerMinute: 900, retryAfterSeconds: 60 };
  forge.switches.fault = () => "stall";
  const stop = new AbortController();
  const init = { headers: { authorization: "Bearer one" }, signal: stop.signal };
  const open = await Promise.all([fetch(forge.url + path, init), fetch(forge.url + path, init)]);
  forge.switches.fault = null;
  assert.equal((await get(path)).status, 403);
  assert.equal((await get(path, { authorization: "Bearer two" })).status, 200);
  assert.equal(forge.violations[0]?.kind, "concurrent");
  assert.equal(forge.counters.peakConcurrent, 3);
  stop.abort();
  await Promise.allSettled(open.map((response) => response.text()));
});

test("GitHub requires a User-Agent", async (t) => {
  const { forge } = await forgeWorld(t, "github");
  const status = await new Promise((resolve, reject) => {
    const asked = httpRequest(`${forge.url}/api/v3/rate_limit`, (response) =>
      resolve(response.resume().statusCode),
    );
    asked.on("error", reject).end();
  });
  assert.equal(status, 403);
});

/** Reads at most `most` bytes of a response. A stalled response is given up after some turns of the event loop. */
async function look(url: string, most: number, isStalled: boolean) {
  const stop = new AbortController();
  const init = { redirect: "manual", signal: stop.signal, headers: { authorization: "Bearer one" } } as const;
  try {
    const { status, headers, body } = await fetch(url, init);
    const turn = (left: number): void => void (left === 0 ? stop.abort() : setImmediate(turn, left - 1));
    if (isStalled) turn(2_000);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of body ?? []) {
      parts.push(part);
      bytes += part.length;
      if (bytes > most) break;
    }
    return { status, headers, text: Buffer.concat(parts).toString(), bytes, isWhole: true };
  } catch {
    return { status: 0, headers: new Headers(), text: "", bytes: 0, isWhole: false };
  }
}
type Seen = Awaited<ReturnType<typeof look>>;

const parsed = (seen: Seen) => JSON.parse(seen.text);
const EXPECTED: Readonly<Record<FaultName, (seen: Seen) => void>> = {
  "status-500": ({ status }) => assert.equal(status, 500),
  "status-502": ({ status, text }) => assert.deepEqual([status, text.slice(0, 6)], [502, "<html>"]),
  "429-retry-after": ({ status, headers }) =>
    assert.deepEqual([status, headers.get("retry-after")], [429, "60"]),
  "429-bare": ({ status, headers }) => assert.deepEqual([status, headers.get("retry-after")], [429, null]),
  "403-secondary": ({ status, headers, text }) => {
    assert.deepEqual([status, headers.get("retry-after")], [403, "60"]);
    assert.match(text, /secondary rate limit/);
  },
  "status-401": ({ status }) => assert.equal(status, 401),
  "status-404": ({ status }) => assert.equal(status, 404),
  "status-410": ({ status }) => assert.equal(status, 410),
  "other-host": ({ status, headers }) => {
    assert.equal(status, 301);
    assert.equal(new URL(headers.get("location") ?? "").hostname, "localhost");
  },
  "status-451": ({ status }) => assert.equal(status, 451),
  slow: ({ text }) => assert.match(text, /^\{"id":\d+/),
  stall: ({ isWhole }) => assert.equal(isWhole, false),
  cut: ({ isWhole }) => assert.equal(isWhole, false),
  truncated: (seen) => {
    assert.equal(seen.status, 200);
    assert.throws(() => parsed(seen));
  },
  html: ({ status, headers }) =>
    assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]),
  huge: ({ bytes }) => assert.ok(bytes > 2_000_000),
  "gzip-bomb": ({ bytes }) => assert.ok(bytes > 2_000_000),
  deep: ({ text }) => assert.ok(text.startsWith("[".repeat(100_000))),
  "wrong-types": (seen) => assert.ok(typeof parsed(seen).id !== "number" || parsed(seen).id < 0),
  "proto-keys": (seen) => assert.ok(Object.hasOwn(parsed(seen), "__proto__")),
  "lone-surrogates": (seen) => assert.ok(!parsed(seen).description.isWellFormed()),
};

for (const kind of KINDS) {
  test(`${kind}: every fault happens while it is switched on, and not afterwards`, async (t) => {
    const { clock, forge } = await forgeWorld(t, kind);
    const id = forge.catalogue.ids()[1] ?? 0;
    forge.catalogue.override(id, { description: "A quick one" });
    const url = `${forge.url}${SINGLE[kind]}${id}`;
    for (const name of FAULTS) {
      const before = forge.counters.bytes;
      forge.switches.fault = () => ({ name, byteIntervalMs: 0 });
      EXPECTED[name](await look(url, name === "slow" ? 50 : 2_000_000, name === "stall"));
      assert.equal(forge.counters.byFault[name], 1, name);
      assert.ok(forge.counters.bytes - before < 50_000_000, "a body went on after its reader had left");
      clock.advance(HOUR_MS);
      forge.switches.fault = null;
      const { status, text } = await look(url, 2_000_000, false);
      assert.equal(status, 200, `after ${name}`);
      assert.equal(JSON.parse(text).id, id);
    }
    assert.deepEqual(forge.violations, []);
  });
}

test("following a redirect to another host is a violation", async (t) => {
  const { forge, get } = await forgeWorld(t, "forgejo");
  forge.switches.fault = ({ path }) => (path.endsWith("/nothing") ? "other-host" : undefined);
  const { headers } = await get("/api/v1/repos/nobody/nothing");
  forge.switches.fault = null;
  await get(headers.get("location") ?? "");
  assert.deepEqual(
    forge.violations.map(({ kind }) => kind),
    ["other-host"],
  );
});

test("long responses are compressed if the client accepts that", async (t) => {
  const { forge } = await forgeWorld(t, "gitlab");
  const raw = await new Promise<Buffer>((resolve, reject) => {
    const headers = { "accept-encoding": "gzip" };
    const asked = httpRequest(`${forge.url}/api/v4/projects`, { headers }, (response) => {
      assert.equal(response.headers["content-encoding"], "gzip");
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part)).on("end", () => resolve(Buffer.concat(parts)));
    });
    asked.on("error", reject).end();
  });
  assert.equal(JSON.parse(gunzipSync(raw).toString()).length, 20);
});
