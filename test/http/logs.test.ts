/** What the log says of requests at the level debug: each of a client and to a forge, and never a secret, at any level. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { openProvider } from "../../src/forges/open-provider.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { QUIET } from "../support/forge/world.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { createKey, requestMail } from "../support/members.js";
import { createWorld, daily, NOW, observation } from "../support/world.js";

onSqliteAndLong("The log of requests", (engine) => {
  const mailbox = openMailbox();

  test("has the method, path and status of each at debug, and no token, key, code, cookie or query", async () => {
    const world = await createWorld(engine, { ...mailbox.settings }, "trace");
    await world.record(observation("a/one", daily(1, 2)));
    const proof = await requestMail(world, mailbox, "ann@example.org");
    const { requestToken, token: link } = proof;
    const origin = { Origin: "https://sidereal.example" };
    const signedIn = await world.send("POST", "/api/auth/verify", { requestToken, token: link }, origin);
    const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { key } = await createKey(world, { cookie, headers: { ...origin, Cookie: cookie } });
    const { token, shareToken } = (await world.send("POST", "/api/watchlists", {})).body.data;
    const begun = world.logged.length;
    await world.get(`/api/repos?q=hidden-word&limit=1`, { Authorization: `Bearer ${key}` });
    await world.get(`/api/watchlists/${token}`);
    await world.get(`/watchlists/${shareToken}`);
    await world.get(`/api/repos?key=${key}`);
    await world.get(`/${encodeURIComponent(`%73id_${key.slice(4)}`)}`);
    await world.send("DELETE", "/api/repos");
    const lines = world.logged.slice(begun).filter(({ msg }) => msg === "responded");
    assert.deepEqual(
      lines.map(({ method, path, status }) => [method, path, status]),
      [
        ["GET", "/api/repos", 200],
        ["GET", "/api/watchlists/…", 200],
        ["GET", "/watchlists/…", 200],
        ["GET", "/api/repos", 200],
        ["GET", "/…", 404],
        ["DELETE", "/api/repos", 405],
      ],
    );
    const all = JSON.stringify(world.logged);
    const secrets = [
      link,
      proof.requestToken,
      proof.code,
      cookie.split("=")[1] ?? "",
      key,
      token,
      shareToken,
    ];
    for (const secret of [...secrets, "hidden-word"]) {
      assert.ok(secret.length >= 6);
      assert.ok(!all.includes(secret) && !all.includes(secret.slice(4)), secret);
    }
  });
});

test("each request to a forge is logged at debug, with status and remaining quota, without the token", async (t) => {
  const clock = new ManualClock(NOW);
  const catalogue = new ForgeCatalogue({ seed: 3, repositories: 2, start: NOW, rates: QUIET });
  const forge = await startForge({ kind: "github", clock, catalogue });
  t.after(() => forge.close());
  const secret = "a-token-that-must-not-be-shown-1";
  const [settings] = loadConfig({
    SIDEREAL_PROVIDERS: "work",
    SIDEREAL_WORK_KIND: "github",
    SIDEREAL_WORK_URL: forge.url,
    SIDEREAL_WORK_PRIVATE: "true",
    SIDEREAL_WORK_TOKENS: secret,
  }).providers;
  assert.ok(settings);
  const { log, lines } = recordedLog("trace");
  const { provider, close } = openProvider(settings, { clock, log, userAgent: "test", proxy: undefined });
  t.after(close);
  const { signal } = new AbortController();
  await assert.rejects(provider.refreshOne("no/such", signal));
  forge.switches.fault = () => "cut";
  await assert.rejects(provider.refreshOne("no/such", signal));
  forge.switches.fault = () => "status-401";
  await assert.rejects(provider.refreshOne("no/such", signal));
  assert.ok(
    lines.every(
      ({ msg, method, path }) => msg === "requested" && method === "GET" && path?.endsWith("/repos/no/such"),
    ),
  );
  assert.deepEqual(
    lines.map(({ status, failure }) => status ?? /cut off/.test(failure ?? "")),
    [404, true, 401],
  );
  assert.equal(lines[0]?.remaining, 4_999);
  assert.ok(!JSON.stringify(lines).includes(secret));
});
