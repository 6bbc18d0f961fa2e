import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import { sql } from "kysely";
import { importSample } from "../../src/app/sample.js";
import { updateDerived } from "../../src/modules.js";
import { DERIVED_TABLES, REPOSITORY_TABLES } from "../../src/repositories/sample.js";
import { readSample } from "../../src/transfer/sample-file.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { OPEN_PAGES } from "../support/open-pages.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** Tables without anything that follows from single repositories, or that only lists repositories that stay. */
const UNAFFECTED = [
  "bans",
  "hiding_rules",
  "import_files",
  "imports",
  "import_lists",
  "imported_files",
  "waiting_rows",
  "schema_version",
  "marks",
  "revision",
  "changes",
  "runs",
  "walks",
  "avatars",
  "avatar_images",
  "worker_lease",
  "worker_reports",
  "watchlists",
  "watchlist_items",
  "accounts",
  "identities",
  "sessions",
  "verifications",
  "passkeys",
  "api_keys",
  "account_events",
  "sign_in_requests",
  "watchlist_visits",
  "quota_use",
  "lost_days",
  "new_days",
  "wanted",
  "forge_tokens",
  "operator_sessions",
  "status_documents",
  "usage_routes",
  "usage_allowances",
  "usage_callers",
  "usage_events",
];

const SAMPLE = Array.from({ length: 40 }, (_, i) =>
  observation(
    `sample/r${i}`,
    daily(...Array.from({ length: 40 }, (_, day) => 1_000 + i * 10 + day * (i + 1))),
    {
      facts: { language: i % 2 === 0 ? "Go" : "Rust", topics: ["sampled", `t${i % 3}`], stars: 2_000 + i },
      previousNames: [{ fullName: `sample/before${i}`, until: 1_000 }],
    },
  ),
);
const REAL = [
  observation("real/one", daily(100, 110, 150), { facts: { language: "Go", topics: ["web"] } }),
  observation("real/two", daily(7, 8, 9), { provider: "CODEBERG", facts: { language: "C" } }),
];

async function withSample(world: World): Promise<void> {
  assert.equal(await world.modules.catalog.recordSample(SAMPLE), true);
  await updateDerived(world.modules);
}

/** Everything that can be read of a catalogue; ids differ between two that hold the same. */
async function contents(world: World): Promise<unknown> {
  const withoutIds = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, one) => (key === "id" || key === "requestId" ? undefined : one)));
  const lines: string[] = [];
  for await (const text of exportCatalogue(world.modules.catalog)) lines.push(...text.trim().split("\n"));
  const paths = [
    "/api/stats/summary",
    "/api/home",
    "/api/facets/languages",
    "/api/facets/topics",
    "/api/repos?sort=stars",
    "/api/repos?sort=trending&window=7d",
    "/api/repos?q=sample",
    "/api/repos?q=real",
    "/api/search/suggest?q=s",
    "/api/search/suggest?q=re",
    "/api/repos/github/by-full-name?fullName=real/one",
  ];
  const answers = [];
  for (const path of paths) answers.push(withoutIds((await world.get(path)).body));
  return { lines: lines.map((line) => withoutIds(JSON.parse(line))), answers };
}

async function rowCounts({ modules: { database } }: World): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ["repositories", "snapshot_hours", ...DERIVED_TABLES, ...REPOSITORY_TABLES]) {
    const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(table)}`.execute(
      database.read,
    );
    counts[table] = Number(rows[0]?.total);
  }
  return counts;
}

onBothEngines("The sample", (engine) => {
  test("leaves with the first real record, and the catalogue equals one that never had it", async () => {
    const [world, fresh] = [await createWorld(engine), await createWorld(engine)];
    await withSample(world);
    assert.equal((await world.get("/api/stats/summary")).body.data.catalogue, "sample");
    await world.record(...REAL);
    await fresh.record(...REAL);
    assert.deepEqual(await contents(world), await contents(fresh));
    assert.deepEqual(await rowCounts(world), await rowCounts(fresh));
    const ids = (await world.modules.catalog.dump(0, 10)).map(({ repository }) => repository.id);
    assert.deepEqual(ids, [41, 42]);
  });

  test("leaves in the transaction that records, so that a failure keeps all of it", async () => {
    const world = await createWorld(engine);
    await withSample(world);
    const before = await contents(world);
    const { catalog, database } = world.modules;
    const failing = database.dialect.exclusively(database.write, "catalogue", async (tx) => {
      await catalog.recordIn(tx, REAL);
      throw new Error("stop");
    });
    await assert.rejects(failing, /stop/);
    assert.deepEqual(await contents(world), before);
  });

  test("leaves for a provider without anything being recorded, and may come back", async () => {
    const [world, fresh] = [await createWorld(engine), await createWorld(engine)];
    await withSample(world);
    await world.modules.catalog.removeSample();
    assert.deepEqual(await rowCounts(world), await rowCounts(fresh));
    assert.deepEqual(await contents(world), await contents(fresh));
    assert.equal(await world.modules.catalog.recordSample(SAMPLE), true);
  });

  test("leaves saved repositories behind with their snapshots, as ordinary history", async () => {
    const [world, fresh] = [await createWorld(engine), await createWorld(engine)];
    await withSample(world);
    const created = await world.send("POST", "/api/watchlists", { name: "kept", ids: ["7", "12"] });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await world.record(...REAL);
    await fresh.record(...SAMPLE.filter((_, i) => i === 6 || i === 11), ...REAL);
    assert.deepEqual(await contents(world), await contents(fresh));
    const list = await world.get(`/api/watchlists/${created.body.data.token}`);
    assert.deepEqual(list.body.data.ids, ["7", "12"]);
  });

  test("stays for good once it is kept", async () => {
    const world = await createWorld(engine);
    await withSample(world);
    await world.modules.catalog.keepSample();
    await world.record(...REAL);
    const { data } = (await world.get("/api/stats/summary")).body;
    assert.deepEqual([data.catalogue, data.repositoryCount, data.startTracking], ["real", 42, null]);
    await world.modules.catalog.removeSample();
    assert.equal((await world.modules.catalog.dump(0, 100)).length, 42);
  });

  test("does not come into a catalogue that holds anything", async () => {
    const world = await createWorld(engine);
    await world.record(...REAL);
    assert.equal(await world.modules.catalog.recordSample(SAMPLE), false);
    assert.equal(await world.modules.catalog.kind(), "real");
  });

  test("removes rows from every table that can hold them", async () => {
    const { modules } = await createWorld(engine);
    const tables = await modules.database.read.introspection.getTables();
    const known = new Set<string>([
      "repositories",
      "renames",
      "snapshot_hours",
      ...DERIVED_TABLES,
      ...REPOSITORY_TABLES,
      ...UNAFFECTED,
    ]);
    const names = tables.flatMap(({ name, isView }) =>
      isView || /^(search|sqlite)_/.test(name) ? [] : [name],
    );
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
  });
});

onSqlite("The bundled sample", (engine) => {
  test("is small, and holds facts about many repositories, with descriptions and topics", async () => {
    const file = new URL("../../../sample/github-ranking.json.zst", import.meta.url);
    assert.ok(statSync(file).size < 1_000_000);
    const sample = await readSample(file);
    assert.equal(sample.length, 2_000);
    assert.ok(new Set(sample.map(({ facts }) => facts.language)).size >= 34);
    const names = sample.flatMap(({ owner, name, previousNames = [] }) => [
      `${owner}/${name}`,
      ...previousNames.map(({ fullName }) => fullName),
    ]);
    assert.equal(new Set(names).size, names.length, "a renamed repository is there once");
    const end = Math.max(...sample.map(({ at }) => at ?? 0));
    assert.ok(sample.filter(({ facts }) => (facts.description ?? "") !== "").length > 1_950);
    assert.ok(sample.filter(({ facts }) => (facts.topics ?? []).length > 0).length > 250);
    for (const { snapshots, owner } of sample) {
      assert.equal([...snapshots].at(-1)?.capturedAt, end);
      for (const { stars, forks, openIssues } of snapshots)
        for (const count of [stars, forks, openIssues]) assert.ok((count ?? 0) >= 0, owner);
    }
  });

  test("fills an empty catalogue, finishes after an interruption, and says on every page what it is", async () => {
    const world = await createWorld(engine);
    const { catalog } = world.modules;
    // Killed before anything was derived.
    const file = new URL("../../../sample/github-ranking.json.zst", import.meta.url);
    assert.equal(await catalog.recordSample(await readSample(file)), true);
    await importSample(world.modules);
    const summary = (await world.get("/api/stats/summary")).body.data;
    assert.equal(summary.repositoryCount, 2_000);
    assert.deepEqual(
      [summary.catalogue, summary.ageDays, summary.asOf, summary.startTracking],
      ["sample", 0, "2026-04-30T04:07:11.000Z", "https://sidereal.example/about#begin"],
    );
    for (const window of ["24h", "7d", "30d"]) {
      const list = await world.get(`/api/repos?sort=stars-gained&window=${window}&limit=1`);
      assert.ok(
        list.body.meta.total > (window === "30d" ? 1_900 : 1_950),
        `${window}: ${list.body.meta.total}`,
      );
    }
    const pages = [...OPEN_PAGES, "/repos/github/torvalds/linux", "/no-such-page"];
    for (const path of pages) {
      const html = (await world.get(path, { Accept: "text/html" })).body;
      assert.match(html, /role="note"[\s\S]*Sample data[\s\S]*30 Apr 2026/, path);
    }
    await world.record(...REAL);
    assert.doesNotMatch((await world.get("/")).body, /Sample data/);
  });
});
