import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { openProvider } from "../../src/forges/forges.js";
import { createLog } from "../../src/lib/log.js";
import type { WorkerLease } from "../../src/tracking/lease.js";
import { Worker } from "../../src/tracking/worker.js";
import { onSqliteAndLong } from "../support/engines.js";
import { type FaultName, type Forge, startForge } from "../support/forge/forge.js";
import { openMailbox } from "../support/mail.js";
import { type Member, signIn } from "../support/members.js";
import { open } from "../support/page.js";
import { heldLease } from "../support/tracking.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

onSqliteAndLong("While a forge is not read", (engine) => {
  const mailbox = openMailbox();
  let forge: Forge;
  let world: World;
  let lease: WorkerLease;
  let ann: Member;
  let env: Record<string, string>;

  const openWorld = async () => {
    forge = await startForge({
      kind: "github",
      clock: { now: () => world?.clock.now() ?? NOW },
      repositories: 3,
    });
    env = {
      ...mailbox.settings,
      SIDEREAL_OPERATORS: "ann@example.org",
      SIDEREAL_PROVIDERS: "work",
      SIDEREAL_WORK_KIND: "github",
      SIDEREAL_WORK_URL: forge.url,
      SIDEREAL_WORK_PRIVATE: "true",
      SIDEREAL_WORK_TOKENS: "token-0123456789-abcdefghij",
    };
    world = await createWorld(engine, env);
    lease = await heldLease(world.modules.database, world.clock);
    ann = await signIn(world, mailbox, "ann@example.org");
  };
  /** Does the work of a worker that is due. */
  const work = async (fault: FaultName | null, more: Record<string, string> = {}) => {
    forge.switches.fault = fault && (() => fault);
    const { clock, modules } = world;
    const opened = loadConfig({ ...env, ...more }).providers.map((settings) =>
      openProvider(settings, {
        clock,
        log: createLog("silent"),
        userAgent: "sidereal-test",
        proxy: undefined,
      }),
    );
    const providers = opened.map(({ provider }) => provider);
    const worker = new Worker({
      modules,
      lease,
      signal: new AbortController().signal,
      providers,
      clock,
      log: createLog("silent"),
      derive: async () => {},
    });
    let isOver = false;
    const done = worker.runOnce().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      clock.advance(clock.untilNextWake ?? 0);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    for (const one of opened) await one.close();
  };
  const asOperator = (path: string) => open(world, path, ann.headers);

  test("operators see what fails on the first pages and on their own, and visitors that numbers are late", async () => {
    await openWorld();
    const { host } = new URL(forge.url);
    const failures = [
      {
        fault: "html",
        words: "/api/v3/search/repositories: the response is a page, not JSON; usually a sign-in page",
      },
      { fault: "status-401", words: "/api/v3/search/repositories: status 401 (Bad credentials)" },
      {
        fault: null,
        more: { SIDEREAL_WORK_URL: `https://${host}` },
        words: `${host}: no response (ERR_SSL_WRONG_VERSION_NUMBER)`,
      },
      { fault: null, more: { SIDEREAL_WORK_URL: "http://127.0.0.1:9" }, words: "no response (ECONNREFUSED)" },
    ] as const;
    for (const { fault, words, ...rest } of failures) {
      await work(fault, "more" in rest ? rest.more : {});
      for (const path of ["/", "/explore", "/operator"]) {
        const { notes, links } = await asOperator(path);
        assert.equal(notes.length, 1, path);
        assert.match(notes[0] ?? "", /^Work: requests to https?:\/\/127\.0\.0\.1:\d+ have failed for /);
        assert.ok(notes[0]?.includes(words), `${path}: ${notes[0]}`);
        assert.ok(links.includes("/operator#forge-WORK"), path);
      }
      assert.match(
        (await asOperator("/operator")).text,
        /Forges1 of 1 failing Work Queue0 nothing waits Freshness/,
      );
      for (const path of ["/", "/explore"]) {
        const { notes, text, html } = await open(world, path);
        assert.deepEqual(notes, ["Work cannot be read at the moment, so its numbers are late."], path);
        assert.doesNotMatch(text, /starts|First growth/, path);
        for (const internal of [words, "127.0.0.1", "/operator"]) assert.ok(!html.includes(internal), path);
      }
    }

    await work("status-401");
    await world.record(observation("acme/kite", daily(...Array.from({ length: 40 }, (_, i) => 100 + 5 * i))));
    assert.match((await asOperator("/")).notes.join(), /Bad credentials/, "beside rankings");
    assert.deepEqual((await open(world, "/")).notes, [], "numbers are not old yet");

    await work(null);
    await work("429-retry-after");
    assert.deepEqual((await asOperator("/")).notes, [], "a used-up quota is no failure");
    await work(null);
    for (const path of ["/", "/operator"]) assert.deepEqual((await asOperator(path)).notes, [], path);
    assert.match(
      (await asOperator("/operator")).text,
      /Forges1 Work Queue0 nothing waits Freshness\d+ s ago 1 repository Storage/,
    );
    world.clock.advance(120_000);
    for (const path of ["/", "/operator"])
      assert.match((await asOperator(path)).notes.join(), /^Work: the worker last reported .* ago\./, path);
    await forge.close();
  });
});
