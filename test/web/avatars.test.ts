import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { colouredPng } from "../support/forge/avatars.js";
import { open, textOf } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqliteAndLong("The avatars on pages", (engine) => {
  let world: World;
  const png = colouredPng("acme");
  /** Paths of the avatars on a page. */
  const avatarsOn = async (path: string) => {
    const { html } = await open(world, path);
    return [...html.matchAll(/<img src="(\/avatars\/[^"]*)"/g)].map((match) => match[1] ?? "");
  };
  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("acme/kite", daily(1000, 1100)),
      observation("Acme/wing", daily(50, 60)),
      observation("other/page", daily(5000, 5001)),
      observation("acme/clone", daily(10, 300), { provider: "GITLAB" }),
    );
    const { avatars } = world.modules;
    await avatars.want([
      { provider: "GITHUB", owner: "acme" },
      { provider: "GITHUB", owner: "other" },
    ]);
    await avatars.keep({ provider: "GITHUB", owner: "acme" }, png);
  });

  test("are those of the owner on that forge; all others have an initial", async () => {
    const [first = "", second, ...others] = await avatarsOn("/explore?sort=stars");
    assert.match(first, /^\/avatars\/[0-9a-f]{32}$/);
    assert.deepEqual([second, others], [first, []]);
    assert.deepEqual(await avatarsOn("/repos/github/acme/kite"), [first]);
    assert.deepEqual(await avatarsOn("/repos/gitlab/acme/clone"), []);
    const { html } = await open(world, "/repos/github/other/page");
    assert.match(html, /data-initial="O"/);
    assert.doesNotMatch(textOf(html), /\bO\s+other/, "the initial is part of the text");
  });

  test("are served as images that may be kept forever, and cannot be anything else", async () => {
    const [path = ""] = await avatarsOn("/repos/github/acme/kite");
    const response = await world.request(path);
    assert.equal(response.status, 200);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), png);
    const headers = ["content-type", "cache-control", "content-security-policy", "x-content-type-options"];
    assert.deepEqual(
      headers.map((name) => response.headers.get(name)),
      ["image/png", "public, max-age=31536000, immutable", "default-src 'none'; sandbox", "nosniff"],
    );
  });

  test("that do not exist are not found, without an image instead of them", async () => {
    for (const path of [
      "/avatars/0",
      `/avatars/${"0".repeat(32)}`,
      "/avatars/..%2f..%2fetc%2fpasswd",
      "/avatars/acme",
    ]) {
      const response = await world.request(path);
      assert.ok(response.status === 404 || response.status === 400, `${path}: ${response.status}`);
      assert.doesNotMatch(response.headers.get("content-type") ?? "", /^image/);
    }
    assert.equal((await world.request("/avatars/")).status, 404);
  });

  test("disappear from the next page when they are removed", async () => {
    await world.modules.avatars.keep({ provider: "GITHUB", owner: "acme" }, null);
    world.clock.advance(30_000);
    await avatarsOn("/");
    // The page above has started to read them.
    await world.modules.database.read.selectFrom("avatars").selectAll().execute();
    assert.deepEqual(await avatarsOn("/repos/github/acme/kite"), []);
  });
});
