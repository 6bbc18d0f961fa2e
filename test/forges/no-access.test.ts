import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import { github, NOW, node, ref, restRow, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";

const signal = new AbortController().signal;
const tokens = ["secret-1"];
const OWNERS = Array.from({ length: 14 }, (_, i) => `owner${i}/kite`);
const NO_ACCESS = { status: 403, body: { message: "Resource not accessible by personal access token" } };
const NOT_READABLE = { type: "FORBIDDEN", message: NO_ACCESS.body.message };

/** A GitHub that gives the token the seventh node, and nothing else while it `isUseless`. */
function refusingGithub() {
  const clock = new SkippingClock(NOW);
  const state = { isUseless: true };
  const fetch = scriptedFetch(({ ids, headers }) => {
    const isRefused = headers.authorization !== undefined && state.isUseless;
    if (ids.length === 0) return isRefused ? NO_ACCESS : { body: restRow() };
    const nodes = ids.map((id) => (id === "R_7" ? node() : null));
    const errors = ids.flatMap((id, i) => (id === "R_7" ? [] : [{ ...NOT_READABLE, path: ["nodes", i] }]));
    return { body: { data: { nodes }, errors } };
  });
  const provider = github(fetch, { tokens, clock });
  /** For each request about these names whether it had the token. */
  const read = async (names: readonly string[]) => {
    const from = fetch.sent.length;
    for (const name of names) await provider.refreshOne(name, signal);
    return fetch.sent.slice(from).map(({ headers }) => headers.authorization !== undefined);
  };
  const blocks = () => provider.quota().filter(({ blockReason }) => blockReason !== null);
  return { clock, state, fetch, provider, read, blocks };
}

test("a token that all of ten owners refuse is tried once an hour, and used again once it works", async () => {
  const { clock, state, provider, read, blocks } = refusingGithub();
  const twice = [true, false];
  assert.deepEqual(await read([...OWNERS.slice(0, 9), "OWNER0/other"]), Array(10).fill(twice).flat());
  assert.deepEqual(blocks(), [], "nine owners");
  assert.deepEqual(await read(OWNERS.slice(9, 10)), twice);
  assert.equal(provider.batchSize, 10, "as without a token");
  const [block, ...others] = blocks();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [block?.token, block?.blockReason, block?.blockMessage, block?.blockedUntil],
    ["#1", "no_access", "the token was refused for all of 10 owners", clock.now() + HOUR_MS],
  );
  assert.deepEqual(await read(OWNERS.slice(10)), Array(4).fill(false));
  await clock.sleep(HOUR_MS);
  assert.deepEqual(await read(OWNERS.slice(10, 12)), [...twice, false]);
  assert.equal(blocks()[0]?.blockMessage, "the token was refused for all of 11 owners");
  state.isUseless = false;
  assert.deepEqual(await read(["owner0/kite"]), [false]);
  await clock.sleep(HOUR_MS);
  assert.deepEqual(await read(["owner0/kite", "owner1/kite"]), [true, true]);
  assert.deepEqual([blocks(), provider.batchSize], [[], 100]);
  assert.deepEqual(
    provider.notices().map(({ isWorking, isNew, message }) => [isWorking, isNew, message]),
    [
      [false, true, "the token was refused for all of 10 owners"],
      [true, true, "the token works again"],
    ],
  );
});

test("a token that reads anything has access for a day, however many owners refuse it", async () => {
  const { clock, state, provider, read, blocks } = refusingGithub();
  const asked = [ref(), ...OWNERS.map((fullName, i) => ref({ fullName, nodeId: `R_${i + 10}` }))];
  // The node says that the token works, while each single read is refused.
  await provider.refreshMany(asked, signal);
  assert.equal((await read(OWNERS)).length, 2 * OWNERS.length);
  await clock.sleep(23 * HOUR_MS);
  state.isUseless = false;
  await read(["octo/seven"]);
  state.isUseless = true;
  await clock.sleep(23 * HOUR_MS);
  assert.equal((await read(OWNERS)).length, 2 * OWNERS.length);
  assert.deepEqual([blocks(), provider.notices()], [[], []]);
  await clock.sleep(HOUR_MS);
  await read(OWNERS.slice(0, 1));
  assert.equal(blocks()[0]?.blockMessage, "the token was refused for all of 14 owners");
});

test("a token that all owners refuse leaves requests to another one, and none waits for a rejected one", async () => {
  const other = "secret-2";
  let isRejected = false;
  const fetch = scriptedFetch(({ headers: { authorization } }) => {
    if (authorization === undefined) return { body: restRow() };
    if (authorization !== `Bearer ${other}`) return NO_ACCESS;
    return isRejected ? { status: 401 } : { body: restRow() };
  });
  const provider = github(fetch, { tokens: [...tokens, other] });
  for (const name of [...OWNERS, ...OWNERS.map((one) => `other-${one}`)])
    await provider.refreshOne(name, signal);
  const sent = fetch.sent.length;
  for (const name of OWNERS) await provider.refreshOne(name, signal);
  assert.equal(fetch.sent.length, sent + OWNERS.length);
  assert.ok(fetch.sent.slice(sent).every(({ headers }) => headers.authorization === `Bearer ${other}`));
  isRejected = true;
  for (const name of OWNERS) await provider.refreshOne(name, signal);
  assert.equal(fetch.sent.length, sent + 2 * OWNERS.length + 1);
});
