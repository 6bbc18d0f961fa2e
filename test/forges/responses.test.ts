import assert from "node:assert/strict";
import { test } from "node:test";
import { FAILURE_KINDS, UpstreamFailure } from "../../src/forges/failures.js";
import { parseJson } from "../../src/forges/fields.js";
import { failureOf, readQuota } from "../../src/forges/responses.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";

const NOW = Date.UTC(2026, 0, 1);
const clock = new ManualClock(NOW);
const seconds = (ms: number) => String(Math.floor(ms / 1000));
const response = (status: number, headers: Record<string, string> = {}, text = "") => ({
  status,
  headers: new Headers(headers),
  text,
});
const report = (status: number, headers: Record<string, string> = {}) =>
  readQuota(response(status, headers), "core", clock);
const failure = (status: number, headers: Record<string, string> = {}, text = "") => {
  const found = failureOf(response(status, headers, text), { what: "WORK /x", secrets: [] }, clock);
  return found === null ? null : { kind: found.kind, until: found.until };
};

test("each status has one failure kind", () => {
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

test("we wait as long as a forge demands, and a minute if it does not say how long", () => {
  assert.deepEqual(failure(429, { "retry-after": "17" }), { kind: "quota", until: NOW + 17_000 });
  assert.deepEqual(failure(403, { "retry-after": "17" }), { kind: "quota", until: NOW + 17_000 });
  assert.deepEqual(failure(503, { "retry-after": "17" }), { kind: "unreachable", until: NOW + 17_000 });
  const date = new Date(NOW + 5 * HOUR_MS).toUTCString();
  assert.deepEqual(failure(429, { "retry-after": date }), { kind: "quota", until: NOW + 5 * HOUR_MS });
  assert.deepEqual(failure(429), { kind: "quota", until: NOW + 60_000 }, "a minute when it does not say");
  assert.deepEqual(failure(429, { "retry-after": "soon" }), { kind: "quota", until: NOW + 60_000 });
});

test("a used-up limit is a quota failure, in the headers of every forge", () => {
  const until = NOW + 1_800_000;
  for (const prefix of ["x-ratelimit", "ratelimit"]) {
    for (const reset of [seconds(until), "1800"]) {
      const headers = { [`${prefix}-limit`]: "60", [`${prefix}-remaining`]: "0", [`${prefix}-reset`]: reset };
      assert.deepEqual(failure(403, headers), { kind: "quota", until });
      assert.deepEqual(failure(429, headers), { kind: "quota", until });
      assert.deepEqual(report(200, headers), { limit: 60, remaining: 0, resetAt: until, isRejected: false });
      assert.equal(failure(200, headers), null);
    }
  }
  assert.deepEqual(failure(403, { "x-ratelimit-remaining": "5" }), { kind: "refused", until: null });
});

test("a rejected token is reported, without the anonymous limit that comes with it", () => {
  assert.deepEqual(report(401, { "x-ratelimit-remaining": "59" }), { isRejected: true });
});

test("a 403 is a rate limit or a block only if its message says so", () => {
  const until = NOW + 60_000;
  const body = (value: unknown) => failure(403, {}, JSON.stringify(value));
  assert.deepEqual(body({ message: "You have exceeded a secondary rate limit." }), { kind: "quota", until });
  assert.deepEqual(body({ message: "Repository access blocked", block: { reason: "tos" } }), {
    kind: "blocked",
    until: null,
  });
  assert.deepEqual(body({ message: "Forbidden", topics: ["rate limit"] }), { kind: "refused", until: null });
  assert.deepEqual(failure(403, {}, "<p>rate limit"), { kind: "quota", until });
});

test("when our clock is wrong, the forge's Date header decides how long to wait", () => {
  for (const wrong of [-HOUR_MS, HOUR_MS, 400 * DAY_MS, -400 * DAY_MS]) {
    const real = NOW - wrong;
    const headers = {
      date: new Date(real).toUTCString(),
      "x-ratelimit-reset": seconds(real + 1_800_000),
      "retry-after": new Date(real + 120_000).toUTCString(),
    };
    assert.deepEqual(report(429, headers), { resetAt: NOW + 1_800_000, blockedUntil: NOW + 120_000 });
  }
});

test("arbitrary headers give a failure from the closed list and valid numbers", () => {
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
        const found = failureOf(response(status, headers), { what: "WORK", secrets: [] }, clock);
        if (found !== null) assert.ok(FAILURE_KINDS.includes(found.kind));
        for (const value of Object.values(report(status, headers))) {
          assert.ok(typeof value === "boolean" || Number.isSafeInteger(value), String(value));
        }
      },
    ),
  );
});

test("only JSON is accepted", () => {
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

test("deep nesting is refused without recursion", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  parseJson(nested(64));
  for (const text of [nested(65), nested(1e6), "[".repeat(1e6), '{"a":'.repeat(65)]) {
    assert.throws(() => parseJson(text), /deeper than 64/);
  }
  parseJson(`"${"[".repeat(99)}"`);
});

test("a parse failure does not reveal the text", () => {
  assert.throws(
    () => parseJson('{"token":"geheim'),
    (error) => error instanceof UpstreamFailure && !/geheim/.test(`${error.stack} ${error.cause}`),
  );
});

test("every JSON value is read unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});
