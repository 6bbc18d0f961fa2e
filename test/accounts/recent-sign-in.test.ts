import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ageSessions, createKey, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { createWorld } from "../support/world.js";

onSqliteAndLong("A sign-in more than 15 minutes ago", (engine) => {
  const mailbox = openMailbox();
  let people = 0;
  const start = async () => {
    const world = await createWorld(engine, mailbox.settings);
    const email = `recent-${++people}@example.org`;
    const member = await signIn(world, mailbox, email);
    return { world, email, member };
  };

  test("neither creates a key nor deletes the account, and the API says so by a code", async () => {
    const { world, member, email } = await start();
    await ageSessions(world, 16);
    for (const [method, path, body] of [
      ["POST", "/api/me/keys", { name: "laptop" }],
      ["DELETE", "/api/me", undefined],
    ] as const) {
      const refused = await world.send(method, path, body, member.headers);
      assert.deepEqual([refused.status, refused.body.error.code], [403, "REAUTHENTICATION_REQUIRED"]);
      assert.match(refused.body.error.message, /15 minutes/);
    }
    assert.deepEqual((await world.get("/api/me/keys", member.headers)).body.data, []);
    const again = await signIn(world, mailbox, email);
    await createKey(world, again);
    assert.equal((await world.send("DELETE", "/api/me", undefined, again.headers)).status, 204);
  });

  test("is enough to look, to revoke a key and to end the sessions", async () => {
    const { world, member } = await start();
    const { id } = await createKey(world, member);
    await ageSessions(world, 60 * 24 * 20);
    assert.equal((await world.get("/api/me", member.headers)).status, 200);
    const revoked = await world.send("DELETE", `/api/me/keys/${id}`, undefined, member.headers);
    assert.equal(revoked.status, 204);
    const ended = await world.send("POST", "/api/me/sign-out-everywhere", undefined, member.headers);
    assert.equal(ended.status, 204);
  });

  test("15 minutes are not over a little earlier", async () => {
    const { world, member } = await start();
    await ageSessions(world, 14);
    await createKey(world, member);
  });

  test("leads from a page to sign-in and back, with what was typed", async () => {
    const { world, email, member } = await start();
    await ageSessions(world, 16);
    const created = await submit(world, "/account/keys", { name: "my laptop" }, member.headers);
    const next = "/account/keys?name=my+laptop";
    const again = `/sign-in?again=1&next=${encodeURIComponent(next)}`;
    assert.deepEqual([created.status, created.location], [303, again]);
    const page = await open(world, again, member.headers);
    assert.equal(page.status, 200);
    assert.deepEqual(page.headings, [[1, "Sign in again"]]);
    assert.match(page.html, new RegExp(`name="email" value="${email}"`));
    assert.match(
      page.html,
      new RegExp(`name="next" value="${next.replace("?", "\\?").replace("+", "\\+")}"`),
    );
    const back = await open(world, next, member.headers);
    assert.match(back.html, /value="my laptop"/);
    assert.match(back.text, /sign in again first/);
    for (const response of [
      await open(world, "/account/delete", member.headers),
      await submit(world, "/account/delete", { confirmation: "delete" }, member.headers),
    ])
      assert.deepEqual(
        [response.status, response.location],
        [303, "/sign-in?again=1&next=%2Faccount%2Fdelete"],
      );
    assert.equal((await world.get("/api/me", member.headers)).status, 200);
  });

  test("a visitor is asked to sign in as always, and a recent sign-in is not asked again", async () => {
    const { world, member } = await start();
    assert.deepEqual((await open(world, "/sign-in?again=1&next=%2F")).headings, [[1, "Sign in"]]);
    assert.equal((await open(world, "/account/delete", member.headers)).status, 200);
    const created = await submit(world, "/account/keys", { name: "laptop" }, member.headers);
    assert.equal(created.status, 200);
    assert.doesNotMatch((await open(world, "/account/keys", member.headers)).text, /sign in again/);
  });
});
