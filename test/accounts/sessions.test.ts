import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { openAccounts, signInByMail } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

onSqliteAndLong("Sessions", (engine) => {
  const mailbox = openMailbox();

  const start = async () => {
    const database = await engine.open();
    const { accounts, writes } = openAccounts(database, mailbox.settings);
    const signIn = (email: string, cookie?: string) => signInByMail(accounts, mailbox, email, cookie);
    const rows = async () => (await sql`select id from sessions`.execute(database.read)).rows.length;
    return { database, accounts, writes, signIn, rows };
  };

  test("each sign-in is a session of its own, of one account", async () => {
    const { accounts, signIn } = await start();
    const [first, second] = [await signIn("ann@example.org"), await signIn("ANN@example.org")];
    assert.equal(first.account.id, second.account.id);
    assert.notEqual(first.cookie, second.cookie);
    await accounts.sessions.end(first.account.id, first.account.sessionId);
    assert.equal(await accounts.find(first.cookie), undefined);
    assert.ok(await accounts.find(second.cookie));
    const third = await signIn("ann@example.org");
    await accounts.sessions.endAll(third.account.id);
    for (const { cookie } of [second, third]) assert.equal(await accounts.find(cookie), undefined);
  });

  test("the session that a browser had ends when it signs in again, whatever the account", async () => {
    const { accounts, signIn } = await start();
    const elsewhere = await signIn("ann@example.org");
    const first = await signIn("ann@example.org");
    const second = await signIn("bob@example.org", `theme=dark; ${first.cookie}`);
    assert.equal(await accounts.find(first.cookie), undefined);
    assert.equal((await accounts.find(second.cookie))?.email, "bob@example.org");
    const third = await signIn("bob@example.org", second.cookie);
    assert.equal(await accounts.findId(second.cookie), undefined);
    assert.ok(await accounts.find(third.cookie));
    assert.ok(await accounts.find(elsewhere.cookie), "other browsers keep theirs");
    const planted = `__Host-sidereal.session_token=${"x".repeat(32)}.${"y".repeat(42)}A%3D`;
    assert.notEqual((await signIn("ann@example.org", planted)).cookie, planted);
    assert.equal(await accounts.find(planted), undefined);
  });

  test("one that was just looked up costs no second read to count a request, and one that ended is unknown", async () => {
    const { database, accounts, signIn } = await start();
    const { cookie, account } = await signIn("ann@example.org");
    const header = `theme=dark; ${cookie}`;
    assert.equal((await accounts.find(header))?.id, account.id);
    await accounts.sessions.end(account.id, account.sessionId);
    assert.equal(await accounts.findId(header), undefined);
    const again = await signIn("ann@example.org");
    assert.equal((await accounts.find(again.cookie))?.id, account.id);
    await database.close();
    assert.equal(await accounts.findId(again.cookie), account.id);
  });

  test("end after fourteen days without use, and after thirty days in any case", async (context) => {
    const { accounts, writes, signIn } = await start();
    const [used, idle] = [await signIn("ann@example.org"), await signIn("ann@example.org")];
    const began = Date.now();
    context.mock.timers.enable({ apis: ["Date"], now: began + 13 * DAY_MS });
    assert.ok(await accounts.find(used.cookie));
    await writes.flush();
    context.mock.timers.setTime(began + 14 * DAY_MS + HOUR_MS);
    assert.ok(await accounts.find(used.cookie));
    assert.equal(await accounts.find(idle.cookie), undefined);
    assert.equal(await accounts.findId(idle.cookie), undefined);
    const ids = (await accounts.sessions.list(used.account.id)).map(({ id }) => id);
    assert.deepEqual(ids, [used.account.sessionId]);
    await writes.flush();
    context.mock.timers.setTime(began + 27 * DAY_MS);
    assert.ok(await accounts.find(used.cookie));
    await writes.flush();
    context.mock.timers.setTime(began + 30 * DAY_MS + HOUR_MS);
    assert.equal(await accounts.find(used.cookie), undefined);
  });

  test("a use is written at most once in an hour", async (context) => {
    const { database, accounts, writes, signIn } = await start();
    // The library reads the clock twice when a session begins.
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const { cookie, account } = await signIn("ann@example.org");
    const seenAt = async () => (await accounts.sessions.list(account.id))[0]?.seenAt ?? 0;
    const began = await seenAt();
    const writing = context.mock.method(database.write, "getExecutor");
    context.mock.timers.setTime(began + HOUR_MS - 1);
    for (let i = 0; i < 5; i++) await accounts.find(cookie);
    await writes.flush();
    assert.deepEqual([await seenAt(), writing.mock.callCount()], [began, 0]);
    context.mock.timers.setTime(began + HOUR_MS);
    for (let i = 0; i < 5; i++) {
      await accounts.find(cookie);
      await writes.flush();
    }
    assert.equal(await seenAt(), began + HOUR_MS);
    assert.equal(writing.mock.callCount(), 1);
  });

  test("those that have ended are deleted now and then", async (context) => {
    const { accounts, writes, signIn, rows } = await start();
    const [used] = [await signIn("ann@example.org"), await signIn("bob@example.org")];
    assert.equal(await accounts.removeExpired(), 0);
    const began = Date.now();
    context.mock.timers.enable({ apis: ["Date"], now: began + 10 * DAY_MS });
    await accounts.find(used.cookie);
    await writes.flush();
    context.mock.timers.setTime(began + 15 * DAY_MS);
    assert.deepEqual([await accounts.removeExpired(), await rows()], [1, 1]);
    context.mock.timers.setTime(began + 25 * DAY_MS);
    assert.deepEqual([await accounts.removeExpired(), await rows()], [1, 0]);
  });
});
