import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AccountEventName, AccountEvents } from "../../src/accounts/account-events.js";
import { readMailUse } from "../../src/accounts/mail.js";
import { type Database, openDatabase } from "../../src/database/database.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Logger } from "../../src/lib/log.js";
import { createLog } from "../../src/lib/log.js";
import { accountsContext, addAccount, SOMEWHERE } from "../support/accounts.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox, type ReceivedMail } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { createKey, ORIGIN, requestMail, signIn } from "../support/members.js";
import { createWorld, NOW, type World } from "../support/world.js";

const network = "192.0.2.0/24";

/** The events of a world, oldest first. */
async function eventsOf({ members }: World) {
  const rows = await members.events.list({ limit: 100 });
  return rows
    .toReversed()
    .map(({ event, accountId, network, detail }) => ({ event, accountId, network, detail }));
}

const namesOf = async (world: World) => (await eventsOf(world)).map(({ event }) => event);

function openEvents(database: Database, clock: ManualClock, log: Logger): AccountEvents {
  return new AccountEvents(accountsContext(database, clock, { log }));
}

/** Somebody signed in, somewhere. */
const actor = (id: string, source = SOMEWHERE) => ({ account: { id }, source: () => source });

onBothEngines("Events of accounts", (engine) => {
  const mailbox = openMailbox();
  const start = (env: Record<string, string> = {}) => createWorld(engine, { ...mailbox.settings, ...env });

  test("record what somebody does through the API, from which network, and no secret", async () => {
    const world = await start();
    const member = await signIn(world, mailbox, "ann@example.org");
    const { id, key } = await createKey(world, member);
    for (let i = 0; i < 2; i++)
      assert.equal((await world.send("DELETE", `/api/me/keys/${id}`, undefined, member.headers)).status, 204);
    await world.send("POST", "/api/auth/sign-out", undefined, member.headers);
    const again = await signIn(world, mailbox, "ann@example.org");
    await world.send("POST", "/api/me/sign-out-everywhere", undefined, again.headers);
    const last = await signIn(world, mailbox, "ann@example.org");
    await world.send("DELETE", "/api/me", undefined, last.headers);
    const events = await eventsOf(world);
    const detail = (more: object) => ({ agent: "None", ...more });
    assert.deepEqual(
      events.map(({ event, detail }) => [event, detail]),
      [
        ["account_created", detail({ method: "link" })],
        ["signed_in", detail({ method: "link" })],
        ["key_created", detail({ key: id })],
        ["key_revoked", detail({ key: id })],
        ["signed_out", detail({})],
        ["signed_in", detail({ method: "link" })],
        ["sessions_ended", detail({})],
        ["signed_in", detail({ method: "link" })],
        ["account_deleted", detail({})],
      ],
    );
    const [first] = events;
    assert.ok(first?.accountId);
    for (const { accountId, network: from } of events)
      assert.deepEqual([accountId, from], [first.accountId, network]);
    const stored = JSON.stringify(events);
    for (const secret of [key, key.slice(4, 30), member.cookie.split("=")[1] ?? "", "ann@", "192.0.2.1"])
      assert.ok(!stored.includes(secret), secret);
  });

  test("tell a sign-in of a browser that is signed in from one of another browser or account", async () => {
    const world = await start();
    const ann = await signIn(world, mailbox, "ann@example.org");
    await signIn(world, mailbox, "ann@example.org", { Cookie: ann.cookie });
    await signIn(world, mailbox, "ann@example.org");
    const bob = await signIn(world, mailbox, "bob@example.org");
    await signIn(world, mailbox, "ann@example.org", { Cookie: bob.cookie });
    assert.deepEqual(await namesOf(world), [
      ...["account_created", "signed_in", "reauthenticated", "signed_in"],
      ...["account_created", "signed_in", "signed_in"],
    ]);
  });

  test("record the same of pages", async () => {
    const world = await start();
    const post = async (path: string, cookie: string, fields: Record<string, string> = {}) => {
      const headers = { Cookie: cookie, Origin: ORIGIN };
      const body = new URLSearchParams(fields);
      const response = await world.request(path, { method: "POST", headers, body });
      assert.ok(response.status < 400, await response.text());
    };
    const { cookie } = await signIn(world, mailbox, "bob@example.org");
    await post("/account/keys", cookie, { name: "laptop" });
    await post("/account/keys/1/revoke", cookie);
    for (const path of ["", "", "/revoke", "/revoke"]) await post(`/watchlist/feed${path}`, cookie);
    await post("/sign-out", cookie);
    await post("/account/sign-out-everywhere", (await signIn(world, mailbox, "bob@example.org")).cookie);
    const last = await signIn(world, mailbox, "bob@example.org");
    await post("/account/delete", last.cookie, { confirmation: "delete" });
    assert.deepEqual(await namesOf(world), [
      ...["account_created", "signed_in", "key_created", "key_revoked"],
      ...["feed_created", "feed_replaced", "feed_ended", "signed_out", "signed_in"],
      ...["sessions_ended", "signed_in", "account_deleted"],
    ]);
  });

  test("leave refused links, keys, forms of other sites and requests over a limit to the log", async () => {
    const world = await start(limits("search=2"));
    const { requestToken, token } = await requestMail(world, mailbox, "ann@example.org");
    const wrong = { requestToken, token: `${token}x` };
    for (let i = 0; i < 3; i++) await world.send("POST", "/api/auth/verify", wrong, { Origin: ORIGIN });
    world.clock.advance(10_000);
    await world.send("POST", "/api/auth/verify", wrong, { Origin: ORIGIN });
    await world.get("/api/repos", { "X-API-Key": "nonsense" });
    const foreign = { "Sec-Fetch-Site": "cross-site", Cookie: "a=b" };
    assert.equal((await world.send("POST", "/api/auth/sign-out", undefined, foreign)).status, 403);
    for (let i = 0; i < 4; i++) await world.get("/api/search/suggest?q=a");
    assert.deepEqual(await eventsOf(world), []);
    const lines = world.logged.filter(({ msg }) => msg === "refused");
    assert.deepEqual(
      lines.map(({ event, network, method, bucket, times }) => ({ event, network, method, bucket, times })),
      [
        { event: "sign_in_refused", network, method: "link", bucket: undefined, times: 1 },
        { event: "sign_in_refused", network, method: "link", bucket: undefined, times: 3 },
        { event: "key_refused", network, method: undefined, bucket: undefined, times: 1 },
        { event: "cross_site_refused", network, method: undefined, bucket: undefined, times: 1 },
        { event: "rate_limited", network, method: undefined, bucket: "search", times: 1 },
      ],
    );
  });

  test("are deleted after 180 days, and the oldest of too many; a flood of others does not push out sign-ins", async () => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const events = openEvents(database, clock, createLog("silent"));
    const { signal } = new AbortController();
    events.record("signed_in", actor("ann"));
    await events.flush();
    clock.advance(180 * DAY_MS);
    assert.equal(await events.prune(clock.now(), signal), 0);
    clock.advance(1);
    assert.equal(await events.prune(clock.now(), signal), 1);
    events.record("signed_in", actor("ann"));
    await events.flush();
    const row = { at: clock.now(), account_id: "ann", event: "signed_out", network, detail: "{}" };
    const rows = Array.from({ length: 1_200 }, () => row);
    await database.write.insertInto("account_events").values(rows).execute();
    events.record("signed_in", actor("bob"));
    await events.flush();
    assert.equal(await events.prune(clock.now(), signal), 200);
    const left = await events.list({ limit: 2_000 });
    const count = (name: AccountEventName) => left.filter(({ event }) => event === name).length;
    assert.deepEqual([count("signed_out"), count("signed_in")], [1_000, 2]);
  });

  test("fill each page, whatever a newer version has recorded", async () => {
    const database = await engine.open();
    const events = openEvents(database, new ManualClock(NOW), createLog("silent"));
    const row = (event: string) => ({ at: NOW, account_id: "ann", event, network: "", detail: "{}" });
    const names = ["signed_in", "signed_out", "of_the_future", "of_the_future", "signed_in"];
    await database.write.insertInto("account_events").values(names.map(row)).execute();
    const page = await events.list({ accountId: "ann", limit: 2 });
    assert.deepEqual(
      page.map(({ event }) => event),
      ["signed_in", "signed_out"],
    );
  });
});

const subjectOf = ({ text }: ReceivedMail) => /^Subject: (.*)$/m.exec(text)?.[1];
const bodyOf = ({ text }: ReceivedMail) =>
  text.slice(text.indexOf("\r\n\r\n")).replaceAll("\r\n", "\n").trim();

onBothEngines("A mail about an event", (engine) => {
  const mailbox = openMailbox();
  const start = (env: Record<string, string> = {}) => createWorld(engine, { ...mailbox.settings, ...env });
  /** Lets everything that was recorded be mailed. Returns how many mails wait. */
  const settled = async ({ members }: World) => {
    await members.events.flush();
    return mailbox.notices;
  };
  const idOf = async ({ members }: World) => (await members.events.list({ limit: 1 }))[0]?.accountId ?? "";

  test("is sent for keys, to the address of the account, with what happened, when and where, and no secret or link", async () => {
    const world = await start();
    const ann = await signIn(world, mailbox, "ann@example.org");
    await signIn(world, mailbox, "bob@example.org");
    await world.send("POST", "/api/me/keys", { name: "" }, ann.headers);
    assert.equal(await settled(world), 0, "a first sign-in is no news");
    const { id, key } = await createKey(world, ann);
    await world.send("DELETE", `/api/me/keys/${id}`, undefined, ann.headers);
    await world.send("POST", "/api/me/sign-out-everywhere", undefined, ann.headers);
    const again = await signIn(world, mailbox, "ann@example.org");
    await world.send("DELETE", "/api/me", undefined, again.headers);
    assert.equal(await settled(world), 2);
    const mails = [await mailbox.nextNotice(), await mailbox.nextNotice()];
    const [mail, revoked] = mails.toSorted((a, b) => (subjectOf(a) ?? "").localeCompare(subjectOf(b) ?? ""));
    assert.ok(mail && revoked);
    for (const { to } of mails) assert.deepEqual(to, ["ann@example.org"]);
    assert.equal(subjectOf(revoked), "Security notice: API key revoked at sidereal.example");
    assert.equal(subjectOf(mail), "Security notice: API key created at sidereal.example");
    const body = bodyOf(mail);
    assert.ok(
      body.startsWith(`API key created: your account at sidereal.example (key: ${id}, name: laptop).`),
      body,
    );
    assert.match(
      body,
      /When: 2026-04-30 12:00 UTC\nBrowser or program: not known\nNetwork: 192\.0\.2\.0\/24\n/,
    );
    assert.match(mail.text, /Content-Type: text\/plain/);
    for (const part of [key, key.slice(4, 20), "http:", "https:", "192.0.2.1"])
      assert.ok(!mail.text.includes(part), part);
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
      world.members.events.record("signed_in", actor(id, { network, agent }), { method: "link" });
      assert.equal(await settled(world), isNew ? 1 : 0, `${network} ${agent}`);
      if (isNew) assert.match(subjectOf(await mailbox.nextNotice()) ?? "", /Signed in from somewhere new/);
    }
  });

  test("is sent six times in an hour, however many mails strangers cause, and the last one says so", async () => {
    const world = await start(limits("mails=2"));
    await signIn(world, mailbox, "ann@example.org");
    const id = await idOf(world);
    const revoke = async (times: number) => {
      for (let i = 0; i < times; i++) world.members.events.record("key_revoked", actor(id));
      const count = await settled(world);
      const mails = [];
      for (let i = 0; i < count; i++) mails.push(await mailbox.nextNotice());
      return mails;
    };
    await signIn(world, mailbox, "bob@example.org");
    const mails = await revoke(8);
    assert.equal(mails.length, 6);
    assert.equal(mails.filter(({ text }) => text.includes("the last mail of this hour")).length, 1);
    const use = await readMailUse(world.modules.database.read, world.clock.now());
    assert.deepEqual(use, { sent: 8, refused: { person: 2 } });
    world.clock.advance(HOUR_MS);
    assert.equal((await revoke(1)).length, 1);
  });
});

describe("sidereal events", () => {
  const world = new CommandWorld();
  let dataDir: string;
  const run = (...args: string[]) => world.runHere(dataDir, ["events", ...args]);
  const lines = (text: string) => text.split("\n").slice(0, -1);

  before(async () => {
    dataDir = world.newDataDir();
    const log = createLog("silent");
    const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
    const clock = new ManualClock(NOW);
    const events = openEvents(database, clock, log);
    const accountId = await addAccount(database, "ann@example.org");
    events.record("signed_in", actor(accountId), { method: "link" });
    events.record("account_deleted", actor("gone"));
    for (let i = 0; i < 600; i++) events.record("signed_out", actor(`somebody ${i}`));
    clock.advance(3_600_000);
    events.record("operator_entered", { account: undefined, source: () => SOMEWHERE });
    await events.flush();
    await database.close();
  });

  test("lists all events, latest first, with the address of each account that still exists", async () => {
    const { code, stdout } = await run();
    assert.equal(code, 0);
    const all = lines(stdout);
    assert.equal(all.length, 603);
    assert.equal(all[0], "2026-04-30T13:00:00.000Z  operator  Operator entered, from 192.0.2.0/24, Firefox");
    assert.deepEqual(all.slice(-2), [
      "2026-04-30T12:00:00.000Z  gone  Account deleted, from 192.0.2.0/24, Firefox",
      "2026-04-30T12:00:00.000Z  ann@example.org  Signed in; method: link, from 192.0.2.0/24, Firefox",
    ]);
  });

  test("lists those of an account by its address or id, and those since a time", async () => {
    assert.equal(lines((await run("--account", "Ann@Example.org")).stdout).length, 1);
    assert.equal(lines((await run("--account", "gone")).stdout).length, 1);
    assert.equal((await run("--since", "2027-01-01")).stdout, "no events\n");
    const { stdout } = await run("--since", "2026-04-30T12:30:00Z", "--json");
    const { id, ...event } = JSON.parse(stdout);
    assert.ok(id > 0);
    assert.deepEqual(event, {
      at: "2026-04-30T13:00:00.000Z",
      email: null,
      accountId: null,
      event: "operator_entered",
      network,
      detail: { agent: "Firefox" },
    });
  });

  test("refuses an invalid time, and an address without an account", async () => {
    const wrong = await run("--since", "yesterday");
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--since/);
    const unknown = await run("--account", "bob@example.org");
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no account/);
  });
});
