import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, signIn } from "../support/members.js";
import { numbersIn, open, rowsOf, submit } from "../support/page.js";
import { addPasskey } from "../support/passkeys.js";
import { createWorld, type World } from "../support/world.js";

onSqlite("The pages of passkeys", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const somebody = (): Promise<Member> => signIn(world, mailbox, `passkeys-${++people}@example.org`);
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });

  test("list passkeys by name, and offer the form to scripts alone", async () => {
    const member = await somebody();
    const empty = await open(world, "/account/passkeys", member.headers);
    assert.deepEqual(rowsOf(empty.html, "keys"), []);
    assert.equal(empty.headers.get("cache-control"), "no-store");
    assert.match(
      empty.html,
      /<form class="box narrow" data-passkey="add" data-origin="https:\/\/sidereal\.example" hidden/,
    );
    await addPasskey(world, member, "<b>phone</b>");
    const { html, text } = await open(world, "/account/passkeys", member.headers);
    assert.equal(rowsOf(html, "keys").length, 1);
    assert.match(text, /<b>phone<\/b>/);
    assert.doesNotMatch(html, /<b>phone/);
    assert.match((await open(world, "/account", member.headers)).text, /Email, Passkey/);
  });

  test("remove a passkey by a form, its owner's alone", async () => {
    const [ann, bob] = [await somebody(), await somebody()];
    const { id } = await addPasskey(world, ann);
    const path = `/account/passkeys/${id}/remove`;
    assert.equal((await submit(world, path, {}, bob.headers)).status, 404);
    assert.equal((await submit(world, path, {})).location, "/sign-in?next=%2Faccount%2Fpasskeys");
    const removed = await submit(world, path, {}, ann.headers);
    assert.deepEqual([removed.status, removed.location], [303, "/account/passkeys?removed"]);
    const page = await open(world, "/account/passkeys?removed", ann.headers);
    assert.deepEqual(rowsOf(page.html, "keys"), []);
  });

  test("with ten passkeys the page explains the limit", async () => {
    const member = await somebody();
    for (let i = 0; i < 10; i++) await addPasskey(world, member, `passkey ${i}`);
    const page = await open(world, "/account/passkeys", member.headers);
    assert.equal(rowsOf(page.html, "keys").length, 10);
    assert.ok(page.notes.some((note) => numbersIn(note).includes("10")));
    assert.doesNotMatch(page.html, /data-passkey="add"/);
  });

  test("if browsers have no passkeys, none is offered, and nothing is loaded for them", async () => {
    const other = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_BASE_URL: "http://sidereal.example",
    });
    const [page, elsewhere] = [await open(world, "/sign-in"), await open(other, "/sign-in")];
    assert.match(page.html, /data-passkey="sign-in" data-next="\/"/);
    assert.match(page.html, /passkey\.js/);
    assert.doesNotMatch(elsewhere.html, /passkey/);
    assert.doesNotMatch(page.headers.get("permissions-policy") ?? "", /publickey-credentials/);
  });
});
