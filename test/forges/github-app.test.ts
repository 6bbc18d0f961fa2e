import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { jwtVerify } from "jose";
import type { Provider } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { github, NOW, node, ref, type Scripted, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";
import { turnUntil } from "../support/turns.js";

const signal = new AbortController().signal;
const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});
/** As long as installation tokens are. */
const tokenOf = (n: number) => `ghs_${String(n).padStart(3, "0")}_${"AbCdEfGh".repeat(64)}`;

/** A GitHub that issues tokens for an hour; `skewMs`: how far its clock is ahead. */
function appForge({
  installation = "42" as string | null,
  installations = [{ id: 42, account: { login: "acme" } }] as object[],
} = {}) {
  const state = { issued: 0, validUntil: 0, isFailing: false, skewMs: 0, rejected: 0, jwts: [] as string[] };
  const clock = new SkippingClock(NOW);
  const wall = () => clock.monotonic() + NOW + state.skewMs;
  const fetch = scriptedFetch(({ url, headers, ids }): Scripted => {
    const { pathname } = url;
    const date = { date: new Date(wall()).toUTCString() };
    const authorization = headers.authorization ?? "";
    if (pathname.startsWith("/app/")) {
      const jwt = authorization.replace("Bearer ", "");
      state.jwts.push(jwt);
      const { iat, exp } = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString());
      if (iat > wall() / 1_000 || exp > wall() / 1_000 + 600 || exp < wall() / 1_000)
        return { status: 401, headers: date, body: { message: "'Issued at' claim must be in the past" } };
      if (state.isFailing) return { status: 502, headers: date, body: "<html>" };
      if (pathname === "/app/installations") return { headers: date, body: installations };
      assert.equal(pathname, "/app/installations/42/access_tokens");
      state.issued++;
      state.validUntil = wall() + HOUR_MS;
      const expires_at = `${new Date(state.validUntil).toISOString().slice(0, 19)}Z`;
      return { status: 201, headers: date, body: { token: tokenOf(state.issued), expires_at } };
    }
    if (authorization !== `Bearer ${tokenOf(state.issued)}` || wall() >= state.validUntil) {
      state.rejected++;
      return { status: 401, headers: date, body: { message: "Bad credentials" } };
    }
    return { headers: date, body: { data: { nodes: ids.map((one) => node({ id: one })) } } };
  });
  const tokenSource = { kind: "app", appId: "7", privateKey, installation } as const;
  return { state, clock, fetch, provider: github(fetch, { clock, tokenSource }) };
}
const kindOf = async (provider: Provider) =>
  (await provider.refreshMany([ref()], signal).catch((error) => [error]))[0]?.kind;

test("an App signs in with its key, and finds its only installation", async () => {
  const { state, fetch, provider } = appForge({ installation: null });
  assert.equal(await kindOf(provider), "found");
  assert.deepEqual(
    fetch.sent.map(({ url }) => url.pathname),
    ["/app/installations", "/app/installations/42/access_tokens", "/graphql"],
  );
  const { payload } = await jwtVerify(state.jwts[0] ?? "", createPublicKey(publicKey), {
    issuer: "7",
    algorithms: ["RS256"],
    currentDate: new Date(NOW),
  });
  assert.ok((payload.exp ?? 0) - (payload.iat ?? 0) <= 600);
  assert.equal(provider.quota()[0]?.token, "app");
});

test("an App with several installations needs to know which one, and one without any says so", async () => {
  const two = [
    { id: 1, account: { login: "a" } },
    { id: 2, account: { login: "b" } },
  ];
  const several = await appForge({ installation: null, installations: two })
    .provider.refreshMany([ref()], signal)
    .catch((error) => error);
  assert.match(several.message, /_APP_INSTALLATION.*1 \(a\), 2 \(b\)/);
  const none = await appForge({ installation: null, installations: [] })
    .provider.refreshMany([ref()], signal)
    .catch((error) => error);
  assert.match(none.message, /not installed/);
});

test("a token is renewed well before it expires, once for all that wait for it", async () => {
  const { state, clock, provider } = appForge();
  await Promise.all([kindOf(provider), kindOf(provider), kindOf(provider)]);
  assert.equal(state.issued, 1);
  clock.advance(46 * 60_000);
  assert.deepEqual(await Promise.all([kindOf(provider), kindOf(provider), kindOf(provider)]), [
    "found",
    "found",
    "found",
  ]);
  await turnUntil(() => state.issued === 2);
  for (let hour = 0; hour < 24; hour++) {
    clock.advance(HOUR_MS);
    assert.equal(await kindOf(provider), "found");
  }
  assert.equal(state.rejected, 0);
});

test("a token that expires in the middle of a batch is renewed, and the batch continues", async () => {
  const { state, clock, provider } = appForge();
  assert.equal(await kindOf(provider), "found");
  clock.advance(5 * 60_000);
  // Earlier than it was promised.
  state.validUntil = 0;
  const outcomes = await provider.refreshMany([ref(), ref({ nodeId: "R_8" })], signal);
  assert.equal(outcomes[0]?.kind, "found");
  assert.deepEqual([state.issued, state.rejected], [2, 1]);
  assert.deepEqual(provider.notices(), []);
  assert.ok(provider.quota().every(({ blockReason }) => blockReason === null));
});

test("while renewing fails, the old token is used as long as it is valid, with growing waits between attempts", async () => {
  const { state, clock, provider } = appForge();
  await kindOf(provider);
  state.isFailing = true;
  clock.advance(46 * 60_000);
  const attempts = state.jwts.length;
  for (let minute = 0; minute < 13; minute++) {
    assert.equal(await kindOf(provider), "found");
    await turnUntil(() => provider.quota().some(({ blockReason }) => blockReason === "not_renewed"));
    clock.advance(60_000);
  }
  assert.ok(state.jwts.length - attempts <= 5, `${state.jwts.length - attempts} attempts`);
  const [notice, ...others] = provider.notices();
  assert.deepEqual(others, []);
  assert.match(notice?.message ?? "", /no new token: GITHUB .*status 502/);
  assert.equal(provider.quota().find(({ blockReason }) => blockReason === "not_renewed")?.token, "app");
  clock.advance(10 * 60_000);
  const failure = await provider.refreshMany([ref()], signal).catch((error) => error);
  assert.ok(["unreachable", "quota"].includes(failure.kind), failure.message);
  assert.ok(provider.readyAt("refresh") > clock.now());
  assert.equal(state.rejected, 0, "an expired token is not sent");
  state.isFailing = false;
  clock.advance(11 * 60_000);
  assert.equal(await kindOf(provider), "found");
  assert.ok(provider.quota().every(({ blockReason }) => blockReason === null));
});

test("clocks that jump or differ neither end a token early nor stop its renewal", async () => {
  for (const skewMs of [-20 * 60_000, 20 * 60_000]) {
    const { state, clock, provider } = appForge();
    state.skewMs = skewMs;
    for (let quarter = 0; quarter < 12; quarter++) {
      assert.equal(await kindOf(provider), "found", `${skewMs} after ${quarter} quarters`);
      clock.advance(15 * 60_000);
    }
    assert.ok(state.issued <= 5, `${state.issued} tokens`);
    assert.equal(state.rejected, 0);
  }
  for (const jump of [-30 * 60_000, 30 * 60_000]) {
    const { state, clock, provider } = appForge();
    await kindOf(provider);
    clock.set(NOW + jump);
    for (let quarter = 0; quarter < 12; quarter++) {
      clock.advance(15 * 60_000);
      assert.equal(await kindOf(provider), "found", `${jump} after ${quarter} quarters`);
    }
    assert.equal(state.rejected, 0);
  }
});

test("neither the key, nor what is signed with it, nor a token is ever shown", async () => {
  const { state, clock, provider } = appForge();
  state.skewMs = 5 * HOUR_MS;
  state.isFailing = true;
  const failure = await provider.refreshMany([ref()], signal).catch((error) => error);
  clock.advance(HOUR_MS);
  const shown = failure.message + JSON.stringify([provider.quota(), provider.notices()]);
  for (const secret of [...state.jwts, tokenOf(1), privateKey.slice(40, 80)])
    assert.ok(!shown.includes(secret));
});
