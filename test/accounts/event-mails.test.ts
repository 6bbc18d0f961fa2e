import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_PER_DAY } from "../../src/accounts/event-mails.js";
import { readMailUse } from "../../src/accounts/mail-limits.js";
import { insertEvents } from "../../src/accounts/security-rows.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { onBothEngines } from "../support/engines.js";
import { openMailbox, type ReceivedMail } from "../support/mail.js";
import { createKey, signIn } from "../support/members.js";
import { createWorld, type World } from "../support/world.js";

const subjectOf = ({ text }: ReceivedMail) => /^Subject: (.*)$/m.exec(text)?.[1];
const bodyOf = ({ text }: ReceivedMail) =>
  text.slice(text.indexOf("\r\n\r\n")).replaceAll("\r\n", "\n").trim();

onBothEngines("A mail about an event", (engine) => {
  const mailbox = openMailbox();
  const start = async (env: Record<string, string> = mailbox.settings) => {
    const world = await createWorld(engine, env);
    return world;
  };
  /** Lets everything that was recorded be mailed, and says how many mails wait. */
  const settled = async (world: World) => {
    await world.members.security.flush();
    await world.members.mails.settled();
    return mailbox.notices;
  };
  /** A sign-in of an account that exists, as if by a link. */
  const record = (world: World, accountId: string, network: string, agent: string) =>
    world.members.security.recordSignIn(
      { account: { id: accountId }, isNew: false, isAgain: false },
      { method: "link", source: { network, agent } },
    );
  const idOf = async (world: World) => (await world.members.security.list({ limit: 1 }))[0]?.accountId ?? "";

  test("is sent for a new key to the address of the account, with what happened, when and where, and no secret or link", async () => {
    const world = await start();
    const ann = await signIn(world, mailbox, "ann@example.org");
    assert.equal(await settled(world), 0, "the first sign-in is no news");
    const { id, key } = await createKey(world, ann);
    const mail = await mailbox.nextNotice();
    assert.deepEqual(mail.to, ["ann@example.org"]);
    assert.equal(subjectOf(mail), "Security notice: API key created at sidereal.example");
    const body = bodyOf(mail);
    assert.ok(body.startsWith(`API key created: your account at sidereal.example (key: ${id}).`), body);
    assert.match(body, /When: 2026-04-30 12:00 UTC\nBrowser or program: None\nNetwork: 192\.0\.2\.0\/24\n/);
    assert.match(mail.text, /Content-Type: text\/plain/);
    for (const part of [key, key.slice(4, 20), "http:", "https:", "192.0.2.1"])
      assert.ok(!mail.text.includes(part), part);
  });

  test("is sent for whatever changes how an account is used, also when it is gone", async () => {
    const world = await start();
    const ann = await signIn(world, mailbox, "ann@example.org");
    const { id } = await createKey(world, ann);
    await world.send("DELETE", `/api/me/keys/${id}`, undefined, ann.headers);
    await world.send("POST", "/api/me/sign-out-everywhere", undefined, ann.headers);
    const again = await signIn(world, mailbox, "ann@example.org");
    await world.send("DELETE", "/api/me", undefined, again.headers);
    const subjects = [];
    for (let i = 0; i < 4; i++) subjects.push(subjectOf(await mailbox.nextNotice())?.split(": ")[1]);
    assert.deepEqual(
      subjects.toSorted(),
      ["Account deleted", "API key created", "API key revoked", "Sessions ended"]
        .map((what) => `${what} at sidereal.example`)
        .toSorted(),
    );
    assert.equal(await settled(world), 0);
  });

  test("is sent for a sign-in from a network or with a browser that the account did not use before", async () => {
    const world = await start();
    await signIn(world, mailbox, "ann@example.org");
    const id = await idOf(world);
    for (const [network, agent, isNew] of [
      ["192.0.2.0/24", "None", false],
      ["198.51.100.0/24", "None", true],
      ["198.51.100.0/24", "Firefox", true],
      ["192.0.2.0/24", "Firefox", false],
      ["198.51.100.0/24", "None", false],
    ] as const) {
      record(world, id, network, agent);
      assert.equal(await settled(world), isNew ? 1 : 0, `${network} ${agent}`);
      if (isNew) assert.match(subjectOf(await mailbox.nextNotice()) ?? "", /Signed in from somewhere new/);
    }
  });

  test("is sent for a sign-in from somewhere new however much has happened since the last one", async () => {
    const world = await start();
    await signIn(world, mailbox, "ann@example.org");
    const accountId = await idOf(world);
    await settled(world);
    const { database } = world.modules;
    const later = {
      at: world.clock.now(),
      accountId,
      event: "session_ended",
      network: "",
      detail: {},
      times: 1,
    } as const;
    for (let i = 0; i < 6; i++)
      await insertEvents(
        database.write,
        Array.from({ length: 200 }, () => later),
      );
    const { signal } = new AbortController();
    // Also the creation of the account.
    let removed = 0;
    while (removed < 201) {
      const part = await world.members.security.prune(world.clock.now(), signal);
      assert.ok(part > 0, `only ${removed} were removed`);
      removed += part;
    }
    record(world, accountId, "192.0.2.0/24", "None");
    assert.equal(await settled(world), 0);
    record(world, accountId, "198.51.100.0/24", "None");
    assert.equal(await settled(world), 1);
    assert.match(subjectOf(await mailbox.nextNotice()) ?? "", /Signed in from somewhere new/);
  });

  test("counts among all mails of an hour, of which notices use at most a quarter", async () => {
    const world = await start({ ...mailbox.settings, SIDEREAL_MAIL_PER_HOUR: "8" });
    await signIn(world, mailbox, "ann@example.org");
    const accountId = await idOf(world);
    const source = { network: "192.0.2.0/24", agent: "None" };
    const revoke = async () => {
      world.members.security.record({ event: "key_revoked", source, accountId });
      const count = await settled(world);
      for (let i = 0; i < count; i++) await mailbox.nextNotice();
      return count;
    };
    assert.deepEqual([await revoke(), await revoke(), await revoke(), await revoke()], [1, 1, 1, 0]);
    const use = () => readMailUse(world.modules.database.read, world.clock.now());
    assert.deepEqual(await use(), { sent: 4, refused: { notices: 1 } });
    await signIn(world, mailbox, "bob@example.org");
    const bob = await world.modules.database.read
      .selectFrom("accounts")
      .select("id")
      .where("email", "=", "bob@example.org")
      .executeTakeFirstOrThrow();
    world.members.security.record({ event: "key_revoked", source, accountId: bob.id });
    assert.equal(await settled(world), 1, "the first notice of an account needs no share");
    await mailbox.nextNotice();
    world.clock.advance(HOUR_MS);
    assert.equal(await revoke(), 1);
  });

  test("is not sent without limit, and the last one of a day says so", async () => {
    const world = await start();
    await signIn(world, mailbox, "ann@example.org");
    const accountId = await idOf(world);
    const source = { network: "192.0.2.0/24", agent: "None" };
    const revoke = async (times: number) => {
      for (let i = 0; i < times; i++) {
        world.members.security.record({ event: "key_revoked", source, accountId });
        await world.members.security.flush();
      }
    };
    await revoke(MAX_PER_DAY + 5);
    assert.equal(await settled(world), MAX_PER_DAY);
    const mails = [];
    for (let i = 0; i < MAX_PER_DAY; i++) mails.push(await mailbox.nextNotice());
    assert.equal(mails.filter(({ text }) => text.includes("the last mail of today")).length, 1);
    world.clock.advance(DAY_MS);
    await revoke(1);
    assert.equal(await settled(world), 1);
    await mailbox.nextNotice();
  });

  test("is not sent for what is refused, nor for what happens to others", async () => {
    const world = await start();
    const ann = await signIn(world, mailbox, "ann@example.org");
    const bob = await signIn(world, mailbox, "bob@example.org");
    await world.send("POST", "/api/me/keys", { name: "" }, ann.headers);
    await world.send("DELETE", "/api/me/keys/1", undefined, ann.headers);
    await createKey(world, bob);
    assert.deepEqual((await mailbox.nextNotice()).to, ["bob@example.org"]);
    assert.equal(await settled(world), 0);
  });
});
