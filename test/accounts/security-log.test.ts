import assert from "node:assert/strict";
import { test } from "node:test";
import { SecurityLog } from "../../src/accounts/security-log.js";
import { KEPT_MS, pruneEvents } from "../../src/accounts/security-rows.js";
import { onBothEngines } from "../support/engines.js";
import { withFailingWrites } from "../support/failing-writes.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { createKey, ORIGIN, requestMail, signIn } from "../support/members.js";
import { createWorld, NOW, type World } from "../support/world.js";

/** The events of a world, oldest first: what happened, from where, and how often. */
async function eventsOf(world: World) {
  await world.members.security.flush();
  const rows = await world.members.security.list({ limit: 100 });
  return rows
    .toReversed()
    .map(({ event, accountId, network, detail, times }) => ({ event, accountId, network, detail, times }));
}

const namesOf = async (world: World) => (await eventsOf(world)).map(({ event }) => event);
const network = "192.0.2.0/24";

onBothEngines("The security log", (engine) => {
  const mailbox = openMailbox();
  const start = (env: Record<string, string> = {}) => createWorld(engine, { ...mailbox.settings, ...env });

  test("records what somebody does through the API, from which network, and no secret", async () => {
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

  test("tells a sign-in of a browser that is signed in from one of another browser or account", async () => {
    const world = await start();
    const ann = await signIn(world, mailbox, "ann@example.org");
    await signIn(world, mailbox, "ann@example.org", { Cookie: ann.cookie });
    await signIn(world, mailbox, "ann@example.org");
    const bob = await signIn(world, mailbox, "bob@example.org");
    await signIn(world, mailbox, "ann@example.org", { Cookie: bob.cookie });
    const [signedIn, created] = ["signed_in", "account_created"];
    assert.deepEqual(await namesOf(world), [
      created,
      signedIn,
      "reauthenticated",
      signedIn,
      created,
      signedIn,
      signedIn,
    ]);
  });

  test("records the same of pages", async () => {
    const world = await start();
    const post = async (path: string, cookie: string, fields: Record<string, string> = {}) => {
      const headers = { Cookie: cookie, Origin: ORIGIN };
      const response = await world.request(path, {
        method: "POST",
        headers,
        body: new URLSearchParams(fields),
      });
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

  test("counts refused links, keys, forms of other sites, and requests over a limit", async () => {
    const world = await start({ SIDEREAL_LIMIT_SEARCH_ANONYMOUS: "2" });
    const { requestToken, token } = await requestMail(world, mailbox, "ann@example.org");
    const wrong = { requestToken, token: `${token}x` };
    for (let i = 0; i < 3; i++) await world.send("POST", "/api/auth/verify", wrong, { Origin: ORIGIN });
    for (const key of ["nonsense", "sid_unknown"]) await world.get("/api/repos", { "X-API-Key": key });
    const foreign = { "Sec-Fetch-Site": "cross-site", Cookie: "a=b" };
    assert.equal((await world.send("POST", "/api/auth/sign-out", undefined, foreign)).status, 403);
    for (let i = 0; i < 4; i++) await world.get("/api/search/suggest?q=a");
    const row = { accountId: null, network };
    assert.deepEqual(await eventsOf(world), [
      { ...row, event: "sign_in_refused", detail: { method: "link" }, times: 3 },
      { ...row, event: "key_refused", detail: {}, times: 2 },
      { ...row, event: "cross_site_refused", detail: {}, times: 1 },
      { ...row, event: "rate_limited", detail: { bucket: "search" }, times: 2 },
    ]);
  });

  test("shows a form of another site to the account whose session it carried", async () => {
    const world = await start();
    const { cookie } = await signIn(world, mailbox, "ann@example.org");
    const headers = { "Sec-Fetch-Site": "cross-site", Cookie: cookie };
    assert.equal((await world.send("POST", "/api/me/keys", { name: "x" }, headers)).status, 403);
    const events = await eventsOf(world);
    const last = events.at(-1);
    assert.equal(last?.event, "cross_site_refused");
    assert.ok(last.accountId);
    assert.equal(last.accountId, events[0]?.accountId);
  });

  test("deletes events after 180 days, and the oldest of too many", async () => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const { log } = recordedLog("warn");
    const security = new SecurityLog({ database, clock, log });
    const source = { network, agent: "" };
    const add = async (accountId: string | null, count: number) => {
      for (let i = 0; i < count; i++) {
        security.record({ event: "cross_site_refused", source, accountId });
        await security.flush();
      }
    };
    const left = async () => {
      const rows = await security.list({ limit: 100 });
      return ["ann", "bob", null].map((id) => rows.filter(({ accountId }) => accountId === id).length);
    };
    await add("ann", 1);
    clock.advance(KEPT_MS);
    const { signal } = new AbortController();
    assert.equal(await security.prune(clock.now(), signal), 0);
    clock.advance(1);
    await add("ann", 6);
    await add("bob", 2);
    await add(null, 5);
    assert.equal(await security.prune(clock.now(), signal), 1);
    assert.deepEqual(await left(), [6, 2, 5]);
    const kept = { anonymous: 3, account: 4 };
    assert.equal(await pruneEvents(database, { now: clock.now(), signal, kept }), 4);
    assert.deepEqual(await left(), [4, 2, 3]);
    const [newest] = await security.list({ limit: 1, accountId: "ann" });
    assert.equal(newest?.id, 7);
  });

  test("fills each page, whatever a newer version has recorded", async () => {
    const database = await engine.open();
    const security = new SecurityLog({
      database,
      clock: new ManualClock(NOW),
      log: recordedLog("warn").log,
    });
    const row = (event: string) => ({
      at: NOW,
      account_id: "ann",
      event,
      network: "",
      detail: "{}",
      times: 1,
    });
    const events = ["signed_in", "signed_out", "of_the_future", "of_the_future", "signed_in"];
    await database.write.insertInto("security_events").values(events.map(row)).execute();
    const page = await security.list({ accountId: "ann", limit: 2 });
    assert.deepEqual(
      page.map(({ event }) => event),
      ["signed_in", "signed_out"],
    );
  });

  test("says in the program's log what was refused, one line a minute and network", async () => {
    const database = await engine.open();
    const { log, lines } = recordedLog("warn");
    const clock = new ManualClock(NOW);
    const security = new SecurityLog({ database, clock, log });
    const stopping = new AbortController();
    const running = security.start(stopping.signal);
    const source = { network, agent: "Firefox" };
    for (let i = 0; i < 50; i++)
      security.record({ event: "sign_in_refused", source, accountId: null, detail: { method: "link" } });
    security.record({ event: "signed_in", source, accountId: "ann" });
    await clock.whenSleeping(() => 1);
    clock.advance(60_000);
    await clock.whenSleeping(() => 1);
    const [line] = lines;
    const { msg, level, event, method, times } = line as unknown as Record<string, unknown>;
    assert.deepEqual(
      [lines.length, msg, level, event, method, times],
      [1, "refused", 40, "sign_in_refused", "link", 50],
    );
    stopping.abort();
    await running;
    assert.equal((await security.list({ limit: 9 })).length, 2);
  });

  test("goes on after a failed write, and says so", async () => {
    const { log, lines } = recordedLog("warn");
    const database = await engine.open();
    const { failing, repair } = await withFailingWrites(engine, database);
    const security = new SecurityLog({ database: failing, clock: new ManualClock(NOW), log });
    const record = () =>
      security.record({ event: "signed_in", source: { network, agent: "" }, accountId: "ann" });
    record();
    await security.flush();
    repair();
    record();
    await security.flush();
    assert.equal((await security.list({ limit: 9 })).length, 1);
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ["security events could not be recorded"],
    );
  });
});
