import assert from "node:assert/strict";
import { test } from "node:test";
import { Accounts } from "../../src/accounts/accounts.js";
import { ApiKeys } from "../../src/accounts/api-keys.js";
import { personOf, readMailUse } from "../../src/accounts/mail-limits.js";
import { browserIdIn, markBrowser } from "../../src/accounts/mail-sign-in.js";
import { createBrowserSecret } from "../../src/accounts/sign-in-requests.js";
import { loadConfig } from "../../src/config/config.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { addAccount } from "../support/accounts.js";
import { onBothEngines } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const SECRET = "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h";

onBothEngines("Limits of mails to sign in with", (engine) => {
  const mailbox = openMailbox();

  /** Several processes on one database, with these limits. */
  const start = async (env: Record<string, string> = {}) => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const { log, lines } = recordedLog("warn");
    const config = loadConfig({
      SIDEREAL_BASE_URL: "https://sidereal.example",
      SIDEREAL_AUTH_SECRET: SECRET,
      ...mailbox.settings,
      ...env,
    });
    const processes = Array.from({ length: 2 }, () => {
      const keys = new ApiKeys({ database, clock, log });
      return new Accounts({ database, clock, keys, config, log });
    });
    let turn = 0;
    /** Requests mails in any of the processes, and returns how many were sent. */
    const sent = async (emails: readonly string[], { network = "192.0.2.0/24", mark = "" } = {}) => {
      for (const email of emails) {
        const requester = { browser: createBrowserSecret(), mark, source: { network, agent: "" } };
        processes[turn++ % 2]?.mail.request(email, "/", requester);
      }
      for (const { mail } of processes) await mail.settled();
      const { sent } = await readMailUse(database.read, clock.now());
      const before = total;
      total = sent;
      for (let i = before; i < sent; i++) await mailbox.next();
      return sent - before;
    };
    let total = 0;
    return { database, clock, lines, processes, sent, usage: () => readMailUse(database.read, clock.now()) };
  };
  const people = (count: number, domain: string, prefix = "p") =>
    Array.from({ length: count }, (_, i) => `${prefix}${i}@${domain}`);

  test("one person gets six in an hour, however the address is spelled, from whatever process and network", async () => {
    const { clock, sent } = await start();
    const spellings = Array.from({ length: 60 }, (_, i) => `V.ic${".".repeat(i % 2)}tim+${i}@Example.org`);
    const valid = spellings.filter((email) => !email.includes(".."));
    assert.equal(await sent(valid.slice(0, 15)), 6);
    assert.equal(await sent(valid.slice(15), { network: "198.51.100.0/24" }), 0);
    assert.equal(await sent(["other@example.org"]), 1);
    clock.advance(HOUR_MS);
    assert.equal(await sent(["victim@example.org"]), 1);
  });

  test("a network, and the new addresses of a domain, get no more than is set", async () => {
    const { sent } = await start({ SIDEREAL_MAIL_PER_NETWORK: "5", SIDEREAL_MAIL_PER_DOMAIN: "7" });
    assert.equal(await sent(people(10, "a.example")), 5);
    assert.equal(await sent(people(1, "b.example")), 0);
    assert.equal(await sent(people(10, "a.example", "q"), { network: "198.51.100.0/24" }), 2);
    assert.equal(await sent(people(5, "b.example"), { network: "198.51.100.0/24" }), 3);
  });

  test("strangers who use up the mail of a domain and of the service lock nobody out who has an account", async () => {
    const { database, sent, usage } = await start({
      SIDEREAL_MAIL_PER_HOUR: "20",
      SIDEREAL_MAIL_PER_DOMAIN: "4",
    });
    const members = people(8, "gmail.example", "member");
    for (const email of members) await addAccount(database, email);
    assert.equal(await sent(people(10, "gmail.example")), 4);
    assert.equal(await sent(members.slice(0, 1)), 1);
    for (let i = 0; i < 10; i++) await sent(people(4, `d${i}.example`), { network: `203.0.${i}.0/24` });
    assert.equal((await usage()).sent, 11, "half of it, and one member");
    assert.equal(await sent(members), 4, "three quarters of it");
    const mark = markBrowser(SECRET, "member7@gmail.example");
    assert.equal(await sent(["member7@gmail.example"], { mark }), 1, "the rest is for known browsers");
    assert.deepEqual((await usage()).refused, { domain: 6, service: 40 - 6 + 4 });
  });

  test("the known browsers of one person, however many, get thirty in an hour together", async () => {
    const { sent, usage } = await start();
    let mails = 0;
    for (let browser = 0; browser < 8; browser++) {
      const mark = markBrowser(SECRET, "ann@example.org");
      mails += await sent(
        Array.from({ length: 6 }, (_, i) => `ann+${i}@example.org`),
        { mark },
      );
    }
    assert.equal(mails, 30);
    assert.deepEqual((await usage()).refused, { person: 18 });
  });

  test("somebody whose six mails a stranger uses up still gets one in a browser used before", async () => {
    const { processes, sent } = await start();
    assert.equal(await sent(Array.from({ length: 9 }, () => "ann@example.org")), 6);
    const mark = (await processes[0]?.mail.markFor("ann@example.org")) ?? "";
    assert.equal(await sent(["ann@example.org"], { mark: `${mark}x` }), 0);
    assert.equal(await sent(["ann@example.org"], { mark: markBrowser(`${SECRET}!`, "ann@example.org") }), 0);
    assert.equal(await sent(["ann@example.org"], { mark: markBrowser(SECRET, "bob@example.org") }), 0);
    assert.equal(
      await sent(
        Array.from({ length: 9 }, () => "ann@example.org"),
        { mark },
      ),
      6,
    );
  });

  test("many requests at the same time count each", async () => {
    const { sent } = await start({ SIDEREAL_MAIL_PER_DOMAIN: "10" });
    assert.equal(await sent(people(100, "example.org")), 10);
  });

  test("a limit that is reached is logged once in an hour, without an address, and counted", async () => {
    const { clock, lines, sent, usage } = await start();
    await sent(Array.from({ length: 20 }, () => "ann@example.org"));
    const logged = () => lines.filter(({ msg }) => msg.startsWith("a limit of mails is reached"));
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
    const { database, clock, processes, sent } = await start();
    await sent(["ann@example.org"]);
    const rows = () => database.read.selectFrom("mail_use").selectAll().execute();
    assert.ok((await rows()).length > 3);
    assert.doesNotMatch(JSON.stringify(await rows()), /ann|example|192/);
    const hash = (await rows()).map(({ counted }) => counted).find((name) => name.length === 64);
    clock.advance(HOUR_MS);
    await sent(["ann@example.org"]);
    assert.equal((await rows()).filter(({ counted }) => counted === hash).length, 1, "other names each hour");
    await processes[0]?.mail.removeExpired();
    assert.equal(new Set((await rows()).map(({ span }) => span)).size, 2);
    clock.advance(2 * HOUR_MS);
    await processes[0]?.mail.removeExpired();
    assert.deepEqual(await rows(), []);
  });

  test("with limits off only those of a person remain", async () => {
    const { sent } = await start({
      SIDEREAL_LIMITS: "false",
      SIDEREAL_MAIL_PER_DOMAIN: "1",
      SIDEREAL_MAIL_PER_NETWORK: "1",
    });
    assert.equal(await sent(people(10, "example.org")), 10);
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

test("The mark of a browser is of one address and one service, and names the browser", () => {
  const mark = markBrowser(SECRET, "ann@example.org");
  const id = browserIdIn(mark, { secret: SECRET, email: "an.n+x@example.org" });
  assert.equal(id, mark.split(".")[0]);
  assert.notEqual(markBrowser(SECRET, "ann@example.org"), mark);
  assert.doesNotMatch(mark, /ann/);
  const foreign = [undefined, "", ".", mark.slice(1), `${mark}A`, `0${mark.slice(1, 24)}.${"A".repeat(43)}`];
  for (const other of foreign)
    assert.equal(browserIdIn(other, { secret: SECRET, email: "ann@example.org" }), undefined);
  assert.equal(browserIdIn(mark, { secret: SECRET, email: "bob@example.org" }), undefined);
  assert.equal(browserIdIn(mark, { secret: `${SECRET}!`, email: "ann@example.org" }), undefined);
});
