import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { DAY_MS, isoTime, systemClock } from "../../src/lib/clock.js";
import { importFiles } from "../../src/transfer/import.js";
import { readFiles } from "../../src/transfer/read-files.js";
import { parseTime, readManifest } from "../../src/transfer/transfer.js";
import { Refusal } from "../../src/transfer/values.js";
import { onBothEngines } from "../support/engines.js";
import { ImportWorld, RANKING_HEADER, rankingFile, rankingRow, temporaryFolder } from "../support/imports.js";
import { examples, fc } from "../support/properties.js";
import { dumpTables, openCatalog } from "../support/tables.js";

const NOW = Date.UTC(2026, 3, 30, 12);

const timesOf = async (files: Record<string, string>, options = {}) => {
  const { repositories, refused } = await new ImportWorld().import(files, options);
  const times = (repositories.get("o/r")?.snapshots ?? []).map(({ capturedAt }) =>
    new Date(capturedAt).toISOString(),
  );
  return { times, refused };
};

describe("The time of a file", () => {
  const file = rankingFile({});

  test("is the date in its name, the last if there are several", async () => {
    assert.deepEqual((await timesOf({ "x-2026-04-03.csv": file })).times, ["2026-04-03T00:00:00.000Z"]);
    assert.deepEqual((await timesOf({ "2020-01-01-x-2026-04-03.csv": file })).times, [
      "2026-04-03T00:00:00.000Z",
    ]);
  });

  test("is the one given by hand, whatever its name says", async () => {
    const { times } = await timesOf(
      { "x-2026-04-03.csv": file },
      { capturedAt: parseTime("2026-04-05T12:00:00+02:00", NOW) },
    );
    assert.deepEqual(times, ["2026-04-05T10:00:00.000Z"]);
  });

  test("is the one of the manifest before any other, and then every file must be in it", async () => {
    const manifest = readManifest(
      '\uFEFFfile,note,source_commit_time\r\nx-2026-04-03.csv,"a,\r\nb",2026-04-04T12:07:13+08:00\r\n',
      NOW,
    );
    const { times, refused } = await timesOf(
      { "x-2026-04-03.csv": file, "y-2026-04-09.csv": file },
      { manifest, capturedAt: 0 },
    );
    assert.deepEqual(times, ["2026-04-04T04:07:13.000Z"]);
    assert.deepEqual(refused, ["y-2026-04-09.csv: the manifest does not list this file"]);
  });

  test("must be known, and possible", async () => {
    assert.deepEqual((await timesOf({ "x.csv": file })).refused, [
      "x.csv: the capture time of its snapshots is unknown: name it like ranking-2026-04-30.csv, or use --date or --manifest",
    ]);
    assert.deepEqual((await timesOf({ "x-2026-04-31.csv": file })).refused, [
      'x-2026-04-31.csv: date in the file\'s name: "2026-04-31" is not an ISO 8601 time',
    ]);
    assert.throws(() => parseTime("30.4.2026", NOW), Refusal);
    assert.throws(() => parseTime(isoTime(NOW + 2 * DAY_MS + 1), NOW), Refusal);
    assert.equal(parseTime(isoTime(NOW + 2 * DAY_MS), NOW), NOW + 2 * DAY_MS);
    assert.throws(() => readManifest("file,time\nx,2026-01-01\n", NOW), Refusal);
    assert.throws(() => readManifest("file,source_commit_time\nx,sometime\n", NOW), Refusal);
    assert.throws(() => readManifest('file,source_commit_time\n"x,2026-01-01\n', NOW), Refusal);
  });
});

describe("Files as a whole", () => {
  test("that cannot be read are refused with the reason, and the next one is read", async () => {
    const { refused, repositories, report } = await new ImportWorld().import({
      "empty-2026-04-01.csv": "",
      "header-2026-04-01.csv": `${RANKING_HEADER}\n`,
      "unknown-2026-04-01.csv": "a,b,c\n1,2,3\n",
      "binary-2026-04-01.csv": Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0xff, 0xfe]),
      "utf-16-2026-04-01.csv": Buffer.from(`\ufeff${rankingFile({})}`, "utf16le"),
      "semicolons-2026-04-01.csv": rankingFile({}).replaceAll(",", ";"),
      "tabs-2026-04-01.csv": rankingFile({}).replaceAll(",", "\t"),
      "excel-2026-04-01.csv": `sep=,\n${rankingFile({})}`,
      "mac-2026-04-01.csv": rankingFile({}).replaceAll("\n", "\r"),
      "quote-2026-04-01.csv": `"rank,item\n${rankingRow()}\n`,
      "short-2026-04-01.csv": rankingFile({}).slice(0, 31),
      "good-2026-04-01.csv": rankingFile({}),
    });
    const others = / \(docs\/IMPORT\.md\); write others as NDJSON$/;
    assert.equal(refused.filter((words) => others.test(words)).length, 3);
    assert.deepEqual(
      refused.map((words) => words.replace(/; known are those of .*$/, "")),
      [
        "empty-2026-04-01.csv: the file is empty",
        "unknown-2026-04-01.csv: no known layout has the columns a, b, c",
        "binary-2026-04-01.csv: no known layout has the columns \ufffdPNG \ufffd\ufffd",
        "utf-16-2026-04-01.csv: the text is in UTF-16; it must be in UTF-8",
        "semicolons-2026-04-01.csv: columns are separated by semicolons; they must be separated by commas",
        "tabs-2026-04-01.csv: columns are separated by tabs; they must be separated by commas",
        "excel-2026-04-01.csv: the first line, which Excel writes, is no header; remove it",
        "mac-2026-04-01.csv: lines end in CR alone; they must end in LF or CR LF",
        "quote-2026-04-01.csv: the header line: a quote is opened and never closed",
        "short-2026-04-01.csv: no known layout has the columns rank, item, repo_name, stars, forks",
      ],
    );
    assert.deepEqual([...repositories.keys()], ["o/r"]);
    assert.deepEqual([report.files, report.rows, report.refused], [2, 1, 10]);
  });

  test("that are not there, or are folders, are refused too", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder-2026-04-01.csv"));
    writeFileSync(join(folder, "file.csv"), "");
    const { refused } = await new ImportWorld().importPaths([
      join(folder, "none.csv"),
      join(folder, "folder-2026-04-01.csv"),
      join(folder, "file.csv", "inside.csv"),
    ]);
    assert.deepEqual(refused, [
      "none.csv: no such file",
      "folder-2026-04-01.csv: is a directory",
      "inside.csv: no such file",
    ]);
  });

  test("are held to the requested layout", async () => {
    const { refused } = await new ImportWorld().import(
      {
        "a-2026-04-01.csv": rankingFile({}),
        "b.ndjson": '{"type":"header","format":"sidereal","version":1}\n',
      },
      { format: "awesome-go" },
    );
    assert.deepEqual(refused, [
      "a-2026-04-01.csv: the columns belong to github-ranking, not to awesome-go",
      "b.ndjson: the header line: a quote inside an unquoted field",
    ]);
  });

  test("may be packed with gzip or Zstandard", async () => {
    const { repositories, refused } = await new ImportWorld().import({
      "a-2026-04-01.csv.gz": gzipSync(rankingFile({ stars: "1" })),
      "a-2026-04-02.csv.zst": zstdCompressSync(rankingFile({ stars: "2" })),
    });
    assert.deepEqual(refused, []);
    assert.deepEqual(
      repositories.get("o/r")?.snapshots.map(({ stars }) => stars),
      [1, 2],
    );
  });

  test("that are damaged are refused, and the next one is read", async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => ({
      repo_url: `https://github.com/o/r${i * 7_919}`,
    }));
    const [gz, zst] = [gzipSync(rankingFile(...rows)), zstdCompressSync(rankingFile(...rows))];
    const flipped = Uint8Array.from(gz, (byte, i) =>
      i > gz.length / 2 && i < gz.length / 2 + 50 ? byte ^ 0xff : byte,
    );
    const { refused, repositories } = await new ImportWorld().import({
      "cut-2026-04-01.csv.gz": gz.subarray(0, gz.length / 2),
      "flipped-2026-04-01.csv.gz": flipped,
      "plain-2026-04-01.csv.gz": rankingFile({}),
      "empty-2026-04-01.csv.gz": "",
      "cut-2026-04-01.csv.zst": zst.subarray(0, zst.length / 2),
      "plain-2026-04-01.csv.zst": rankingFile({}),
      "good-2026-04-01.csv": rankingFile({}),
    });
    const damaged = "the compressed data is damaged; everything before the damage was read";
    assert.deepEqual(
      refused.filter((line) => line.endsWith(damaged) && !line.startsWith("empty")),
      [
        `cut-2026-04-01.csv.gz: ${damaged}`,
        `flipped-2026-04-01.csv.gz: ${damaged}`,
        `cut-2026-04-01.csv.zst: ${damaged}`,
      ],
    );
    assert.equal(refused.filter((line) => line.startsWith("empty")).length, 1);
    assert.ok(repositories.has("o/r"));
  });

  const fileDescriptors = "/proc/self/fd";
  const skip = existsSync(fileDescriptors) ? false : "open files can only be counted where there is /proc";
  test("are closed when they are refused: many do not use up what may be open", { skip }, async () => {
    const folder = temporaryFolder();
    const paths = Array.from({ length: 300 }, (_, i) => {
      const path = join(folder, `x${i}.csv`);
      writeFileSync(path, "a,b,c\n1,2,3\n".repeat(20_000));
      return path;
    });
    const openFiles = () => readdirSync(fileDescriptors).length;
    const before = openFiles();
    let refused = 0;
    for await (const found of readFiles(paths, {}, systemClock)) refused += found.refused.length;
    assert.equal(refused, 300);
    assert.ok(openFiles() < before + 100, `${openFiles()} are open, before it were ${before}`);
  });

  test("of any bytes never crash the reader", async () => {
    const folder = temporaryFolder();
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom(
          RANKING_HEADER,
          rankingRow(),
          "\n",
          "\r\n",
          '"',
          ",",
          "\uFEFF",
          "{",
          "https://github.com/o/r",
          "\u0000",
        )
        .map((text) => Buffer.from(text)),
    );
    const contents = fc.array(pieces, { maxLength: 20 }).map((parts) => Buffer.concat(parts));
    await fc.assert(
      fc.asyncProperty(
        contents,
        fc.constantFrom("x-2026-04-01.csv", "x.ndjson", "x.gz", "x.zst"),
        fc.boolean(),
        async (content, name, hasHeader) => {
          const path = join(folder, name);
          writeFileSync(
            path,
            hasHeader ? Buffer.concat([Buffer.from(`${RANKING_HEADER}\n`), content]) : content,
          );
          for await (const { refused, skipped } of readFiles([path], {}, systemClock)) {
            for (const problem of [...refused, ...skipped])
              assert.ok(problem.line >= 0 && problem.reason !== "");
          }
        },
      ),
      { numRuns: examples(500) },
    );
  });
});

onBothEngines("An archive", (engine) => {
  const day = (date: number, stars: number): [string, string] => [
    `ranking-2026-04-0${date}.csv`,
    rankingFile(
      { stars: String(stars) },
      { repo_url: `https://github.com/o/day${date}`, description: `of ${date}` },
    ),
  ];

  test("gives the same catalogue twice, and the same snapshots in whatever order of the days", async () => {
    const folder = temporaryFolder();
    const paths = [day(1, 10), day(2, 12), day(3, 11)].map(([name, content]) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    });
    const { catalog, database } = await openCatalog(engine);
    await importFiles(catalog, paths);
    const once = await dumpTables(database);
    const again = await importFiles(catalog, paths);
    assert.deepEqual([again.repositoriesAdded, again.repositoriesChanged, again.snapshotsAdded], [0, 0, 0]);
    assert.deepEqual(await dumpTables(database), once);

    const other = await openCatalog(engine);
    await importFiles(other.catalog, paths.toReversed());
    const byName = async ({ catalog }: typeof other) =>
      new Map(
        (await catalog.dump(0, 10)).map(({ repository, snapshots }) => [repository.fullName, snapshots]),
      );
    const sorted = (map: Map<string, unknown>) => [...map].sort(([a], [b]) => a.localeCompare(b));
    assert.deepEqual(sorted(await byName(other)), sorted(await byName({ catalog, database })));
    const found = await other.catalog.findByName("GITHUB", "o/r");
    assert.equal(found?.repository.stars, 11);
  });
});
