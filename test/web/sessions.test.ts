import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { open, openPage, rowsOf, submit } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

onSqlite("The page of sessions", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newAddress = () => `sessions-${++people}@example.org`;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });
  const PATH = "/account/sessions";

  test("lists the sessions of somebody, this browser first, without a way to end it by mistake", async () => {
    const email = newAddress();
    const first = await signIn(world, mailbox, email, { "User-Agent": "curl/8.14" });
    await signIn(world, mailbox, email);
    const page = await openPage(world, PATH, first.headers);
    assert.equal(page.headers.get("cache-control"), "no-store");
    const rows = rowsOf(page.html, "keys");
    assert.equal(rows.length, 2);
    assert.match(JSON.stringify(rows[0]), /this one.*192\.0\.2\.0\/24/);
    assert.equal(page.html.match(/\/account\/sessions\/\w+\/end"/g)?.length, 1);
    assert.match((await open(world, "/account", first.headers)).text, /2 active/);
    assert.equal((await open(world, PATH)).location, "/sign-in?next=%2Faccount%2Fsessions");
  });

  test("ends one of them, its owner's alone, or all others", async () => {
    const email = newAddress();
    const first = await signIn(world, mailbox, email);
    for (let i = 0; i < 3; i++) await signIn(world, mailbox, email);
    const stranger = await signIn(world, mailbox, newAddress());
    const { html } = await open(world, PATH, first.headers);
    const action = /action="(\/account\/sessions\/\w+\/end)"/.exec(html)?.[1] ?? "";
    assert.equal((await submit(world, action, {}, stranger.headers)).status, 404);
    assert.equal((await submit(world, action)).location, "/sign-in?next=%2Faccount%2Fsessions");
    const ended = await submit(world, action, {}, first.headers);
    assert.deepEqual([ended.status, ended.location, ended.cookies], [303, `${PATH}?ended`, []]);
    const page = await open(world, `${PATH}?ended`, first.headers);
    assert.equal(rowsOf(page.html, "keys").length, 3);
    assert.match(page.text, /has ended/);
    const all = await submit(world, `${PATH}/end-others`, {}, first.headers);
    assert.deepEqual([all.status, all.location], [303, `${PATH}?ended`]);
    assert.equal(rowsOf((await open(world, PATH, first.headers)).html, "keys").length, 1);
    assert.equal((await open(world, "/account", stranger.headers)).status, 200);
  });
});
