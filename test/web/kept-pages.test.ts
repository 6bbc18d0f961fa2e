import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { type Member, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("Cached pages", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let ann: Member;
  let ben: Member;
  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_CACHE_MB: "8" });
    await world.record(observation("acme/kite", daily(10, 20)), observation("acme/wing", daily(10, 30)));
    ann = await signIn(world, mailbox, "ann@example.org");
    ben = await signIn(world, mailbox, "ben@example.org");
  });
  const asking = (path: string, headers: Record<string, string> = {}) => open(world, path, headers);

  test("differ by account, for sequential and concurrent requests", async () => {
    const expect = async (path: string, isAtOnce: boolean) => {
      const ask = [() => asking(path), () => asking(path, ann.headers), () => asking(path, ben.headers)];
      const pages = [];
      if (isAtOnce) pages.push(...(await Promise.all(ask.map((one) => one()))));
      else for (const one of ask) pages.push(await one());
      const [nobody, hers, his] = pages;
      const seen = (html = "") => [html.includes("ann@example.org"), html.includes("ben@example.org")];
      assert.deepEqual(seen(nobody?.html), [false, false], path);
      assert.deepEqual(seen(hers?.html), [true, false], path);
      assert.deepEqual(seen(his?.html), [false, true], path);
      assert.match(hers?.headers.get("cache-control") ?? "", /^private/);
      for (const page of pages) assert.deepEqual(page.cookies, [], path);
    };
    for (const path of ["/", "/explore", "/repos/github/acme/kite", "/"]) {
      assert.ok(
        (await asking(path)).links.some((link) => link.startsWith("/sign-in")),
        path,
      );
      await expect(path, false);
      await expect(path, true);
    }
    assert.equal((await asking("/account")).location?.startsWith("/sign-in"), true);
    const [hers, his] = await Promise.all([asking("/account", ann.headers), asking("/account", ben.headers)]);
    assert.ok(hers.html.includes("ann@example.org") && !hers.html.includes("ben@example.org"));
    assert.ok(his.html.includes("ben@example.org") && !his.html.includes("ann@example.org"));
  });

  test("are rendered once for visitors, whatever their other cookies", async () => {
    const first = await asking("/languages", { Cookie: "_ga=1; theme=dark" });
    const other = await asking("/languages", { Cookie: "_ga=2" });
    assert.equal(other.headers.get("etag"), first.headers.get("etag"));
    assert.doesNotMatch(first.headers.get("cache-control") ?? "", /private/);
  });

  test("never include token lists: a read sees the last write", async () => {
    const { body } = await world.send("POST", "/api/watchlists", { name: "Before" });
    const path = `/watchlists/${body.data.token}`;
    const [reading] = await Promise.all([
      asking(path),
      world.send("PATCH", `/api${path}`, { name: "After" }),
    ]);
    assert.match(reading.html, /<h1><bdi>(?:Before|After)<\/bdi>/);
    assert.match((await asking(path)).html, /<h1><bdi>After<\/bdi>/);
    const [one, two] = await Promise.all([asking(path), asking(path)]);
    assert.notEqual(one.headers.get("x-request-id"), two.headers.get("x-request-id"));
  });

  test("count against the limit unless the tag of the request is genuine", async () => {
    const strict = await createWorld(engine, {
      ...limits("default=5"),
      SIDEREAL_CACHE_MB: "8",
    });
    await strict.record(observation("acme/kite", daily(10, 20)));
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++)
      statuses.push(
        (await strict.request(`/api/repos?minStars=${i}`, { headers: { "If-None-Match": "*" } })).status,
      );
    assert.deepEqual(statuses, [304, 304, 304, 304, 304, 429]);
    strict.clock.advance(60_000);
    const empty = await strict.request("/api/repos?minStars=1000");
    const tag = empty.headers.get("etag") ?? "";
    const other = await strict.request("/api/repos?minStars=1001", { headers: { "If-None-Match": tag } });
    assert.equal(other.status, 200, "another list that is empty");
    const same = await strict.request("/api/repos?minStars=1000", { headers: { "If-None-Match": tag } });
    assert.equal(same.status, 304);
    assert.equal(same.headers.get("x-ratelimit-remaining"), other.headers.get("x-ratelimit-remaining"));
  });

  test("files, forms and preflight requests cost no search", async () => {
    await submit(world, "/sign-out", {}, {});
    for (const [method, path] of [
      ["GET", "/assets/acme"],
      ["GET", "/sitemaps/acme"],
      ["OPTIONS", "/acme"],
      ["PUT", "/acme"],
    ] as const) {
      const response = await world.request(path, { method, headers: { Accept: "text/html" } });
      assert.doesNotMatch(await response.text(), /href="\/repos\//, `${method} ${path}`);
    }
    assert.match((await asking("/acme")).html, /href="\/repos\//);
  });
});
