import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createBrowserSecret } from "../../src/accounts/one-time-codes.js";
import type { Database } from "../../src/database/database.js";
import { AppError } from "../../src/lib/errors.js";
import { createToken } from "../../src/lib/tokens.js";
import { browserWith, openAccounts, signInByMail } from "../support/accounts.js";
import { onBothEngines } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox, tokenOf } from "../support/mail.js";
import { changed } from "../support/members.js";

const OTHER_SECRET = { SIDEREAL_AUTH_SECRET: "another secret, of 32 characters and more" };
const MINUTE_MS = 60_000;

/** All rows of the tables that sign-in writes, as one text. */
async function stored(database: Database): Promise<string> {
  const tables = ["accounts", "identities", "sessions", "verifications", "sign_in_requests", "quota_use"];
  const reads = tables.map((table) => sql`select * from ${sql.table(table)}`.execute(database.read));
  return JSON.stringify((await Promise.all(reads)).map(({ rows }) => rows));
}

/** Another code of the same form. */
const wrong = (code: string, by = 1) =>
  String((Number(code.replace(" ", "")) + by) % 100_000_000).padStart(8, "0");

onBothEngines("Signing in by mail", (engine) => {
  const mailbox = openMailbox();

  const start = async (env = mailbox.settings) => {
    const database = await engine.open();
    const { accounts, clock } = openAccounts(database, env);
    /** Requests a mail in a browser. */
    const request = async (email: string, browser = createBrowserSecret(), next = "/") => {
      accounts.mail.request(email, next, browser);
      const mail = await mailbox.next();
      return { mail, browser, token: tokenOf(mail), code: mail.code };
    };
    const byLink = (token: string, browser?: string) =>
      accounts.signInByMail({ token, browser }, browserWith());
    const byCode = (code: string, browser?: string) =>
      accounts.signInByMail({ code, browser }, browserWith());
    const signIn = (email: string, cookie?: string) => signInByMail(accounts, mailbox, email, cookie);
    return { database, clock, accounts, request, byLink, byCode, signIn };
  };

  test("a mailed link signs in once; neither it nor the session is stored as it is", async () => {
    const { database, accounts, request, byLink } = await start();
    const { mail, token, browser } = await request(
      "Ann@Example.org",
      createBrowserSecret(),
      "/watchlist?window=7d",
    );
    assert.deepEqual(mail.to, ["ann@example.org"]);
    assert.equal(`${mail.link.origin}${mail.link.pathname}`, "https://sidereal.example/sign-in/link");
    assert.deepEqual([...mail.link.searchParams.keys()], ["token"]);
    for (const secret of [token, browser, mail.code, mail.code.replace(" ", "")])
      assert.ok(!(await stored(database)).includes(secret));

    const signedIn = await byLink(token, browser);
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
    for (const used of [token, createToken("sidl"), createToken("sidw"), "nonsense", ""])
      assert.equal(await byLink(used, browser), undefined);
  });

  test("the code of a mail signs in once, however it is typed", async () => {
    const { request, byCode } = await start();
    for (const typed of [(code: string) => code, (code: string) => ` ${code.replace(" ", "-")} `]) {
      const { code, browser } = await request("ann@example.org");
      assert.match(code, /^\d{4} \d{4}$/);
      assert.equal((await byCode(typed(code), browser))?.account.email, "ann@example.org");
      assert.equal(await byCode(code, browser), undefined);
    }
  });

  test("neither works without the secret of the browser that requested the mail, nor is used up by trying", async () => {
    const { accounts, request, byLink, byCode } = await start();
    const victim = await request("ann@example.org");
    const attacker = await request("eve@example.org");
    for (const browser of [undefined, "", attacker.browser, changed(victim.browser, 3)]) {
      assert.equal(await byLink(victim.token, browser), undefined);
      assert.equal(await byCode(victim.code, browser), undefined);
      assert.equal(await accounts.mail.codes.isOf(victim.token, browser), false);
    }
    assert.equal(await accounts.mail.codes.isOf(victim.token, victim.browser), true);
    assert.equal((await byCode(victim.code, victim.browser))?.account.email, "ann@example.org");
    assert.equal(await accounts.mail.codes.isOf(victim.token, victim.browser), undefined);
    for (const none of [createToken("sidl"), createToken("sidw"), "nonsense", ""])
      assert.equal(await accounts.mail.codes.isOf(none, attacker.browser), undefined);
  });

  test("of fifty who use a mail at the same time, by link or code, one signs in", async () => {
    const { database, request, byLink, byCode } = await start();
    for (const kinds of [["link"], ["link", "code"]]) {
      const { token, code, browser } = await request("ann@example.org");
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          kinds[i % kinds.length] === "link" ? byLink(token, browser) : byCode(code, browser),
        ),
      );
      assert.equal(results.filter((result) => result !== undefined).length, 1);
    }
    const { rows } = await sql`select id from sessions`.execute(database.read);
    assert.equal(rows.length, 2);
  });

  test("after five wrong codes, also at the same time, the right one is refused; the link still works", async () => {
    const { request, byLink, byCode } = await start();
    const { code, token, browser } = await request("ann@example.org");
    const guesses = Array.from({ length: 100 }, (_, i) => byCode(wrong(code, i + 1), browser));
    assert.deepEqual(
      (await Promise.all(guesses)).filter((result) => result !== undefined),
      [],
    );
    assert.equal(await byCode(code, browser), undefined);
    assert.ok(await byLink(token, browser));
    const next = await request("ann@example.org");
    for (let i = 1; i <= 4; i++) assert.equal(await byCode(wrong(next.code, i), next.browser), undefined);
    for (const malformed of ["", "1234567", "123456789", "1234567a", "١٢٣٤٥٦٧٨"])
      assert.equal(await byCode(malformed, next.browser), undefined);
    assert.ok(await byCode(next.code, next.browser), "the fifth try, as what cannot be a code is none");
  });

  test("a mail can be sent again to who requested one last, and all of them work until one is used", async () => {
    const { accounts, request, byLink, byCode } = await start();
    const first = await request("ann@example.org", createBrowserSecret(), "/account");
    accounts.mail.requestAgain(first.browser);
    const second = await mailbox.next();
    assert.deepEqual(second.to, ["ann@example.org"]);
    assert.notEqual(second.code, first.code);
    assert.equal((await byCode(first.code, first.browser))?.next, "/account");
    assert.equal(await byLink(tokenOf(second), first.browser), undefined);
    accounts.mail.requestAgain(first.browser);
    accounts.mail.requestAgain(createBrowserSecret());
    await accounts.close();
    assert.equal(mailbox.waiting, 0, "nothing is pending");
  });

  test("link and code are of no use after ten minutes, and then deleted", async () => {
    const { database, clock, accounts, request, byLink, byCode } = await start();
    const [early, late] = [await request("ann@example.org"), await request("bob@example.org")];
    clock.advance(10 * MINUTE_MS - 1);
    assert.ok(await byLink(early.token, early.browser));
    clock.advance(1);
    assert.equal(await accounts.mail.codes.isOf(late.token, late.browser), undefined);
    assert.equal(await byCode(late.code, late.browser), undefined);
    assert.equal(await byLink(late.token, late.browser), undefined);
    assert.match(await stored(database), /bob@/);
    await accounts.removeExpired();
    assert.doesNotMatch(await stored(database), /bob@/);
  });

  test("a code is stored under a key: who reads the database cannot find it by trying all", async () => {
    const { database, request, byCode } = await start();
    const { code, browser } = await request("ann@example.org");
    const { accounts } = openAccounts(database, OTHER_SECRET);
    assert.equal(await accounts.signInByMail({ code, browser }, browserWith()), undefined);
    assert.ok(await byCode(code, browser));
  });

  test("a database that does not answer is reported as such, not as nobody or a used link", async () => {
    const { database, accounts, request, byLink, signIn } = await start();
    const { cookie } = await signIn("ann@example.org");
    const { token, browser } = await request("ann@example.org");
    await database.close();
    const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "UNAVAILABLE";
    await assert.rejects(accounts.find(cookie), isUnavailable);
    await assert.rejects(byLink(token, browser));
  });

  test("a cookie that was changed, or signed with another secret, is nobody's", async () => {
    const { database, accounts, signIn } = await start();
    const { cookie } = await signIn("ann@example.org");
    assert.equal(await openAccounts(database, OTHER_SECRET).accounts.find(cookie), undefined);
    assert.equal(await accounts.find(changed(cookie, 40)), undefined);
    assert.equal(await accounts.find("__Host-sidereal.session_token="), undefined);
    assert.equal(await accounts.find(undefined), undefined);
  });

  test("nothing that a stranger chose is in the mail that a request sends to somebody", async () => {
    const { request } = await start();
    const next = "/explore?q=CALL+555-0100+TO+GET+YOUR+REFUND#now";
    const { mail } = await request("ann@example.org", createBrowserSecret(), next);
    assert.doesNotMatch(mail.text, /CALL|555-0100|REFUND|explore/i);
    assert.match(mail.text, /^Content-Type: text\/plain/m);
    assert.ok(mail.text.indexOf(mail.code) < mail.text.indexOf("https://"), "the code comes first");
  });

  test("whether a mail is made, over its limit or cannot be made, the response waits for none of it", async () => {
    const [database, broken] = [await engine.open(), await engine.open()];
    await broken.close();
    const { log, lines } = recordedLog("error");
    const failing = { ...database, durable: broken.durable };
    const { accounts } = openAccounts(failing, mailbox.settings, { log });
    const browser = createBrowserSecret();
    for (let i = 0; i < 4; i++) accounts.mail.request("ann@example.org", "/", browser);
    assert.deepEqual(lines, []);
    await accounts.close();
    const failures = lines.filter(({ msg }) => msg === "a mail to sign in with could not be made");
    assert.equal(failures.length, 4);
    assert.doesNotMatch(JSON.stringify(lines), /ann@/);
  });

  test("a mail requested just before an account is removed leaves nothing of it", async () => {
    const { database, accounts, request, byLink } = await start();
    const { token, browser } = await request("ann@example.org");
    const signedIn = await byLink(token, browser);
    assert.ok(signedIn);
    accounts.mail.request("ann@example.org", "/", createBrowserSecret());
    await accounts.remove(signedIn.account);
    await accounts.mail.settled();
    await mailbox.next();
    assert.doesNotMatch(await stored(database), /ann@/);
  });

  test("without a mail server, mail is off unless the service is of this machine alone", async () => {
    const { accounts } = await start({});
    assert.equal(accounts.mail.isOn, false);
    assert.throws(
      () => accounts.mail.request("ann@example.org", "/", "b"),
      (error) => error instanceof AppError && error.code === "FORBIDDEN",
    );
    for (const base of ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000"])
      assert.equal((await start({ SIDEREAL_BASE_URL: base })).accounts.mail.isOn, true, base);
  });
});
