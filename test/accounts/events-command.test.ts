import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { SecurityLog } from "../../src/accounts/security-log.js";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { addAccount } from "../support/accounts.js";
import { CommandWorld } from "../support/command.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const world = new CommandWorld();

describe("sidereal events", () => {
  let dataDir: string;
  const run = (...args: string[]) => world.runHere(dataDir, ["events", ...args]);
  const lines = (text: string) => text.split("\n").slice(0, -1);

  before(async () => {
    dataDir = world.newDataDir();
    const log = createLog("silent");
    const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
    const clock = new ManualClock(NOW);
    const security = new SecurityLog({ database, clock, log });
    const source = { network: "192.0.2.0/24", agent: "Firefox" };
    const accountId = await addAccount(database, "ann@example.org");
    security.record({ event: "signed_in", source, accountId, detail: { method: "link" } });
    security.record({ event: "account_deleted", source, accountId: "gone" });
    for (let i = 0; i < 600; i++)
      security.record({ event: "key_refused", source: { network: `${i}`, agent: "" }, accountId: null });
    await security.flush();
    clock.advance(3_600_000);
    security.record({ event: "rate_limited", source, accountId: null, detail: { bucket: "search" } });
    security.record({ event: "rate_limited", source, accountId: null, detail: { bucket: "search" } });
    await security.flush();
    await database.close();
  });

  test("lists all events, latest first, with the address of each account that still exists", async () => {
    const { code, stdout } = await run();
    assert.equal(code, 0);
    const all = lines(stdout);
    assert.equal(all.length, 204);
    assert.equal(
      all[0],
      "2026-04-30T13:00:00.000Z  nobody  Request over a rate limit refused; bucket: search, from 192.0.2.0/24, 2 times",
    );
    assert.deepEqual(all.slice(-2), [
      "2026-04-30T12:00:00.000Z  gone  Account deleted, from 192.0.2.0/24, Firefox",
      "2026-04-30T12:00:00.000Z  ann@example.org  Signed in; method: link, from 192.0.2.0/24, Firefox",
    ]);
  });

  test("lists those of an account by its address or id, and those since a time", async () => {
    assert.equal(lines((await run("--account", "Ann@Example.org")).stdout).length, 1);
    assert.equal(lines((await run("--account", "gone")).stdout).length, 1);
    assert.equal(lines((await run("--since", "2026-04-30T12:30:00Z")).stdout).length, 1);
    assert.equal((await run("--since", "2027-01-01")).stdout, "no events\n");
    const { stdout } = await run("--since", "2026-04-30T12:30:00Z", "--json");
    const { id, ...event } = JSON.parse(stdout);
    assert.ok(id > 0);
    assert.deepEqual(event, {
      at: "2026-04-30T13:00:00.000Z",
      email: null,
      accountId: null,
      event: "rate_limited",
      network: "192.0.2.0/24",
      detail: { bucket: "search" },
      times: 2,
    });
  });

  test("refuses a time that is none, and an address without an account", async () => {
    const wrong = await run("--since", "yesterday");
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--since/);
    const unknown = await run("--account", "bob@example.org");
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no account/);
  });
});
