import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { DAY_MS, isoTime } from "../../src/lib/clock.js";
import type { DumpedRepository } from "../../src/repositories/dump.js";
import type { Snapshot } from "../../src/repositories/observation.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import { exportParquet, type ParquetManifest } from "../../src/transfer/parquet.js";
import { awkward } from "../support/awkward.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { rankingFile, temporaryFolder } from "../support/imports.js";
import { ManualClock } from "../support/manual-clock.js";
import { type ParquetRow, readParquet, rowGroups } from "../support/parquet.js";
import { openCatalog } from "../support/tables.js";
import { NOW, observation, snapshotAt } from "../support/world.js";

const root = temporaryFolder();
const newFolder = () => mkdtempSync(join(root, "out-"));
const clock = new ManualClock(NOW);

const LARGEST = 1e12;
const large = observation(
  "n/large",
  [
    snapshotAt(Date.UTC(2000, 0, 1), LARGEST, { forks: LARGEST, openIssues: 0, watchers: 2 ** 31 }),
    snapshotAt(Date.UTC(2024, 1, 29, 23, 59, 59, 999), 2 ** 31 - 1),
    snapshotAt(Date.UTC(2024, 2, 1), 2 ** 31),
  ],
  { preferredId: 2 ** 40 },
);

async function allDumped(catalog: Catalog): Promise<DumpedRepository[]> {
  return catalog.dump(0, 10_000);
}

const timeOf = (ms: number | null) => (ms === null ? null : isoTime(ms));

function repositoryRow({ repository, providerId, previousNames }: DumpedRepository): ParquetRow {
  const { id, provider, fullName, url, description, homepage, language, license } = repository;
  return {
    id,
    provider,
    provider_id: providerId,
    full_name: fullName,
    url,
    description,
    homepage,
    language,
    license,
    topics: repository.topics,
    stars: repository.stars,
    forks: repository.forks,
    open_issues: repository.openIssues,
    watchers: repository.watchers,
    fork: repository.fork,
    archived: repository.archived,
    availability: repository.availability,
    created_at: timeOf(repository.createdAt),
    pushed_at: timeOf(repository.pushedAt),
    discovered_at: timeOf(repository.discoveredAt),
    refreshed_at: timeOf(repository.refreshedAt),
    import_source: repository.importSource,
    previous_full_names: previousNames.map(({ fullName, until }) => ({
      full_name: fullName,
      until: timeOf(until),
    })),
  };
}

const snapshotRow = (id: number, { capturedAt, openIssues, ...counts }: Snapshot): ParquetRow => ({
  repository_id: id,
  captured_at: isoTime(capturedAt),
  stars: counts.stars,
  forks: counts.forks,
  open_issues: openIssues,
  watchers: counts.watchers,
  source: counts.source,
});

const manifests = new Map<string, ParquetManifest>();

onBothEngines("A Parquet export", (engine) => {
  let catalog: Catalog;
  let folder = "";
  let manifest: ParquetManifest;

  before(async () => {
    ({ catalog } = await openCatalog(engine));
    await catalog.record([...awkward, large]);
    folder = newFolder();
    manifest = await exportParquet(catalog, folder, { clock });
    manifests.set(engine.name, manifest);
  });

  test("has every repository of the catalogue with all its fields, by id", async () => {
    const expected = (await allDumped(catalog)).map(repositoryRow);
    assert.ok(expected.length > 50);
    assert.deepEqual(await readParquet(join(folder, "repositories.parquet")), expected);
  });

  test("has every snapshot, in the file of its month, by repository and time", async () => {
    const expected = new Map<string, ParquetRow[]>();
    for (const { repository, snapshots } of await allDumped(catalog))
      for (const one of snapshots) {
        const row = snapshotRow(repository.id, one);
        const month = String(row.captured_at).slice(0, 7);
        expected.set(month, [...(expected.get(month) ?? []), row]);
      }
    assert.deepEqual(
      ["2000-01", "2024-02", "2024-03"].filter((month) => !expected.has(month)),
      [],
    );
    const months = readdirSync(join(folder, "snapshots")).sort();
    assert.deepEqual(
      months,
      [...expected.keys()].sort().map((month) => `${month}.parquet`),
    );
    for (const [month, rows] of expected)
      assert.deepEqual(await readParquet(join(folder, "snapshots", `${month}.parquet`)), rows, month);
  });

  test("says in its manifest what is in each file, with its checksum", () => {
    const { files, ...rest } = manifest;
    assert.deepEqual(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")), manifest);
    const [first, ...months] = files;
    assert.deepEqual(rest, {
      format: "sidereal-parquet",
      version: 1,
      asOf: isoTime(NOW),
      catalogue: "real",
      repositoryCount: first?.rows,
      snapshots: months.reduce((sum, { rows }) => sum + rows, 0),
    });
    for (const { path, bytes, sha256 } of files) {
      const content = readFileSync(join(folder, path));
      assert.equal(content.length, bytes, path);
      assert.equal(createHash("sha256").update(content).digest("hex"), sha256, path);
    }
    assert.equal(
      readFileSync(join(folder, "SHA256SUMS"), "utf8"),
      files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join(""),
    );
    assert.deepEqual(readdirSync(folder).sort(), [
      "SHA256SUMS",
      "manifest.json",
      "repositories.parquet",
      "snapshots",
    ]);
  });

  test("of an empty catalogue has no rows, and all columns", async () => {
    const { catalog: empty } = await openCatalog(engine);
    const target = newFolder();
    const { files } = await exportParquet(empty, target, { clock });
    assert.deepEqual(
      files.map(({ path, rows }) => [path, rows]),
      [["repositories.parquet", 0]],
    );
    assert.deepEqual(await readParquet(join(target, "repositories.parquet")), []);
  });
});

test("the same catalogue exports to the same bytes on every engine", () => {
  const [manifest, ...others] = manifests.values();
  assert.ok(others.length > 0);
  for (const other of others) assert.deepEqual(other, manifest);
});

onSqlite("A Parquet export to a folder", (engine) => {
  let catalog: Catalog;
  const dated = (...times: number[]) =>
    observation(
      "o/r",
      times.map((time, i) => snapshotAt(time, i)),
    );
  const [april, may] = [Date.UTC(2026, 3, 2), Date.UTC(2026, 2, 2)];

  before(async () => {
    ({ catalog } = await openCatalog(engine));
    await catalog.record([dated(may, april)]);
  });

  test("replaces an earlier one with all its months, and leaves other files alone", async () => {
    const folder = newFolder();
    await exportParquet(catalog, folder, { clock });
    writeFileSync(join(folder, "notes.txt"), "mine");
    writeFileSync(join(folder, "snapshots", "mine.parquet"), "mine");
    const { catalog: other } = await openCatalog(engine);
    await other.record([dated(april)]);
    const manifest = await exportParquet(other, folder, { clock });
    assert.deepEqual(readdirSync(folder).sort(), [
      "SHA256SUMS",
      "manifest.json",
      "notes.txt",
      "repositories.parquet",
      "snapshots",
    ]);
    assert.deepEqual(readdirSync(join(folder, "snapshots")).sort(), ["2026-04.parquet", "mine.parquet"]);
    assert.equal(manifest.snapshots, 1);
    assert.equal((await readParquet(join(folder, "snapshots", "2026-04.parquet"))).length, 1);
  });

  for (const failing of ["reading", "the signal"])
    test(`that fails through ${failing} leaves the earlier one as it was, and nothing else`, async () => {
      const folder = newFolder();
      await exportParquet(catalog, folder, { clock });
      const files = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
      const before = [files(), readFileSync(join(folder, "manifest.json"), "utf8")];
      const stopping = new AbortController();
      let pages = 0;
      const broken = {
        kind: () => catalog.kind(),
        dump: async (after: number, limit: number) => {
          if (++pages > 1 && failing === "reading") throw new Error("the database is away");
          if (failing !== "reading") stopping.abort(new Error("stopped"));
          return catalog.dump(after, limit);
        },
      };
      await assert.rejects(
        exportParquet(broken, folder, { clock, signal: stopping.signal }),
        failing === "reading" ? /the database is away/ : /stopped/,
      );
      assert.deepEqual([files(), readFileSync(join(folder, "manifest.json"), "utf8")], before);
    });

  test("removes what killed ones have left, and refuses while another process writes there", async () => {
    const folder = newFolder();
    const partOf = (pid: number, host = hostname()) => {
      const path = join(folder, `.partial-${pid}-${host}`);
      mkdirSync(path);
      writeFileSync(join(path, "repositories.parquet"), "half");
      return path;
    };
    const old = [partOf(1, "other.example"), partOf(process.ppid)];
    const longAgo = (NOW - 2 * DAY_MS) / 1_000;
    for (const path of old) utimesSync(path, longAgo, longAgo);
    // No process has this id, and this one had it before.
    const left = [...old, partOf(2 ** 22 + 7), partOf(process.pid)];
    await exportParquet(catalog, folder, { clock });
    assert.deepEqual(left.filter(existsSync), []);
    const running = partOf(process.ppid);
    await assert.rejects(exportParquet(catalog, folder, { clock }), /another process is writing/);
    assert.ok(existsSync(join(running, "repositories.parquet")));
  });

  test("writes texts in row groups of a bounded size", async () => {
    const { catalog: wordy } = await openCatalog(engine);
    const description = "x".repeat(10_000);
    await wordy.record(
      Array.from({ length: 900 }, (_, i) => observation(`o/r${i}`, [], { facts: { description } })),
    );
    const folder = newFolder();
    await exportParquet(wordy, folder, { clock });
    const groups = await rowGroups(join(folder, "repositories.parquet"));
    assert.equal(groups.length, 2);
    assert.equal(
      groups.reduce((sum, rows) => sum + rows, 0),
      900,
    );
  });
});

onSqlite("The snapshots of a Parquet export", (engine) => {
  test("wait in a bounded number, however many months there are", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([large]);
    const [dumped] = (await allDumped(catalog)) as [DumpedRepository];
    // The month with the most is written when 100 wait, unless it is full before.
    for (const [group, first] of [
      [40, 36],
      [10, 10],
    ] as const) {
      const folder = newFolder();
      const expected = new Map<string, number[]>();
      const page = Array.from({ length: 60 }, (_, i): DumpedRepository => {
        const snapshots: Snapshot[] = [];
        for (let month = 0; month < 12; month++)
          for (let day = 1; day <= (month === 0 ? 9 : 1 + ((i + 1) % 2)); day++) {
            const at = Date.UTC(2025, month, day);
            snapshots.push(snapshotAt(at, i));
            const name = isoTime(at).slice(0, 7);
            expected.set(name, [...(expected.get(name) ?? []), i + 1]);
          }
        return { ...dumped, repository: { ...dumped.repository, id: i + 1 }, snapshots };
      });
      const many = {
        kind: async () => "real" as const,
        dump: async (after: number) => (after === 0 ? page : []),
      };
      const { files } = await exportParquet(many, folder, { clock, bounds: { group, waiting: 100 } });
      const months = files.slice(1);
      assert.deepEqual(
        months.map(({ path }) => path),
        [...expected.keys()].map((month) => `snapshots/${month}.parquet`),
      );
      for (const [i, { path, rows }] of months.entries()) {
        const ids = (await readParquet(join(folder, path))).map((row) => row.repository_id);
        assert.deepEqual(ids, [...expected.values()][i]);
        assert.equal(ids.length, rows);
        const groups = await rowGroups(join(folder, path));
        assert.ok(groups.every((count) => count <= group));
        if (i === 0) assert.equal(groups[0], first);
      }
    }
  });
});

describe("sidereal export --format parquet", () => {
  const world = new CommandWorld();

  test("writes the folder that --out or the argument names, and reports what is in it", async () => {
    const dataDir = world.newDataDir();
    const input = join(world.folder, "good-2026-04-01.csv");
    writeFileSync(input, rankingFile({}, { repo_url: "https://github.com/o/s" }));
    await world.runHere(dataDir, ["import", input]);
    for (const args of [["--out", join(dataDir, "a")], [join(dataDir, "b")]]) {
      const folder = args.at(-1) ?? "";
      const { code, stdout, stderr } = await world.run(dataDir, [
        "export",
        "--json",
        "--format",
        "parquet",
        ...args,
      ]);
      assert.equal(code, 0, stderr);
      const { bytes, ...report } = JSON.parse(stdout);
      assert.deepEqual(report, { repositories: 2, snapshots: 2, folder, files: 2 });
      assert.ok(bytes > 1_000);
      assert.equal((await readParquet(join(folder, "repositories.parquet"))).length, 2);
    }
  });

  test("needs one folder, in which it can write", async () => {
    const dataDir = world.newDataDir();
    const parquet = ["export", "--format", "parquet"];
    const without = await world.runHere(dataDir, parquet);
    assert.deepEqual(
      [without.code, without.stderr],
      [2, "The format parquet needs a folder: --out <folder>.\n"],
    );
    const twice = await world.runHere(dataDir, [...parquet, "a", "--out", "b"]);
    assert.deepEqual([twice.code, twice.stderr], [2, "Give the output once.\n"]);
    const unknown = await world.runHere(dataDir, ["export", "--format", "xml"]);
    assert.equal(unknown.code, 2);
    await world.runHere(dataDir, ["derive"]);
    const file = join(dataDir, "file");
    writeFileSync(file, "");
    const refused = await world.runHere(dataDir, [...parquet, file]);
    assert.deepEqual([refused.code, refused.stderr], [1, `${file} cannot be written: EEXIST\n`]);
  });

  test("writes NDJSON to --out too", async () => {
    const dataDir = world.newDataDir();
    await world.runHere(dataDir, ["derive"]);
    const target = join(dataDir, "all.ndjson");
    const { code } = await world.runHere(dataDir, ["export", "--out", target]);
    assert.equal(code, 0);
    assert.match(readFileSync(target, "utf8"), /"type":"header"/);
  });
});
