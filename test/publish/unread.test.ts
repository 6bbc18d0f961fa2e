import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailureKind, UpstreamFailure } from "../../src/forges/forges.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Pass } from "../../src/publish/pass.js";
import { lookUp, type Unread } from "../../src/publish/unread.js";

const START = Date.parse("2026-01-01T00:00:00Z");
const LINKS = Array.from({ length: 600 }, (_, i) => ({
  provider: "GITHUB",
  fullName: `dead/link-${i}`,
  readme: "line 1",
}));

/** A forge that refuses all repositories. */
function forge(kind: FailureKind) {
  const asked: string[] = [];
  const provider = {
    settings: { tokens: [] },
    refreshOne: async (fullName: string) => {
      asked.push(fullName);
      throw new UpstreamFailure(kind, "");
    },
  };
  return { asked, pass: { contextOf: () => ({ provider }) } as unknown as Pass };
}

test("a README of dead links costs 50 requests a run, reaches all of them, and repeats none for a week", async () => {
  const { asked, pass } = forge("gone");
  let unread: Unread = {};
  for (let day = 0; day < 14; day++) {
    const before = asked.length;
    const result = await lookUp(pass, LINKS, { earlier: unread, now: START + day * DAY_MS });
    unread = result.unread;
    assert.equal(asked.length - before, 50, `day ${day}`);
    assert.equal(result.isOverdue, false);
    assert.ok(result.problems.length <= 2, String(result.problems));
    if (day === 0)
      assert.deepEqual(result.problems, [
        "line 1: links of the README that lead to no public repository: 50",
        "line 1: links of the README that later runs look up: 550",
      ]);
    if (day === 11) assert.equal(new Set(asked).size, 600);
  }
  assert.equal(asked.indexOf("dead/link-0", 1), 600, "the first is looked up again after the last");
});

test("links are not taken for dead while their forge does not respond, and a spent quota costs one request", async () => {
  const down = forge("unreachable");
  const result = await lookUp(down.pass, LINKS, { earlier: {}, now: START });
  assert.deepEqual([down.asked.length, result.unread], [50, {}]);
  const spent = forge("quota");
  const { problems } = await lookUp(spent.pass, LINKS, { earlier: {}, now: START });
  assert.equal(spent.asked.length, 1);
  assert.match(
    problems.join("\n"),
    /With a token in SIDEREAL_GITHUB_TOKENS it permits more\.\ngithub: repositories left for the next run: 599$/,
  );
});

test("a refused token is named once, and not as a spent quota", async () => {
  let kind: FailureKind = "refused";
  const provider = {
    settings: { tokens: ["a"] },
    refreshOne: async () => {
      const failure = new UpstreamFailure(kind, "");
      kind = "quota";
      throw failure;
    },
  };
  const pass = { contextOf: () => ({ provider }) } as unknown as Pass;
  const names = LINKS.slice(0, 3).map(({ readme, ...one }) => one);
  const { problems } = await lookUp(pass, names, { earlier: {}, now: START });
  assert.deepEqual(problems, [
    "github:dead/link-0: The forge refused the request: check the token and its permissions.",
    "github: repositories left for the next run: 2",
  ]);
});

test("a day of the future, as a wrong clock writes it, holds nothing up", async () => {
  const { asked, pass } = forge("gone");
  const earlier = { "github:dead/link-0": "2036-01-01" };
  await lookUp(pass, LINKS.slice(0, 1), { earlier, now: START });
  assert.equal(asked.length, 1);
});
