import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { type ImportOptions, importFiles } from "../../src/transfer/import.js";
import { readManifest } from "../../src/transfer/transfer.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines } from "../support/engines.js";
import { csvRow, ImportWorld, RANKING_HEADER, rankingFile, temporaryFolder } from "../support/imports.js";
import { tarOf } from "../support/packed.js";
import { dumpRows, openCatalog } from "../support/tables.js";
import { NOW } from "../support/world.js";

/** A day's file with this number of rows. */
const rows = (count: number, cells: Parameters<typeof rankingFile>[0] = {}, from = 0): string =>
  rankingFile(
    ...Array.from({ length: count }, (_, i) => ({ repo_url: `https://github.com/o/r${from + i}`, ...cells })),
  );
const name = (day: number) => `ranking-2026-04-${String(day).padStart(2, "0")}.csv`;
const days = (first: number, last: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: last - first + 1 }, (_, i) => [name(first + i), rows(30)]));

async function warningsOf(files: Record<string, string | Uint8Array>, options: ImportOptions = {}) {
  const { report, refused, repositories } = await new ImportWorld().import(files, options);
  const warnings = report.warnings.map(({ file, kind, reason }) => `${basename(file)}: ${kind} ${reason}`);
  return { warnings, refused, repositories, report };
}

describe("An import warns, with numbers, of a file", () => {
  test("that is cut off at the end of a row, in a row, in its last column, or in quotes", async () => {
    const whole = rows(30, { description: "A thing, with a comma" });
    const lines = whole.trimEnd().split("\n");
    const cut = (content: string) => warningsOf({ ...days(1, 5), [name(6)]: content });
    assert.deepEqual((await cut(`${lines.slice(0, 16).join("\n")}\n`)).warnings, [
      `${name(6)}: FEW_ROWS 15 rows, 50 % fewer than the usual 30`,
    ]);
    for (const [content, reason] of [
      [whole.slice(0, -1), "the last row, line 31, has no line end"],
      [whole.slice(0, -10), "line 31: a quote is opened and never closed"],
      [whole.slice(0, whole.lastIndexOf(",2026-04-01T10")), "the last row, line 31, has 9 of 11 columns"],
      [
        `${whole.slice(0, whole.lastIndexOf(",2026-04-01T10"))}\n`,
        "the last row, line 31, has 9 of 11 columns",
      ],
    ] as const)
      assert.deepEqual((await cut(content)).warnings, [`${name(6)}: CUT_OFF cut off: ${reason}`]);
  });

  test("that has only a header, or nothing that could be read", async () => {
    const { warnings } = await warningsOf({
      ...days(1, 3),
      [name(4)]: `${RANKING_HEADER}\n`,
      [name(5)]: `${RANKING_HEADER}\nnot,a,row\n`,
      "selfhosted.csv": "date,slug,source_code_url,stargazers_count,archived\n",
    });
    assert.deepEqual(warnings, [
      "selfhosted.csv: HEADER_ONLY a header and no rows",
      `${name(4)}: HEADER_ONLY a header and no rows`,
      `${name(5)}: CUT_OFF cut off: the last row, line 2, has 3 of 11 columns`,
      `${name(5)}: UNREADABLE none of its 1 rows could be read`,
    ]);
  });

  test("whose text is in another encoding", async () => {
    const latin1 = Buffer.from(
      rows(28, { description: "Größe" }) + rows(2, {}, 28).split("\n").slice(1).join("\n"),
      "latin1",
    );
    const { warnings, report } = await warningsOf({ ...days(1, 3), [name(4)]: latin1 });
    assert.deepEqual(warnings, [`${name(4)}: ENCODING 28 of 30 rows are not valid UTF-8`]);
    assert.equal(report.refused, 0);
    const few = (broken: number) =>
      Buffer.from(
        rows(1_000 - broken) + rows(broken, { description: "Größe" }, 2_000).split("\n").slice(1).join("\n"),
        "latin1",
      );
    assert.deepEqual((await warningsOf({ [name(4)]: few(4) })).warnings, []);
    assert.equal((await warningsOf({ [name(4)]: few(5) })).warnings.length, 1);
  });

  test("in which a third of all counts is 0", async () => {
    const content = rows(20) + rows(10, { stars: "0", forks: "0" }, 20).split("\n").slice(1).join("\n");
    const { warnings } = await warningsOf({ ...days(1, 3), [name(4)]: content });
    assert.deepEqual(warnings, [
      `${name(4)}: JUMPS 10 of 30 rows have lost over 2 % of their stars in the file of 2026-04-03T00:00:00.000Z, or 25 % of their forks`,
    ]);
    const go = (zeros: number) =>
      `repo,stars,new-stars-last-24H,language,archived\n${Array.from({ length: 30 }, (_, i) => csvRow([`o/r${i}`, i < zeros ? 0 : 5, 1, "Go", "False"])).join("\n")}\n`;
    const failed = await warningsOf({
      "a-2026-04-01.csv": go(0),
      "a-2026-04-02.csv": go(1),
      "a-2026-04-03.csv": go(12),
    });
    assert.deepEqual(failed.warnings, [
      "a-2026-04-03.csv: ZEROS 0 stars or forks in 12 of 30 rows (40 %), usually in 2 %",
    ]);
  });

  test("whose time is that of others, with how many files and rows there are", async () => {
    const at = readManifest(
      `file,source_commit_time\n${[1, 2, 3].map((day) => `${name(day)},2026-04-03\n`).join("")}`,
      NOW,
    );
    const same =
      "3 files have the time 2026-04-03T00:00:00.000Z; of their 90 rows only the first of each repository is kept";
    const { warnings } = await warningsOf(days(1, 3), { manifest: at });
    assert.deepEqual(warnings, [
      `${name(1)}: OTHER_TIME the manifest says 2026-04-03T00:00:00.000Z, the file's name 2026-04-01`,
      `${name(1)}: SAME_TIME ${same}`,
    ]);
    assert.deepEqual((await warningsOf(days(1, 3), { capturedAt: Date.UTC(2026, 3, 3) })).warnings, [
      `${name(1)}: SAME_TIME ${same}`,
    ]);
  });

  test("that a later import shows to be damaged, and no longer of one that it shows to be normal", async () => {
    const world = new ImportWorld();
    const short = (last: number) =>
      Object.fromEntries([2, 3, 4].slice(0, last - 1).map((day) => [name(day), rows(20)]));
    assert.deepEqual((await world.import({ [name(1)]: rows(20) })).report.warnings, []);
    const { report } = await world.import({ [name(8)]: rows(30) });
    assert.deepEqual(
      report.warnings.map(({ file, kind }) => [file, kind]),
      [[`${name(1)} (imported before)`, "FEW_ROWS"]],
    );
    assert.equal((await world.import(short(2))).report.warnings.length, 1);
    assert.deepEqual((await world.import(short(3))).report.warnings, []);
    assert.deepEqual((await world.import(short(3))).report.warnings, []);
  });

  test("each date of a layout whose rows have dates, whatever files they are in", async () => {
    const header = "date,slug,source_code_url,stargazers_count,archived\n";
    const on = (date: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${date},s,https://github.com/o/r${i},5,False\n`).join("");
    const { warnings } = await warningsOf({
      "a.csv": header + on("2026-04-01", 30) + on("2026-04-02", 15) + on("2026-04-03", 30),
      "b.csv": header + on("2026-04-03", 30) + on("2026-04-04", 30),
    });
    assert.deepEqual(warnings, [
      "a.csv (2026-04-02T00:00:00.000Z): FEW_ROWS 15 rows, 50 % fewer than the usual 30",
    ]);
  });
});

describe("A strict import", () => {
  test("records nothing of damaged files, says why, and records the others", async () => {
    const broken = {
      ...days(1, 3),
      [name(4)]: rows(15, {}, 100),
      [name(5)]: rows(30).slice(0, -1),
      [name(6)]: rows(30),
    };
    const { refused, repositories, report } = await warningsOf(broken, { isStrict: true });
    assert.deepEqual(refused, [
      `${name(4)}: refused as damaged: 15 rows, 50 % fewer than the usual 30`,
      `${name(5)}: refused as damaged: cut off: the last row, line 31, has no line end`,
    ]);
    assert.deepEqual([report.warnings, report.refused], [[], 2]);
    assert.equal(repositories.size, 30);
    const taken = repositories
      .get("o/r0")
      ?.snapshots.map(({ capturedAt }) => new Date(capturedAt).getUTCDate());
    assert.deepEqual(taken, [1, 2, 3, 6]);
  });

  test("judges members of a tar file one by one, and one file together with those imported before", async () => {
    const world = new ImportWorld();
    const members = [1, 2, 3].map((day) => ({ name: name(day), content: rows(day === 2 ? 10 : 30) }));
    const { refused, report } = await world.import({ "days.tar": tarOf(members) }, { isStrict: true });
    assert.deepEqual(refused, [
      `days.tar: ${name(2)}: refused as damaged: 10 rows, 67 % fewer than the usual 30`,
    ]);
    assert.equal(report.snapshotsAdded, 60);
    const later = await world.import({ [name(4)]: rows(20) }, { isStrict: true });
    assert.deepEqual(later.refused, [
      `${name(4)}: refused as damaged: 20 rows, 33 % fewer than the usual 30`,
    ]);
  });

  test("refuses a file without rows, also if rows have the time", async () => {
    const { refused, report } = await warningsOf(
      {
        "selfhosted.csv": "date,slug,source_code_url,stargazers_count,archived\n",
        [name(1)]: `${RANKING_HEADER}\n`,
      },
      { isStrict: true },
    );
    assert.deepEqual(refused.toSorted(), [
      `${name(1)}: refused as damaged: a header and no rows`,
      "selfhosted.csv: refused as damaged: a header and no rows",
    ]);
    assert.deepEqual(report.warnings, []);
  });

  test("of undamaged files is like any other", async () => {
    const strict = await warningsOf(days(1, 4), { isStrict: true });
    const plain = await warningsOf(days(1, 4));
    assert.deepEqual(strict.report, plain.report);
    assert.deepEqual([...strict.repositories], [...plain.repositories]);
  });
});

onBothEngines("Imported files", (engine) => {
  const importedFiles = async (
    files: Record<string, string | Uint8Array>,
    order: (names: string[]) => string[],
  ) => {
    const folder = temporaryFolder();
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
    const { catalog, database } = await openCatalog(engine);
    for (const file of order(Object.keys(files))) await importFiles(catalog, [join(folder, file)]);
    return { rows: await catalog.dumpFiles(), database, catalog };
  };

  test("are recorded with archive, time, rows and damage, the same in any order and again", async () => {
    const files = { ...days(1, 3), [name(4)]: rows(15), [`${name(5)}`]: rows(30) };
    const { rows: once, database } = await importedFiles(files, (names) => names);
    assert.deepEqual(
      once.map(({ source, file, capturedAt, rows: count, damage }) => [
        source,
        file,
        capturedAt,
        count,
        damage.length,
      ]),
      [1, 2, 3, 4, 5].map((day) => [
        "github-ranking",
        name(day),
        Date.UTC(2026, 3, day),
        day === 4 ? 15 : 30,
        day === 4 ? 1 : 0,
      ]),
    );
    assert.deepEqual((await importedFiles(files, (names) => names.toReversed())).rows, once);
    const again = await importedFiles(files, (names) => [...names, ...names]);
    assert.deepEqual(again.rows, once);
    assert.deepEqual((await dumpRows(again.database)).repositories, (await dumpRows(database)).repositories);
  });
});

describe("sidereal import", () => {
  const world = new CommandWorld();
  const write = (file: string, content: string): string => {
    writeFileSync(join(world.folder, file), content);
    return join(world.folder, file);
  };
  const good = [1, 2, 3].map((day) => write(name(day), rows(30)));
  const cut = write(name(4), rows(15));
  const reason = "15 rows, 50 % fewer than the usual 30";

  test("prints warnings and ends with 0; with --strict it ends with 3", async () => {
    const plain = await world.runHere(world.newDataDir(), ["import", ...good, cut]);
    assert.deepEqual([plain.code, plain.stderr], [0, `warning: ${cut}: ${reason}\n`]);
    assert.match(plain.stdout, /0 rows skipped, 0 refused; 1 warnings\n/);
    const strict = await world.runHere(world.newDataDir(), ["import", "--strict", ...good, cut]);
    assert.deepEqual([strict.code, strict.stderr], [3, `${cut}: refused as damaged: ${reason}\n`]);
    assert.match(strict.stdout, /0 rows skipped, 1 refused; 0 warnings\n/);
  });

  test("with --json has them in the report, and as lines on standard error", async () => {
    const { stdout, stderr } = await world.runHere(world.newDataDir(), ["import", "--json", ...good, cut]);
    const warning = { file: cut, kind: "FEW_ROWS", reason, capturedAt: "2026-04-04T00:00:00.000Z" };
    assert.deepEqual(JSON.parse(stdout).warnings, [warning]);
    assert.deepEqual(JSON.parse(stderr), warning);
  });

  test("refuses to read standard input strictly, and documents its exit codes", async () => {
    const { code, stderr } = await world.runHere(world.newDataDir(), ["import", "--strict", "-"]);
    assert.deepEqual(
      [code, stderr],
      [2, "--strict: standard input cannot be read twice; write it to a file first\n"],
    );
    const help = await world.runHere(world.newDataDir(), ["import", "--help"]);
    for (const exit of [0, 1, 2, 3]) assert.match(help.stdout, new RegExp(`^ {2}${exit} {2}\\w`, "m"));
  });
});
