import assert from "node:assert/strict";
import { test } from "node:test";
import { EventTally, MAX_COUNTED, MAX_FOLLOWED, MIXED } from "../../src/accounts/security-log.js";
import { NOW } from "../support/world.js";

const source = { network: "192.0.2.0/24", agent: "Firefox" };

test("an event of an account gets its own row, and further ones of a minute are counted in one", () => {
  const tally = new EventTally();
  const event = { event: "signed_in", source, accountId: "ann", detail: { method: "link" } } as const;
  const rows = Array.from({ length: 8 }, (_, i) => tally.add(event, NOW + i));
  assert.deepEqual(rows[0], {
    at: NOW,
    accountId: "ann",
    event: "signed_in",
    network: "192.0.2.0/24",
    detail: { agent: "Firefox", method: "link" },
    times: 1,
  });
  assert.equal(rows.filter((row) => row !== undefined).length, 5);
  const counted = { at: NOW + 5, accountId: "ann", event: "signed_in", network: source.network };
  assert.deepEqual(tally.take(), [{ ...counted, detail: { method: "link" }, times: 3 }]);
  assert.ok(tally.add(event, NOW), "the next minute begins with rows again");
});

test("refusals without an account are counted by event, network and detail", () => {
  const tally = new EventTally();
  for (let i = 0; i < 1_000; i++)
    for (const bucket of ["default", "heavy"])
      assert.equal(
        tally.add({ event: "rate_limited", source, accountId: null, detail: { bucket } }, NOW + i),
        undefined,
      );
  const row = { at: NOW, accountId: null, event: "rate_limited", network: source.network, times: 1_000 };
  assert.deepEqual(
    tally.take(),
    ["default", "heavy"].map((bucket) => ({ ...row, detail: { bucket } })),
  );
  assert.deepEqual(tally.take(), []);
});

test("a flood from a million networks is a bounded number of rows that loses no event", () => {
  const tally = new EventTally();
  const sent = 1_000_000;
  for (let i = 0; i < sent; i++)
    tally.add({ event: "key_refused", source: { network: String(i), agent: "" }, accountId: null }, NOW);
  // Neither do events of accounts crowd out each other, nor do refusals crowd out those.
  for (let i = 0; i < 5_000; i++)
    assert.ok(tally.add({ event: "signed_in", source, accountId: String(i) }, NOW));
  const rows = tally.take();
  assert.equal(rows.length, MAX_COUNTED + 1);
  assert.equal(rows.at(-1)?.network, MIXED);
  assert.equal(
    rows.reduce((sum, { times }) => sum + times, 0),
    sent,
  );
});

test("however many accounts there are, at most five events alike get rows of their own", () => {
  const tally = new EventTally();
  const event = { event: "signed_in", source } as const;
  for (let i = 0; i < MAX_FOLLOWED; i++) tally.add({ ...event, accountId: String(i) }, NOW);
  const rows = Array.from({ length: 8 }, () => tally.add({ ...event, accountId: "late" }, NOW));
  assert.ok(rows.filter((row) => row !== undefined).length <= 5);
  assert.equal(tally.take()[0]?.times, 8);
});
