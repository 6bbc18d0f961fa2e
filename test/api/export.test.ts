import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, signIn } from "../support/members.js";
import { open } from "../support/page.js";
import { createWorld, daily, NOW, observation } from "../support/world.js";

onSqliteAndLong("GET /api/me/export", (engine) => {
  const mailbox = openMailbox();
  const start = async () => {
    const world = await createWorld(engine, mailbox.settings);
    await world.record(observation("one/one", daily(1, 2)));
    const ann = await signIn(world, mailbox, "ann@example.org");
    return { world, ann };
  };

  test("is everything that belongs to the account, and nothing of others or secret", async () => {
    const { world, ann } = await start();
    const bob = await signIn(world, mailbox, "bob@example.org");
    await createKey(world, bob, "bob's key");
    const kept = await createKey(world, ann, "laptop");
    const revoked = await createKey(world, ann, "lost");
    await world.send("DELETE", `/api/me/keys/${revoked.id}`, undefined, ann.headers);
    await world.get("/api/repos", { "X-API-Key": kept.key });
    await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, ann.headers);
    await open(world, "/watchlist", ann.headers);
    await world.modules.watchlists.flush();
    const response = await world.get("/api/me/export", ann.headers);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(
      response.headers.get("content-disposition"),
      'attachment; filename="sidereal-account-2026-04-30.json"',
    );
    const { data } = response.body;
    const at = new Date(NOW).toISOString();
    assert.equal(data.exportedAt, at);
    assert.equal(data.account.email, "ann@example.org");
    assert.deepEqual(
      data.keys.map(({ name, revokedAt }: { name: string; revokedAt: string | null }) => [name, revokedAt]),
      [
        ["laptop", null],
        ["lost", at],
      ],
    );
    assert.deepEqual(
      data.usage.map(({ keyId, totals }: { keyId: string; totals: { requests: number } }) => [
        keyId,
        totals.requests,
      ]),
      [[kept.id, 1]],
    );
    const item = { repositoryId: "1", provider: "GITHUB", fullName: "one/one", addedAt: at };
    assert.deepEqual(data.watchlist, { name: "Watchlist", lastVisitAt: at, items: [item] });
    const [session] = data.sessions;
    assert.deepEqual([data.sessions.length, session.network, session.agent], [1, "192.0.2.0/24", "None"]);
    assert.deepEqual(data.passkeys, []);
    assert.deepEqual(
      data.events.map(({ event }: { event: string }) => event),
      ["key_revoked", "key_created", "key_created", "signed_in", "account_created"],
    );
    const text = JSON.stringify(data);
    const cookie = decodeURIComponent(ann.cookie.split("=")[1] ?? "");
    for (const secret of [kept.key, revoked.key, cookie.split(".")[0] ?? "", "bob"])
      assert.ok(!text.includes(secret), secret);
    assert.doesNotMatch(text, /[0-9a-f]{64}/, "no hash either");
    const [last] = (await world.get("/api/me/events", ann.headers)).body.data;
    assert.equal(last.event, "data_exported");
  });

  test("has revoked keys for 91 days, and then they are deleted", async () => {
    const { world, ann } = await start();
    await createKey(world, ann, "kept");
    const { id } = await createKey(world, ann, "lost");
    await world.send("DELETE", `/api/me/keys/${id}`, undefined, ann.headers);
    const { keys } = world.members;
    world.clock.advance(91 * DAY_MS);
    assert.equal(await keys.removeRevoked(world.clock.now()), 0);
    world.clock.advance(1);
    assert.equal(await keys.removeRevoked(world.clock.now()), 1);
    const { body } = await world.get("/api/me/export", ann.headers);
    assert.deepEqual(
      body.data.keys.map(({ name }: { name: string }) => name),
      ["kept"],
    );
    assert.equal((await world.get(`/api/me/keys/${id}/usage`, ann.headers)).status, 404);
  });
});
