import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("The pages of an account", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const somebody = async () => signIn(world, mailbox, `account-${++people}@example.org`);
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(observation("one/one", daily(1, 2)));
  });

  test("require sign-in and return to the page afterwards", async () => {
    for (const path of ["/account", "/account/delete", "/account/keys", "/account/keys/1?window=7d"]) {
      const page = await open(world, path);
      assert.deepEqual([page.status, page.location], [303, `/sign-in?next=${encodeURIComponent(path)}`]);
      assert.equal(page.headers.get("cache-control"), "no-store");
    }
    const removal = await submit(world, "/account/delete", { confirmation: "delete" });
    assert.deepEqual([removal.status, removal.location], [303, "/sign-in?next=%2Faccount%2Fdelete"]);
  });

  test("show the account, are not indexed and not in shared caches", async () => {
    const { headers } = await somebody();
    await createKey(world, { headers, cookie: "" });
    await sql`update accounts set name = ${'<img src=x onerror="alert(1)">'} where email = ${`account-${people}@example.org`}`.execute(
      world.modules.database.durable,
    );
    const page = await open(world, "/account", headers);
    assert.equal(page.status, 200);
    assert.deepEqual(
      ["cache-control", "x-robots-tag", "vary"].map((name) => page.headers.get(name)),
      ["no-store", "noindex", "Accept-Encoding, Cookie"],
    );
    assert.match(page.html, /<meta name="robots" content="noindex"\/>/);
    assert.doesNotMatch(page.html, /<img/);
    const text = page.text;
    assert.match(text, /<img src=x onerror="alert\(1\)">/);
    assert.match(text, /account-\d+@example\.org/);
    assert.ok(page.facts.get("Watchlist")?.startsWith("0 "));
    assert.ok(page.facts.get("API keys")?.startsWith("1 "));
  });

  test("end all sessions", async () => {
    const first = await somebody();
    const second = await signIn(world, mailbox, `account-${people}@example.org`);
    const out = await submit(world, "/account/sign-out-everywhere", {}, first.headers);
    assert.deepEqual([out.status, out.location], [303, "/sign-in"]);
    for (const { headers } of [first, second])
      assert.equal((await open(world, "/account", headers)).status, 303);
  });

  test("delete the account only after confirmation", async () => {
    const { headers, cookie } = await somebody();
    const { key } = await createKey(world, { headers, cookie });
    const page = await open(world, "/account/delete", headers);
    assert.equal(page.html.match(/<main.*<\/main>/s)?.[0].match(/<li>/g)?.length, 3, "what goes with it");
    for (const confirmation of ["", "yes", "deleted"]) {
      const refused = await submit(world, "/account/delete", { confirmation }, headers);
      assert.equal(refused.status, 400);
    }
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 200);
    const gone = await submit(world, "/account/delete", { confirmation: " Delete " }, headers);
    assert.deepEqual([gone.status, gone.location], [303, "/account/deleted"]);
    assert.match(gone.headers.getSetCookie()[0] ?? "", /Max-Age=0/);
    assert.deepEqual((await open(world, "/account/deleted")).headings, [[1, "Account deleted"]]);
    assert.equal((await open(world, "/account", headers)).status, 303);
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 401);
  });
});
