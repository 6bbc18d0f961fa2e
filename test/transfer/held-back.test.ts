import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import type { Catalog } from "../../src/repositories/repositories.js";
import { type ImportOptions, type ImportReport, importFiles } from "../../src/transfer/import.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines } from "../support/engines.js";
import { csvRow, ImportWorld, rankingFile, rankingRow, temporaryFolder } from "../support/imports.js";
import { tarOf } from "../support/packed.js";
import { dumpRows, dumpTables, openCatalog } from "../support/tables.js";
import { observation, snapshotAt } from "../support/world.js";

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
    reason: /120 of 120 rows have lost over 2 % of their stars in the file of 2026-04-09/,
    // A row of the other archive with 0 stars is a failed fetch, and is not recorded anyway.
    only: "github-ranking",
  },
  "has half the stars": {
    rows: each((row) => ({ ...row, stars: Math.floor(row.stars / 2) })),
    kind: "JUMPS",
    reason: /120 of 120 rows have lost over 2 % of their stars/,
  },
  "has its columns swapped": {
    rows: each(({ stars, forks }) => ({ stars: forks, forks: stars })),
    kind: "JUMPS",
    reason: /120 of 120 rows have lost over 2 % of their stars/,
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
    reason: /120 of 120 rows have the same stars as in the file of 2026-04-09/,
  },
  "is a week old": {
    rows: (day) => rowsOn(day - 7),
    kind: "OLDER",
    reason: /80 of 94 rows with other stars than in the file of 2026-04-09.* have fewer/,
  },
  "has a third of its stars doubled": {
    rows: each((row, i) => (i % 3 === 0 ? { ...row, stars: row.stars * 2 } : row)),
    kind: "JUMPS",
    reason: /40 of 120 rows have far more than usual since the file of 2026-04-09/,
  },
  "has a digit more in a third of its stars": {
    rows: each((row, i) => (i % 3 === 0 ? { ...row, stars: row.stars * 10 + 7 } : row)),
    kind: "JUMPS",
    reason: /40 of 120 rows have far more than usual/,
  },
  "has a twentieth of its stars doubled": {
    rows: each((row, i) => (i % 20 === 0 ? { ...row, stars: row.stars * 2 } : row)),
    kind: "JUMPS",
    reason: /6 of 120 rows have far more than usual/,
  },
  "has no forks": {
    rows: each((row) => ({ ...row, forks: 0 })),
    kind: "JUMPS",
    reason: /120 of 120 rows have lost over 2 % of their stars in .*, or 25 % of their forks/,
    only: "github-ranking",
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

const ranking = archives["github-ranking"];

describe("An import takes a file that", () => {
  test("has few rows in common with the one before, or is older than all known ones", async () => {
    const world = new ImportWorld();
    await world.import({ [name(9)]: ranking(rowsOn(9)) });
    const few = rowsOn(10)
      .slice(0, 19)
      .map((row) => ({ ...row, stars: row.stars * 2 }));
    assert.equal((await world.import({ [name(10)]: ranking(few) })).report.heldBack, 0);
    assert.equal((await world.import({ [name(8)]: ranking(rowsOn(8)) })).report.heldBack, 0);
  });

  test("has a few rows far from the one before, or many with forks to match", async () => {
    const heldBack = async (leaps: number, forks: number) => {
      const rows = rowsOn(10).map((row, i) =>
        i < leaps ? { stars: row.stars * 2, forks: row.forks + forks } : row,
      );
      const files = { [name(9)]: ranking(rowsOn(9)), [name(10)]: ranking(rows) };
      return (await new ImportWorld().import(files)).report.heldBack;
    };
    assert.deepEqual([await heldBack(4, 0), await heldBack(5, 0), await heldBack(40, 120)], [0, 1, 0]);
  });

  test("comes after years, in which many rows have risen and some fallen", async () => {
    const later = rowsOn(1).map(({ stars, forks }, i) =>
      i % 10 === 0 ? { stars: Math.round(stars / 2), forks } : { stars: stars * 4, forks: forks * 2 },
    );
    const { report } = await new ImportWorld().import({
      "ranking-2023-04-01.csv": ranking(rowsOn(1)),
      [name(1)]: ranking(later),
    });
    assert.equal(report.heldBack, 0);
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

/** An archive whose files are imported day by day, each by a new process. */
class Days {
  readonly #folder = temporaryFolder();
  readonly catalog: Catalog;

  constructor(catalog: Catalog) {
    this.catalog = catalog;
  }

  path(day: number, rows: readonly Row[]): string {
    const path = join(this.#folder, name(day));
    writeFileSync(path, ranking(rows));
    return path;
  }

  async import(day: number, rows: readonly Row[], options: ImportOptions = {}): Promise<ImportReport> {
    return importFiles(this.catalog, [this.path(day, rows)], options);
  }

  /** The days of the readings of a repository, and its stars now. */
  async readings(fullName: string): Promise<{ days: string; stars: number | null | undefined }> {
    const dumped = (await this.catalog.dump(0, 50_000)).find((one) => one.repository.fullName === fullName);
    const days = dumped?.snapshots.map(({ capturedAt }) => new Date(capturedAt).getUTCDate()) ?? [];
    return { days: days.join(" "), stars: dumped?.repository.stars };
  }
}

const plus = (day: number, part: number): Row[] =>
  rowsOn(day).map(({ stars, forks }) => ({ stars: Math.round(stars * (1 + part)), forks }));
const minus = (day: number, lost: number): Row[] =>
  rowsOn(day).map(({ stars, forks }) => ({ stars: stars - lost, forks }));
const outcomes = ({ heldBack, waiting, confirmed }: ImportReport) => ({ heldBack, waiting, confirmed });
const TAKEN = { heldBack: 0, waiting: 0, confirmed: 0 };
const WAITS = { heldBack: 1, waiting: 1, confirmed: 0 };

onBothEngines("A suspicious file of an archive", (engine) => {
  const begin = async () => {
    const opened = await openCatalog(engine);
    const days = new Days(opened.catalog);
    for (const day of [1, 2, 3]) assert.deepEqual(outcomes(await days.import(day, rowsOn(day))), TAKEN);
    return { days, ...opened };
  };

  test("waits for the next one, and is withdrawn if that agrees with the files before", async () => {
    const { days, catalog } = await begin();
    assert.deepEqual(outcomes(await days.import(4, plus(4, 0.2))), WAITS);
    assert.deepEqual(await days.readings("o/r5"), { days: "1 2 3", stars: rowOn(3, 5).stars });
    assert.equal((await catalog.dumpFiles()).length, 3, "an export does not have it");
    const next = await days.import(5, rowsOn(5));
    assert.deepEqual(outcomes(next), TAKEN);
    assert.deepEqual(
      next.warnings.map(({ file, kind }) => [file, kind]),
      [[`${name(4)} (imported before)`, "JUMPS"]],
    );
    for (const day of [6, 7]) assert.deepEqual(outcomes(await days.import(day, rowsOn(day))), TAKEN);
    assert.deepEqual(await days.readings("o/r5"), { days: "1 2 3 5 6 7", stars: rowOn(7, 5).stars });
    assert.equal((await catalog.dumpFiles()).length, 7);
  });

  test("counts if the next one agrees with it: a lasting change costs one file", async () => {
    const { days } = await begin();
    assert.deepEqual(outcomes(await days.import(4, minus(4, 250))), WAITS);
    const next = await days.import(5, minus(5, 250));
    assert.deepEqual([outcomes(next), next.snapshotsAdded], [{ ...TAKEN, confirmed: 1 }, 2 * ROWS]);
    for (const day of [6, 7]) assert.deepEqual(outcomes(await days.import(day, minus(day, 250))), TAKEN);
    assert.deepEqual(await days.readings("o/r5"), { days: "1 2 3 4 5 6 7", stars: rowOn(7, 5).stars - 250 });
  });

  test("is never followed by a second one that waits", async () => {
    const { days } = await begin();
    const waiting: number[] = [];
    for (let day = 4; day <= 9; day++)
      waiting.push((await days.import(day, day % 2 === 0 ? plus(day, 0.5) : minus(day, 400))).waiting);
    assert.ok(!waiting.join("").includes("11"), waiting.join(" "));
  });

  test("has the same outcome in one import, day by day, twice, and in a tar file", async () => {
    const files = [4, 5, 6].map((day): [number, Row[]] => [day, day === 4 ? plus(4, 0.2) : rowsOn(day)]);
    const { days, database } = await begin();
    for (const [day, rows] of files) {
      await days.import(day, rows);
      await days.import(day, rows);
    }
    const { snapshots } = await dumpTables(database);
    const once = await begin();
    const report = await importFiles(
      once.catalog,
      files.map(([day, rows]) => once.days.path(day, rows)),
    );
    assert.deepEqual(outcomes(report), { heldBack: 1, waiting: 0, confirmed: 0 });
    assert.deepEqual((await dumpTables(once.database)).snapshots, snapshots);
    const again = await importFiles(
      once.catalog,
      files.map(([day, rows]) => once.days.path(day, rows)),
    );
    assert.deepEqual([outcomes(again).heldBack, again.snapshotsAdded], [1, 0], "it stays out");
    await once.days.import(4, plus(4, 0.2), { accepts: true });
    assert.equal((await once.days.readings("o/r5")).days, "1 2 3 4 5 6");
  });

  test("is decided by a later file alone", async () => {
    const { days } = await begin();
    await days.import(6, plus(6, 0.2));
    assert.deepEqual(outcomes(await days.import(5, rowsOn(5))), TAKEN);
    assert.deepEqual(outcomes(await days.import(6, plus(6, 0.2))), WAITS);
    await days.import(7, rowsOn(7));
    assert.equal((await days.readings("o/r5")).days, "1 2 3 5 7");
  });

  test("can be replaced while it waits, or accepted", async () => {
    const { days } = await begin();
    await days.import(4, plus(4, 0.2));
    assert.deepEqual(outcomes(await days.import(4, rowsOn(4))), TAKEN);
    assert.deepEqual(outcomes(await days.import(5, minus(5, 250))), WAITS);
    assert.deepEqual(outcomes(await days.import(5, minus(5, 250), { accepts: true })), TAKEN);
    assert.deepEqual(outcomes(await days.import(6, minus(6, 250))), TAKEN);
    assert.equal((await days.readings("o/r5")).days, "1 2 3 4 5 6");
  });

  test("is decided again after a crash while the decision was carried out", async () => {
    for (const [suspect, next] of [
      [minus(4, 250), minus(5, 250)],
      [plus(4, 0.2), rowsOn(5)],
      [plus(4, 0.005), rowsOn(5)],
    ] as const) {
      const { days, database, catalog } = await begin();
      const whole = await begin();
      await whole.days.import(4, suspect);
      await whole.days.import(5, next);
      await days.import(4, suspect);
      const settle = catalog.settleFile.bind(catalog);
      catalog.settleFile = async () => Promise.reject(new Error("killed"));
      await assert.rejects(days.import(5, next), /killed/);
      catalog.settleFile = settle;
      await days.import(5, next);
      const rows = await dumpRows(database);
      const expected = await dumpRows(whole.database);
      for (const table of ["repositories", "snapshots", "import_files"])
        assert.deepEqual(rows[table], expected[table], table);
    }
  });
});

onBothEngines("A file that is slightly too high", (engine) => {
  test("is withdrawn by the next one, with its own readings alone", async () => {
    const { catalog } = await openCatalog(engine);
    const days = new Days(catalog);
    for (const day of [1, 2, 3]) await days.import(day, rowsOn(day));
    // The same time in another archive, and a reading of the forge.
    const other = join(temporaryFolder(), "analysis-2026-04-04.csv");
    writeFileSync(other, archives["awesome-go"](rowsOn(4).slice(0, 9)));
    await importFiles(catalog, [other]);
    await catalog.record([observation("o/r20", [snapshotAt(Date.UTC(2026, 3, 4, 5), rowOn(4, 20).stars)])]);
    const only = rankingRow({ repo_url: "https://github.com/o/only", stars: "800" });
    const path = days.path(4, plus(4, 0.005));
    writeFileSync(path, `${readFileSync(path, "utf8")}${only}\n`);
    assert.deepEqual(outcomes(await importFiles(catalog, [path])), TAKEN);
    assert.equal((await days.readings("o/r9")).stars, Math.round(rowOn(4, 9).stars * 1.005));
    const next = await days.import(5, rowsOn(5).slice(0, 115));
    assert.deepEqual(
      next.warnings.map(({ file, kind }) => [basename(file), kind]),
      [[`${name(4)} (imported before)`, "JUMPS"]],
    );
    assert.match(
      next.warnings[0]?.reason ?? "",
      /106 of 106 rows have fewer stars in the file of 2026-04-05/,
    );
    for (const [repository, expected] of Object.entries({
      "o/r9": { days: "1 2 3 5", stars: rowOn(5, 9).stars },
      "o/r8": { days: "1 2 3 4 5", stars: rowOn(5, 8).stars },
      "o/r20": { days: "1 2 3 4 5", stars: rowOn(5, 20).stars },
      "o/r119": { days: "1 2 3", stars: rowOn(3, 119).stars },
      "o/only": { days: "4", stars: 800 },
    }))
      assert.deepEqual(await days.readings(repository), expected, repository);
    assert.equal((await days.import(4, plus(4, 0.005))).snapshotsAdded, 0, "it stays out");
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
      /1 file waiting for the next one, which decides\. Import one that is right with --accept\n/,
    );
    assert.match(stderr, /^warning: .*ranking-2026-04-10\.csv: 120 of 120 rows have the same stars/);
    const accepted = await world.runHere(folder, ["import", "--accept", ...paths]);
    assert.deepEqual([accepted.code, accepted.stderr], [0, ""]);
  });
});
