import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { addAccount, openAccounts } from "../support/accounts.js";
import { CommandWorld } from "../support/command.js";

const world = new CommandWorld();
let dataDir: string;
let ann: string;
let key: { id: number; secret: string };

/** Does something with the store between commands. */
async function withStore<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

before(async () => {
  dataDir = world.newDataDir();
  await withStore(async (database) => {
    ann = await addAccount(database, "ann@example.org");
    await addAccount(database, "root@example.org");
    const { keys } = openAccounts(database);
    const { key: made, secret } = await keys.create(ann, "laptop");
    key = { id: made.id, secret };
  });
});

const run = async (...args: string[]) => {
  const settings = { SIDEREAL_OPERATORS: "root@example.org", SIDEREAL_TRUSTED_PROXIES: "198.51.100.1" };
  const { code, stdout, stderr } = await world.runHere(dataDir, args, settings);
  return [code, stdout + stderr] as const;
};

test("sidereal accounts lists accounts with their keys, by a part of the address", async () => {
  const [code, text] = await run("accounts", "list", "ANN@");
  assert.equal(code, 0);
  assert.match(text, new RegExp(`^ann@example\\.org  ${ann}  since 2026-04-30, not seen\n`));
  assert.match(
    text,
    /sessions: 0, API keys: 1, passkeys: 0, watched repositories: 0\n {2}key 1 \(….{4}\), laptop\n$/,
  );
  const [, none] = await run("accounts", "list", "nobody");
  assert.equal(none, "no accounts\n");
  const [, json] = await run("accounts", "list", "--json");
  assert.deepEqual(
    json
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).email),
    ["ann@example.org", "root@example.org"],
  );
});

test("sidereal ban says whom and asks, takes accounts and networks, and prints what lifts it", async () => {
  const [code, asked] = await run("ban", "ann@example.org", "203.0.113.9/24", "--for", "30d");
  assert.equal(code, 2);
  assert.match(
    asked,
    /^ann@example\.org: would be banned until \d{4}-.*; 0 sessions and 1 API key of it; undo: sidereal unban \w+\n203\.0\.113\.0\/24: would be banned until/,
  );
  const [, none] = await run("ban", "--list");
  assert.equal(none, "no bans\n");
  const [done, said] = await run("ban", "ann@example.org", "2001:db8::1", "--reason", "spam", "--yes");
  assert.equal(done, 0);
  assert.match(
    said,
    new RegExp(`^ann@example\\.org: banned until it is lifted.*; undo: sidereal unban ${ann}\n2001:`),
  );
  const [, listed] = await run("ban", "--list");
  assert.match(listed, /^2001:db8::\/64 {2}since .*, until it is lifted {2}spam\nann@example\.org /);
  assert.match((await run("accounts", "list", "ann"))[1], /; banned until it is lifted\n/);
  assert.deepEqual(await run("unban", ann, "2001:db8::/64"), [
    0,
    "ann@example.org: unbanned\n2001:db8::/64: unbanned\n",
  ]);
  assert.deepEqual(await run("unban", "2001:db8::/64"), [0, "2001:db8::/64: was not banned\n"]);
});

test("sidereal ban refuses operators, proxies, everybody, and what is none of all", async () => {
  for (const [who, words] of [
    ["root@example.org", /root@example\.org is an operator/],
    ["198.51.100.0/24", /its proxies in it \(198\.51\.100\.1\)/],
    ["0.0.0.0/0", /must be an address, or a network/],
    ["eve@example.org", /eve@example\.org: there is no such account/],
  ] as const) {
    const [code, text] = await run("ban", who, "--yes");
    assert.equal(code, 1, who);
    assert.match(text, words);
  }
  for (const wrong of [["ban"], ["ban", "203.0.113.7", "--for", "0d"]])
    assert.equal((await run(...wrong))[0], 2);
  assert.equal((await run("ban", "--list"))[1], "no bans\n");
});

test("sidereal accounts revoke-key takes an id or a leaked key, which no message repeats", async () => {
  const [code, asked] = await run("accounts", "revoke-key", key.secret);
  assert.equal(code, 2);
  assert.match(
    asked,
    new RegExp(`^key ${key.id}: would be revoked: laptop \\(….{4}\\) of ann@example\\.org\n`),
  );
  assert.equal((await run("accounts", "revoke-key", String(key.id), "--yes"))[0], 0);
  const [again, text] = await run("accounts", "revoke-key", key.secret, "--yes");
  assert.deepEqual([again, text], [1, "There is no active key with this id or text.\n"]);
  assert.match(
    (await run("events", "--account", "ann@example.org"))[1],
    /API key revoked; key: 1, from this machine/,
  );
});

test("sidereal accounts delete removes an account but never an operator's, and the log keeps only its id", async () => {
  assert.match((await run("accounts", "delete", "root@example.org", "--yes"))[1], /is an operator/);
  const [code, asked] = await run("accounts", "delete", "Ann@example.org");
  assert.equal(code, 2);
  assert.match(
    asked,
    /^ann@example\.org: would be deleted with sessions: 0, API keys: 0, passkeys: 0, watched/,
  );
  assert.equal((await run("accounts", "delete", ann, "--yes", "--reason", "asked by mail"))[0], 0);
  assert.equal((await run("accounts", "list", "ann"))[1], "no accounts\n");
  const [, log] = await run("events", "--operators");
  assert.match(log, new RegExp(`Account removed; target: ${ann}, reason: asked by mail, from this machine`));
  assert.doesNotMatch(log, /ann@/);
});
