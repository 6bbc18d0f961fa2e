import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, signIn } from "../support/members.js";
import { addPasskey } from "../support/passkeys.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const CANARIES = ["canary-person", "canary-key", "canary-name", "canary-passkey", "canary-ban"];

/** What an account leaves in as many tables as possible. */
async function leaveTraces(world: World, member: Member): Promise<void> {
  const { headers } = member;
  await world.record(observation("one/one", daily(1, 2)));
  const { key } = await createKey(world, member, "canary-key");
  await addPasskey(world, member, "canary-passkey");
  await world.get("/api/repos", { "X-API-Key": key, "User-Agent": "canary-person/1.0" });
  await world.members.usage.flush();
  assert.equal((await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, headers)).status, 201);
  const { durable } = world.modules.database;
  await sql`update accounts set name = 'canary-name' where email like 'canary-person%'`.execute(durable);
  await sql`insert into bans (account_id, reason, banned_at)
    select id, 'canary-ban', 1 from accounts where email like 'canary-person%'`.execute(durable);
}

const remove = async (world: World, { headers }: Member) => {
  assert.equal((await world.send("DELETE", "/api/me", undefined, headers)).status, 204);
  await world.members.events.flush();
  await world.members.accounts.close();
};

onSqlite("A deleted account", (engine) => {
  const mailbox = openMailbox();
  const found = (): string[] => {
    const { dataDir } = engine.location();
    return readdirSync(dataDir).flatMap((name) => {
      const bytes = readFileSync(join(dataDir, name));
      return CANARIES.filter((canary) => bytes.includes(canary)).map((canary) => `${canary} in ${name}`);
    });
  };

  test("is in no file of the data folder any more, neither in the database nor in its log", async () => {
    const world = await createWorld(engine, mailbox.settings);
    const members = [];
    // Neighbours in the same pages stay, and others have left before.
    for (const email of ["ann@example.org", "canary-person@example.org", "bob@example.org"])
      members.push(await signIn(world, mailbox, email));
    const [ann, canary, bob] = members;
    assert.ok(ann && canary && bob);
    await leaveTraces(world, canary);
    await createKey(world, bob);
    for (const one of CANARIES)
      assert.ok(
        found().some((place) => place.startsWith(one)),
        `${one} was stored`,
      );
    await remove(world, canary);
    assert.deepEqual(found(), []);
    assert.ok(existsSync(join(engine.location().dataDir, "sidereal.db-wal")), "it is still open");
    assert.equal((await world.get("/api/me", ann.headers)).status, 200);
    assert.equal((await world.get("/api/me/keys", bob.headers)).body.data.length, 1);
  });

  test("is removed from the files later if somebody is reading", async () => {
    const world = await createWorld(engine, mailbox.settings);
    const canary = await signIn(world, mailbox, "canary-person@example.org");
    const { read } = world.modules.database;
    await sql`begin`.execute(read);
    await sql`select count(*) from accounts`.execute(read);
    await remove(world, canary);
    assert.ok(found().length > 0, "the reader still needs it");
    await world.members.accounts.removeExpired();
    assert.ok(found().length > 0, "nor does another try help");
    await sql`commit`.execute(read);
    await world.members.accounts.removeExpired();
    assert.deepEqual(found(), []);
  });
});

onSqliteAndLong("A deleted account", (engine) => {
  const mailbox = openMailbox();

  test("is in no row of any table, but by its id in the events of accounts", async () => {
    const world = await createWorld(engine, mailbox.settings);
    const canary = await signIn(world, mailbox, "canary-person@example.org");
    await leaveTraces(world, canary);
    const { database } = world.modules;
    const { rows: accounts } = await sql<{ id: string }>`select id from accounts`.execute(database.read);
    const id = accounts[0]?.id ?? "";
    assert.ok(id.length > 10);
    await remove(world, canary);
    const places = [];
    for (const { name } of await database.read.introspection.getTables()) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(database.read);
      const text = JSON.stringify(rows);
      for (const trace of [...CANARIES, id]) if (text.includes(trace)) places.push(`${trace} in ${name}`);
    }
    assert.deepEqual(places, [`${id} in account_events`]);
  });
});
