import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, signIn } from "../support/members.js";
import { open } from "../support/page.js";
import { createWorld, NOW } from "../support/world.js";

onSqliteAndLong("GET /api/me/events", (engine) => {
  const mailbox = openMailbox();
  const start = async () => {
    const world = await createWorld(engine, mailbox.settings);
    const ann = await signIn(world, mailbox, "ann@example.org");
    return { world, ann };
  };

  test("lists the events of the own account, latest first, a page at a time", async () => {
    const { world, ann } = await start();
    const bob = await signIn(world, mailbox, "bob@example.org");
    await createKey(world, bob);
    const { id: key } = await createKey(world, ann);
    const first = await world.get("/api/me/events?limit=2", ann.headers);
    assert.equal(first.status, 200);
    assert.equal(first.headers.get("cache-control"), "no-store");
    const [created, signedIn] = first.body.data;
    const at = new Date(NOW).toISOString();
    const facts = { at, network: "192.0.2.0/24" };
    assert.deepEqual(created, {
      ...facts,
      id: created.id,
      event: "key_created",
      detail: { agent: "None", key },
    });
    assert.equal(signedIn.event, "signed_in");
    const { nextCursor } = first.body.meta;
    assert.equal(nextCursor, signedIn.id);
    const second = await world.get(`/api/me/events?limit=2&cursor=${nextCursor}`, ann.headers);
    assert.deepEqual(
      second.body.data.map(({ event }: { event: string }) => event),
      ["account_created"],
    );
    assert.equal(second.body.meta.nextCursor, null);
  });

  test("refuses other limits and cursors, and visitors", async () => {
    const { world, ann } = await start();
    for (const query of [
      "limit=0",
      "limit=101",
      "limit=x",
      "cursor=0",
      "cursor=x",
      "cursor=99999999999999999",
    ]) {
      const refused = await world.get(`/api/me/events?${query}`, ann.headers);
      assert.deepEqual([refused.status, refused.body.error.code], [400, "VALIDATION_FAILED"], query);
    }
    assert.equal((await world.get("/api/me/events")).status, 401);
  });

  test("a page shows the same in words", async () => {
    const { world, ann } = await start();
    for (let i = 0; i < 5; i++) {
      const { id } = await createKey(world, ann);
      await world.send("DELETE", `/api/me/keys/${id}`, undefined, ann.headers);
    }
    const page = await open(world, "/account/security", ann.headers);
    assert.equal(page.status, 200);
    assert.match(page.text, /API key revoked\s+key: 5/);
    assert.match(page.text, /192\.0\.2\.0\/24/);
    assert.match(page.text, /Account created\s+method: link/);
    assert.doesNotMatch(page.html, /Older events/);
    assert.equal((await open(world, "/account/security?cursor=x", ann.headers)).status, 200);
    const older = await open(world, "/account/security?cursor=2", ann.headers);
    assert.match(older.text, /Account created/);
    assert.doesNotMatch(older.text, /API key (created|revoked)/);
  });
});
