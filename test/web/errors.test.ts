import assert from "node:assert/strict";
import { before, test } from "node:test";
import { PageRenderer } from "../../src/web/page.js";
import { decodedText } from "../support/answers.js";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { linkTo, numbersIn, openPage, textOf } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("Error pages and the empty catalogue", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("acme/kite", daily(10, 20), { facts: { language: "Rust", topics: ["air"] } }),
    );
  });

  test("a missing page suggests similar names", async () => {
    for (const [path, name] of [
      ["/repos/github/acme/kit", "acme/kite"],
      ["/nothing/kites", "acme/kite"],
      ["/air", "air"],
      ["/lang/rust/", "Rust"],
    ] as const) {
      const { status, headers, html } = await openPage(world, path);
      assert.equal(status, 404, path);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.match(html, /<meta name="robots" content="noindex"/);
      assert.ok(linkTo(html, name), `${path} does not suggest ${name}`);
    }
    for (const path of ["/zzzz", `/${"z".repeat(500)}`, "/%F0%9F%9A%80"])
      assert.equal((await openPage(world, path)).status, 404, path);
    const hostile = await openPage(world, "/%3Cscript%3Ex%3C%2Fscript%3E");
    assert.doesNotMatch(hostile.html, /<script>x/);
  });

  test("an error page is compressed on request and not cached", async () => {
    const plain = await world.request("/nothing/kites", { headers: { Accept: "text/html" } });
    assert.equal(plain.headers.get("content-encoding"), null);
    const text = await plain.text();
    for (const encoding of ["br", "gzip"]) {
      const answer = await world.request("/nothing/kites", {
        headers: { Accept: "text/html", "Accept-Encoding": encoding },
      });
      assert.deepEqual(
        ["content-encoding", "etag", "cache-control"].map((name) => answer.headers.get(name)),
        [encoding, null, "no-store"],
      );
      assert.match(answer.headers.get("vary") ?? "", /Accept-Encoding/);
      assert.equal(answer.status, 404);
      assert.equal(await decodedText(answer), text);
    }
    const short = await world.request("/api/nothing", { headers: { "Accept-Encoding": "gzip" } });
    assert.equal(short.headers.get("content-encoding"), null, "what is short gains nothing");
  });

  test("clients that do not accept HTML get JSON", async () => {
    const { status, body } = await world.get("/nothing");
    assert.deepEqual([status, body.error.code], [404, "NOT_FOUND"]);
    const api = await world.get("/api/nothing", { Accept: "text/html" });
    assert.equal(api.body.error.code, "NOT_FOUND");
  });

  test("an unsupported method is a 405", async () => {
    const response = await world.request("/about", { method: "PUT", headers: { Accept: "text/html" } });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("allow"), "GET, HEAD, OPTIONS");
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
  });

  test("a rate-limited page says when to try again", async () => {
    const strict = await createWorld(engine, limits("default=4"));
    for (let i = 0; i < 2; i++) assert.equal((await openPage(strict, "/about")).status, 200);
    const { status, headers, html } = await openPage(strict, "/topics");
    assert.equal(status, 429);
    const wait = headers.get("retry-after");
    assert.equal(wait, "30");
    assert.ok(numbersIn(textOf(html.slice(html.indexOf("<h1")))).includes("30"));
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.ok(headers.has("x-request-id"));
    assert.equal(headers.get("x-ratelimit-remaining"), "0");
    const plain = await strict.request("/about");
    assert.equal(JSON.parse(await plain.text()).error.code, "RATE_LIMITED");
    strict.clock.advance(30_000);
    assert.equal((await openPage(strict, "/about")).status, 200);
  });

  test("a rate-limited page is rendered once for all addresses, and never compressed", async (t) => {
    const strict = await createWorld(engine, limits("default=4"));
    const { mock: rendered } = t.mock.method(PageRenderer.prototype, "error");
    for (let i = 0; i < 2; i++) await openPage(strict, "/about");
    const queries = t.mock.method(strict.modules.database.read.getExecutor(), "executeQuery");
    const ids = new Set<string | null>();
    const ask = async (path: string) => {
      const headers = { Accept: "text/html", "Accept-Encoding": "br, gzip" };
      const response = await strict.request(path, { headers });
      assert.equal(response.status, 429, path);
      assert.equal(response.headers.get("content-encoding"), null);
      ids.add(response.headers.get("x-request-id"));
      const wait = response.headers.get("retry-after");
      const text = textOf(await response.text());
      assert.ok(text.includes(`Try again in ${wait} s.`), text);
      assert.ok(text.includes(`at most 4 requests in 60 seconds; try again in ${wait} s.`), text);
      return wait;
    };
    for (let i = 0; i < 10; i++) assert.equal(await ask(`/nothing-${i}`), "15");
    strict.clock.advance(8_000);
    assert.equal(await ask("/nothing"), "7");
    assert.equal(ids.size, 11);
    assert.equal(rendered.callCount(), 1);
    assert.equal(queries.mock.callCount(), 0, "a refusal reads nothing");
  });

  test("a page is cached for visitors only, until something changes", async () => {
    const cached = await createWorld(engine, { SIDEREAL_CACHE_MB: "8" });
    await cached.record(observation("acme/kite", daily(10, 20)));
    const first = await openPage(cached, "/explore");
    assert.match(first.html, /acme\/kite/);
    const tag = first.headers.get("etag") ?? "";
    const again = await cached.request("/explore", {
      headers: { Accept: "text/html", "If-None-Match": tag },
    });
    assert.equal(again.status, 304);
    await cached.record(observation("acme/wing", daily(10, 40)));
    cached.clock.advance(2_000);
    assert.match((await openPage(cached, "/explore")).html, /acme\/wing/);
    // A missing page is no page to those who read none, however soon they ask.
    const [page, json] = await Promise.all([
      cached.request("/nothing", { headers: { Accept: "text/html" } }),
      cached.request("/nothing", { headers: { Accept: "application/json" } }),
    ]);
    assert.match(page.headers.get("content-type") ?? "", /html/);
    assert.match(json.headers.get("content-type") ?? "", /json/);
  });

  test("an empty catalogue shows how to start, and the configured forges", async () => {
    const empty = await createWorld(engine);
    for (const path of ["/", "/explore", "/explore?sort=wrong"]) {
      const { status, text, html, headers } = await openPage(empty, path);
      assert.equal(status, 200, path);
      if (path === "/") assert.match(text, /Type a repository, see its history/);
      assert.doesNotMatch(html, /http-equiv="refresh"|live-seconds/, "nothing is being read");
      assert.equal(headers.get("cache-control"), "no-store", "progress is never older than it says");
    }
    for (const path of ["/languages", "/topics"])
      assert.ok((await openPage(empty, path)).links.includes("/"), path);
    const tracked = await createWorld(engine, {
      SIDEREAL_PROVIDERS: "github,codeberg",
      SIDEREAL_TRACK: "everyone",
    });
    for (const path of ["/", "/explore"]) {
      const { text, buttons, html } = await openPage(tracked, path);
      for (const forge of ["GitHub", "Codeberg"]) assert.ok(text.includes(forge), `${path}: ${forge}`);
      if (path === "/") assert.ok(buttons.includes("Show"), "the field takes any repository");
      assert.match(html, /data-live="interruptions" data-seconds="5"/, path);
      assert.match(html, /<noscript><meta http-equiv="refresh" content="60"/, path);
      assert.doesNotMatch(text, /Requests left/, "quotas are for operators");
    }
  });
});
