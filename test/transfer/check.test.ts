import assert from "node:assert/strict";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sql } from "kysely";
import { fillWithSynthetic } from "../../bench/synthetic/synthetic.js";
import { importSample } from "../../src/app/sample.js";
import { createLog } from "../../src/lib/log.js";
import { followChanges, updateDerived } from "../../src/modules.js";
import { checkStore } from "../../src/transfer/check.js";
import { CommandWorld } from "../support/command.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { settingsOf } from "../support/stores.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

/** A store with blocks and tails, ranks, facets, and an index with additions. */
async function fill(engine: Engine): Promise<World> {
  const world = await createWorld(engine);
  const facts = { language: "Rust", topics: ["cli", "search"], description: "a tool for searching" };
  await world.record(
    observation("o/a", daily(100, 101, 103, 106, 110, 115, 121, 128, 136), { facts }),
    observation("o/b", daily(5, 9, 20, 40), { facts: { ...facts, language: "Go", topics: ["cli"] } }),
    observation("p/c", daily(7, 7, 8)),
  );
  await world.modules.catalog.record([
    observation("o/a", [snapshot(-1, 150)], { facts: { ...facts, description: "another text" } }),
    observation("q/new", [snapshot(-1, 11)]),
  ]);
  await followChanges(world.modules);
  return world;
}

async function kindsOf(engine: Engine, clock = new ManualClock(NOW)): Promise<string[]> {
  const { findings } = await checkStore(engine.location(), clock, createLog("silent"));
  return findings.map(({ kind, found }) => `${kind}: ${found}`);
}

/** Statements that make damage, with its kind, and whether a repair mends it. */
const casesOf = (engine: Engine): { kind: string; damage: string[]; isMended: boolean }[] => {
  const flipped =
    engine.name === "postgres"
      ? "set_byte(data, length(data) / 2, get_byte(data, length(data) / 2) # 8)"
      : "cast(substr(data, 1, 9) || x'ff' || substr(data, 11) as blob)";
  return [
    {
      kind: "block-damaged",
      damage: [`update snapshot_blocks set data = ${flipped} where repository_id = 1`],
      isMended: false,
    },
    {
      kind: "history-overlaps",
      damage: [
        `insert into snapshots (repository_id, captured_at, stars, source)
          select repository_id, from_at + 1, 1, 0 from snapshot_blocks where repository_id = 1`,
      ],
      isMended: false,
    },
    {
      kind: "rank-block-damaged",
      damage: [
        "insert into rank_blocks (repository_id, from_day, to_day, data) select repository_id, 1, 2, data from snapshot_blocks where repository_id = 1",
      ],
      isMended: false,
    },
    {
      kind: "orphans",
      damage: ["insert into snapshots (repository_id, captured_at, stars, source) values (999, 1, 1, 0)"],
      isMended: true,
    },
    {
      kind: "orphans",
      damage: ["insert into rank_history (repository_id, day, ranks) values (999, 1, 's0o1')"],
      isMended: true,
    },
    {
      kind: "orphans",
      damage: [
        "insert into watchlists (token_hash, share_token_hash, name, version, created_at, updated_at) values ('a', 'b', '', 1, 1, 1)",
        "insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at) select id, 999, 1, 1 from watchlists",
      ],
      isMended: true,
    },
    {
      kind: "derived-wrong",
      damage: ["update snapshot_hours set snapshots = snapshots + 1"],
      isMended: true,
    },
    {
      kind: "schedule-wrong",
      damage: [`update repositories set next_refresh_at = ${NOW * 2} where id = 1`],
      isMended: true,
    },
    {
      kind: "version-wrong",
      damage: ["insert into schema_version (version, name, applied_at) values (999, 'x', 1)"],
      isMended: false,
    },
    ...(engine.name === "postgres"
      ? [{ kind: "id-taken", damage: ["select setval('repositories_id_seq', 1)"], isMended: true }]
      : []),
  ];
};

onBothEngines("A check", (engine) => {
  test("finds nothing in a store without damage, whatever waits to be derived", async () => {
    const { modules } = await fill(engine);
    assert.deepEqual(await kindsOf(engine), []);
    await modules.catalog.record([
      observation("o/b", [snapshot(-2, 60)]),
      observation("r/later", daily(3, 4)),
    ]);
    assert.deepEqual(await kindsOf(engine), []);
    await createWorld(engine);
    assert.deepEqual(await kindsOf(engine), []);
    await importSample((await createWorld(engine)).modules);
    assert.deepEqual(await kindsOf(engine), []);
    const world = await createWorld(engine);
    await fillWithSynthetic(world.modules.catalog, { repositories: 200, days: 40, seed: 3, end: NOW });
    await updateDerived(world.modules);
    assert.deepEqual(await kindsOf(engine), []);
  });

  test("names each kind of damage, and a repair mends what follows from other data", async () => {
    const command = new CommandWorld();
    const open = engine.copiesOf(async () => (await fill(engine)).modules.database);
    for (const { kind, damage, isMended } of casesOf(engine)) {
      const database = await open();
      const location = engine.location();
      if (engine.name === "sqlite") await sql`pragma foreign_keys = off`.execute(database.durable);
      await database.durable.connection().execute(async (db) => {
        if (engine.name === "postgres") await sql`set session_replication_role = replica`.execute(db);
        for (const text of damage) await sql.raw(text).execute(db);
        if (engine.name === "postgres") await sql`reset session_replication_role`.execute(db);
      });
      await database.close();
      const run = (...args: string[]) =>
        command.runHere(location.dataDir, ["check", ...args], settingsOf(location));
      const found = await run("--json");
      const { healthy, findings } = JSON.parse(found.stdout);
      assert.deepEqual([found.code, healthy], [5, false], damage[0]);
      const own = findings.find((one: { kind: string }) => one.kind === kind);
      assert.ok(own, `${damage[0]}: ${found.stdout}`);
      const repaired = await run("--repair");
      assert.equal(repaired.code, isMended ? 4 : 5, `${damage[0]}: ${repaired.stdout}`);
      assert.ok(repaired.stdout.includes(`(${kind})\n  ${own.found[0]}`), repaired.stdout);
      assert.equal((await run()).code, isMended ? 0 : 5);
    }
  });
});

test("A check names what is wrong with a file that cannot be opened, and repairs nothing in it", async () => {
  const command = new CommandWorld();
  const dataDir = command.newDataDir();
  const path = join(dataDir, "sidereal.db");
  await assert.rejects(command.runHere(dataDir, ["check"]), /There is no database in/);
  assert.equal((await command.run(dataDir, ["derive"])).code, 0);
  const raw = new DatabaseSync(path);
  raw.exec("pragma wal_checkpoint(truncate)");
  raw.close();
  assert.equal((await command.runHere(dataDir, ["check"])).stdout, "no damage was found\n");
  const bytes = readFileSync(path);
  const kinds = async (damage: () => void) => {
    writeFileSync(path, bytes);
    damage();
    const { code, stdout } = await command.runHere(dataDir, ["check", "--json", "--repair"]);
    assert.equal(code, 5);
    return JSON.parse(stdout).findings.map((one: { kind: string }) => one.kind);
  };
  assert.deepEqual(await kinds(() => writeFileSync(path, "")), ["version-wrong"]);
  assert.deepEqual(await kinds(() => writeFileSync(path, "a text\n".repeat(1_000))), ["file-damaged"]);
  assert.deepEqual(await kinds(() => truncateSync(path, bytes.length / 2)), ["file-damaged"]);
  for (let page = 1; page < bytes.length / 4_096; page += 19) {
    const damaged = Buffer.from(bytes).fill(0xa5, page * 4_096, (page + 1) * 4_096);
    assert.deepEqual(await kinds(() => writeFileSync(path, damaged)), ["file-damaged"], `page ${page}`);
  }
});
