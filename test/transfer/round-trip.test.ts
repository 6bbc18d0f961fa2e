import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { Database } from "../../src/database/database.js";
import { count, fullName, label, text, time, topics, webUrl } from "../../src/forges/fields.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { readRecency } from "../../src/repositories/recency.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Observation, Snapshot } from "../../src/repositories/repository.js";
import { type ImportReport, importFiles } from "../../src/transfer/import.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { awkward, importedFiles } from "../support/awkward.js";
import { onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { examples, fc } from "../support/properties.js";
import { dumpTables, openCatalog } from "../support/tables.js";
import { NOW, observation, snapshot } from "../support/world.js";

async function exported(catalog: Catalog): Promise<string> {
  let text = "";
  for await (const lines of exportCatalogue(catalog)) text += lines;
  return text;
}

const folder = temporaryFolder();
let files = 0;

/** Imports a text; fails when any line of it is refused. */
async function imported(catalog: Catalog, text: string): Promise<ImportReport> {
  const path = join(folder, `${files++}.ndjson`);
  writeFileSync(path, text);
  const refused: unknown[] = [];
  const report = await importFiles(catalog, [path], { onRefused: (problem) => refused.push(problem) });
  assert.deepEqual(refused, []);
  return report;
}

const catalogues = new Map<string, { catalog: Catalog; database: Database }>();
const texts = new Map<string, string>();

onBothEngines("An export", (engine) => {
  before(async () => {
    const opened = await openCatalog(engine);
    await opened.catalog.record(awkward);
    await opened.catalog.recordFiles(importedFiles);
    catalogues.set(engine.name, opened);
    texts.set(engine.name, await exported(opened.catalog));
  });

  test("imported into an empty database and exported again is the same, byte for byte", async () => {
    const text = texts.get(engine.name) ?? "";
    const { catalog } = await openCatalog(engine);
    const report = await imported(catalog, text);
    assert.equal(await exported(catalog), text);
    assert.equal(report.repositoriesAdded, text.split('"type":"repository"').length - 1);
    assert.equal(report.snapshotsAdded, text.split('"type":"snapshot"').length - 1);
  });

  test("holds the archive of a repository and the files that were imported, so that what is recent stays recent", async () => {
    const { catalog, database } = await openCatalog(engine);
    const report = await imported(catalog, texts.get(engine.name) ?? "");
    assert.deepEqual(report.warnings, []);
    const files = await catalog.dumpFiles();
    assert.deepEqual(
      files.map(({ damage }) => damage.map(({ kind }) => kind)),
      [[], ["ENCODING"], ["FEW_ROWS"], []],
    );
    const { newestFiles } = await readRecency(database.read);
    assert.deepEqual([...newestFiles], [["github-ranking", NOW - DAY_MS]]);
    const found = await catalog.findByName("GITHUB", "n/archived");
    assert.equal(found?.repository.importSource, "github-ranking");
  });

  test("imported at its origin, or twice, changes nothing", async () => {
    const text = texts.get(engine.name) ?? "";
    const { catalog, database } = await openCatalog(engine);
    await imported(catalog, text);
    const origin = catalogues.get(engine.name);
    assert.ok(origin !== undefined);
    for (const known of [{ catalog, database }, origin]) {
      const once = await dumpTables(known.database);
      const report = await imported(known.catalog, text);
      assert.deepEqual(
        [report.repositoriesAdded, report.repositoriesChanged, report.snapshotsAdded],
        [0, 0, 0],
      );
      assert.deepEqual(await dumpTables(known.database), once);
    }
  });

  test("keeps the time of each fact, so that a file of days between is judged as in the original", async () => {
    const seen = (hours: number, facts: Observation["facts"]) =>
      observation("o/times", [], { at: NOW - hours * HOUR_MS, facts });
    const { catalog } = await openCatalog(engine);
    await catalog.record([
      observation("o/times", [], { at: null, facts: { license: "MIT" } }),
      seen(90, { stars: 5, forks: 1, language: "Go" }),
      seen(30, { description: "the newest", archived: true }),
    ]);
    const copy = await openCatalog(engine);
    await imported(copy.catalog, await exported(catalog));
    for (const one of [catalog, copy.catalog]) {
      const known = await one.findByName("GITHUB", "o/times");
      assert.equal(known?.repository.countedAt, NOW - 90 * HOUR_MS);
      await one.record([
        seen(60, { stars: 6, language: "Rust", license: "ISC", description: "older", archived: false }),
      ]);
      const { repository } = (await one.findByName("GITHUB", "o/times")) ?? assert.fail();
      const { stars, language, license, description, archived } = repository;
      assert.deepEqual(
        [stars, language, license, description, archived],
        [6, "Rust", "ISC", "the newest", true],
      );
    }
    assert.equal(await exported(copy.catalog), await exported(catalog));
  });

  test("holds ids, provider ids, previous names, and only what was told", async () => {
    const lines = (texts.get(engine.name) ?? "").split("\n").filter((line) => line !== "");
    const parsed = lines.map((line): Record<string, unknown> => JSON.parse(line));
    assert.deepEqual(parsed[0], { type: "header", format: "sidereal", version: 1 });
    const find = (providerId: string) => parsed.find((line) => line.providerId === providerId);
    assert.deepEqual(find("a")?.previousFullNames, [
      { fullName: "o/second", until: new Date(NOW - 70 * HOUR_MS).toISOString() },
      // Its own name, which "c" has now.
      { fullName: "o/first", until: new Date(NOW - 70 * HOUR_MS).toISOString() },
    ]);
    assert.equal(find("b")?.id, "5000");
    assert.equal(find("gid://gitlab/Project/1")?.fullName, "ids/r0");
    const unsaid = parsed.find((line) => line.fullName === "n/unsaid");
    assert.deepEqual(Object.keys(unsaid ?? {}), [
      "type",
      "id",
      "provider",
      "fullName",
      "discoveredAt",
      "refreshedAt",
    ]);
    const nulls = parsed.find((line) => line.fullName === "n/nulls");
    assert.deepEqual(
      [nulls?.description, nulls?.topics, nulls?.fork, nulls?.createdAt],
      [null, [], null, null],
    );
    const ids = parsed.flatMap((line) => (line.type === "repository" ? [Number(line.id)] : []));
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
  });

  for (const hour of [1, 2])
    test(`of a repository whose id another one has, and whose name a third one has since hour ${hour}, comes back the same`, async () => {
      const seen = (name: string, hours: number, providerId: string, createdAt?: number) => ({
        ...observation(name, [snapshot(hours, hours)], { providerId }),
        facts: createdAt === undefined ? {} : { createdAt },
      });
      const { catalog } = await openCatalog(engine);
      await catalog.record([seen("o/a", 1, "3")]);
      await catalog.record([seen("o/a", hour, "1", NOW - 900 * DAY_MS)]);
      await catalog.record([seen("p/c", 1, "1", NOW - 800 * DAY_MS)]);
      const text = await exported(catalog);
      assert.equal(text.match(/"fullName":"o\/a","disc/g)?.length, 2);
      const copy = await openCatalog(engine);
      await imported(copy.catalog, text);
      assert.equal(await exported(copy.catalog), text);
    });

  test("of a repository without an id, whose name an earlier line had later, comes back as a repository of its own", async () => {
    const seen = (name: string, hours: number[], providerId: string, createdAt?: number) => {
      const snapshots = hours.map((hour) => snapshot(hour, hour));
      return {
        ...observation(name, snapshots, { providerId }),
        facts: createdAt === undefined ? {} : { createdAt },
      };
    };
    const { catalog } = await openCatalog(engine);
    await catalog.record([seen("o/b", [55, 20], "3")]);
    await catalog.record([seen("o/a", [32], "1", NOW - 900 * DAY_MS)]);
    await catalog.record([seen("p/c", [25, 15, 7], "1", NOW - 800 * DAY_MS)]);
    await catalog.record([seen("o/a", [36, 35, 22], "3")]);
    const text = await exported(catalog);
    assert.equal(text.match(/"type":"repository"/g)?.length, 3);
    const copy = await openCatalog(engine);
    for (let times = 0; times < 2; times++) {
      await imported(copy.catalog, text);
      assert.equal(await exported(copy.catalog), text);
    }
  });

  test("of any catalogue comes back the same", async () => {
    const told = fc.record({
      name: fc.constantFrom("o/a", "o/b", "O/A", "p/c"),
      providerId: fc.constantFrom("1", "2", "3"),
      hours: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 3 }),
      facts: fc.record(
        {
          description: fc.option(
            fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\p{Cc}\s\uFEFF]/gu, "") || "-"),
          ),
          topics: fc.uniqueArray(fc.constantFrom("a", "b c", "日本 語", "C++")),
          stars: fc.option(fc.nat()),
          archived: fc.option(fc.boolean()),
          createdAt: fc.option(fc.integer({ min: Date.UTC(2000, 0, 1), max: NOW })),
        },
        { requiredKeys: [] },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(told, { maxLength: 8 }), async (observations) => {
        const { catalog, database } = await openCatalog(engine);
        for (const { name, providerId, hours, facts } of observations) {
          const snapshots: Snapshot[] = hours.toSorted((a, b) => b - a).map((hour) => snapshot(hour, hour));
          const { at } = observation(name, snapshots);
          await catalog.record([{ ...observation(name, snapshots), at, providerId, facts }]);
        }
        const text = await exported(catalog);
        const copy = await openCatalog(engine);
        await imported(copy.catalog, text);
        assert.equal(await exported(copy.catalog), text);
        await database.close();
        await copy.database.close();
      }),
      { numRuns: examples(engine.name === "sqlite" ? 20 : 5) },
    );
  });
});

/** Names and topics as forges write them, and as none should. */
const hostileText = fc.oneof(
  fc.constantFrom(
    "machine learning",
    "a\u00a0b",
    "x".repeat(100),
    "x".repeat(101),
    "C#",
    "\u202eabc",
    "\ud800",
    "",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'ab \t\n\u0000\ufeff\u2028/,\\"?%#.'), maxLength: 8 }),
);
const hostileName = fc.oneof(
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "group",
          "x".repeat(60),
          "x".repeat(255),
          "日本",
          "a.b",
          ".",
          "..",
          "-",
          "a b",
          "a\u200bb",
        ),
        hostileText,
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((segments) => segments.join("/")),
  fc.integer({ min: 2, max: 30 }).map((levels) => Array(levels).fill("g").join("/")),
  fc.integer({ min: 190, max: 255 }).map((length) => `${"o".repeat(length)}/${"r".repeat(length)}`),
);
const hostileRecord = fc.record({
  name: hostileName,
  topics: fc.array(hostileText, { maxLength: 4 }),
  text: hostileText,
  stars: fc.oneof(fc.nat(), fc.constantFrom(1e12, 1e12 + 1, Number.MAX_SAFE_INTEGER)),
  createdAt: fc.constantFrom(
    "1999-12-31T23:59:59Z",
    "2000-01-01T00:00:00Z",
    "2099-12-31T00:00:00Z",
    "2100-01-02T00:00:00Z",
  ),
  url: fc.oneof(hostileText, fc.constant("https://forge.example/a b/ü?q= x#y")),
});

onBothEngines("Whatever a provider accepts", (engine) => {
  test("can be exported and imported, with all its snapshots", async () => {
    const read = <T>(result: { data?: T }) => result.data ?? null;
    // One sample instead of a property: a database per example is slow, and a refused line names its reason.
    const records = fc.sample(hostileRecord, 400).flatMap((record, i): Observation[] => {
      const parts = read(fullName.safeParse(record.name));
      if (parts === null) return [];
      const facts = {
        topics: topics.parse(record.topics),
        description: read(text.safeParse(record.text)),
        language: read(label.safeParse(record.text)),
        homepage: read(webUrl.safeParse(record.url)),
        stars: read(count.safeParse(record.stars)),
        createdAt: read(time.safeParse(record.createdAt)),
      };
      const url = read(webUrl.safeParse(record.url));
      const snapshots = facts.stars === null ? [] : [snapshot(5, facts.stars)];
      const said = observation("o/r", snapshots, { provider: "GITLAB", providerId: String(i) });
      return [{ ...said, ...parts, facts: { ...facts, ...(url === null ? {} : { url }) } }];
    });
    assert.ok(
      records.length > 100 && records.some(({ facts }) => facts.topics?.some((one) => one.includes(" "))),
    );
    const { catalog } = await openCatalog(engine);
    await catalog.record(records);
    const exportedText = await exported(catalog);
    const copy = await openCatalog(engine);
    await imported(copy.catalog, exportedText);
    assert.equal(await exported(copy.catalog), exportedText);
  });
});

describe("Between the engines", () => {
  test("exports of the same catalogue are the same", () => {
    const [text, ...others] = texts.values();
    assert.ok(text !== undefined && text.length > 10_000);
    assert.ok(others.length > 0);
    for (const other of others) assert.equal(other, text);
  });
});

onBothEngines("An export of another engine", (engine) => {
  test("comes back the same, byte for byte", async () => {
    const text = texts.get(engine.name === "sqlite" ? "postgres" : "sqlite") ?? "";
    const { catalog } = await openCatalog(engine);
    await imported(catalog, text);
    assert.equal(await exported(catalog), text);
  });
});
