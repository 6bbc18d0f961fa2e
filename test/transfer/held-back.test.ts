import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { importFiles } from "../../src/transfer/import.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines } from "../support/engines.js";
import { csvRow, ImportWorld, rankingFile, temporaryFolder } from "../support/imports.js";
import { tarOf } from "../support/packed.js";
import { openCatalog } from "../support/tables.js";

const ROWS = 120;
const name = (day: number) => `ranking-2026-04-${String(day).padStart(2, "0")}.csv`;

interface Row {
  stars: number;
  forks: number;
}

/** A row on a day: two thirds gain, every ninth loses, the others keep their counts. */
function rowOn(day: number, i: number): Row {
  const change = i % 9 === 0 ? -1 : i % 3 === 0 ? 0 : 3;
  return { stars: 1_000 + 37 * i + change * day, forks: 90 + i };
}

const rowsOn = (day: number): Row[] => Array.from({ length: ROWS }, (_, i) => rowOn(day, i));

/** Files of two archives: the second has no forks. */
const archives = {
  "github-ranking": (rows: readonly Row[]) =>
    rankingFile(
      ...rows.map(({ stars, forks }, i) => ({
        repo_url: `https://github.com/o/r${i % ROWS}`,
        stars: String(stars),
        forks: String(forks),
      })),
    ),
  "awesome-go": (rows: readonly Row[]) =>
    [
      "repo,stars,new-stars-last-24H,language,archived",
      ...rows.map(({ stars }, i) => csvRow([`o/r${i % ROWS}`, stars, 1, "Go", "False"])),
      "",
    ].join("\n"),
};

type Damaged = (day: number) => Row[];
const each =
  (change: (row: Row, i: number) => Row): Damaged =>
  (day) =>
    rowsOn(day).map(change);
/** The damage of a file, and what the warning says of it. The file before is of the day before. */
const damages: Record<string, { rows: Damaged; kind: string; reason: RegExp; only?: string }> = {
  "has zeros": {
    rows: each(() => ({ stars: 0, forks: 0 })),
    kind: "JUMPS",
    reason: /120 of 120 rows have none of the stars of the file of 2026-04-09/,
    // A row of the other archive with 0 stars is a failed fetch, and is not recorded anyway.
    only: "github-ranking",
  },
  "has half the stars": {
    rows: each((row) => ({ ...row, stars: Math.floor(row.stars / 2) })),
    kind: "JUMPS",
    reason: /120 of 120 rows have half the stars/,
  },
  "has its columns swapped": {
    rows: each(({ stars, forks }) => ({ stars: forks, forks: stars })),
    kind: "SWAPPED",
    reason: /120 of 120 rows have the forks of the file of .* as stars/,
    only: "github-ranking",
  },
  "has every row twice": {
    rows: (day) => [...rowsOn(day), ...rowsOn(day).map((row) => ({ ...row, stars: row.stars + 500 }))],
    kind: "CONFLICTS",
    reason: /120 of 120 repositories have several rows with different stars/,
  },
  "is the one before": {
    rows: (day) => rowsOn(day - 1),
    kind: "REPEATED",
    reason: /120 of 120 rows have the same counts as in the file of 2026-04-09/,
  },
  "is a week old": {
    rows: (day) => rowsOn(day - 7),
    kind: "OLDER",
    reason: /80 of 94 rows with other stars than in the file of 2026-04-09.* have fewer/,
  },
  "has a third of its stars doubled": {
    rows: each((row, i) => (i % 3 === 0 ? { ...row, stars: row.stars * 2 } : row)),
    kind: "JUMPS",
    reason: /40 of 120 rows have twice the stars/,
  },
  "has a digit more in a third of its stars": {
    rows: each((row, i) => (i % 3 === 0 ? { ...row, stars: row.stars * 10 + 7 } : row)),
    kind: "JUMPS",
    reason: /40 of 120 rows have ten times the stars/,
  },
};

describe("An import holds back a file that", () => {
  for (const [damage, { rows, kind, reason, only }] of Object.entries(damages))
    for (const [archive, fileOf] of Object.entries(archives)) {
      if (only !== undefined && archive !== only) continue;
      test(`${damage} (${archive})`, async () => {
        const { report, repositories } = await new ImportWorld().import({
          [name(9)]: fileOf(rowsOn(9)),
          [name(10)]: fileOf(rows(10)),
          [name(11)]: fileOf(rowsOn(11)),
        });
        assert.deepEqual(
          report.warnings.map((warning) => [basename(warning.file), warning.kind]),
          [[name(10), kind]],
        );
        assert.match(report.warnings[0]?.reason ?? "", reason);
        assert.deepEqual([report.heldBack, report.refused], [1, 0]);
        assert.deepEqual(
          repositories.get("o/r5")?.snapshots.map(({ stars }) => stars),
          [9, 11].map((day) => rowOn(day, 5).stars),
        );
      });
    }
});

describe("An import takes a file that", () => {
  const ranking = archives["github-ranking"];

  test("has few rows in common with the one before, or is older than all known ones", async () => {
    const world = new ImportWorld();
    await world.import({ [name(9)]: ranking(rowsOn(9)) });
    const few = rowsOn(10)
      .slice(0, 49)
      .map((row) => ({ ...row, stars: row.stars * 2 }));
    assert.equal((await world.import({ [name(10)]: ranking(few) })).report.heldBack, 0);
    assert.equal((await world.import({ [name(8)]: ranking(rowsOn(8)) })).report.heldBack, 0);
  });

  test("has a tenth of its rows far from the one before", async () => {
    const files = (share: number) => ({
      [name(9)]: ranking(rowsOn(9)),
      [name(10)]: ranking(rowsOn(10).map((row, i) => (i < share ? { ...row, stars: row.stars * 2 } : row))),
    });
    assert.equal((await new ImportWorld().import(files(ROWS / 10))).report.heldBack, 0);
    assert.equal((await new ImportWorld().import(files(ROWS / 10 + 1))).report.heldBack, 1);
  });

  test("replaces one of the same name that was held back", async () => {
    const world = new ImportWorld();
    await world.import({ [name(9)]: ranking(rowsOn(9)), [name(10)]: ranking(rowsOn(9)) });
    const { report, repositories } = await world.import({ [name(10)]: ranking(rowsOn(10)) });
    assert.deepEqual([report.warnings, report.heldBack], [[], 0]);
    assert.equal(repositories.get("o/r5")?.snapshots.length, 2);
  });

  test("is in a tar file, or has rows of several dates", async () => {
    const members = [8, 9, 10].map((day) => ({
      name: name(day),
      content: ranking(rowsOn(day === 10 ? 9 : day)),
    }));
    const { report } = await new ImportWorld().import({ "days.tar": tarOf(members) });
    assert.deepEqual(
      report.warnings.map(({ file, kind }) => [basename(file), kind]),
      [[`days.tar: ${name(10)}`, "REPEATED"]],
    );
    const header = "date,slug,source_code_url,stargazers_count,archived\n";
    const on = (day: number, rows: readonly Row[]) =>
      rows.map(({ stars }, i) => `2026-04-${day},s,https://github.com/o/r${i},${stars},False\n`).join("");
    const dated = header + on(10, rowsOn(1)) + on(11, rowsOn(1)) + on(12, rowsOn(2));
    const { report: several, repositories } = await new ImportWorld().import({ "a.csv": dated });
    assert.deepEqual(
      several.warnings.map(({ file, kind }) => [basename(file), kind]),
      [["a.csv (2026-04-11T00:00:00.000Z)", "REPEATED"]],
    );
    assert.equal(repositories.get("o/r5")?.snapshots.length, 2);
  });
});

onBothEngines("A file that is held back", (engine) => {
  test("is not the newest of its archive until it is accepted, and stays accepted", async () => {
    const folder = temporaryFolder();
    const write = (day: number, rows: readonly Row[]) => {
      const path = join(folder, name(day));
      writeFileSync(path, archives["github-ranking"](rows));
      return path;
    };
    const doubled = (day: number) => rowsOn(day).map((row) => ({ ...row, stars: row.stars * 2 }));
    const { catalog } = await openCatalog(engine);
    const paths = [write(9, rowsOn(9)), write(10, doubled(10)), write(11, doubled(11))];
    const newest = async () => (await catalog.recency()).newestFiles.get("github-ranking");
    assert.equal((await importFiles(catalog, paths)).heldBack, 2);
    assert.equal(await newest(), Date.UTC(2026, 3, 9));
    assert.equal((await importFiles(catalog, paths.slice(1, 2), { accepts: true })).heldBack, 0);
    assert.equal(await newest(), Date.UTC(2026, 3, 10));
    const again = await importFiles(catalog, paths);
    assert.deepEqual([again.heldBack, again.warnings, again.snapshotsAdded], [0, [], ROWS]);
    assert.equal(await newest(), Date.UTC(2026, 3, 11));
  });
});

describe("sidereal import", () => {
  test("ends with 3 if files are held back, and with 0 if they are accepted", async () => {
    const world = new CommandWorld();
    const paths = [9, 10].map((day) => {
      const path = join(world.folder, name(day));
      writeFileSync(path, archives["github-ranking"](rowsOn(9)));
      return path;
    });
    const folder = world.newDataDir();
    const { code, stdout, stderr } = await world.runHere(folder, ["import", ...paths]);
    assert.equal(code, 3);
    assert.match(
      stdout,
      /1 file held back: nothing of it was recorded\. If it is right, import it with --accept\n/,
    );
    assert.match(stderr, /^warning: .*ranking-2026-04-10\.csv: 120 of 120 rows have the same counts/);
    const accepted = await world.runHere(folder, ["import", "--accept", ...paths]);
    assert.deepEqual([accepted.code, accepted.stderr], [0, ""]);
  });
});
