import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Accounts, ApiKeys } from "../../src/accounts/accounts.js";
import { loadConfig } from "../../src/config.js";
import type { Database } from "../../src/database/database.js";
import { AppError } from "../../src/errors.js";
import { createLog } from "../../src/log.js";
import { createToken } from "../../src/tokens.js";
import { onBothEngines } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox, tokenOf } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { changed } from "../support/members.js";
import { NOW } from "../support/world.js";

const SECRET = "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h";

/** All rows of the tables that sign-in writes, as one text. */
async function stored(database: Database): Promise<string> {
  const tables = ["accounts", "identities", "sessions", "verifications", "api_keys"];
  const rows = await Promise.all(
    tables.map((table) => sql`select * from ${sql.table(table)}`.execute(database.read)),
  );
  return JSON.stringify(rows.map((result) => result.rows));
}

onBothEngines("Signing in by a link", (engine) => {
  const mailbox = openMailbox();

  const start = async (env = mailbox.settings) => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const keys = new ApiKeys({ database, clock, log: createLog("silent") });
    const config = loadConfig({
      SIDEREAL_BASE_URL: "https://sidereal.example",
      SIDEREAL_AUTH_SECRET: SECRET,
      ...env,
    });
    const accounts = new Accounts({ database, clock, keys, config, log: createLog("silent") });
    const link = async (email: string, next = "/") => {
      accounts.requestLink(email, next);
      return mailbox.next();
    };
    const signIn = async (email: string) => {
      const signedIn = await accounts.signInByLink(tokenOf(await link(email)));
      assert.ok(signedIn);
      return { ...signedIn, cookie: signedIn.cookies.map((each) => each.split(";")[0]).join("; ") };
    };
    return { database, clock, keys, accounts, link, signIn };
  };

  test("a mailed link signs in once; neither it nor the session is stored as it is", async () => {
    const { database, accounts, link } = await start();
    const mail = await link("Ann@Example.org", "/watchlist?window=7d");
    assert.deepEqual(mail.to, ["ann@example.org"]);
    assert.equal(`${mail.link.origin}${mail.link.pathname}`, "https://sidereal.example/sign-in/link");
    assert.deepEqual([...mail.link.searchParams.keys()], ["token"]);
    const token = tokenOf(mail);
    assert.ok(!(await stored(database)).includes(token));

    const signedIn = await accounts.signInByLink(token);
    assert.equal(signedIn?.account.email, "ann@example.org");
    assert.equal(signedIn?.next, "/watchlist?window=7d");
    const [cookie = "", ...others] = signedIn?.cookies ?? [];
    assert.deepEqual(others, []);
    assert.match(
      cookie,
      /^__Host-sidereal\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const session = decodeURIComponent(/=([^.;]+)/.exec(cookie.slice(cookie.indexOf("=")))?.[1] ?? "");
    assert.equal(session.length, 32);
    assert.ok(!(await stored(database)).includes(session));
    assert.equal((await accounts.find(cookie.split(";")[0] ?? ""))?.id, signedIn?.account.id);

    assert.equal(await accounts.signInByLink(token), undefined);
    assert.equal(await accounts.signInByLink(createToken("sidl")), undefined);
    assert.equal(await accounts.signInByLink("nonsense"), undefined);
  });

  test("of fifty who use a link at the same time, one signs in", async () => {
    const { accounts, link } = await start();
    const token = tokenOf(await link("ann@example.org"));
    const results = await Promise.all(Array.from({ length: 50 }, () => accounts.signInByLink(token)));
    assert.equal(results.filter((result) => result !== undefined).length, 1);
  });

  test("of a hundred addresses tried at the same time for a link, five are looked at", async () => {
    const { database, accounts, link } = await start();
    const token = tokenOf(await link("ann@example.org"));
    const tries = await Promise.all(
      Array.from({ length: 100 }, (_, i) => accounts.isLinkTo(token, `guess-${i}@example.org`)),
    );
    assert.equal(tries.filter((result) => result === false).length, 5);
    assert.equal(tries.filter((result) => result === undefined).length, 95);
    assert.equal(await accounts.isLinkTo(token, "ann@example.org"), undefined);
    assert.equal(await accounts.isLinkOf(token, undefined), undefined);
    assert.ok(await accounts.signInByLink(token), "but for other browsers nothing has become of it");
    assert.ok(!(await stored(database)).includes("guess-"));
  });

  test("the browser that asked for a link is known by a secret that is not stored as it is", async () => {
    const { database, accounts } = await start();
    const browser = "b".repeat(43);
    accounts.requestLink("ann@example.org", "/", browser);
    const mail = await mailbox.next();
    const token = tokenOf(mail);
    assert.ok(!mail.text.includes(browser) && !(await stored(database)).includes(browser));
    for (const [held, expected] of [
      [browser, true],
      [changed(browser, 3), false],
      [undefined, false],
    ] as const)
      assert.equal(await accounts.isLinkOf(token, held), expected);
    for (const none of [createToken("sidl"), createToken("sidw"), "nonsense", ""]) {
      assert.equal(await accounts.isLinkOf(none, browser), undefined);
      assert.equal(await accounts.isLinkTo(none, "ann@example.org"), undefined);
    }
    for (let i = 0; i < 6; i++) await accounts.isLinkTo(token, "bob@example.org");
    assert.equal(
      await accounts.isLinkOf(token, browser),
      true,
      "tries elsewhere do not keep it from its owner",
    );
  });

  test("a link is of no use after fifteen minutes, a session after thirty days", async (context) => {
    const { accounts, link, signIn } = await start();
    const { cookie } = await signIn("ann@example.org");
    const [early, late] = [tokenOf(await link("bob@example.org")), tokenOf(await link("bob@example.org"))];
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() + 14 * 60_000 });
    assert.ok(await accounts.signInByLink(early));
    context.mock.timers.setTime(Date.now() + 2 * 60_000);
    assert.equal(await accounts.isLinkTo(late, "bob@example.org"), undefined);
    assert.equal(await accounts.signInByLink(late), undefined);
    context.mock.timers.setTime(Date.now() + 29 * 86_400_000);
    assert.ok(await accounts.find(cookie));
    context.mock.timers.setTime(Date.now() + 2 * 86_400_000);
    assert.equal(await accounts.find(cookie), undefined);
  });

  test("links and sessions that are too old are removed when the next link is made", async (context) => {
    const { database, link, signIn } = await start();
    const rows = async (table: string) =>
      (await sql`select id from ${sql.table(table)}`.execute(database.read)).rows.length;
    await signIn("ann@example.org");
    await link("bob@example.org");
    assert.deepEqual([await rows("sessions"), await rows("verifications")], [1, 1]);
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() + 29 * 86_400_000 });
    await link("cid@example.org");
    assert.deepEqual([await rows("sessions"), await rows("verifications")], [1, 1]);
    context.mock.timers.setTime(Date.now() + 2 * 86_400_000);
    await link("dan@example.org");
    assert.deepEqual([await rows("sessions"), await rows("verifications")], [0, 1]);
  });

  test("a database that does not answer is told as such, not as nobody or a used link", async () => {
    const { database, accounts, link, signIn } = await start();
    const { cookie } = await signIn("ann@example.org");
    const token = tokenOf(await link("ann@example.org"));
    await database.close();
    const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "UNAVAILABLE";
    await assert.rejects(accounts.find(cookie), isUnavailable);
    await assert.rejects(accounts.signInByLink(token));
  });

  test("a session that was just looked up costs no second read to count a request, and one that ended is unknown", async () => {
    const { database, accounts, signIn } = await start();
    const { cookie, account } = await signIn("ann@example.org");
    const header = `theme=dark; ${cookie}`;
    assert.equal((await accounts.find(header))?.id, account.id);
    await accounts.signOut(account);
    assert.equal(await accounts.findId(header), undefined);
    const again = await signIn("ann@example.org");
    assert.equal((await accounts.find(again.cookie))?.id, account.id);
    await database.close();
    assert.equal(await accounts.findId(again.cookie), account.id);
  });

  test("each sign-in is a session of its own, of one account", async () => {
    const { accounts, signIn } = await start();
    const [first, second] = [await signIn("ann@example.org"), await signIn("ANN@example.org")];
    assert.equal(first.account.id, second.account.id);
    assert.notEqual(first.cookie, second.cookie);
    await accounts.signOut(first.account);
    assert.equal(await accounts.find(first.cookie), undefined);
    assert.ok(await accounts.find(second.cookie));
    const third = await signIn("ann@example.org");
    await accounts.signOutEverywhere(third.account);
    for (const { cookie } of [second, third]) assert.equal(await accounts.find(cookie), undefined);
  });

  test("a cookie that was changed, or signed with another secret, is nobody's", async () => {
    const { database, accounts, keys, clock, signIn } = await start();
    const { cookie } = await signIn("ann@example.org");
    const config = loadConfig({
      SIDEREAL_BASE_URL: "https://sidereal.example",
      SIDEREAL_AUTH_SECRET: `${SECRET}!`,
    });
    const others = new Accounts({ database, clock, keys, config, log: createLog("silent") });
    assert.equal(await others.find(cookie), undefined);
    assert.equal(await accounts.find(changed(cookie, 40)), undefined);
    assert.equal(await accounts.find("__Host-sidereal.session_token="), undefined);
    assert.equal(await accounts.find(undefined), undefined);
  });

  test("one address gets three links in a quarter of an hour, and others go on", async () => {
    const { accounts, clock, link } = await start();
    for (let i = 0; i < 3; i++) await link("ann@example.org");
    accounts.requestLink("ann@example.org", "/");
    assert.deepEqual((await link("bob@example.org")).to, ["bob@example.org"]);
    assert.equal(mailbox.waiting, 0);
    clock.advance(15 * 60_000);
    assert.deepEqual((await link("ann@example.org")).to, ["ann@example.org"]);
  });

  test("nothing that a stranger chose is in the mail that a request sends to somebody", async () => {
    const { link } = await start();
    const mail = await link("ann@example.org", "/explore?q=CALL+555-0100+TO+GET+YOUR+REFUND#now");
    assert.doesNotMatch(mail.text, /CALL|555|REFUND|explore/i);
  });

  test("whether a link is made, over its quota or cannot be made, the response waits for none of it", async () => {
    const { database, clock, keys } = await start();
    const broken = await engine.open();
    await broken.close();
    const { log, lines } = recordedLog("error");
    const config = loadConfig({
      SIDEREAL_BASE_URL: "https://sidereal.example",
      SIDEREAL_AUTH_SECRET: SECRET,
      ...mailbox.settings,
    });
    const accounts = new Accounts({
      database: { ...database, durable: broken.durable },
      clock,
      keys,
      config,
      log,
    });
    for (let i = 0; i < 4; i++) accounts.requestLink("ann@example.org", "/");
    assert.deepEqual(lines, []);
    await accounts.close();
    const failures = lines.filter(({ msg }) => msg === "a sign-in link could not be made");
    assert.equal(failures.length, 3);
    assert.doesNotMatch(JSON.stringify(lines), /ann@/);
  });

  test("removing an account takes its sessions and keys along, and a new one begins empty", async () => {
    const { database, accounts, keys, signIn } = await start();
    const { account, cookie } = await signIn("ann@example.org");
    const { secret } = await keys.create(account.id, "laptop");
    assert.ok(await keys.find(secret));
    await accounts.remove(account);
    assert.equal(await accounts.find(cookie), undefined);
    assert.equal(await keys.find(secret), undefined);
    assert.ok(!(await stored(database)).includes(account.id));
    const again = await signIn("ann@example.org");
    assert.notEqual(again.account.id, account.id);
    assert.deepEqual(await keys.list(again.account.id), []);
  });

  test("without a mail server, links are off unless the service is of this machine alone", async () => {
    const { accounts } = await start({});
    assert.equal(accounts.methods.mail, false);
    assert.throws(
      () => accounts.requestLink("ann@example.org", "/"),
      (error) => error instanceof AppError && error.code === "FORBIDDEN",
    );
    for (const base of ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000"])
      assert.equal((await start({ SIDEREAL_BASE_URL: base })).accounts.methods.mail, true, base);
  });
});
