import assert from "node:assert/strict";
import { before, test } from "node:test";
import { errorOf } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, signIn } from "../support/members.js";
import { createWorld, type World } from "../support/world.js";

onSqliteAndLong("Sessions over HTTP", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newAddress = () => `somebody-${++people}@example.org`;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });
  const list = async ({ headers }: Member) => (await world.get("/api/me/sessions", headers)).body.data;
  const statusOf = async ({ headers }: Member) => (await world.get("/api/me", headers)).status;
  const remove = (path: string, { headers }: Member) => world.send("DELETE", path, undefined, headers);
  const namesOf = async ({ headers }: Member) =>
    (await world.get("/api/me/events", headers)).body.data.map(({ event }: { event: string }) => event);

  test("are listed with where they began, without their tokens", async () => {
    const email = newAddress();
    const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const first = await signIn(world, mailbox, email, { "User-Agent": agent });
    const second = await signIn(world, mailbox, email);
    const answer = await world.get("/api/me/sessions", first.headers);
    assert.deepEqual([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
    const { data } = answer.body;
    assert.equal(data.length, 2);
    const [own] = data.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    const { id, createdAt, lastSeenAt, expiresAt, ...rest } = own;
    assert.deepEqual(rest, { isCurrent: true, network: "192.0.2.0/24", agent: "Firefox" });
    assert.ok(createdAt <= lastSeenAt && lastSeenAt < expiresAt);
    for (const { cookie } of [first, second]) {
      const token = cookie.split("=")[1] ?? "";
      assert.ok(!JSON.stringify(data).includes(token.split(".")[0] ?? "") && !id.includes(token));
    }
  });

  test("end one by one, at once and with an entry in the log; one of somebody else is none", async () => {
    const email = newAddress();
    const [first, second] = [await signIn(world, mailbox, email), await signIn(world, mailbox, email)];
    const stranger = await signIn(world, mailbox, newAddress());
    const other = (await list(first)).find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent).id;
    const missing = { status: 404, code: "NOT_FOUND", message: "There is no such session." };
    for (const id of [other, "nonsense", "1"])
      assert.deepEqual(errorOf(await remove(`/api/me/sessions/${id}`, stranger)), missing);
    const ended = await remove(`/api/me/sessions/${other}`, first);
    assert.deepEqual([ended.status, ended.headers.getSetCookie()], [204, []]);
    assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 401]);
    assert.deepEqual(errorOf(await remove(`/api/me/sessions/${other}`, first)), missing);
    assert.deepEqual((await namesOf(first)).slice(0, 1), ["session_ended"]);
    const [{ id: own }] = await list(first);
    const last = await remove(`/api/me/sessions/${own}`, first);
    assert.match(last.headers.getSetCookie()[0] ?? "", /session_token=; Max-Age=0/);
    assert.equal(await statusOf(first), 401);
    assert.equal(await statusOf(stranger), 200);
  });

  test("all others end together, and this one goes on", async () => {
    const email = newAddress();
    const members = [
      await signIn(world, mailbox, email),
      await signIn(world, mailbox, email),
      await signIn(world, mailbox, email),
    ] as const;
    const [first, ...others] = members;
    for (let i = 0; i < 2; i++) assert.equal((await remove("/api/me/sessions", first)).status, 204);
    assert.equal(await statusOf(first), 200);
    for (const other of others) assert.equal(await statusOf(other), 401);
    const events = await namesOf(first);
    assert.equal(events.filter((event: string) => event === "sessions_ended").length, 1);
  });
});
