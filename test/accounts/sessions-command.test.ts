import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { sql } from "kysely";
import { createOperatorUrl, endSessionsOf, readEvents } from "../../src/accounts/accounts.js";
import { loadConfig } from "../../src/config/config.js";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { addAccount } from "../support/accounts.js";
import { CommandWorld } from "../support/command.js";
import { onSqliteAndLong } from "../support/engines.js";
import { NOW } from "../support/world.js";

/** Adds accounts with sessions, and returns their ids. */
async function fill(database: Database): Promise<{ ann: string; bob: string }> {
  const [ann, bob] = [
    await addAccount(database, "ann@example.org"),
    await addAccount(database, "bob@example.org"),
  ];
  for (const [i, accountId] of [ann, ann, bob].entries())
    await sql`insert into sessions (id, account_id, token_hash, created_at, updated_at, expires_at, seen_at)
      values (${`s${i}`}, ${accountId}, ${`h${i}`}, '2026-04-30T12:00:00Z', '2026-04-30T12:00:00Z',
        '2099-01-01T00:00:00Z', ${NOW})`.execute(database.durable);
  return { ann, bob };
}

const left = async ({ read }: Database) =>
  (await sql<{ id: string }>`select id from sessions order by id`.execute(read)).rows.map(({ id }) => id);

onSqliteAndLong("The operator", (engine) => {
  test("ends the sessions of one account or of everybody, and both are recorded", async () => {
    const database = await engine.open();
    const { ann } = await fill(database);
    assert.equal(await endSessionsOf(database, { email: "cid@example.org" }, NOW), undefined);
    assert.equal(await endSessionsOf(database, { email: " Ann@Example.org" }, NOW), 2);
    assert.equal(await endSessionsOf(database, { email: "ann@example.org" }, NOW), 0);
    assert.deepEqual(await left(database), ["s2"]);
    await database.durable
      .insertInto("operator_sessions")
      .values({ token_hash: "o", began_at: NOW })
      .execute();
    const code = { token_hash: "t", browser_hash: "b", code_hash: "c", email: "", next: "", tries: 0 };
    await database.durable
      .insertInto("sign_in_requests")
      .values({ ...code, requested_at: NOW })
      .execute();
    const config = loadConfig({});
    assert.ok(await createOperatorUrl(database, config, NOW));
    assert.equal(await endSessionsOf(database, { email: "ann@example.org" }, NOW), 0, "of an account alone");
    assert.equal(await endSessionsOf(database, "everybody", NOW), 2);
    assert.deepEqual(await left(database), []);
    for (const table of ["operator_sessions", "sign_in_requests", "status_documents"] as const)
      assert.deepEqual(await database.durable.selectFrom(table).selectAll().execute(), [], table);
    const events = await readEvents(database.read, { limit: 10 });
    assert.deepEqual(
      events.map(({ event, accountId, detail }) => [event, accountId, detail.sessions]),
      [
        ["sessions_ended", null, 2],
        ["sessions_ended", ann, 2],
      ],
    );
  });
});

const world = new CommandWorld();

describe("sidereal sessions end", () => {
  let dataDir: string;
  const run = (...args: string[]) => world.runHere(dataDir, ["sessions", "end", ...args]);

  before(async () => {
    dataDir = world.newDataDir();
    const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
    await fill(database);
    await database.close();
  });

  test("needs either an account or --all, and an account that exists", async () => {
    for (const args of [[], ["--all", "--account", "ann@example.org"]]) {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /either --account .* or --all/);
    }
    const unknown = await run("--account", "cid@example.org");
    assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
    assert.match(unknown.stderr, /no account with the address cid@example\.org/);
  });

  test("says how many end, and ends them with --yes", async () => {
    const asked = await run("--account", "ann@example.org");
    assert.deepEqual([asked.code, asked.stdout], [2, "2 sessions: would be ended of ann@example.org\n"]);
    const ended = await run("--account", "ann@example.org", "--yes");
    assert.deepEqual([ended.code, ended.stdout], [0, "2 sessions: ended of ann@example.org\n"]);
    const all = await run("--all", "--json", "--yes");
    assert.deepEqual(JSON.parse(all.stdout), { sessions: 1, result: "ended" });
    const log = await world.runHere(dataDir, ["events", "--operators"]);
    assert.match(log.stdout, /Account sessions ended; target: ann@example\.org, from this machine/);
  });
});
