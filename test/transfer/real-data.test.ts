import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, describe, test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { HOUR_MS, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { type ImportOptions, importFiles } from "../../src/transfer/import.js";
import { readManifest } from "../../src/transfer/transfer.js";
import { plainRows, realData, unpack, withoutRealData } from "../support/data.js";
import { temporaryFolder } from "../support/imports.js";
import { listOf } from "../support/lists.js";

/** Imports files into a database of its own and works out the growth; no line may be refused. */
async function importAll(paths: readonly string[], options: ImportOptions) {
  const database = await openDatabase({
    url: undefined,
    dataDir: ":memory:",
    pool: 1,
    log: createLog("silent"),
  });
  after(() => database.close());
  const modules = buildModules(database, { clock: systemClock, log: createLog("silent") });
  const { catalog, rankings, lists } = modules;
  const refused: unknown[] = [];
  const report = await importFiles(catalog, paths, {
    ...options,
    onRefused: (problem) => refused.push(problem),
  });
  assert.deepEqual(refused, []);
  await rankings.update();
  return { catalog, rankings, lists, report };
}

const manifestOf = (...path: string[]) => readManifest(readFileSync(realData(...path), "utf8"), Date.now());
const days = (prefix: string, ...dates: string[]) => dates.map((date) => `${prefix}${date}.csv`);

describe("Real archives", { skip: withoutRealData }, () => {
  test("Github-Ranking: every row is taken over, and the gains are those that the files themselves give", async () => {
    const names = days(
      "github-ranking-",
      "2026-04-26",
      "2026-04-27",
      "2026-04-28",
      "2026-04-29",
      "2026-04-30",
    );
    const paths = unpack(realData("github-ranking", "daily", "github-ranking-daily-2026-04.tar.xz"), names);
    const manifest = manifestOf("github-ranking", "manifest.csv");
    const { lists, report } = await importAll(paths, { manifest });
    assert.equal(report.rows, 5 * 3_600);

    // The stars of each repository by the time of the file; the first row of a file counts.
    const series = new Map<string, Map<number, number>>();
    for (const path of paths) {
      const at = manifest.get(basename(path)) ?? 0;
      for (const row of plainRows(path)) {
        const name = (row.repo_url ?? "").replace("https://github.com/", "").toLowerCase();
        const known = series.get(name) ?? new Map<number, number>();
        if (!known.has(at)) known.set(at, Number(row.stars));
        series.set(name, known);
      }
    }
    const snapshots = [...series.values()].reduce((sum, known) => sum + known.size, 0);
    assert.equal(report.repositoriesAdded, series.size);
    assert.equal(report.snapshotsAdded, snapshots);

    const newest = Math.max(...[...series.values()].flatMap((known) => [...known.keys()]));
    const page = await lists.read(listOf({ page: { limit: 9_999, offset: 0 } }));
    let compared = 0;
    for (const { repository, trend } of page.rows) {
      const { fullName, stars } = repository;
      const known = series.get(fullName.toLowerCase()) ?? new Map<number, number>();
      const now = known.get(newest);
      if (now === undefined) continue;
      const [from] = [...known.keys()]
        .filter((at) => newest - at >= 12 * HOUR_MS && newest - at <= 48 * HOUR_MS)
        .sort((a, b) => Math.abs(newest - 24 * HOUR_MS - a) - Math.abs(newest - 24 * HOUR_MS - b));
      const gain = from === undefined ? undefined : now - (known.get(from) ?? 0);
      assert.equal(trend?.starsDelta, gain, fullName);
      assert.equal(stars, now, fullName);
      compared++;
    }
    assert.ok(compared > 3_400, `${compared} were compared`);
  });

  test("Github-Ranking: a month is read from its .tar.xz file, and a day with seven rows less is not damaged", async () => {
    const archive = realData("github-ranking", "daily", "github-ranking-daily-2026-02.tar.xz");
    const manifest = manifestOf("github-ranking", "manifest.csv");
    const { report, catalog } = await importAll([archive], { manifest });
    assert.deepEqual([report.files, report.rows, report.warnings], [28, 27 * 3_600 + 3_593, []]);
    const files = await catalog.dumpFiles();
    assert.equal(files.find(({ file }) => file === "github-ranking-2026-02-12.csv")?.rows, 3_593);
  });

  test("Github-Ranking: files of the first years, with CRLF and fewer lists, are read as well", async () => {
    const names = days("github-ranking-", "2018-12-18", "2018-12-24");
    const paths = unpack(realData("github-ranking", "weekly", "github-ranking-weekly-2018.tar.xz"), names);
    const { report } = await importAll(paths, { manifest: manifestOf("github-ranking", "manifest.csv") });
    assert.equal(report.rows, 2 * 2_700);
  });

  test("awesome-go: a failed fetch is no fall to 0, and most gains are those that were published", async () => {
    const names = days("analysis-", "2026-01-04", "2026-01-05", "2026-01-06");
    const paths = unpack(realData("awesome-go", "analysis-2026-01.tar.xz"), names);
    const skipped: string[] = [];
    const { catalog, rankings, report } = await importAll(paths, {
      manifest: manifestOf("awesome-go", "manifest.csv"),
      onSkipped: ({ file, line }) => skipped.push(`${basename(file)}:${line}`),
    });
    const zeros = paths.flatMap((path) =>
      plainRows(path).flatMap((row, i) =>
        row.stars === "0" ? [`${basename(path)}:${i + 2} ${row.repo}`] : [],
      ),
    );
    assert.ok(zeros.some((row) => row.endsWith(" chrislusf/seaweedfs")));
    assert.deepEqual(
      skipped,
      zeros.map((row) => row.split(" ")[0]),
    );
    assert.equal(report.skipped, zeros.length);
    const failed = await catalog.findByName("GITHUB", "chrislusf/seaweedfs");
    assert.ok((failed?.repository.stars ?? 0) > 29_000);
    const points = (await catalog.dump((failed?.repository.id ?? 0) - 1, 1))[0]?.snapshots ?? [];
    assert.ok(points.length === 2 && points.every(({ stars }) => stars > 29_000));

    let [same, all] = [0, 0];
    for (const row of plainRows(paths.at(-1) ?? "")) {
      const id = (await catalog.findByName("GITHUB", row.repo ?? ""))?.repository.id ?? 0;
      const trend = (await rankings.trendsOf(id))["24h"];
      if (trend === null) continue;
      all++;
      if (trend.starsDelta === Number(row["new-stars-last-24H"])) same++;
    }
    assert.ok(all > 2_300 && same / all > 0.85, `${same} of ${all} gains are as published`);
  });

  test("awesome-selfhosted: rows of many days and two forges, one repository each", async () => {
    const archive = realData("multi-provider", "awesome-selfhosted", "stars-2026-01.csv.xz");
    const path = join(temporaryFolder(), "stars.csv");
    writeFileSync(path, execFileSync("xz", ["-dc", archive], { maxBuffer: 1 << 28 }));
    const { lists, report } = await importAll([path], {});
    const rows = plainRows(path);
    const names = new Set(
      rows.map((row) =>
        (row.source_code_url ?? "")
          .toLowerCase()
          .replace(/(\.git)?\/*$/, "")
          .replace("//www.", "//"),
      ),
    );
    assert.equal(report.rows, rows.length);
    assert.equal(report.repositoriesAdded, names.size);
    const onGitLab = await lists.read(listOf({ filters: { provider: "GITLAB" } }));
    assert.equal(onGitLab.total, [...names].filter((name) => name.includes("//gitlab.com/")).length);
    assert.ok(onGitLab.total > 0);
  });
});
