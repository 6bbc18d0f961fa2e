import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ageSessions, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { addPasskey } from "../support/passkeys.js";
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
    const { id } = await addPasskey(world, await signIn(world, mailbox, email));
    await ageSessions(world, 16);
    for (const path of ["/account/sessions", '/account/passkeys?name="><b>']) {
      const { html, text } = await open(world, path, member.headers);
      assert.match(text, /sign in again/);
      assert.equal(html.includes('value="&quot;>&lt;b>"'), path.includes("name="));
    }
    for (const [path, form, page] of [
      ["delete", undefined, "delete"],
      ["delete", { confirmation: "delete" }, "delete"],
      ["export", undefined, "export"],
      ["sessions/x/end", {}, "sessions"],
      ["sessions/end-others", {}, "sessions"],
      [`passkeys/${id}/remove`, {}, "passkeys"],
    ] as const) {
      const { status, location } = await (form === undefined
        ? open(world, `/account/${path}`, member.headers)
        : submit(world, `/account/${path}`, form, member.headers));
      assert.deepEqual([status, location], [303, `/sign-in?again=1&next=%2Faccount%2F${page}`], path);
    }
    for (const things of ["sessions", "passkeys"])
      assert.ok((await world.get(`/api/me/${things}`, member.headers)).body.data.length > 0, things);
    assert.equal((await world.get("/api/me", member.headers)).status, 200);
  });

  test("a visitor signs in as always, and after a recent sign-in not again", async () => {
    const { world, member } = await start();
    assert.deepEqual((await open(world, "/sign-in?again=1&next=%2F")).headings, [[1, "Sign in"]]);
    for (const path of ["/account/delete", "/account/export"])
      assert.equal((await open(world, path, member.headers)).status, 200);
    const created = await submit(world, "/account/keys", { name: "laptop" }, member.headers);
    assert.equal(created.status, 200);
    assert.doesNotMatch((await open(world, "/account/keys", member.headers)).text, /sign in again/);
  });
});
