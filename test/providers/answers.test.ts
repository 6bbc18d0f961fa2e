import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS, ManualClock } from "../../src/clock.js";
import { failureOf, toldBy } from "../../src/providers/answers.js";
import { FAILURE_KINDS, UpstreamFailure } from "../../src/providers/failures.js";
import { parseJson } from "../../src/providers/json.js";

const NOW = Date.UTC(2026, 0, 1);
const clock = new ManualClock(NOW);
const seconds = (ms: number) => String(Math.floor(ms / 1000));
const head = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: new Headers(headers),
});
const failure = (status: number, headers: Record<string, string> = {}) => {
  const found = failureOf(head(status, headers), "WORK /x", clock);
  return found === null ? null : { kind: found.kind, until: found.until };
};

test("each status stands for one failure", () => {
  for (const status of [200, 201, 204, 304]) assert.equal(failure(status), null);
  for (const [kind, statuses] of Object.entries({
    renamed: [301, 302, 307, 308],
    refused: [401, 403],
    gone: [404, 410],
    blocked: [451],
    unreachable: [408, 500, 502, 503, 504, 599],
    malformed: [100, 400, 405, 406, 409, 422],
  })) {
    for (const status of statuses) assert.deepEqual(failure(status), { kind, until: null }, String(status));
  }
});

test("a forge that asks to slow down is waited for as long as it says", () => {
  assert.deepEqual(failure(429, { "retry-after": "17" }), { kind: "quota", until: NOW + 17_000 });
  assert.deepEqual(failure(403, { "retry-after": "17" }), { kind: "quota", until: NOW + 17_000 });
  assert.deepEqual(failure(503, { "retry-after": "17" }), { kind: "unreachable", until: NOW + 17_000 });
  const date = new Date(NOW + 5 * HOUR_MS).toUTCString();
  assert.deepEqual(failure(429, { "retry-after": date }), { kind: "quota", until: NOW + 5 * HOUR_MS });
  assert.deepEqual(failure(429), { kind: "quota", until: NOW + 60_000 }, "a minute when it does not say");
  assert.deepEqual(failure(429, { "retry-after": "soon" }), { kind: "quota", until: NOW + 60_000 });
});

test("an allowance that is spent is a matter of quota, whatever words it is told in", () => {
  const until = NOW + 1_800_000;
  for (const prefix of ["x-ratelimit", "ratelimit"]) {
    for (const reset of [seconds(until), "1800"]) {
      const headers = { [`${prefix}-limit`]: "60", [`${prefix}-remaining`]: "0", [`${prefix}-reset`]: reset };
      assert.deepEqual(failure(403, headers), { kind: "quota", until });
      assert.deepEqual(failure(429, headers), { kind: "quota", until });
      assert.deepEqual(toldBy(head(200, headers), clock), { limit: 60, remaining: 0, resetAt: until });
      assert.equal(failure(200, headers), null);
    }
  }
  assert.deepEqual(failure(403, { "x-ratelimit-remaining": "5" }), { kind: "refused", until: null });
});

test("a token that is not accepted is told to the quota", () => {
  assert.deepEqual(toldBy(head(401), clock), { refused: true });
});

test("where our clock is wrong, times count by the forge's", () => {
  for (const wrong of [-HOUR_MS, HOUR_MS, 400 * DAY_MS, -400 * DAY_MS]) {
    const real = NOW - wrong;
    const told = toldBy(
      head(429, {
        date: new Date(real).toUTCString(),
        "x-ratelimit-reset": seconds(real + 1_800_000),
        "retry-after": new Date(real + 120_000).toUTCString(),
      }),
      clock,
    );
    assert.deepEqual(told, { resetAt: NOW + 1_800_000, blockedUntil: NOW + 120_000 });
  }
});

test("whatever the headers hold, a failure of the list comes out, and no wait beyond what was asked", () => {
  const value = fc.oneof(
    fc.stringMatching(/^[ -~]{0,20}$/),
    fc.nat().map(String),
    fc.constant("99999999999999999"),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.record({
        "retry-after": value,
        "x-ratelimit-reset": value,
        "ratelimit-remaining": value,
        date: value,
      }),
      (status, headers) => {
        const found = failureOf(head(status, headers), "WORK", clock);
        if (found !== null) assert.ok(FAILURE_KINDS.includes(found.kind));
        for (const told of Object.values(toldBy(head(status, headers), clock))) {
          assert.ok(typeof told === "boolean" || Number.isSafeInteger(told), String(told));
        }
      },
    ),
  );
});

test("JSON is taken, and nothing else", () => {
  assert.deepEqual(parseJson(' {"a":[1,"]}\\"{"]}'), { a: [1, ']}"{'] });
  for (const text of [
    "",
    "<!doctype html><p>",
    " \n<html>",
    '{"a":',
    "{'a':1}",
    "NaN",
    '"\\u12"',
    "}{",
    "[1]]",
  ]) {
    assert.throws(() => parseJson(text), { name: "UpstreamFailure", kind: "malformed" });
  }
});

test("an answer is no deeper than it may be, however deep it is", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  parseJson(nested(64));
  for (const text of [nested(65), nested(1e6), "[".repeat(1e6), '{"a":'.repeat(65)]) {
    assert.throws(() => parseJson(text), /deeper than 64/);
  }
  parseJson(`"${"[".repeat(99)}"`);
});

test("a failure to parse tells nothing of the text", () => {
  assert.throws(
    () => parseJson('{"token":"geheim'),
    (error) => error instanceof UpstreamFailure && !/geheim/.test(`${error.stack} ${error.cause}`),
  );
});

test("what JSON can say is read as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});
