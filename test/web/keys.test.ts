import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, signIn } from "../support/members.js";
import { fieldOf, linkTo, numbersIn, open, rowsOf, submit, textOf } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("The pages of API keys", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const somebody = (): Promise<Member> => signIn(world, mailbox, `keys-${++people}@example.org`);
  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, ...limits("heavy.account=3") });
    await world.record(observation("one/one", daily(1, 2)));
  });

  test("a new key is shown once, on an uncached page", async () => {
    const { headers } = await somebody();
    assert.deepEqual(rowsOf((await open(world, "/account/keys", headers)).html, "keys"), []);
    const made = await submit(world, "/account/keys", { name: "  <b>lap</b>top " }, headers);
    assert.equal(made.status, 200);
    assert.equal(made.headers.get("cache-control"), "no-store");
    assert.equal(made.headers.get("referrer-policy"), "same-origin");
    const key = /<pre id="key"><code>(sid_[0-9A-Za-z]{36})<\/code>/.exec(made.html)?.[1] ?? "";
    assert.equal((await world.get("/api/repos", { Authorization: `Bearer ${key}` })).status, 200);
    assert.match(
      made.text,
      new RegExp(`curl -H "Authorization: Bearer ${key}" "https://sidereal.example/api/repos`),
    );
    assert.match(made.html, /<button type="button"[^>]* class="plain scripted" data-copy="key"/);
    const list = await open(world, "/account/keys", headers);
    assert.doesNotMatch(list.html, new RegExp(key));
    assert.match(list.text, new RegExp(`<b>lap</b>top …${key.slice(-4)}`));
    assert.doesNotMatch(list.html, /<b>lap/);
  });

  test("an invalid name is reported next to its field", async () => {
    const { headers } = await somebody();
    for (const name of ["", "   ", "x".repeat(101), "a\nb"]) {
      const page = await submit(world, "/account/keys", { name }, headers);
      assert.equal(page.status, 400);
      assert.equal(page.alerts.length, 1);
      assert.deepEqual(fieldOf(page, "name")?.["aria-invalid"], "true");
    }
    const { buttons, html } = await open(world, "/account/keys", headers);
    assert.ok(buttons.includes("Create key"));
    assert.deepEqual(rowsOf(html, "keys"), [], "no key was created");
  });

  test("the last use of a key is told to the minute, also over the turn of an hour", async () => {
    const member = await somebody();
    const { key, id } = await createKey(world, member, "laptop");
    assert.match((await open(world, "/account/keys", member.headers)).text, /laptop .* never/);
    world.clock.advance(50 * 60_000);
    await world.get("/api/repos", { Authorization: `Bearer ${key}` });
    world.clock.advance(16 * 60_000);
    for (const page of ["/account/keys", `/account/keys/${id}`])
      assert.match((await open(world, page, member.headers)).text, /\b16 min ago/);
  });

  test("with five keys the page explains the limit", async () => {
    const member = await somebody();
    for (let i = 0; i < 5; i++) await createKey(world, member, `key ${i}`);
    const page = await open(world, "/account/keys", member.headers);
    assert.equal(rowsOf(page.html, "keys").length, 5);
    assert.ok(page.notes.some((note) => numbersIn(note).includes("5")));
    assert.ok(!page.buttons.includes("Create key"));
    assert.doesNotMatch(page.html, /<input id="name"/);
    const sixth = await submit(world, "/account/keys", { name: "six" }, member.headers);
    assert.equal(sixth.status, 409);
    assert.doesNotMatch(sixth.html, /sid_/);
  });

  test("a key is revoked after confirmation, and only by its owner", async () => {
    const owner = await somebody();
    const other = await somebody();
    const { id, key } = await createKey(world, owner, "laptop");
    const page = await open(world, "/account/keys", owner.headers);
    assert.ok(page.html.includes(`<form method="post" action="/account/keys/${id}/revoke">`));
    const foreign = await submit(world, `/account/keys/${id}/revoke`, {}, other.headers);
    assert.equal(foreign.status, 404);
    const signedOut = await submit(world, `/account/keys/${id}/revoke`);
    assert.equal(signedOut.location, "/sign-in?next=%2Faccount%2Fkeys");
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 200);
    const revoked = await submit(world, `/account/keys/${id}/revoke`, {}, owner.headers);
    assert.deepEqual([revoked.status, revoked.location], [303, "/account/keys?revoked"]);
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 401);
    assert.equal((await open(world, "/account/keys?revoked", owner.headers)).notices.length, 1);
    assert.equal((await open(world, `/account/keys/${id}`, owner.headers)).status, 404);
    for (const wrong of ["0", "x", "99999", "1".repeat(19)]) {
      assert.equal((await open(world, `/account/keys/${wrong}`, owner.headers)).status, 404, wrong);
      assert.equal(
        (await submit(world, `/account/keys/${wrong}/revoke`, {}, owner.headers)).status,
        404,
        wrong,
      );
    }
  });

  test("the usage of a key is shown with its numbers, to its owner only", async () => {
    const owner = await somebody();
    const { id, key } = await createKey(world, owner, "ci");
    const unused = await open(world, `/account/keys/${id}`, owner.headers);
    assert.ok(unused.text.includes('curl -H "Authorization: Bearer $SIDEREAL_KEY"'));
    const ask = (path: string) =>
      world.get(path, { "X-API-Key": key, "User-Agent": "curl/8.5.0", "X-Forwarded-For": "198.51.100.7" });
    for (let i = 0; i < 5; i++) await ask("/api/repos");
    await ask("/api/repos?window=1y");
    for (let i = 0; i < 5; i++) await ask("/api/repos/1/metrics");
    const page = await open(world, `/account/keys/${id}?window=7d`, owner.headers);
    assert.equal(page.status, 200);
    const { facts, html } = page;
    assert.deepEqual(
      ["Requests", "Errors", "Blocked", "IP addresses"].map((name) => numbersIn(facts.get(name) ?? "")),
      [["11"], ["1", "9.1"], ["2", "18"], ["1"]],
    );
    const endpoints = rowsOf(html.slice(html.indexOf('aria-label="Top endpoints"')));
    assert.deepEqual(
      endpoints.map((cells) => cells.slice(0, 4)),
      [
        ["GET /api/repos", "6", "1", "0"],
        ["GET /api/repos/{id}/metrics", "5", "0", "2"],
      ],
    );
    const items = [...html.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = ""]) => textOf(item));
    const itemWith = (name: string) => items.find((item) => item.startsWith(name)) ?? "";
    assert.deepEqual(numbersIn(itemWith("heavy")).slice(0, 2), ["0", "3"]);
    assert.equal(numbersIn(itemWith("192.0.2.1").slice("192.0.2.1".length))[0], "11");
    assert.equal(numbersIn(itemWith("curl"))[0], "11");
    assert.match(page.text, /GET \/api\/repos 400 VALIDATION_FAILED/);
    assert.equal(linkTo(html, "7 days")?.search, "?window=7d");
    assert.ok(page.current.includes("7 days"));
    assert.equal(
      [...page.html.matchAll(/<title>2026-04-\d\d \d\d:00: /g)].length,
      2 * 29,
      "in both drawings a bar for each six hours, the first of which began before the period",
    );
    const axis = [
      ...(/<svg class="bars-wide".*?<\/svg>/s.exec(html)?.[0] ?? "").matchAll(
        /text-anchor="end"[^>]*>(\d+)</g,
      ),
    ];
    assert.deepEqual(
      axis.map(([, label]) => label),
      ["0", "5", "10"],
    );
    assert.match(
      page.html,
      /<th scope="row">2026-04-30 12:00<\/th><td class="number">8<\/td><td class="number">1<\/td><td class="number">2<\/td>/,
    );
    const other = await somebody();
    assert.equal((await open(world, `/account/keys/${id}`, other.headers)).status, 404);
  });

  test("an unknown period is reported with the valid ones", async () => {
    const owner = await somebody();
    const { id } = await createKey(world, owner);
    const page = await open(world, `/account/keys/${id}?window=1y`, owner.headers);
    assert.equal(page.status, 400);
    const [alert = ""] = page.alerts;
    for (const period of ["24h", "7d", "30d", "90d"]) assert.ok(alert.includes(period), period);
    assert.ok(page.current.includes("24 hours"));
  });
});
