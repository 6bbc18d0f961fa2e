import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { checkClock } from "../../src/forges/open-provider.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { ManualClock } from "../support/manual-clock.js";

const NOW = Date.UTC(2026, 3, 30, 12);
const { signal } = new AbortController();

const noted: unknown[] = [];

/** Sends a request to a forge whose Date header is `date`; undefined: without one. */
async function ask(date: number | undefined): Promise<number> {
  const headers = new Headers(date === undefined ? {} : { date: new Date(date).toUTCString() });
  const fetch = checkClock(async () => ({ status: 200, headers, text: "{}" }), "GITHUB", {
    clock: new ManualClock(NOW),
    onDate: (name, time) => noted.push([name, time]),
  });
  return (await fetch("https://github.com/", { signal })).status;
}

test("a response with about our time, or without one, is accepted", async () => {
  for (const date of [undefined, NOW, NOW - HOUR_MS, NOW + HOUR_MS]) assert.equal(await ask(date), 200);
});

test("nothing is accepted while the clocks differ by over an hour, and the message says by how much", async () => {
  const isTold = (pattern: RegExp) => (error: unknown) =>
    error instanceof UpstreamFailure && error.kind === "clock" && pattern.test(error.message);
  await assert.rejects(ask(NOW - 400 * DAY_MS), isTold(/9600 h ahead of that of GITHUB/));
  await assert.rejects(ask(NOW + 2 * HOUR_MS), isTold(/2 h behind that of GITHUB/));
});

test("the time of every response is noted, also of those that are not accepted", async () => {
  noted.length = 0;
  await ask(undefined);
  await ask(NOW);
  await assert.rejects(ask(NOW - 400 * DAY_MS));
  assert.deepEqual(noted, [
    ["GITHUB", NOW],
    ["GITHUB", NOW - 400 * DAY_MS],
  ]);
});
