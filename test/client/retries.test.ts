import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SiderealError } from "../../client/src/client.js";
import { clientOf, scriptedClient } from "../support/client.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { createWorld, daily, observation } from "../support/world.js";

const ok = () => Response.json({ data: { isLimited: false, buckets: [] } });
const refused =
  (headers: Record<string, string> = {}, status = 429) =>
  () =>
    Response.json(
      { data: null, error: { code: "RATE_LIMITED", message: "too many", requestId: "x" } },
      { status, headers },
    );
const broken = () => {
  throw new TypeError("fetch failed");
};

describe("Retries of the client", () => {
  test("wait as long as the service says, in seconds or until a date", async () => {
    const date = new Date(Date.UTC(2026, 3, 30, 12, 0, 10)).toUTCString();
    const { client, clock, statuses } = scriptedClient([
      refused({ "Retry-After": "3" }),
      refused({ "Retry-After": date }, 503),
      ok,
    ]);
    await client.get("/api/limits");
    assert.deepEqual(clock.waits, [3_000, 7_000]);
    assert.deepEqual(statuses, [429, 503, 200]);
  });

  test("wait twice as long each time if the service does not say", async () => {
    const { client, clock } = scriptedClient([
      broken,
      broken,
      refused({}, 502),
      refused({ "Retry-After": "soon" }),
      ok,
    ]);
    await client.get("/api/limits");
    assert.deepEqual(clock.waits, [250, 500, 1_000, 2_000]);
  });

  test("are spread, and never before the time that the service says", async () => {
    const { client, clock } = scriptedClient([refused({ "Retry-After": "1" }), broken, ok], {
      random: () => 1,
    });
    await client.get("/api/limits");
    assert.deepEqual(clock.waits, [1_250, 1_000]);
  });

  test("end after five attempts", async () => {
    const { client, sent } = scriptedClient([broken, broken, broken, broken, broken]);
    const failure = await client.get("/api/limits").catch((error) => error);
    assert.ok(failure instanceof SiderealError);
    assert.deepEqual([failure.code, failure.status, failure.requestId], ["NETWORK", 0, undefined]);
    assert.ok(failure.cause instanceof TypeError);
    assert.equal(sent.length, 5);
  });

  test("never wait longer in all than allowed: the caller gets the error and its time instead", async () => {
    const { client, clock } = scriptedClient([
      refused({ "Retry-After": "29" }),
      refused({ "Retry-After": "32" }),
    ]);
    await assert.rejects(client.get("/api/limits"), { code: "RATE_LIMITED", retryAfter: 32 });
    assert.deepEqual(clock.waits, [29_000]);
  });

  test("can be turned off", async () => {
    const { client, sent } = scriptedClient([broken], { retry: { attempts: 1 } });
    await assert.rejects(client.get("/api/limits"), { code: "NETWORK" });
    assert.equal(sent.length, 1);
  });

  test("repeat a change only if a rate limit refused it, as it may have been made otherwise", async () => {
    const body = { name: "mine" };
    const created = () => Response.json({ data: { token: "t" } }, { status: 201 });
    const limited = scriptedClient([refused({ "Retry-After": "1" }), created]);
    await limited.client.post("/api/watchlists", { body });
    assert.deepEqual(
      limited.requests.map(({ body }) => body),
      ['{"name":"mine"}', '{"name":"mine"}'],
    );
    for (const outcome of [broken, refused({ "Retry-After": "1" }, 503), refused({}, 502)]) {
      const { client, sent } = scriptedClient([outcome]);
      await assert.rejects(client.post("/api/watchlists", { body }), SiderealError);
      const path = { token: "t" };
      await assert.rejects(scriptedClient([outcome]).client.delete("/api/watchlists/{token}", { path }));
      assert.equal(sent.length, 1);
    }
  });

  test("leave other failures alone", async () => {
    for (const status of [400, 404, 409, 500]) {
      const { client, sent } = scriptedClient([refused({}, status)]);
      await assert.rejects(client.get("/api/limits"), { status });
      assert.equal(sent.length, 1);
    }
  });

  test("stop when the caller aborts, before, during and between attempts, with the caller's reason", async () => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    const before = scriptedClient([]);
    await assert.rejects(before.client.get("/api/limits", { signal }), reason);
    assert.equal(before.sent.length, 0);

    const during = new AbortController();
    const hanging = scriptedClient([
      (own) =>
        new Promise((_, reject) => {
          own.addEventListener("abort", () => reject(own.reason));
          during.abort(reason);
        }),
    ]);
    await assert.rejects(hanging.client.get("/api/limits", { signal: during.signal }), reason);

    const between = new AbortController();
    const waiting = scriptedClient([refused({ "Retry-After": "9" })]);
    waiting.clock.onWait = () => between.abort(reason);
    await assert.rejects(waiting.client.get("/api/limits", { signal: between.signal }), reason);
    assert.equal(waiting.sent.length, 1);
    for (const { clock } of [before, hanging, waiting]) assert.equal(clock.pending, 0);
  });
});

describe("The time limit of the client", () => {
  /** Headers, and a body that never ends unless it is aborted. */
  const endless = (signal: AbortSignal) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"data":'));
          signal.addEventListener("abort", () => controller.error(signal.reason));
        },
      }),
      { headers: { "Content-Type": "application/json" } },
    );

  test("ends an attempt whose body does not arrive, which a GET then repeats", async () => {
    const { client, clock, sent } = scriptedClient([
      (signal) => {
        setImmediate(() => clock.expire());
        return endless(signal);
      },
      ok,
    ]);
    await client.get("/api/limits");
    assert.equal(sent.length, 2);
    assert.equal(clock.pending, 0);
  });

  test("is an error of its own", async () => {
    const { client, clock } = scriptedClient([
      (signal) => {
        setImmediate(() => clock.expire());
        return endless(signal);
      },
    ]);
    const failure = client.post("/api/watchlists", { body: {}, timeoutMs: 40_000 });
    await assert.rejects(failure, { code: "TIMEOUT", status: 0, message: /40000 ms/ });
  });

  test("ends with the headers if the caller reads the body, which only the signal ends then", async () => {
    const controller = new AbortController();
    const { client, clock } = scriptedClient([endless]);
    const response = await client.request("get", "/api/limits", { signal: controller.signal });
    assert.equal(clock.pending, 0);
    const body = response.text();
    controller.abort(new Error("enough"));
    await assert.rejects(body, /enough/);
  });
});

describe("Responses that are not of this API", () => {
  const page = (status: number) => () =>
    new Response("<html>Bad gateway</html>", { status, headers: { "X-Request-Id": "proxy-1" } });

  test("are UNEXPECTED_RESPONSE, with the status", async () => {
    for (const outcome of [
      page(418),
      page(200),
      () => Response.json("no", { status: 418 }),
      () => Response.json({ error: "no" }, { status: 418 }),
      () => new Response(null, { status: 200 }),
    ]) {
      const failure = await scriptedClient([outcome])
        .client.get("/api/limits")
        .catch((error) => error);
      assert.ok(failure instanceof SiderealError);
      assert.equal(failure.code, "UNEXPECTED_RESPONSE");
      assert.deepEqual(failure.details, []);
    }
  });

  test("are not kept for later", async () => {
    const store = new Map();
    const { client } = scriptedClient([() => new Response("<html>", { headers: { ETag: '"1"' } })], {
      store,
    });
    await assert.rejects(client.get("/api/limits"), { code: "UNEXPECTED_RESPONSE" });
    assert.equal(store.size, 0);
  });

  test("cannot make a walk endless", async () => {
    const same = () => Response.json({ data: [1], meta: { hasMore: true, nextCursor: "a", page: null } });
    const { client, sent } = scriptedClient([same, same]);
    await assert.rejects(async () => {
      for await (const _ of client.rows("/api/repos"));
    }, /same page/);
    assert.equal(sent.length, 2);
  });
});

describe("Requests of the client", () => {
  test("have the path of the base URL, the key, and no body unless there is one", async () => {
    for (const baseUrl of ["https://a.example/sub/path/", "https://a.example/sub/path"]) {
      const { client, sent, requests } = scriptedClient([ok], {
        baseUrl,
        apiKey: "sid_key",
        headers: { accept: "x/y" },
      });
      await client.get("/api/limits");
      assert.deepEqual(sent, ["GET https://a.example/sub/path/api/limits"]);
      assert.deepEqual(Object.fromEntries(new Headers(requests[0]?.headers)), {
        accept: "x/y",
        authorization: "Bearer sid_key",
      });
      assert.equal(requests[0]?.body, undefined);
    }
  });

  test("are not sent with a key that cannot be in a header, and such a key is not shown", async () => {
    const { client, sent } = scriptedClient([ok], { apiKey: "sid_\nkey" });
    await assert.rejects(client.get("/api/limits"), TypeError);
    assert.equal(sent.length, 0);
  });
});

onSqliteAndLong("A client over its limit", (engine) => {
  test("succeeds after exactly the wait that the service names", async () => {
    const world = await createWorld(engine, limits("default=2"));
    await world.record(observation("a/one", daily(1, 2)));
    const { client, statuses } = clientOf(world, {
      random: () => 0,
      clock: {
        now: () => world.clock.now(),
        sleep: async (ms, signal) => {
          if (ms >= 30_000 && signal !== undefined && !signal.aborted)
            return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
          world.clock.advance(ms);
        },
      },
    });
    for (let i = 0; i < 3; i++) await client.get("/api/stats/summary");
    assert.deepEqual(statuses, [200, 200, 429, 200]);
  });
});
