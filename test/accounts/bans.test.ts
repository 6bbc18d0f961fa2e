import assert from "node:assert/strict";
import { test } from "node:test";
import { Bans, Revocations } from "../../src/accounts/accounts.js";
import { loadConfig } from "../../src/config/config.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { createKey, ORIGIN, requestMail, signIn } from "../support/members.js";
import { createWorld, NOW, type World } from "../support/world.js";

const FOR_EVER = { reason: "", endsAt: null };

/** The status and message of a request from an address. */
async function from(world: World, peer: string, headers: Record<string, string> = {}) {
  const response = await world.request("/api/repos", { peer, headers });
  const { error } = (await response.json()) as { error?: { message: string } };
  return [response.status, error?.message];
}

async function accountOf(world: World, email: string): Promise<{ accountId: string; email: string }> {
  const { read } = world.modules.database;
  const row = await read.selectFrom("accounts").select("id").where("email", "=", email).executeTakeFirst();
  return { accountId: row?.id ?? "", email };
}

onSqliteAndLong("A ban", (engine) => {
  const mailbox = openMailbox();

  test("of a network refuses its requests with one sentence, nobody else's, and ends by itself", async () => {
    const world = await createWorld(engine);
    const { bans } = world.members;
    await bans.ban({ network: "203.0.113.0/24" }, { reason: "scraping", endsAt: NOW + DAY_MS });
    await bans.ban({ network: "2001:db8:7::/48" }, FOR_EVER);
    const until = [403, "Requests from your network are refused until 2026-05-01 12:00 UTC."];
    assert.deepEqual(await from(world, "203.0.113.200"), until);
    assert.deepEqual(await from(world, "::ffff:203.0.113.9"), until);
    const refused = [403, "Requests from your network are refused."];
    assert.deepEqual(await from(world, "2001:db8:7:ffff::1"), refused);
    for (const peer of ["203.0.112.255", "2001:db8:8::1", "192.0.2.1"])
      assert.deepEqual(await from(world, peer), [200, undefined], peer);
    const page = await world.request("/", { peer: "203.0.113.1", headers: { Accept: "text/html" } });
    assert.equal(page.status, 403);
    assert.match(await page.text(), /refused until 2026-05-01/);
    assert.equal((await world.request("/healthz", { peer: "203.0.113.1" })).status, 403);
    world.clock.advance(DAY_MS);
    assert.deepEqual(await from(world, "203.0.113.200"), [200, undefined]);
    assert.deepEqual(await from(world, "2001:db8:7:ffff::1"), refused);
    assert.equal(await bans.removeEnded(world.clock.now() + 1), 1);
    assert.deepEqual(
      (await bans.list()).map(({ network }) => network),
      ["2001:db8:7::/48"],
    );
  });

  test("of a network is of the client behind a trusted proxy, and never of the proxy or this machine", async () => {
    const world = await createWorld(engine, { SIDEREAL_TRUSTED_PROXIES: "198.51.100.0/24" });
    const { bans } = world.members;
    await bans.ban({ network: "203.0.113.7" }, FOR_EVER);
    const by = (client: string) => from(world, "198.51.100.9", { "X-Forwarded-For": client });
    assert.equal((await by("203.0.113.7"))[0], 403);
    assert.equal((await by("203.0.113.7, 203.0.113.8"))[0], 200);
    for (const wrong of ["198.51.100.9", "198.0.0.0/8", "127.0.0.1", "::1", "::/16"])
      assert.throws(() => bans.readNetwork(wrong), /this machine or its proxies/, wrong);
    for (const wide of ["0.0.0.0/0", "203.0.0.0/7", "2000::/15", "everybody"])
      assert.throws(() => bans.readNetwork(wide), /must be an address, or a network from \/8/, wide);
  });

  test("by one process holds in another two seconds later, without a query per request", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    const clock = new ManualClock(NOW);
    const other = new Bans({ database, config: loadConfig({}), clock, revocations: new Revocations() });
    const stopping = new AbortController();
    const following = other.follow(createLog("silent"), stopping.signal);
    const next = async () => {
      await clock.whenSleeping(() => 1);
      clock.advance(2_000);
      await clock.whenSleeping(() => 1);
    };
    await world.members.bans.ban({ network: "203.0.113.7" }, FOR_EVER);
    await next();
    assert.equal(other.refusalOf("203.0.113.7")?.status, 403);
    await world.members.bans.lift({ network: "203.0.113.7" });
    assert.equal(other.refusalOf("203.0.113.7")?.status, 403, "it reads nothing by itself");
    await next();
    assert.equal(other.refusalOf("203.0.113.7"), undefined);
    stopping.abort();
    await following;
  });

  test("of an account ends its sessions, refuses its keys immediately, and keeps it from signing in", async () => {
    const world = await createWorld(engine, mailbox.settings);
    const bob = await signIn(world, mailbox, "bob@example.org");
    const { key } = await createKey(world, bob);
    const withKey = async () => (await world.get("/api/repos", { "X-API-Key": key })).status;
    assert.equal(await withKey(), 200);
    const account = await accountOf(world, "bob@example.org");
    const { bans } = world.members;
    await bans.ban(account, { reason: "spam", endsAt: NOW + DAY_MS });
    assert.equal(await withKey(), 401);
    assert.equal((await world.get("/api/me", bob.headers)).status, 401);
    const sessions = () => world.modules.database.read.selectFrom("sessions").select("id").execute();
    assert.deepEqual(await sessions(), []);
    const { requestToken, token } = await requestMail(world, mailbox, "bob@example.org");
    const verify = () => world.send("POST", "/api/auth/verify", { requestToken, token }, { Origin: ORIGIN });
    const refused = await verify();
    assert.deepEqual([refused.status, refused.headers.getSetCookie()], [403, []]);
    assert.equal(
      refused.body.error.message,
      "It is not possible to sign in with this account at the moment.",
    );
    assert.deepEqual(await sessions(), [], "nor is there one that no cookie has");
    assert.equal(
      (await world.get("/api/me", (await signIn(world, mailbox, "ann@example.org")).headers)).status,
      200,
    );
    await bans.ban(account, FOR_EVER);
    world.clock.advance(DAY_MS);
    assert.equal(await withKey(), 401, "a later ban replaces it");
    assert.equal(await bans.lift(account), true);
    assert.equal(await bans.lift(account), false);
    assert.equal(await withKey(), 200);
    await signIn(world, mailbox, "bob@example.org");
  });

  test("of an operator's account is refused", async () => {
    const world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_OPERATORS: "ann@example.org" });
    const ann = await signIn(world, mailbox, "ann@example.org");
    const banning = world.members.bans.ban(await accountOf(world, "ann@example.org"), FOR_EVER);
    await assert.rejects(banning, /ann@example\.org is an operator: first take/);
    assert.equal((await world.get("/api/me", ann.headers)).status, 200);
  });
});
