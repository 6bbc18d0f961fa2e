import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DatabaseFault, StoreRefused } from "../../src/database/fault.js";
import { AppError } from "../../src/lib/errors.js";
import { PageRenderer } from "../../src/web/page.js";
import { errorOf } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ORIGIN } from "../support/members.js";
import { open } from "../support/page.js";
import { type Answer, createWorld, daily, observation, type World } from "../support/world.js";

const PUBLIC = "public, max-age=30, stale-while-revalidate=60";

onSqliteAndLong("Errors, and the headers of every status", (engine) => {
  let world: World;
  let token: string;
  let shareToken: string;
  /** One request for each status there is without a fault of ours. */
  const requests = (): Record<string, () => Promise<Answer>> => ({
    200: () => world.get("/api/repos"),
    201: () => world.send("POST", "/api/watchlists", {}),
    204: () => world.send("DELETE", `/api/watchlists/${token}/items/1`),
    301: () => world.get("/api/repos/github/old/name"),
    304: () => world.get("/api/repos", { "If-None-Match": "*" }),
    400: () => world.get("/api/repos?sort=none"),
    403: () => world.send("PATCH", `/api/watchlists/${shareToken}`, { name: "x" }),
    404: () => world.get("/api/repos/github/no/such"),
    405: () => world.send("DELETE", "/api/repos"),
    412: () => world.send("PATCH", `/api/watchlists/${token}`, { name: "x" }, { "If-Match": '"0"' }),
    413: () => world.send("POST", "/api/watchlists", { name: "x".repeat(20_000) }),
    415: () => world.send("POST", "/api/watchlists", undefined, { "Content-Type": "text/plain" }),
  });

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("old/name", daily(1), { providerId: "1", at: 1 }),
      observation("new/name", daily(1, 2), { providerId: "1" }),
    );
    const { body } = await world.send("POST", "/api/watchlists", {});
    ({ token, shareToken } = body.data);
  });

  test("every status is what it says, and carries the headers that protect callers", async () => {
    for (const [status, request] of Object.entries(requests())) {
      const { headers, status: actual } = await request();
      assert.equal(actual, Number(status));
      assert.equal(headers.get("x-content-type-options"), "nosniff", status);
      assert.equal(
        headers.get("content-security-policy"),
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        status,
      );
      assert.equal(headers.get("cross-origin-resource-policy"), "cross-origin", status);
      assert.equal(headers.get("strict-transport-security"), "max-age=31536000", status);
      assert.equal(headers.get("cross-origin-opener-policy"), "same-origin", status);
      assert.match(headers.get("permissions-policy") ?? "", /^accelerometer=\(\), .*camera=\(\)/, status);
      assert.equal(headers.get("access-control-allow-origin"), "*", status);
      assert.match(headers.get("referrer-policy") ?? "", /^(no-referrer|strict-origin-when-cross-origin)$/);
      assert.match(headers.get("x-request-id") ?? "", /^[\w-]{12}$/, status);
      assert.notEqual(headers.get("vary"), null, status);
      for (const name of ["x-powered-by", "server", "set-cookie", "access-control-allow-credentials"]) {
        assert.equal(headers.get(name), null, name);
      }
      if (Number(status) >= 400) assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
    }
  });

  test("a malformed address gets its error in the form of its route, not that of a page", async () => {
    const types: Record<string, string> = {
      "/healthz?%00": "application/json",
      "/api/repos?q=%": "application/json",
      "/api/embed/chart.svg?repo=%zz": "image/svg+xml",
      "/robots.txt?%": "text/plain",
      "/explore?q=%": "text/html",
      "/nowhere?q=%": "text/html",
    };
    for (const [path, type] of Object.entries(types)) {
      const { status, headers } = await world.get(path, { Accept: "text/html" });
      assert.equal(status, path.includes(".svg") ? 200 : 400, path);
      assert.equal(headers.get("content-type")?.split(";")[0], type, path);
    }
  });

  test("an answer may be kept as long as its kind allows: errors never, watchlists by nobody else", async () => {
    const expected: Record<string, string> = {
      200: PUBLIC,
      301: PUBLIC,
      304: PUBLIC,
      201: "private, no-cache",
      204: "private, no-cache",
    };
    const own = "Accept-Encoding, Authorization, X-API-Key";
    // A list is a table for those who prefer that.
    const list = `Accept, ${own}`;
    const varyOf: Record<string, string> = { 200: list, 201: own, 204: own, 301: own, 304: list };
    for (const [status, request] of Object.entries(requests())) {
      const { headers } = await request();
      assert.equal(headers.get("cache-control"), expected[status] ?? "no-store", status);
      assert.equal(headers.get("vary"), varyOf[status] ?? "Accept, Accept-Encoding", status);
    }
    for (const path of ["/healthz", "/readyz"]) {
      assert.equal((await world.get(path)).headers.get("cache-control"), "no-store");
    }
  });

  test("errors are told as RFC 9457 to those who accept it, with the same facts", async () => {
    const titles: Record<string, string> = {
      400: "Validation failed",
      404: "Not found",
      405: "Method not allowed",
    };
    for (const [status, path, method] of [
      ["400", "/api/repos?sort=none", "GET"],
      ["404", "/api/repos/github/no/such", "GET"],
      ["404", "/nowhere", "GET"],
      ["405", "/api/repos", "PUT"],
    ] as const) {
      const plain = errorOf(await world.send(method, path));
      for (const accept of ["application/problem+json", "application/json;q=0.5, application/problem+json"]) {
        const { headers, body } = await world.send(method, path, undefined, { Accept: accept });
        assert.equal(headers.get("content-type"), "application/problem+json; charset=utf-8");
        const { requestId, ...problem } = body;
        assert.equal(requestId, headers.get("x-request-id"));
        const { code, message, details } = plain;
        assert.deepEqual(problem, {
          type: `${ORIGIN}/docs#error-${code.toLowerCase().replaceAll("_", "-")}`,
          title: titles[status],
          status: Number(status),
          detail: message,
          code,
          ...(details === undefined ? {} : { details }),
        });
      }
    }
    const { headers } = await world.get("/api/repos?sort=none", { Accept: "text/html, */*" });
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  });

  test("an error names its request, as the header does", async () => {
    const one = await world.get("/api/repos/github/no/such");
    const other = await world.get("/api/repos/github/no/such");
    assert.equal(one.body.error.requestId, one.headers.get("x-request-id"));
    assert.notEqual(one.body.error.requestId, other.body.error.requestId);
  });

  test("a body must be JSON, in UTF-8, as it is, and of at most 16 kB", async () => {
    const post = async (type: string | null, body: string | Uint8Array<ArrayBuffer>, more = {}) => {
      const headers = { ...(type === null ? {} : { "Content-Type": type }), ...more };
      const response = await world.request("/api/watchlists", { method: "POST", headers, body });
      const parsed: { error?: { code: string } } = JSON.parse(await response.text());
      return response.status === 201 ? 201 : `${response.status} ${parsed.error?.code}`;
    };
    const json = "application/json";
    for (const type of [json, "Application/JSON", `${json}; charset=utf-8`, `${json};charset="UTF-8"`]) {
      assert.equal(await post(type, "{}"), 201, type);
    }
    const unsupported = "415 UNSUPPORTED_MEDIA_TYPE";
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "application/jsonp",
      "application/vnd.api+json",
      "application/json, text/plain",
      "",
    ]) {
      assert.equal(await post(type, "{}"), unsupported, type);
    }
    assert.equal(await post(null, new TextEncoder().encode("{}")), unsupported);
    for (const encoding of ["gzip", "br", "deflate", "identity, gzip"]) {
      assert.equal(await post(json, "{}", { "Content-Encoding": encoding }), unsupported, encoding);
    }
    assert.equal(await post(json, "{}", { "Content-Encoding": "identity" }), 201);
    const padded = (bytes: number) => `{}${" ".repeat(bytes - 2)}`;
    assert.equal(await post(json, padded(16 * 1024)), 201);
    assert.equal(await post(json, padded(16 * 1024 + 1)), "413 PAYLOAD_TOO_LARGE");
    assert.equal(await post(json, `{"name":"${"é".repeat(8_200)}"}`), "413 PAYLOAD_TOO_LARGE");
    const malformed = "400 INVALID_REQUEST";
    for (const text of ["", "{", "{'a':1}", "{}{}", "undefined", '{"name":"\u0001"}', "NaN", "\ufeff{}x"]) {
      assert.equal(await post(json, text), malformed, text);
    }
    for (const bytes of [[0xff], [0x7b, 0xc0, 0x80, 0x7d], [0x22, 0xed, 0xa0, 0x80, 0x22]]) {
      assert.equal(await post(json, new Uint8Array(bytes)), malformed);
    }
    assert.equal(await post(json, "[".repeat(16_000)), malformed);
    assert.equal(await post(json, `${"[".repeat(8_000)}${"]".repeat(8_000)}`), "400 VALIDATION_FAILED");
  });

  test("a body that is not sent to its end is the fault of its sender", async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error("the connection was lost")),
    });
    const request = { method: "POST", body, duplex: "half", headers: { "Content-Type": "application/json" } };
    const response = await world.request("/api/watchlists", request as RequestInit);
    assert.equal(response.status, 400);
    assert.match(await response.text(), /"The body ended too early."/);
  });

  test("bodies cannot reach into objects", async () => {
    for (const body of [
      '{"__proto__":{"polluted":true}}',
      '{"constructor":{"prototype":{"polluted":true}}}',
      '{"name":"x","__proto__":{"ids":["1"]}}',
      '{"ids":{"__proto__":["1"],"length":1}}',
    ]) {
      const headers = { "Content-Type": "application/json" };
      const response = await world.request("/api/watchlists", { method: "POST", headers, body });
      assert.equal(response.status, 400, body);
    }
    for (const query of [
      "__proto__=x",
      "__proto__[polluted]=1",
      "constructor=x",
      "toString=x",
      "hasOwnProperty=x",
    ]) {
      assert.equal((await world.get(`/api/repos?${query}`)).status, 200, query);
    }
    assert.equal(Object.getOwnPropertyNames(Object.prototype).includes("polluted"), false);
    assert.equal(Object.keys(Object.getPrototypeOf({})).length, 0);
  });

  test("a fault of ours answers 500 and tells nothing of it", async (t) => {
    t.mock.method(world.modules.lists, "read", async () => {
      throw new Error("select secret from /var/lib at line 3");
    });
    const answer = await world.get("/api/repos");
    assert.deepEqual(errorOf(answer), {
      status: 500,
      code: "INTERNAL",
      message: "Something went wrong here. The log names this request by its id.",
    });
    assert.equal(answer.headers.get("cache-control"), "no-store");
  });

  test("a database that cannot answer for now answers 503 with when to come back", async (t) => {
    for (const kind of ["busy", "full", "unavailable"] as const) {
      const fault = new DatabaseFault(kind, new Error("database is locked"));
      const list = t.mock.method(world.modules.lists, "read", async () => {
        throw fault;
      });
      const answer = await world.get("/api/repos");
      assert.deepEqual(errorOf(answer), {
        status: 503,
        code: "UNAVAILABLE",
        message: "The database is not available; try again.",
      });
      assert.equal(answer.headers.get("retry-after"), "5");
      list.mock.restore();
    }
  });

  test("readiness says why not", async (t) => {
    for (const [fault, message] of [
      [new DatabaseFault("unavailable", new Error("ECONNREFUSED")), "The database does not respond."],
      [new DatabaseFault("unavailable", new StoreRefused("It is another one.")), "It is another one."],
      [new Error("gone"), "The catalogue cannot be read."],
    ] as const) {
      const reading = t.mock.method(world.modules.catalog, "revision", async () => {
        throw fault;
      });
      const ready = await world.get("/readyz");
      assert.deepEqual(errorOf(ready), { status: 503, code: "UNAVAILABLE", message });
      assert.equal(ready.headers.get("retry-after"), "5");
      assert.equal((await world.get("/healthz")).status, 200);
      reading.mock.restore();
    }
    const hanging = Promise.withResolvers<void>();
    t.mock.method(world.modules.catalog, "revision", () => {
      hanging.resolve();
      return new Promise(() => {});
    });
    const late = world.get("/readyz");
    await hanging.promise;
    world.clock.advance(900);
    const message = "The database has not responded within a second.";
    assert.deepEqual(errorOf(await late), { status: 503, code: "UNAVAILABLE", message });
  });

  test("what is refused while the catalogue loads leaves no line in the log, and what fails does", async (t) => {
    const before = world.logged.length;
    let cause: Error | undefined;
    t.mock.method(world.modules.lists, "read", async () => {
      throw new AppError("UNAVAILABLE", "The catalogue is being loaded.", { cause });
    });
    for (const path of ["/api/repos", "/api/trending", "/explore"])
      assert.equal((await world.get(path)).status, 503, path);
    assert.equal(world.logged.length, before);
    cause = new Error("it cannot be read");
    assert.equal((await world.get("/api/repos")).status, 503);
    assert.deepEqual(
      world.logged.slice(before).map(({ msg }) => msg),
      ["a request failed"],
    );
  });

  test("the 503 page of a database fault is rendered once, and has the id of each request", async (t) => {
    t.mock.method(world.modules.rankings, "counters", async () => {
      throw new DatabaseFault("unavailable", new Error("connect ECONNREFUSED"));
    });
    const rendering = t.mock.method(PageRenderer.prototype, "error");
    for (const path of ["/", "/explore", "/explore?q=x", "/languages", "/compare"]) {
      const { status, html, headers } = await open(world, path);
      assert.equal(status, 503, path);
      assert.equal(headers.get("retry-after"), "5");
      assert.ok(html.includes("The database is not available; try again."));
      assert.ok(!html.includes("(request-id)"));
    }
    assert.ok(rendering.mock.callCount() <= 1, `${rendering.mock.callCount()} were rendered`);
  });
});
