import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { BackupRefused, type StoreLocation } from "../../../src/database/backup/parts.js";
import type { Database } from "../../../src/database/database.js";
import { LATEST_VERSION, migrateIn } from "../../../src/database/migrate.js";
import { connectionDb, postgresDialect } from "../../../src/database/postgres.js";
import { openSqlite, sqliteDialect } from "../../../src/database/sqlite.js";
import { WriteQueue } from "../../../src/database/sqlite-writer.js";
import { Catalog } from "../../../src/repositories/repositories.js";
import { checkBackup, restoreBackup, takeBackup } from "../../../src/transfer/backups/backups.js";
import { CommandWorld } from "../../support/command.js";
import { type Engine, onBothEngines } from "../../support/engines.js";
import { temporaryFolder } from "../../support/imports.js";
import { openMailbox } from "../../support/mail.js";
import { ManualClock } from "../../support/manual-clock.js";
import { createKey, signIn } from "../../support/members.js";
import { emptyPlace, exportOf, openAt, settingsOf } from "../../support/stores.js";
import { createWorld, daily, NOW, observation, snapshot } from "../../support/world.js";

const clock = new ManualClock(NOW);
const QUIET = { clock, onProgress: () => {} };
const newFile = () => join(temporaryFolder(), "store.backup");

/** Takes a backup of the store that an engine opened last. */
function takeOf(engine: Engine, file: string, secretFile?: string) {
  return takeBackup(file, { location: engine.location(), secretFile }, QUIET);
}

async function restoreTo(location: StoreLocation, file: string, { replaces = false, secretFile = "" } = {}) {
  const place = { location, secretFile: secretFile === "" ? undefined : secretFile };
  await restoreBackup(file, place, { ...QUIET, replaces, total: 1 });
}

/** All rows of all tables, as texts in order. */
async function allRows(engine: Engine, database: Database): Promise<Record<string, string[]>> {
  const { rows } = await sql<{ name: string }>`${sql.raw(
    engine.name === "sqlite"
      ? "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name"
      : "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  )}`.execute(database.read);
  const tables: Record<string, string[]> = {};
  for (const { name } of rows) {
    const found = await sql`select * from ${sql.table(name)}`.execute(database.read);
    tables[name] = found.rows
      .map((row) => JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? [...value] : value)))
      .toSorted();
  }
  return tables;
}

onBothEngines("A backup", (engine) => {
  const mailbox = openMailbox();
  const batch = (i: number) => [
    observation(`o/r${i % 7}`, [snapshot(2_000 - i, 100 + i)]),
    observation(`o/new${i}`, [snapshot(2_000 - i, i)]),
  ];

  test("that is taken under writes restores to exactly the export of one committed state", async () => {
    const world = new CommandWorld();
    const database = await engine.open();
    const location = engine.location();
    const catalog = new Catalog(database, clock);
    const before = 40;
    for (let i = 0; i < before; i++) await catalog.record(batch(i));
    const file = newFile();
    const running = world.start(location.dataDir, ["backup", "--json", file], settingsOf(location));
    let hasEnded = false;
    const ended = running.ended.finally(() => {
      hasEnded = true;
    });
    let written = before;
    for (; !hasEnded || written < before + 2; written++) {
      await catalog.record(batch(written));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stderr);
    const report = JSON.parse(stdout);
    assert.deepEqual([report.kind, report.version], [engine.name, LATEST_VERSION]);

    const place = await emptyPlace(engine);
    await restoreTo(place, file);
    const restored = await openAt(place);
    const text = await exportOf(restored);
    await restored.close();
    const taken = text.match(/"o\/new|"name":"new/g)?.length ?? 0;
    assert.ok(taken > before && taken < written, `${before} < ${taken} < ${written}`);

    const replayed = new Catalog(await engine.open(), clock);
    for (let i = 0; i < taken; i++) await replayed.record(batch(i));
    const expected = await openAt(engine.location());
    assert.equal(text, await exportOf(expected));
    await expected.close();
  });

  test("has every row of every table, and people stay signed in", async () => {
    const world = await createWorld(engine, mailbox.settings);
    await world.record(
      observation("o/a", daily(1, 5, 9), { facts: { language: "Rust", topics: ["x", "y"] } }),
    );
    const member = await signIn(world, mailbox, "ada@example.org");
    const { key } = await createKey(world, member);
    const id = (await world.get("/api/repos/github/o/a")).body.data.id;
    const saved = await world.send("POST", "/api/me/watchlist", { repositoryId: id }, member.headers);
    assert.ok(saved.status < 300, JSON.stringify(saved.body));
    const file = newFile();
    await takeOf(engine, file);
    const original = await allRows(engine, world.modules.database);
    assert.ok(original.api_keys?.length === 1 && original.sessions?.length === 1);
    assert.doesNotMatch(readFileSync(file, "latin1"), new RegExp(key));

    const place = await emptyPlace(engine);
    await restoreTo(place, file);
    const restored = await openAt(place);
    assert.deepEqual(await allRows(engine, restored), original);
    // New ids continue after the restored ones.
    const again = new Catalog(restored, clock);
    assert.equal((await again.record([observation("o/b", daily(3))])).repositoriesAdded, 1);
    await sql`insert into watchlists (account_id, token_hash, share_token_hash, name, version, created_at, updated_at)
      values (null, 'a', 'b', '', 1, 1, 1)`.execute(restored.durable);
    await restored.close();
  });

  test("is readable by its owner alone, and leaves nothing else behind", async () => {
    await engine.open();
    const file = newFile();
    await takeOf(engine, file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(file, "..")), ["store.backup"]);
    await takeOf(engine, file);
    await checkBackup(file);
  });

  test("that is damaged anywhere, or cut off, is refused before anything is touched", async () => {
    const catalog = new Catalog(await engine.open(), clock);
    await catalog.record([observation("o/a", daily(1, 5, 9))]);
    const file = newFile();
    await takeOf(engine, file);
    const bytes = readFileSync(file);
    const damaged = `${file}.damaged`;
    const refuses = async (content: Uint8Array, what: string) => {
      writeFileSync(damaged, content);
      await assert.rejects(checkBackup(damaged), BackupRefused, what);
    };
    const step = Math.ceil(bytes.length / 100);
    for (let at = 0; at < bytes.length; at += at < 200 || at > bytes.length - 100 ? 1 : step) {
      const flipped = Uint8Array.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      await refuses(flipped, `byte ${at}`);
      await refuses(bytes.subarray(0, at), `cut at ${at}`);
    }
    await refuses(Buffer.concat([bytes, Buffer.from([0])]), "something follows");
    const place = await emptyPlace(engine);
    const { code, stderr } = await new CommandWorld().runHere(
      place.dataDir,
      ["restore", damaged],
      settingsOf(place),
    );
    assert.equal(code, 1);
    assert.match(stderr, /^The backup is damaged at byte \d+: something follows its end\.\n$/);
    // Also if the damage appears after the check.
    for (const part of [0.5, 0.9, 1]) {
      writeFileSync(damaged, bytes.subarray(0, Math.floor(bytes.length * part) - 1));
      await assert.rejects(restoreTo(place, damaged), BackupRefused);
      if (place.url === undefined) assert.deepEqual(readdirSync(place.dataDir), []);
    }
    // Without --replace, so nothing is left of the attempts.
    await restoreTo(place, file);
  });

  test("is not restored over a store without being told to, nor while one is in use", async () => {
    const source = new Catalog(await engine.open(), clock);
    await source.record([observation("o/new", daily(1, 2))]);
    const file = newFile();
    await takeOf(engine, file);
    const database = await engine.open();
    const location = engine.location();
    await new Catalog(database, clock).record([observation("o/old", daily(3, 4))]);
    await assert.rejects(restoreTo(location, file), /already. Use --replace to replace it|them\./);
    await assert.rejects(restoreTo(location, file, { replaces: true }), /A process uses the database/);
    const before = await exportOf(database);
    assert.match(before, /o\/old|"old"/);
    await database.close();
    if (location.url !== undefined) {
      const named = await openAt({ ...location, url: `${location.url}?application_name=own` });
      await assert.rejects(restoreTo(location, file, { replaces: true }), /A process uses the database/);
      await named.close();
    }
    await restoreTo(location, file, { replaces: true });
    const restored = await openAt(location);
    assert.match(await exportOf(restored), /o\/new|"new"/);
    await restored.close();
    if (engine.name === "postgres") return;
    const kept = readdirSync(location.dataDir).filter((name) => name.includes(".replaced-"));
    assert.equal(kept.length, 1);
    assert.ok(!existsSync(join(location.dataDir, "sidereal.db.restoring")));
  });

  test("leaves the tables of other programs alone, and so does a restore", async () => {
    const database = await engine.open();
    const location = engine.location();
    if (location.url === undefined) return;
    await new Catalog(database, clock).record([observation("o/a", daily(1, 2))]);
    const client = new pg.Client({ connectionString: location.url });
    await client.connect();
    try {
      await client.query(
        "create table invoices (id serial); select setval('invoices_id_seq', 6); insert into invoices default values",
      );
      const file = newFile();
      await takeOf(engine, file);
      await database.close();
      await client.query("select setval('invoices_id_seq', 20)");
      await restoreTo(location, file, { replaces: true });
      assert.deepEqual((await client.query("select id from invoices")).rows, [{ id: 7 }]);
      assert.deepEqual((await client.query("select nextval('invoices_id_seq')::int as id")).rows, [
        { id: 21 },
      ]);
      await client.query("create view their_stars as select id from repositories");
      await assert.rejects(
        restoreTo(location, file, { replaces: true }),
        /^Error: Something of another program depends on the tables: view their_stars depends on table repositories\.$/,
      );
      await client.query("drop view their_stars; insert into schema_version values (1000, 'later', 1)");
      await assert.rejects(restoreTo(location, file, { replaces: true }), /belong to it: invoices\./);
      await assert.rejects(takeOf(engine, file), /belong to it: invoices\./);
      await client.query("drop table schema_version");
      await assert.rejects(
        restoreTo(location, file, { replaces: true }),
        /no version, so they may belong to/,
      );
      await assert.rejects(takeOf(engine, file), /no tables of Sidereal/);
      assert.deepEqual((await client.query("select id from invoices")).rows, [{ id: 7 }]);
      await client.query(`create schema ours; alter role current_user in database
        "${new URL(location.url).pathname.slice(1)}" set search_path = ours`);
      await restoreTo(location, file);
      assert.deepEqual((await client.query("select count(*)::int as n from ours.repositories")).rows, [
        { n: 1 },
      ]);
    } finally {
      await client.end();
    }
  });

  test("of an older version is brought up to date", async () => {
    const place = await emptyPlace(engine);
    const version = 6;
    if (place.url === undefined) {
      const { db } = openSqlite(join(place.dataDir, "sidereal.db"), {
        synchronous: "FULL",
        writers: new WriteQueue(clock),
      });
      await db.transaction().execute((tx) => migrateIn(tx, sqliteDialect, { clock, to: version }));
      await db.destroy();
    } else {
      const client = new pg.Client({ connectionString: place.url });
      await client.connect();
      await connectionDb(client)
        .transaction()
        .execute((tx) => migrateIn(tx, postgresDialect, { clock, to: version }));
      await client.end();
    }
    const file = newFile();
    await takeBackup(file, { location: place, secretFile: undefined }, QUIET);
    assert.equal((await checkBackup(file)).version, version);
    const next = await emptyPlace(engine);
    await restoreTo(next, file);
    const restored = await openAt(next);
    const applied = await restored.read.selectFrom("schema_version").select("version").execute();
    assert.equal(applied.length, LATEST_VERSION);
    await restored.read.selectFrom("security_events").selectAll().execute();
    await restored.close();
  });

  test("of a newer version is refused, and so is one of the other engine", async () => {
    const database = await engine.open();
    const other = engine.name === "sqlite" ? "postgres" : "sqlite";
    const location =
      other === "sqlite"
        ? { url: undefined, dataDir: temporaryFolder() }
        : { url: "postgres://nowhere", dataDir: "" };
    const file = newFile();
    await takeOf(engine, file);
    await assert.rejects(restoreTo(location, file), /was taken from .* cannot be restored into/);
    await sql`insert into schema_version (version, name, applied_at) values (${LATEST_VERSION + 1}, 'later', 1)`.execute(
      database.durable,
    );
    await takeOf(engine, file);
    const place = await emptyPlace(engine);
    await assert.rejects(restoreTo(place, file), /made by a newer Sidereal/);
    if (place.url === undefined) assert.deepEqual(readdirSync(place.dataDir), []);
  });
});

test("The secret beside a SQLite database is in the backup, and comes back for its owner alone", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  assert.equal((await world.runHere(dataDir, ["derive"])).code, 0);
  writeFileSync(join(dataDir, "auth-secret"), "s".repeat(43), { mode: 0o600 });
  const file = newFile();
  const taken = await world.runHere(dataDir, ["backup", file]);
  assert.equal(taken.code, 0, taken.stderr);
  assert.match(taken.stdout, /and the secret of the service: keep it as safe/);
  const next = world.newDataDir();
  assert.equal((await world.runHere(next, ["restore", "--check", file])).code, 0);
  assert.deepEqual(readdirSync(next), []);
  const restored = await world.runHere(next, ["restore", file]);
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(readFileSync(join(next, "auth-secret"), "utf8"), "s".repeat(43));
  for (const name of ["auth-secret", "sidereal.db"])
    assert.equal(statSync(join(next, name)).mode & 0o777, 0o600, name);
});

test("A backup that cannot be taken says why", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  const none = await world.runHere(dataDir, ["backup", newFile()]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^There is no database at /);
  assert.equal((await world.runHere(dataDir, ["derive"])).code, 0);
  const nowhere = await world.runHere(dataDir, ["backup", join(dataDir, "no", "folder")]);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /no such file or directory/);
  const missing = await world.runHere(dataDir, ["restore", "--json", "no-such-file"]);
  assert.deepEqual(
    [missing.code, JSON.parse(missing.stderr)],
    [1, { error: "The backup no-such-file cannot be read: no such file" }],
  );
});

test("A backup does not replace a file of the store", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  assert.equal((await world.runHere(dataDir, ["derive"])).code, 0);
  writeFileSync(join(dataDir, "auth-secret"), "s".repeat(43), { mode: 0o600 });
  symlinkSync(join(dataDir, "sidereal.db"), join(dataDir, "link"));
  for (const name of ["sidereal.db", "auth-secret", "link"]) {
    const before = readFileSync(join(dataDir, name));
    const { code, stderr } = await world.runHere(dataDir, ["backup", join(dataDir, name)]);
    assert.equal(code, 1, name);
    assert.match(stderr, /is a file of the store/);
    assert.deepEqual(readFileSync(join(dataDir, name)), before, name);
  }
});
