import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ageSessions, createKey, type Member, signIn } from "../support/members.js";
import { open, openPage, submit } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const PAGE = "/operator/accounts";

onSqliteAndLong("The page of accounts", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let ann: Member;
  let bob: Member;
  let path: string;

  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_OPERATORS: "ann@example.org" });
    ann = await signIn(world, mailbox, "ann@example.org");
    bob = await signIn(world, mailbox, "bob@example.org");
    const found = await openPage(world, `${PAGE}?text=BOB@`, ann.headers);
    path = found.links.find((link) => link.startsWith(`${PAGE}/`)) ?? "";
  });
  const send = (to: string, fields: Record<string, string>) => submit(world, to, fields, ann.headers);

  /** What the log of operators says, oldest first. */
  const logged = async () => {
    const events = await world.members.events.list({ limit: 100 });
    return events
      .filter(({ detail }) => detail.target !== undefined)
      .map(({ event, detail }) => [event, detail.undo])
      .toReversed();
  };

  test("finds accounts by a part of their address, which is no pattern", async () => {
    const all = await openPage(world, PAGE, ann.headers);
    assert.match(all.text, /ann@example\.org.*bob@example\.org/);
    const found = await open(world, `${PAGE}?text=bob`, ann.headers);
    assert.deepEqual(
      found.links.filter((link) => link.startsWith(`${PAGE}/`)),
      [path],
    );
    for (const text of ["%25", "_", "'", "%5C"])
      assert.match(
        (await open(world, `${PAGE}?text=${text}`, ann.headers)).text,
        /No account has this/,
        text,
      );
    assert.equal((await open(world, `${PAGE}/unknown`, ann.headers)).status, 404);
  });

  test("revokes a key and ends the sessions of anybody, which the owner sees", async () => {
    const { id, key } = await createKey(world, bob);
    assert.match((await openPage(world, path, ann.headers)).text, /laptop/);
    assert.equal((await send(path, { do: "revoke", key: id })).location, `${path}?done=revoked`);
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 401);
    assert.equal((await send(path, { do: "revoke", key: "999" })).status, 404);
    assert.equal((await send(path, { do: "end" })).status, 303);
    assert.equal((await world.get("/api/me", bob.headers)).status, 401);
    bob = await signIn(world, mailbox, "bob@example.org");
    const own = await open(world, "/account/security", bob.headers);
    assert.match(own.text, /Sessions ended sessions: 1.*API key revoked/);
  });

  test("bans an account for a time, and lifts the ban", async () => {
    for (const days of ["0", "x", "3651"])
      assert.equal((await send(path, { do: "ban", days })).status, 400, days);
    assert.equal((await world.get("/api/me", bob.headers)).status, 200);
    assert.equal((await send(path, { do: "ban", days: "30", reason: "spam" })).status, 303);
    assert.equal((await world.get("/api/me", bob.headers)).status, 401);
    const shown = await openPage(world, path, ann.headers);
    assert.match(shown.text, /Banned .*2026.*: spam/);
    assert.equal((await send(path, { do: "lift" })).status, 303);
    bob = await signIn(world, mailbox, "bob@example.org");
  });

  test("bans a network, but neither the operator's own nor a text that is none", async () => {
    const wrong = await send(PAGE, { network: "203.0.113.0/33" });
    assert.deepEqual([wrong.status, wrong.alerts.length], [400, 1]);
    const own = await send(PAGE, { network: "192.0.2.0/24" });
    assert.match(own.text, /Your own address may be in it/);
    assert.equal((await send(PAGE, { network: "2001:DB8::1", days: "1" })).status, 303);
    const banned = await openPage(world, PAGE, ann.headers);
    assert.match(banned.text, /2001:db8::\/64/);
    assert.equal((await world.request("/", { peer: "2001:db8::99" })).status, 403);
    assert.equal((await send(PAGE, { network: "2001:db8::/64", do: "lift" })).status, 303);
    assert.equal((await world.request("/", { peer: "2001:db8::99" })).status, 200);
  });

  test("deletes an account whose address is typed, after a recent sign-in, and never an operator's", async () => {
    const typed = { do: "delete", confirmation: "bob@example.org" };
    assert.equal((await send(path, { do: "delete", confirmation: "bob" })).status, 400);
    await ageSessions(world, 60);
    for (const [to, fields] of [
      [path, typed],
      [path, { do: "ban" }],
      [PAGE, { network: "203.0.113.7" }],
    ] as const)
      assert.match((await send(to, fields)).location ?? "", /^\/sign-in\?again=1/);
    await ageSessions(world, 0);
    const ofAnn = (await open(world, `${PAGE}?text=ann`, ann.headers)).links.find((link) =>
      link.startsWith(`${PAGE}/`),
    );
    assert.equal((await send(ofAnn ?? "", { do: "delete", confirmation: "ann@example.org" })).status, 403);
    assert.equal((await send(path, typed)).location, `${PAGE}?done=deleted`);
    assert.equal((await open(world, path, ann.headers)).status, 404);
    assert.doesNotMatch((await open(world, PAGE, ann.headers)).text, /bob@/);
    const id = path.slice(PAGE.length + 1);
    assert.deepEqual(await logged(), [
      ["account_key_revoked", undefined],
      ["account_sessions_ended", undefined],
      ["banned", `sidereal unban ${id}`],
      ["unbanned", undefined],
      ["banned", "sidereal unban 2001:db8::/64"],
      ["unbanned", undefined],
      ["account_removed", undefined],
    ]);
    const log = await open(world, "/operator/log", ann.headers);
    assert.doesNotMatch(log.text, /bob@/, "the address of a deleted account is gone");
  });
});
