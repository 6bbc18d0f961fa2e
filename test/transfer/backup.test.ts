import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { sql } from "kysely";
import pg from "pg";
import { type Database, StoreRefused } from "../../src/database/database.js";
import { FIRST_VERSION, LATEST_VERSION } from "../../src/database/migrate.js";
import { RestoredStore, type StoreLocation } from "../../src/database/restore.js";
import { SHAPES } from "../../src/database/schema/schema.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { checkBackup, restoreBackup, takeBackup } from "../../src/transfer/backup.js";
import { openStore } from "../reliability/support/open-store.js";
import { addAccount } from "../support/accounts.js";
import { CommandWorld } from "../support/command.js";
import { connectToServer, type Engine, onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { createKey, signIn } from "../support/members.js";
import { createTestDatabase, dropTestDatabase, type PostgresServer } from "../support/postgres.js";
import { fc } from "../support/properties.js";
import { emptyPlace, exportOf, openAt, settingsOf } from "../support/stores.js";
import { createWorld, daily, NOW, observation, snapshot } from "../support/world.js";

const clock = new ManualClock(NOW);
const newFile = () => join(temporaryFolder(), "store.backup");

function take(location: StoreLocation, file: string, secretFile?: string) {
  return takeBackup(file, { location, secretFile, clock, log: createLog("silent") }, () => {});
}

async function restore(location: StoreLocation, file: string, { replaces = false, secretFile = "" } = {}) {
  const place = { location, secretFile: secretFile || undefined, clock, log: createLog("silent") };
  await restoreBackup(file, place, replaces, () => {});
}

/** Tables that a restore writes to itself. */
const CHANGED = ["revision", "outdated"];

/** The rows of each table in a backup, as texts. */
function rowsIn(file: string): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  let table: string[] = [];
  for (const line of zstdDecompressSync(readFileSync(file)).toString().split("\n").slice(1)) {
    const { table: name } = line.startsWith('{"table"') ? JSON.parse(line) : {};
    if (name !== undefined) {
      table = [];
      tables.set(name, table);
    } else if (line.startsWith("[")) table.push(line);
  }
  for (const name of CHANGED) tables.delete(name);
  return tables;
}

let server: PostgresServer;
const urls: string[] = [];
before(async () => {
  server = await connectToServer();
});
after(async () => {
  for (const url of urls) await dropTestDatabase(url);
  await server.stop();
});

/** A place for a store in the other engine than `engine`, with an empty one in PostgreSQL. */
async function otherPlace(engine: Engine): Promise<StoreLocation> {
  if (engine.name === "postgres") return { url: undefined, dataDir: temporaryFolder() };
  const url = await createTestDatabase(server.port);
  urls.push(url);
  return { url, dataDir: "" };
}

/** Takes a backup of a store, restores it to a place, and compares the two by another backup. */
async function assertRestores(from: StoreLocation, to: StoreLocation): Promise<Map<string, string[]>> {
  const [file, again] = [newFile(), newFile()];
  await take(from, file);
  await restore(to, file, { replaces: true });
  await take(to, again);
  const rows = rowsIn(file);
  assert.deepEqual(rowsIn(again), rows);
  return rows;
}

test("Every table of the schema has a key, and comes after those that it refers to", () => {
  const names = SHAPES.map(({ name }) => name);
  for (const [i, { name, references, key, columns }] of SHAPES.entries()) {
    assert.ok(key.length > 0 && key.every((column) => columns.includes(column)), name);
    for (const { target } of references)
      assert.ok(target === name || names.indexOf(target) < i, `${name} before ${target}`);
  }
});

onBothEngines("A backup", (engine) => {
  const mailbox = openMailbox();

  test("is restored into either engine with every row, and people stay signed in", async () => {
    const world = await createWorld(engine, mailbox.settings);
    const facts = { language: "Rust", topics: ["x", "y"] };
    await world.record(observation("o/a", daily(1, 5, 9, 12, 20), { facts }), observation("p/b", daily(7)));
    const member = await signIn(world, mailbox, "ada@example.org");
    const { key } = await createKey(world, member);
    const id = (await world.get("/api/repos/github/o/a")).body.data.id;
    const saved = await world.send("POST", "/api/me/watchlist", { repositoryId: id }, member.headers);
    assert.ok(saved.status < 300, JSON.stringify(saved.body));
    await world.send("POST", "/api/watchlists", { name: "List", ids: [id] });
    const from = engine.location();
    for (const to of [await emptyPlace(engine), await otherPlace(engine)]) {
      const rows = await assertRestores(from, to);
      for (const name of ["accounts", "sessions", "api_keys", "watchlist_items", "snapshot_blocks"])
        assert.ok((rows.get(name)?.length ?? 0) > 0, name);
      assert.doesNotMatch(JSON.stringify([...rows]), new RegExp(key));
      const restored = await openAt(to);
      const served = await createWorld({ open: async () => restored }, mailbox.settings);
      assert.equal((await served.get("/api/me", member.headers)).status, 200);
      assert.equal((await served.get("/api/repos", { "X-API-Key": key })).status, 200);
      // New ids continue after the restored ones, and what is derived follows.
      await served.record(observation("o/new", daily(1, 3)));
      const { body } = await served.get("/api/repos?sort=stars");
      assert.deepEqual(
        body.data.map((one: { fullName: string }) => one.fullName),
        ["o/a", "p/b", "o/new"],
      );
      assert.equal((await served.send("POST", "/api/watchlists", {})).status, 201);
      await restored.close();
    }
  });

  test("refuses the cursors of the store that it replaces, also those after it was taken", async () => {
    const world = await createWorld(engine);
    const cursor = async ({ get }: typeof world) => (await get("/api/changes")).body.meta.nextCursor;
    await world.record(observation("o/a", daily(1, 5)));
    const [file, early] = [newFile(), await cursor(world)];
    await take(engine.location(), file);
    await world.record(observation("o/a", daily(1, 5, 9)), observation("o/b", daily(7)));
    const late = await cursor(world);
    const place = await emptyPlace(engine);
    await restore(place, file);
    const restored = await openAt(place);
    const served = await createWorld({ open: async () => restored });
    for (const since of [early, late]) {
      const { status, body } = await served.get(`/api/changes?since=${since}`);
      assert.deepEqual([status, body.error.code], [410, "CURSOR_EXPIRED"]);
    }
    const since = await cursor(served);
    assert.deepEqual((await served.get(`/api/changes?since=${since}`)).body.data, []);
    await served.record(observation("o/a", daily(1, 5, 11)));
    await served.modules.live.current();
    served.clock.advance(2_000);
    const { body } = await served.get(`/api/changes?since=${since}`);
    assert.deepEqual(
      body.data.map(({ fullName }: { fullName: string }) => fullName),
      ["o/a"],
    );
    await restored.close();
  });

  test("has exactly what was stored, whatever that is", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 30 }).filter((one) => !one.includes("\0"));
    const count = fc.integer({ min: 0, max: 2 ** 40 });
    const repository = fc.record({
      description: text,
      stars: fc.array(count, { minLength: 1, maxLength: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(repository, { maxLength: 5 }),
        fc.array(text),
        async (repositories, values) => {
          const database = await engine.open();
          const observed = repositories.map(({ description, stars }, i) =>
            observation(`o/r${i}`, daily(...stars), { facts: { description } }),
          );
          await new Catalog(database, clock).record(observed);
          for (const [i, value] of values.entries())
            await sql`insert into marks (name, value) values (${`of a test ${i}`}, ${value})`.execute(
              database.durable,
            );
          await assertRestores(engine.location(), await otherPlace(engine));
        },
      ),
      { numRuns: 4 },
    );
  });

  test("that is taken under writes has one committed state", async () => {
    const world = new CommandWorld();
    const database = await engine.open();
    const location = engine.location();
    const catalog = new Catalog(database, clock);
    const batch = (i: number) => [
      observation(`o/r${i % 7}`, [snapshot(2_000 - i, 100 + i)]),
      observation(`o/new${i}`, [snapshot(2_000 - i, i)]),
    ];
    const earlier = 40;
    for (let i = 0; i < earlier; i++) await catalog.record(batch(i));
    const file = newFile();
    const running = world.start(location.dataDir, ["backup", "--json", file], settingsOf(location));
    let hasEnded = false;
    const ended = running.ended.finally(() => {
      hasEnded = true;
    });
    let written = earlier;
    for (; !hasEnded || written < earlier + 2; written++) {
      await catalog.record(batch(written));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).version, LATEST_VERSION);
    const place = await emptyPlace(engine);
    await restore(place, file);
    const exportAt = async (at: StoreLocation) => {
      const store = await openAt(at);
      return await exportOf(store).finally(store.close);
    };
    const text = await exportAt(place);
    const taken = text.match(/"o\/new|"name":"new/g)?.length ?? 0;
    assert.ok(taken >= earlier && taken < written, `${earlier} <= ${taken} < ${written}`);
    const replayed = new Catalog(await engine.open(), clock);
    for (let i = 0; i < taken; i++) await replayed.record(batch(i));
    assert.equal(text, await exportAt(engine.location()));
  });

  test("that is damaged anywhere, or cut off, is refused before anything is touched", async () => {
    await new Catalog(await engine.open(), clock).record([observation("o/a", daily(1, 5, 9))]);
    const file = newFile();
    await take(engine.location(), file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(file, "..")), ["store.backup"]);
    const bytes = readFileSync(file);
    const damaged = newFile();
    const content = zstdDecompressSync(bytes);
    const refuses = async (changed: Uint8Array, what: string) => {
      writeFileSync(damaged, changed);
      const error = await checkBackup(damaged, () => {}).catch((refusal: unknown) => refusal);
      // A few bits of the compression change nothing.
      if (!(error instanceof StoreRefused)) assert.deepEqual(zstdDecompressSync(changed), content, what);
      else assert.match(error.message, /is damaged after line \d+: .|is not a backup/, what);
    };
    for (let at = 0; at < bytes.length; at += at < 40 || at > bytes.length - 40 ? 1 : 37) {
      const flipped = Uint8Array.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      await refuses(flipped, `byte ${at}`);
      await refuses(bytes.subarray(0, at), `cut at ${at}`);
    }
    const place = await emptyPlace(engine);
    for (const length of [bytes.length / 2, bytes.length - 30]) {
      writeFileSync(damaged, bytes.subarray(0, length));
      await assert.rejects(restore(place, damaged), StoreRefused);
      if (place.url === undefined) assert.deepEqual(readdirSync(place.dataDir), []);
    }
    // Without --replace, so nothing is left of the attempts.
    await restore(place, file);
  });

  test("does not replace a store unless the operator says so, nor one in use", async () => {
    await new Catalog(await engine.open(), clock).record([observation("o/new", daily(1, 2))]);
    const file = newFile();
    await take(engine.location(), file);
    const database = await engine.open();
    const location = engine.location();
    await new Catalog(database, clock).record([observation("o/old", daily(3, 4))]);
    await assert.rejects(restore(location, file), /Use --replace to replace it\./);
    await assert.rejects(restore(location, file, { replaces: true }), /A process uses the database/);
    assert.match(await exportOf(database), /o\/old|"old"/);
    await database.close();
    await restore(location, file, { replaces: true });
    const restored = await openAt(location);
    assert.match(await exportOf(restored), /o\/new|"new"/);
    await restored.close();
    if (engine.name === "postgres") return;
    assert.equal(readdirSync(location.dataDir).filter((name) => name.includes(".replaced-")).length, 1);
    assert.ok(!existsSync(join(location.dataDir, "sidereal.db.restoring")));
  });

  test("of a version before the schema, or of a newer one, is refused with what to do", async () => {
    await engine.open();
    const location = engine.location();
    const { db, close } = openStore(location.url ?? join(location.dataDir, "sidereal.db"));
    // One row per migration: keep the first.
    await db.deleteFrom("schema_version").where("version", ">", FIRST_VERSION).execute();
    const setVersion = (version: number) => db.updateTable("schema_version").set({ version }).execute();
    await setVersion(FIRST_VERSION - 1);
    await assert.rejects(
      take(location, newFile()),
      new RegExp(`at version ${FIRST_VERSION - 1}\\. Take the backup with the Sidereal that made it`),
    );
    await setVersion(LATEST_VERSION + 1);
    await assert.rejects(take(location, newFile()), /made by a newer Sidereal/);
    await close();
    const options = { clock, log: createLog("silent"), replaces: false, at: 0 };
    const place = await emptyPlace(engine);
    const open = (version: number) => RestoredStore.open(place, { ...options, version });
    await assert.rejects(
      open(FIRST_VERSION - 1),
      new RegExp(
        `The backup is of version ${FIRST_VERSION - 1}, .* Restore it with the Sidereal that took it`,
      ),
    );
    await assert.rejects(open(LATEST_VERSION + 1), /made by a newer Sidereal/);
  });
});

onBothEngines("Restoring to PostgreSQL", (engine) => {
  test("leaves the tables of other programs alone", async () => {
    const database: Database = await engine.open();
    const location = engine.location();
    if (location.url === undefined) return;
    await new Catalog(database, clock).record([observation("o/a", daily(1, 2))]);
    const client = new pg.Client({ connectionString: location.url });
    await client.connect();
    try {
      await client.query("create table invoices (id serial); insert into invoices default values");
      const file = newFile();
      await take(location, file);
      await database.close();
      await restore(location, file, { replaces: true });
      assert.deepEqual((await client.query("select id from invoices")).rows, [{ id: 1 }]);
      await client.query("create view their_stars as select id from repositories");
      await assert.rejects(restore(location, file, { replaces: true }), /cannot be dropped: .* depend on/);
      await client.query("drop view their_stars; drop table schema_version");
      await assert.rejects(restore(location, file, { replaces: true }), /may belong to another program/);
      await assert.rejects(take(location, file), /no tables of Sidereal/);
      await client.query(`create schema ours; alter role current_user in database
        "${new URL(location.url).pathname.slice(1)}" set search_path = ours`);
      await restore(location, file);
      assert.deepEqual((await client.query("select count(*)::int as n from ours.repositories")).rows, [
        { n: 1 },
      ]);
    } finally {
      await client.end();
    }
  });
});

test("The secret beside a SQLite file moves to a row in PostgreSQL, and back for its owner alone", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  assert.equal((await world.runHere(dataDir, ["derive"])).code, 0);
  writeFileSync(join(dataDir, "auth-secret"), "s".repeat(43), { mode: 0o600 });
  const [file, second] = [newFile(), newFile()];
  const taken = await world.runHere(dataDir, ["backup", file]);
  assert.match(taken.stdout, /It has the secret of the service: keep it as safe as the database/);
  const url = await createTestDatabase(server.port);
  urls.push(url);
  const settings = { SIDEREAL_DATABASE_URL: url };
  const next = world.newDataDir();
  assert.equal((await world.runHere(next, ["restore", "--check", file], settings)).code, 0);
  assert.equal((await world.runHere(next, ["restore", "--replace", file], settings)).code, 0);
  assert.equal((await world.runHere(next, ["backup", second], settings)).code, 0);
  assert.equal((await world.runHere(next, ["restore", second])).code, 0);
  assert.equal(readFileSync(join(next, "auth-secret"), "utf8"), "s".repeat(43));
  for (const name of ["auth-secret", "sidereal.db"])
    assert.equal(statSync(join(next, name)).mode & 0o777, 0o600, name);
  assert.equal((await world.runHere(next, ["check"])).code, 0);
});

test("A restore that replaces a database says what is in it, and needs --yes without a terminal", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  const database = await openAt({ url: undefined, dataDir });
  await addAccount(database, "ann@example.org");
  await database.close();
  const file = newFile();
  assert.equal((await world.runHere(dataDir, ["backup", file])).code, 0);
  const restore = (...args: string[]) => world.runHere(dataDir, ["restore", file, "--replace", ...args]);
  const asked = await restore();
  const held = "the database with 0 repositories and 1 account";
  assert.deepEqual([asked.code, asked.stdout], [2, `${held}: would be replaced\n`]);
  const dry = await restore("--dry-run");
  assert.match(dry.stdout, /would be replaced\n.* is whole: /);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes("replaced")),
    [],
  );
  const done = await restore("--yes");
  assert.equal(done.code, 0);
  assert.match(done.stdout, new RegExp(`^${held}: replaced\n.* is restored: `));
  assert.ok(readdirSync(dataDir).some((name) => name.includes("replaced")));
  writeFileSync(join(dataDir, "sidereal.db"), "damaged");
  assert.match((await restore()).stdout, /content that cannot be read: would be replaced/);
});

test("A backup that cannot be taken or read says why", async () => {
  const dataDir = temporaryFolder();
  const location = { url: undefined, dataDir };
  await assert.rejects(take(location, newFile()), /^Error: There is no database in /);
  const database = await openAt(location);
  await database.close();
  const store = join(dataDir, "sidereal.db");
  const bytes = readFileSync(store);
  await assert.rejects(take(location, store), /sidereal.db is not a backup, so it is not replaced/);
  const file = newFile();
  const read = (content: string | Buffer) => {
    writeFileSync(file, content);
    return checkBackup(file, () => {});
  };
  await assert.rejects(
    read("sidereal backup 1\n..."),
    /of an earlier Sidereal, .*with the Sidereal that took it/,
  );
  const later = zstdCompressSync(`{"sidereal":"backup","format":2,"rows":[]}\n`);
  await assert.rejects(read(later), /of a newer Sidereal. Update the program/);
  await assert.rejects(read("# Notes"), /is not a backup of Sidereal/);
  assert.deepEqual(readFileSync(store), bytes);
});
