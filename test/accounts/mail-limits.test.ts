import assert from "node:assert/strict";
import { test } from "node:test";
import { personOf, readMailUse } from "../../src/accounts/mail.js";
import { createBrowserSecret } from "../../src/accounts/one-time-codes.js";
import { removeEndedUse } from "../../src/accounts/quotas.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { openAccounts } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

onSqliteAndLong("Limits of mails to sign in with", (engine) => {
  const mailbox = openMailbox();

  /** Two processes on one database, with these limits. */
  const start = async (env: Record<string, string> = {}) => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const { log, lines } = recordedLog("warn");
    const settings = { ...mailbox.settings, ...env };
    const processes = [1, 2].map(() => openAccounts(database, settings, { clock, log }).accounts);
    let turn = 0;
    let total = 0;
    const usage = () => readMailUse(database.read, clock.now());
    /** Requests mails in any of the processes. Returns how many were sent. */
    const sent = async (emails: readonly string[]) => {
      for (const email of emails) processes[turn++ % 2]?.mail.request(email, "/", createBrowserSecret());
      for (const { mail } of processes) await mail.settled();
      const before = total;
      total = (await usage()).sent;
      for (let i = before; i < total; i++) await mailbox.next();
      return total - before;
    };
    return { database, clock, lines, sent, usage };
  };
  const people = (count: number) => Array.from({ length: count }, (_, i) => `p${i}@example.org`);

  test("one person gets six in an hour, however the address is spelled, from whatever process", async () => {
    const { clock, sent } = await start();
    const spellings = Array.from({ length: 60 }, (_, i) => `V.ic${".".repeat(i % 2)}tim+${i}@Example.org`);
    assert.equal(await sent(spellings.filter((email) => !email.includes(".."))), 6);
    assert.equal(await sent(["other@example.org"]), 1);
    clock.advance(HOUR_MS);
    assert.equal(await sent(["victim@example.org"]), 1);
  });

  test("all together get no more than is set, also of many requests at the same time", async () => {
    const { sent, usage } = await start(limits("mails=10"));
    assert.equal(await sent(people(100)), 10);
    assert.deepEqual(await usage(), { sent: 10, refused: { overall: 90 } });
  });

  test("a limit that is reached is logged once in an hour, without an address, and counted", async () => {
    const { clock, lines, sent, usage } = await start();
    await sent(Array.from({ length: 20 }, () => "ann@example.org"));
    const logged = () => lines.filter(({ msg }) => msg.startsWith("mail limit reached"));
    assert.deepEqual(
      logged().map(({ limit }) => limit),
      ["person"],
    );
    assert.doesNotMatch(JSON.stringify(lines), /ann/);
    assert.deepEqual(await usage(), { sent: 6, refused: { person: 14 } });
    clock.advance(HOUR_MS);
    assert.deepEqual(await usage(), { sent: 6, refused: { person: 14 } }, "the last hour still shows");
    await sent(Array.from({ length: 20 }, () => "ann@example.org"));
    assert.equal(logged().length, 2);
  });

  test("counts are stored under names that do not show an address, and deleted after two hours", async () => {
    const { database, clock, sent } = await start();
    await sent(["ann@example.org"]);
    const rows = () => database.read.selectFrom("quota_use").selectAll().execute();
    assert.equal((await rows()).length, 2);
    assert.doesNotMatch(JSON.stringify(await rows()), /ann|example/);
    const hash = (await rows()).find(({ holder }) => holder.length === 64)?.holder;
    clock.advance(HOUR_MS);
    await sent(["ann@example.org"]);
    assert.equal((await rows()).filter(({ holder }) => holder === hash).length, 1, "other names each hour");
    await removeEndedUse(database.write, clock.now());
    assert.equal((await rows()).length, 4);
    clock.advance(2 * HOUR_MS);
    await removeEndedUse(database.write, clock.now());
    assert.deepEqual(await rows(), []);
  });

  test("with limits off only that of a person remains", async () => {
    const { sent } = await start({ SIDEREAL_LIMITS: "false" });
    assert.equal(await sent(people(10)), 10);
    assert.equal(await sent(Array.from({ length: 9 }, () => "ann@example.org")), 6);
  });
});

test("An address counts as the same person in all spellings that may reach one mailbox", () => {
  const ann = personOf("ann@example.org");
  for (const email of ["ANN@Example.Org", "a.n.n@example.org", "ann+tag@example.org", "a.nn+a+b@example.org"])
    assert.equal(personOf(email), ann, email);
  for (const email of ["anne@example.org", "ann@example.com", "ann@mail.example.org", "+ann@example.org"])
    assert.notEqual(personOf(email), ann, email);
  assert.equal(personOf("a.nn@googlemail.com"), personOf("ann@gmail.com"));
});
