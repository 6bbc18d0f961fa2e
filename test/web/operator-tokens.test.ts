import assert from "node:assert/strict";
import { test } from "node:test";
import { forgeName } from "../../src/config/known-forges.js";
import { checkToken } from "../../src/forges/tokens/check-token.js";
import { createLog } from "../../src/lib/log.js";
import { onSqliteAndLong } from "../support/engines.js";
import { type Forge, startForge } from "../support/forge/forge.js";
import { openMailbox } from "../support/mail.js";
import { ageSessions, type Member, signIn } from "../support/members.js";
import { open, type Page, submit } from "../support/page.js";
import { createWorld, NOW, type World } from "../support/world.js";

const GOOD = "good-token-0123456789-abcdefghij";
const PAGE = "/operator/tokens";
/** Longer than the pace of requests, and shorter than what is left of the patience with a forge. */
const PATIENCE_MS = 5_000;
const NO_WORK = { SIDEREAL_WORK_KIND: "", SIDEREAL_WORK_URL: "", SIDEREAL_WORK_PRIVATE: "" };

onSqliteAndLong("The page of tokens", (engine) => {
  const mailbox = openMailbox();
  let forge: Forge;
  let world: World;
  let ann: Member;

  const openWorld = async (env: Record<string, string> = {}) => {
    forge = await startForge({
      kind: "github",
      clock: { now: () => world?.clock.now() ?? NOW },
      repositories: 3,
    });
    forge.switches.tokens = new Set([GOOD]);
    world = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_OPERATORS: "ann@example.org",
      SIDEREAL_TOKEN_KEY: "k".repeat(40),
      SIDEREAL_PROVIDERS: "work",
      SIDEREAL_WORK_KIND: "github",
      SIDEREAL_WORK_URL: forge.url,
      SIDEREAL_WORK_PRIVATE: "true",
      ...env,
    });
    ann = await signIn(world, mailbox, "ann@example.org");
  };
  /** Waits for a response while requests to a forge keep their pace. The patience with the forge does not end, however long it takes. */
  const pass = async (work: Promise<Page>): Promise<Page> => {
    let isOver = false;
    void work.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const { untilNextWake = PATIENCE_MS } = world.clock;
      if (untilNextWake < PATIENCE_MS) world.clock.advance(untilNextWake);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return work;
  };
  const enter = (token: string, more: Record<string, string> = {}) =>
    pass(submit(world, PAGE, { forge: "WORK", token, ...more }, ann.headers));
  const stored = () => world.modules.database.read.selectFrom("forge_tokens").selectAll().execute();
  const close = () => forge.close();

  test("the page of a repository that is read without a token shows operators what one changes", async () => {
    await openWorld({ SIDEREAL_TRACK: "everyone" });
    assert.equal((await submit(world, "/track", { repository: "work:o/n" })).status, 303);
    const read = (headers = {}) => open(world, "/repos/work/o/n", headers);
    const offer = /Faster with a token/;
    const shown = await read(ann.headers);
    assert.match(shown.text, offer);
    assert.ok(shown.links.includes("/operator/tokens#token-WORK"), String(shown.links));
    assert.doesNotMatch((await read()).text, offer);
    await enter(GOOD);
    assert.doesNotMatch((await read(ann.headers)).text, offer);
    await close();
  });

  test("a token that the forge accepts is stored and never shown", async () => {
    await openWorld();
    const added = await enter(`  ${GOOD}\n`);
    assert.deepEqual([added.status, added.location], [303, `${PAGE}?added&forge=WORK`]);
    const page = await open(world, added.location ?? "", ann.headers);
    assert.equal(page.notices.length, 1);
    for (const path of [PAGE, added.location ?? "", "/operator", "/account/security"]) {
      const { html, headers } = await open(world, path, ann.headers);
      assert.ok(!html.includes(GOOD) && !html.includes(GOOD.slice(-4)), path);
      assert.equal(headers.get("cache-control"), "no-store");
    }
    assert.match(page.text, /[45],\d\d\d of 5,000 an hour/);
    assert.ok(!JSON.stringify(world.logged).includes(GOOD));
    const events = await world.members.events.list({ limit: 10 });
    assert.ok(events.some(({ event, detail }) => event === "forge_token_added" && detail.forge === "WORK"));
    await close();
  });

  test("one that the forge does not accept is not stored, and the forge's words say why", async () => {
    await openWorld();
    const refused = await enter("bad-token-0123456789-abcdefghij");
    assert.equal(refused.status, 400);
    assert.match(refused.alerts.join(), /does not accept this token\. It says: Bad credentials/);
    assert.ok(!refused.html.includes("bad-token"), "what was typed is not sent back");
    for (const token of ["", "two words", "ü".repeat(20), "x".repeat(4_097)]) {
      const before = forge.counters.requests;
      assert.equal((await enter(token)).status, 400, token.slice(0, 10));
      assert.equal(forge.counters.requests, before, "the forge is not asked");
    }
    assert.deepEqual(await stored(), []);
    await close();
  });

  test("a forge that fails, lies or is unavailable leaves nothing behind but a plain reason", async () => {
    await openWorld();
    for (const fault of ["status-500", "html", "cut", "other-host"] as const) {
      forge.switches.fault = () => fault;
      assert.equal((await enter(GOOD)).status, 400, fault);
    }
    forge.switches.fault = null;
    await close();
    const away = await enter(GOOD);
    assert.equal(away.status, 400);
    assert.match(away.alerts.join(), /did not respond\. Nothing was stored/);
    assert.deepEqual(await stored(), []);
  });

  test("only forges that are configured or public get requests, at their own address", async () => {
    await openWorld();
    for (const name of ["EVIL", "http://169.254.169.254/", "../x", ""])
      assert.equal(
        (await pass(submit(world, PAGE, { forge: name, token: GOOD }, ann.headers))).status,
        404,
        name,
      );
    assert.equal(forge.counters.requests, 0);
    await close();
  });

  test("a token over http to somewhere public is not sent", async () => {
    await openWorld({ SIDEREAL_WORK_PRIVATE: "false" });
    const page = await enter(GOOD);
    assert.equal(page.status, 400);
    assert.match(page.text, /sent over https only/);
    assert.equal(forge.counters.requests, 0);
    await close();
  });

  test("it can be replaced and removed; a public forge is tracked as long as it has one", async () => {
    await openWorld();
    await enter(GOOD);
    const [first] = await stored();
    forge.switches.tokens = null;
    await enter(`${GOOD}2`, { replaces: String(first?.id) });
    const [second, ...others] = await stored();
    assert.deepEqual(others, []);
    assert.notEqual(second?.fingerprint, first?.fingerprint);
    const { forgeTokens, forges } = world.modules;
    const allows = { owner: null, scopes: [], limit: null, remaining: null, expiresAt: null };
    const codeberg = await forgeTokens.add("CODEBERG", GOOD, { allows });
    assert.deepEqual(
      (await forges.read()).map(({ name }) => name),
      ["WORK", "CODEBERG"],
    );
    assert.match((await open(world, PAGE, ann.headers)).text, new RegExp(forgeName("CODEBERG")));
    const removed = await submit(world, `${PAGE}/${codeberg}/remove`, {}, ann.headers);
    assert.equal(removed.location, `${PAGE}?removed&forge=CODEBERG`);
    assert.deepEqual(
      (await forges.read()).map(({ name }) => name),
      ["WORK"],
    );
    assert.equal((await submit(world, `${PAGE}/999/remove`, {}, ann.headers)).location, PAGE);
    await close();
  });

  test("entering a token again in its own place keeps it", async () => {
    await openWorld();
    await enter(GOOD);
    const [first] = await stored();
    assert.equal((await enter(GOOD, { replaces: String(first?.id) })).status, 303);
    assert.deepEqual(
      (await stored()).map(({ id }) => id),
      [first?.id],
    );
    await close();
  });

  test("tokens of a forge that left the settings, or moved, say so and can be removed", async () => {
    await openWorld();
    await enter(GOOD);
    const { database } = world.modules;
    await database.durable.updateTable("forge_tokens").set({ site: "https://old.example.org" }).execute();
    assert.match((await open(world, PAGE, ann.headers)).text, /it is for https:\/\/old\.example\.org/);
    await database.durable.updateTable("forge_tokens").set({ provider: "GONE" }).execute();
    const page = await open(world, PAGE, ann.headers);
    assert.match(page.text, /the settings do not name this forge any more/);
    assert.ok(!page.html.includes('name="forge" value="GONE"'), "no field for another one");
    const [row] = await stored();
    assert.equal((await enter(GOOD, { forge: "GONE" })).status, 404);
    await submit(world, `${PAGE}/${row?.id}/remove`, {}, ann.headers);
    assert.deepEqual(await stored(), []);
    await close();
  });

  test("with a proxy that cannot be used no token is taken or sent", async () => {
    await openWorld({ SIDEREAL_PROVIDERS: "", ...NO_WORK, HTTPS_PROXY: "socks5://x" });
    const page = await pass(submit(world, PAGE, { forge: "CODEBERG", token: GOOD }, ann.headers));
    assert.equal(page.status, 400);
    assert.match(page.text, /No token is sent until the proxy is set correctly\. HTTPS_PROXY: must be/);
    const settings = world.modules.forges.settingsOf("CODEBERG");
    assert.ok(settings !== undefined);
    const config = { contact: undefined, proxy: undefined, proxyProblem: "HTTPS_PROXY: wrong" };
    const context = { clock: world.clock, log: createLog("silent"), config };
    for (let i = 0; i < 6; i++)
      await assert.rejects(checkToken(context, settings, GOOD), /HTTPS_PROXY: wrong/);
    await close();
  });

  test("changes need a recent sign-in, and an operator", async () => {
    await openWorld();
    await enter(GOOD);
    const [row] = await stored();
    const bob = await signIn(world, mailbox, "bob@example.org");
    const before = forge.counters.requests;
    for (const headers of [bob.headers, { Origin: bob.headers.Origin ?? "" }]) {
      assert.equal((await submit(world, PAGE, { forge: "WORK", token: GOOD }, headers)).status, 404);
      assert.equal((await submit(world, `${PAGE}/${row?.id}/remove`, {}, headers)).status, 404);
    }
    await ageSessions(world, 16);
    ann = { ...ann };
    assert.match((await enter(`${GOOD}3`)).location ?? "", /^\/sign-in\?again=1/);
    assert.match(
      (await submit(world, `${PAGE}/${row?.id}/remove`, {}, ann.headers)).location ?? "",
      /again=1/,
    );
    assert.equal(forge.counters.requests, before, "the forge was not asked");
    assert.equal((await stored()).length, 1);
    await close();
  });

  test("without a key the page says how to turn it on, and takes nothing", async () => {
    await openWorld({ SIDEREAL_TOKEN_KEY: "" });
    const page = await open(world, PAGE, ann.headers);
    assert.match(page.notes.join(), /SIDEREAL_TOKEN_KEY/);
    assert.doesNotMatch(page.text, /file token-key/, "no file that is not there is named");
    assert.ok(!page.buttons.includes("Check and save"));
    assert.equal((await enter(GOOD)).status, 400);
    assert.equal(forge.counters.requests, 0);
    await close();
  });
});
