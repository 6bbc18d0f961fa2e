import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sql } from "kysely";
import { importSample } from "../../../src/app/sample.js";
import { fillWithDemo } from "../../../src/demo/demo.js";
import { HOUR_MS } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { followChanges, updateDerived } from "../../../src/modules.js";
import { examine } from "../../../src/transfer/doctor/doctor.js";
import { type DamageKind, KINDS } from "../../../src/transfer/doctor/findings.js";
import { CommandWorld } from "../../support/command.js";
import { type Engine, onBothEngines } from "../../support/engines.js";
import { ManualClock } from "../../support/manual-clock.js";
import { settingsOf } from "../../support/stores.js";
import { createTrackingWorld } from "../../support/tracking.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../../support/world.js";

/** A store with everything that is derived: blocks and tails, ranks, facets, an index with additions. */
async function fill(engine: Engine): Promise<World> {
  const world = await createWorld(engine);
  const grown = daily(100, 101, 103, 106, 110, 115, 121, 128, 136);
  const facts = { language: "Rust", topics: ["cli", "search"], description: "a tool for searching" };
  await world.record(
    observation("o/a", grown, { facts }),
    observation("o/b", daily(5, 9, 20, 40), { facts: { ...facts, language: "Go", topics: ["cli"] } }),
    observation("p/c", daily(7, 7, 8)),
    observation("p/gone", daily(1, 2, 3)),
  );
  const { modules } = world;
  await modules.catalog.record([
    observation("o/a", [snapshot(-1, 150)], { facts: { ...facts, description: "another text" } }),
    observation("q/new", [snapshot(-1, 11)]),
  ]);
  await followChanges(modules, false);
  const { write } = modules.database;
  await sql`insert into rank_blocks (repository_id, from_day, to_day, data)
    select repository_id, from_at / 86400000, from_at / 86400000, data from snapshot_blocks where 1 = 0`.execute(
    write,
  );
  return world;
}

/** The kinds of damage of a store, without its log. */
async function codesOf(engine: Engine, world: Pick<World, "clock">): Promise<DamageKind[]> {
  const location = engine.location();
  const examined = { location, secretFile: undefined, clock: world.clock, log: createLog("silent") };
  return (await examine(examined)).findings.map(({ code }) => code);
}

interface Case {
  code: DamageKind;
  /** Statements that make the damage. */
  damage: string[];
}

/** Flips a bit in the middle of the bytes of a column. */
const flipped = (engine: Engine, table: string, where: string, column = "data"): string =>
  engine.name === "postgres"
    ? `update ${table} set ${column} = set_byte(${column}, length(${column}) / 2, get_byte(${column}, length(${column}) / 2) # 8) where ${where}`
    : `update ${table} set ${column} = cast(substr(${column}, 1, 9) || x'ff' || substr(${column}, 11) as blob) where ${where}`;

const casesOf = (engine: Engine): Case[] => [
  {
    code: "schema-newer",
    damage: ["insert into schema_version (version, name, applied_at) values (999, 'x', 1)"],
  },
  { code: "schema-older", damage: ["delete from schema_version where version > 8"] },
  { code: "table-missing", damage: ["drop table moved_days"] },
  { code: "column-missing", damage: ["alter table walks drop column took_ms"] },
  { code: "index-missing", damage: ["drop index repositories_language"] },
  {
    code: "reference-broken",
    damage: [
      "insert into watchlists (token_hash, share_token_hash, name, version, created_at, updated_at) values ('a', 'b', '', 1, 1, 1)",
      "insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at) select id, 999, 1, 1 from watchlists",
    ],
  },
  { code: "repository-invalid", damage: ["update repositories set availability = 'LOST' where id = 1"] },
  { code: "repository-invalid", damage: ["update repositories set topics = '[' where id = 1"] },
  { code: "name-key-wrong", damage: ["update repositories set name_key = 'o/other' where id = 1"] },
  {
    code: "topics-differ",
    damage: ["delete from repository_topics where repository_id = 1 and topic = 'cli'"],
  },
  { code: "block-damaged", damage: [flipped(engine, "snapshot_blocks", "repository_id = 1")] },
  {
    code: "history-overlaps",
    damage: [
      `insert into snapshots (repository_id, captured_at, stars, source)
        select repository_id, from_at + 1, 1, 0 from snapshot_blocks where repository_id = 1`,
    ],
  },
  { code: "snapshot-hours-wrong", damage: ["update snapshot_hours set snapshots = snapshots + 1"] },
  {
    code: "snapshots-orphaned",
    damage: ["insert into snapshots (repository_id, captured_at, stars, source) values (999, 1, 1, 0)"],
  },
  {
    code: "derived-orphaned",
    damage: ["insert into rank_history (repository_id, day, ranks) values (999, 1, 's0o1')"],
  },
  { code: "row-missing", damage: ["delete from revision"] },
  { code: "row-missing", damage: ["delete from runs where id = 3"] },
  {
    code: "growth-wrong",
    damage: ["update rollups set stars_delta = stars_delta + 1 where repository_id = 1"],
  },
  { code: "growth-wrong", damage: ["delete from rollups where repository_id = 2"] },
  { code: "facet-parts-wrong", damage: ["update facet_parts set stars = stars + 1 where repository_id = 1"] },
  { code: "facets-wrong", damage: ["update facets set repositories = repositories + 1 where name = 'Rust'"] },
  { code: "facets-wrong", damage: ["delete from facets where name = 'cli'"] },
  { code: "leaderboard-damaged", damage: [flipped(engine, "leaderboards", "scope = 'overall'")] },
  { code: "ranks-wrong", damage: ["delete from repository_ranks where repository_id = 2"] },
  { code: "ranks-wrong", damage: ["delete from leaderboards where scope = 'language'"] },
  {
    code: "rank-block-damaged",
    damage: [
      "insert into rank_blocks (repository_id, from_day, to_day, data) select repository_id, 1, 2, data from snapshot_blocks where repository_id = 1",
    ],
  },
  { code: "summary-wrong", damage: ["update repositories set availability = 'GONE' where id = 3"] },
  { code: "search-index-stale", damage: [flipped(engine, "search_words", "block % 16384 = 0")] },
  {
    code: "search-index-damaged",
    damage: [
      `update search_words set data = ${engine.name === "postgres" ? "'\\xffff'" : "x'ffff'"} where block % 16384 = 0`,
    ],
  },
  { code: "search-index-stale", damage: ["update repositories set description = 'changed' where id = 2"] },
  { code: "search-index-stale", damage: ["delete from search_pages"] },
  {
    code: "search-index-stale",
    damage: ["delete from search_words where block % 16384 > 0 and block % 16384 < 8192"],
  },
  { code: "schedule-wrong", damage: [`update repositories set next_refresh_at = ${NOW * 2} where id = 1`] },
  ...(engine.name === "postgres"
    ? [{ code: "sequence-behind" as const, damage: ["select setval('repositories_id_seq', 1)"] }]
    : []),
];

onBothEngines("The doctor", (engine) => {
  test("finds nothing in a store without damage, whatever waits to be derived", async () => {
    const world = await fill(engine);
    assert.deepEqual(await codesOf(engine, world), []);
    await world.modules.catalog.record([
      observation("o/b", [snapshot(-2, 60)]),
      observation("r/later", daily(3, 4)),
    ]);
    assert.deepEqual(await codesOf(engine, world), []);
    const empty = await createWorld(engine);
    assert.deepEqual(await codesOf(engine, empty), []);
  });

  test("finds nothing while forges are tracked and repositories are renamed, deleted and made private", async (t) => {
    const world = await createTrackingWorld(await engine.open(), [
      { kind: "gitlab", name: "GITLAB", repositories: 30 },
    ]);
    t.after(() => world.close());
    for (let pass = 0; pass < 3; pass++) {
      await world.pass(12 * HOUR_MS);
      assert.deepEqual(await codesOf(engine, world), [], `pass ${pass}`);
    }
    const { count } = await world.modules.database.read
      .selectFrom("repositories")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    assert.ok(Number(count) > 20, `${count} repositories were tracked`);
  });

  test("names each kind of damage, and repairs what follows from other data", async () => {
    const command = new CommandWorld();
    const seen = new Set<DamageKind>();
    const open = engine.copiesOf(async () => (await fill(engine)).modules.database);
    const clock = new ManualClock(NOW);
    for (const { code, damage } of casesOf(engine)) {
      const database = await open();
      const location = engine.location();
      if (engine.name === "sqlite") await sql`pragma foreign_keys = off`.execute(database.durable);
      await database.durable.connection().execute(async (db) => {
        if (engine.name === "postgres") await sql`set session_replication_role = replica`.execute(db);
        for (const text of damage) await sql.raw(text).execute(db);
        if (engine.name === "postgres") await sql`reset session_replication_role`.execute(db);
      });
      // Without a repair, as the tables of the later version would be in the way of the migration.
      if (code === "schema-older") assert.deepEqual(await codesOf(engine, { clock }), [code]);
      seen.add(code);
      await database.close();
      const run = async (...args: string[]) => {
        const {
          code: exit,
          stdout,
          stderr,
        } = await command.runHere(location.dataDir, ["doctor", "--json", ...args], settingsOf(location));
        assert.equal(stderr, "");
        return { exit, report: JSON.parse(stdout) };
      };
      if (seen.size === 1) {
        const only = await run();
        assert.deepEqual([only.exit, only.report.healthy], [5, false], code);
      }
      if (code === "schema-older") continue;
      const repaired = await run("--repair");
      const own = repaired.report.damage.find((one: { code: string }) => one.code === code);
      assert.ok(own, `${damage[0]}: ${JSON.stringify(repaired.report)}`);
      const isDerived = KINDS[code].repair !== undefined;
      assert.equal(own.repaired, isDerived, `${code}: ${JSON.stringify(repaired.report)}`);
      assert.equal(repaired.exit, isDerived ? 4 : 5, `${code}: ${JSON.stringify(repaired.report)}`);
    }
    assert.ok(seen.size >= 25, String(seen.size));
  });
});

onBothEngines("The doctor in a larger store", (engine) => {
  test("finds nothing after the sample was imported, or a synthetic catalogue recorded", async () => {
    const sampled = await createWorld(engine);
    await importSample(sampled.modules);
    assert.deepEqual(await codesOf(engine, sampled), []);
    const world = await createWorld(engine);
    await fillWithDemo(world.modules.catalog, { repositories: 500, days: 40, seed: 3, end: NOW });
    await updateDerived(world.modules);
    assert.deepEqual(await codesOf(engine, world), []);
    // A day later, with some changes: nothing is rebuilt, and growth is of different times.
    for (let hour = 1; hour <= 5; hour++) {
      await world.modules.catalog.record(
        Array.from({ length: 90 }, (_, i) =>
          observation(`more/r${i % 60}`, [snapshot(-hour, 10 + i + hour)]),
        ),
      );
      await followChanges(world.modules, hour === 3);
      assert.deepEqual(await codesOf(engine, world), []);
    }
  });
});

test("The doctor names what is wrong with a file that cannot be opened", async () => {
  const command = new CommandWorld();
  const whole = command.newDataDir();
  assert.equal((await command.runHere(whole, ["derive"])).code, 0);
  const raw = new DatabaseSync(join(whole, "sidereal.db"));
  raw.exec("pragma wal_checkpoint(truncate)");
  raw.close();
  const bytes = readFileSync(join(whole, "sidereal.db"));
  const doctor = async (damage: (path: string) => void, ...args: string[]) => {
    const dataDir = command.newDataDir();
    const path = join(dataDir, "sidereal.db");
    copyFileSync(join(whole, "sidereal.db"), path);
    damage(path);
    const { code, stdout, stderr } = await command.runHere(dataDir, ["doctor", "--json", ...args]);
    const codes = stdout === "" ? [] : JSON.parse(stdout).damage.map((one: { code: string }) => one.code);
    return { code, codes, stderr };
  };
  const codesAfter = async (damage: (path: string) => void) => (await doctor(damage)).codes;
  assert.deepEqual(await codesAfter(() => {}), []);
  assert.deepEqual(await codesAfter((path) => writeFileSync(path, "")), ["not-a-database"]);
  assert.deepEqual(await codesAfter((path) => writeFileSync(path, "hello, this is a text\n".repeat(100))), [
    "not-a-database",
  ]);
  assert.deepEqual(await codesAfter((path) => truncateSync(path, bytes.length / 2)), ["file-truncated"]);
  for (let page = 1; page < bytes.length / 4_096; page += 7) {
    const damaged = Buffer.from(bytes);
    damaged.fill(0xa5, page * 4_096, (page + 1) * 4_096);
    const { code, codes } = await doctor((path) => writeFileSync(path, damaged), "--repair");
    assert.equal(code, 5, `page ${page}`);
    assert.ok(codes.includes("pages-damaged"), `page ${page}: ${codes}`);
  }
  assert.deepEqual(await codesAfter((path) => writeFileSync(join(path, "..", "auth-secret"), "short")), [
    "secret-damaged",
  ]);
  const own = ["sidereal.db.copy", "notes.partial", "other.restoring"];
  let folder = "";
  const leftOver = await doctor((path) => {
    folder = dirname(path);
    for (const name of [...own, "sidereal.db.restoring"]) writeFileSync(join(folder, name), "");
  }, "--repair");
  assert.deepEqual([leftOver.code, leftOver.codes], [4, ["work-file"]]);
  const left = readdirSync(folder);
  assert.deepEqual(
    own.filter((name) => !left.includes(name)),
    [],
    "files of the operator are kept",
  );
  assert.ok(!left.includes("sidereal.db.restoring"));
});

test("The doctor rebuilds an index that does not match its table", async () => {
  const command = new CommandWorld();
  const dataDir = command.newDataDir();
  assert.equal((await command.runHere(dataDir, ["derive"])).code, 0);
  const raw = new DatabaseSync(join(dataDir, "sidereal.db"));
  raw.exec("insert into marks (name, value) values ('a', '1'), ('b', '2')");
  // Two tables whose indexes are exchanged.
  raw.exec("create table other (name text primary key, value text not null)");
  raw.exec("insert into other values ('a', '1')");
  const page = raw
    .prepare("select rootpage from sqlite_schema where name = 'sqlite_autoindex_other_1'")
    .get();
  const marksPage = raw
    .prepare("select rootpage from sqlite_schema where name = 'sqlite_autoindex_marks_1'")
    .get();
  raw.enableDefensive(false);
  raw.exec("pragma writable_schema = on");
  const move = raw.prepare("update sqlite_schema set rootpage = ? where name = ?");
  move.run(Number(page?.rootpage), "sqlite_autoindex_marks_1");
  move.run(Number(marksPage?.rootpage), "sqlite_autoindex_other_1");
  raw.close();
  const found = await command.runHere(dataDir, ["doctor"]);
  assert.equal(found.code, 5);
  assert.match(found.stdout, /index-damaged/);
  const repaired = await command.runHere(dataDir, ["doctor", "--repair"]);
  assert.equal(repaired.code, 4, repaired.stdout + repaired.stderr);
  const after = await command.runHere(dataDir, ["doctor"]);
  assert.equal(after.code, 0, after.stdout);
});

test("The doctor says that it cannot examine what is not there", async () => {
  const command = new CommandWorld();
  const none = await command.runHere(command.newDataDir(), ["doctor"]);
  assert.equal(none.code, 6);
  assert.match(none.stderr, /^There is no database in /);
  const nowhere = await command.runHere(command.newDataDir(), ["doctor", "--json"], {
    SIDEREAL_DATABASE_URL: "postgres://127.0.0.1:1/none",
  });
  assert.equal(nowhere.code, 6);
  assert.match(JSON.parse(nowhere.stderr).error, /ECONNREFUSED/);
});
