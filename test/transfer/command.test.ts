import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CommandWorld, type Ran } from "../support/command.js";
import { RANKING_HEADER, rankingFile, rankingRow } from "../support/imports.js";

const world = new CommandWorld();
const file = (name: string, content: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, content);
  return path;
};
const good = file("good-2026-04-01.csv", rankingFile({}, { repo_url: "https://github.com/o/s" }));
const faulty = file(
  "faulty-2026-04-02.csv",
  `${RANKING_HEADER}\n1,2\n${rankingRow({ stars: "many" })}\n${rankingRow()}\n`,
);

describe("sidereal import", () => {
  test("ends with 0 when all is well, and says what was taken over", async () => {
    const { code, stdout, stderr } = await world.run(world.newDataDir(), ["import", good]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^1 files, 2 rows in /);
    assert.match(
      stdout,
      /2 repositories added, 0 changed; 2 snapshots added\n0 rows skipped, 0 refused; 0 warnings\n/,
    );
    assert.equal(stderr, "");
  });

  test("ends with 3 when lines were refused, shows each with file, line and reason, and takes over the others", async () => {
    const dataDir = world.newDataDir();
    const { code, stdout, stderr } = await world.run(dataDir, ["import", faulty, good, "no-such-file.csv"]);
    assert.equal(code, 3);
    assert.deepEqual(stderr.trimEnd().split("\n"), [
      `${faulty}:2: 2 columns instead of 11`,
      `${faulty}:3: stars: "many" is not a whole number`,
      "no-such-file.csv: no such file",
    ]);
    assert.match(
      stdout,
      /2 repositories added, 0 changed; 3 snapshots added\n0 rows skipped, 3 refused; 0 warnings\n/,
    );
  });

  test("shows only the first of very many refused lines, and how many more there are", async () => {
    const many = file("many-2026-04-02.csv", `${RANKING_HEADER}\n${"1,2\n".repeat(75)}`);
    const { code, stderr } = await world.runHere(world.newDataDir(), ["import", many]);
    const lines = stderr.trimEnd().split("\n");
    assert.deepEqual([code, lines.length, lines.at(50)], [3, 53, "… and 25 more"]);
    assert.deepEqual(lines.slice(51), [
      `warning: ${many}: cut off: the last row, line 76, has 2 of 11 columns`,
      `warning: ${many}: none of its 75 rows could be read`,
    ]);
  });

  test("with --json answers in JSON alone", async () => {
    const { code, stdout, stderr } = await world.runHere(world.newDataDir(), [
      "import",
      "--json",
      faulty,
      good,
    ]);
    assert.equal(code, 3);
    const { seconds, importSeconds, rowsPerSecond, databaseBytes, memoryPeakBytes, ...report } =
      JSON.parse(stdout);
    assert.deepEqual(report, {
      files: 2,
      rows: 5,
      repositoriesAdded: 2,
      repositoriesChanged: 0,
      snapshotsAdded: 3,
      importId: 1,
      differing: 0,
      replaced: 0,
      skipped: 0,
      refused: 2,
      heldBack: 0,
      waiting: 0,
      confirmed: 0,
      namesJoined: 0,
      warnings: [],
    });
    assert.ok(seconds >= importSeconds && rowsPerSecond > 0 && databaseBytes > 0 && memoryPeakBytes > 0);
    const problems = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(problems[0], { file: faulty, line: 2, reason: "2 columns instead of 11" });
    assert.equal(problems.length, 2);
  });

  test("with --dry-run reports the same, and changes nothing", async () => {
    const dataDir = world.newDataDir();
    await world.runHere(dataDir, ["import", good]);
    const bytes = () => readFileSync(join(dataDir, "sidereal.db"));
    const next = file(
      "next-2026-04-03.csv",
      rankingFile({ stars: "120" }, { repo_url: "https://github.com/o/t" }),
    );
    const wrong = file("other-2026-04-01.csv", rankingFile({ stars: "1" }));
    const args = ["import", "--json", faulty, next, wrong];
    const before = bytes();
    const dry = await world.runHere(dataDir, [...args, "--dry-run"]);
    assert.ok(before.equals(bytes()), "the store is the same, byte for byte");
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.includes("dry")),
      [],
    );
    const real = await world.runHere(dataDir, args);
    const reportOf = ({ stdout }: { stdout: string }) => {
      const { seconds, importSeconds, rowsPerSecond, databaseBytes, memoryPeakBytes, importId, ...report } =
        JSON.parse(stdout);
      return { importId, report };
    };
    assert.deepEqual(reportOf(dry).report, reportOf(real).report);
    assert.deepEqual([dry.code, dry.stderr], [real.code, real.stderr]);
    assert.match(dry.stderr, /"stars":1,"storedStars":100,"reason":"differs from the stored reading, kept;/);
    assert.deepEqual([reportOf(dry).importId, reportOf(real).importId], [null, 2]);
    assert.ok(!before.equals(bytes()));
  });

  test("is listed with its number, and undone after a question, also in a copy from a backup", async () => {
    const dataDir = world.newDataDir();
    assert.equal((await world.runHere(dataDir, ["import", "--list"])).code, 1);
    await world.runHere(dataDir, ["import", good]);
    const copy = join(world.folder, "copy");
    const backup = join(world.folder, "imports.backup");
    assert.equal((await world.runHere(dataDir, ["backup", backup])).code, 0);
    assert.equal((await world.runHere(copy, ["restore", backup])).code, 0);
    for (const dir of [dataDir, copy]) {
      const { stdout } = await world.runHere(dir, ["import", "--list"]);
      assert.match(
        stdout,
        /^1 {2}\d{4}-.*Z {2}cli .* {2}good-2026-04-01\.csv as github-ranking: 2 rows of 2026-04-01, 2 readings and 2 repositories added; imported\n$/,
      );
      const asked = await world.runHere(dir, ["import", "--undo", "1"]);
      const words =
        "import 1 (good-2026-04-01.csv): would be undone: removes 2 readings and 2 repositories\n";
      assert.deepEqual(
        [asked.code, asked.stdout, asked.stderr],
        [2, words, "Nothing is changed without --yes.\n"],
      );
      assert.equal((await world.runHere(dir, ["import", "--undo", "1", "--dry-run"])).stdout, words);
      const done = await world.runHere(dir, ["import", "--undo", "1", "--yes"]);
      assert.deepEqual([done.code, done.stdout], [0, words.replace("would be ", "")]);
      assert.match((await world.runHere(dir, ["import", "--list"])).stdout, /; undone\n$/);
      assert.equal((await world.runHere(dir, ["export"])).stdout.trim().split("\n").length, 1);
      assert.match(
        (await world.runHere(dir, ["events"])).stdout,
        /Import undone; target: import 1 .*\n.*Files imported;.* undo: sidereal import --undo 1/,
      );
      const again = await world.runHere(dir, ["import", "--undo", "1", "--yes"]);
      assert.match(again.stderr, /^Import 1 was undone at /);
    }
  });

  test("reads standard input, at the time that is given", async () => {
    const dataDir = world.newDataDir();
    const { code } = await world.run(dataDir, ["import", "--date", "2026-04-05T06:00:00Z", "-"], {
      input: rankingFile({}),
    });
    assert.equal(code, 0);
    const { stdout } = await world.run(dataDir, ["export"]);
    assert.match(stdout, /"type":"snapshot","capturedAt":"2026-04-05T06:00:00.000Z","stars":100,/);
  });

  test("ends with 2 when it is wrongly called or set, says why, and touches nothing", async () => {
    const manifest = file("manifest.csv", "file,time\n");
    const dataDir = join(world.folder, "never-made");
    const isRefused = ({ code, stdout, stderr }: Omit<Ran, "signal">, reason: RegExp) => {
      assert.match(stderr, reason);
      assert.deepEqual([code, stdout], [2, ""], stderr);
      assert.ok(!existsSync(dataDir), "nothing is made");
    };
    for (const [args, reason] of [
      [["import"], /missing required argument 'files'/],
      [["imports", good], /unknown command 'imports'/],
      [["import", "--frmat", "x", good], /unknown option '--frmat'/],
      [["import", "--list", good], /Give files, --list or --undo, and only one of them/],
      [["import", "--yes", good], /--yes belongs to --undo/],
      [["import", "--undo", "x"], /--undo: must be the number of an import/],
      [["import", "--format", "xml", good], /--format: must be one of ndjson, github-ranking,/],
      [["import", "--date", "soon", good], /--date: date: "soon" is not an ISO 8601 time/],
      [["import", "--manifest", "none.csv", good], /--manifest: none.csv cannot be read/],
      [["import", "--manifest", manifest, good], /a manifest needs the columns/],
    ] as const)
      isRefused(await world.runHere(dataDir, args), reason);
    isRefused(await world.run(dataDir, ["import"]), /missing required argument 'files'/);
    for (const [settings, reason] of [
      [{ SIDEREAL_DATADIR: "x" }, /SIDEREAL_DATADIR: no such setting/],
      [{ SIDEREAL_PORT: "http" }, /SIDEREAL_PORT: must be a whole number/],
    ] as const)
      isRefused(await world.run(dataDir, ["import", good], { settings }), reason);
  });

  test("--help ends with 0 and is printed on standard output", async () => {
    for (const args of [["--help"], ["import", "--help"]]) {
      const { code, stdout, stderr } = await world.runHere(world.newDataDir(), args);
      assert.match(stdout, /^Usage: sidereal /);
      assert.deepEqual([code, stderr], [0, ""]);
    }
  });

  test("ends with 1 when it fails, with a message", async () => {
    const dataDir = world.newDataDir();
    writeFileSync(join(dataDir, "sidereal.db"), "this is no database, but a text of more than a few bytes");
    const { code, stderr } = await world.run(dataDir, ["import", good]);
    assert.equal(code, 1);
    assert.match(stderr, /not a database/);
  });
});

describe("sidereal export", () => {
  test("writes the same to a file as to standard output, and leaves no part of one behind", async () => {
    const dataDir = world.newDataDir();
    await world.runHere(dataDir, ["import", good, faulty]);
    const target = join(dataDir, "out.ndjson");
    const written = await world.runHere(dataDir, ["export", "--json", target]);
    assert.equal(written.code, 0, written.stderr);
    assert.deepEqual(JSON.parse(written.stdout), { repositories: 2, snapshots: 3, file: target });
    const printed = await world.run(dataDir, ["export"]);
    assert.equal(printed.stdout, readFileSync(target, "utf8"));
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.startsWith("out")),
      ["out.ndjson"],
    );
  });

  test("of an empty database is a header alone", async () => {
    const dataDir = world.newDataDir();
    await world.runHere(dataDir, ["derive"]);
    const { stdout } = await world.runHere(dataDir, ["export"]);
    assert.equal(stdout, '{"type":"header","format":"sidereal","version":1}\n');
  });

  test("takes its output once, a folder for a state, and no other format", async () => {
    const dataDir = world.newDataDir();
    await world.runHere(dataDir, ["derive"]);
    const target = join(dataDir, "all.ndjson");
    assert.equal((await world.runHere(dataDir, ["export", "--out", target])).code, 0);
    assert.match(readFileSync(target, "utf8"), /"type":"header"/);
    for (const [args, code, message] of [
      [["a", "--out", "b"], 2, /^Give the output once\.\n$/],
      [["--format", "state"], 2, /^The format state needs a folder: --out <folder>\.\n$/],
      [["--format", "parquet"], 2, /Allowed choices are ndjson, state/],
      [["--format", "state", target], 1, /cannot be written: E\w+\n$/],
    ] as const) {
      const refused = await world.runHere(dataDir, ["export", ...args]);
      assert.equal(refused.code, code, args.join(" "));
      assert.match(refused.stderr, message);
    }
  });
});

describe("Processes that start at once", () => {
  test("on an empty data folder all bring it up to date, and none fails", async () => {
    const dataDir = world.newDataDir();
    const all = await Promise.all(Array.from({ length: 4 }, () => world.run(dataDir, ["derive"])));
    for (const { code, stderr } of all) assert.equal(code, 0, stderr);
    const { stdout } = await world.runHere(dataDir, ["export"]);
    assert.equal(stdout, '{"type":"header","format":"sidereal","version":1}\n');
  });

  test("may import into the same database: both end well, and nothing is there twice", async () => {
    const dataDir = world.newDataDir();
    const both = await Promise.all([
      world.run(dataDir, ["import", good]),
      world.run(dataDir, ["import", good]),
    ]);
    for (const { code, stderr } of both) assert.equal(code, 0, stderr);
    const { stdout } = await world.runHere(dataDir, ["export"]);
    assert.equal(stdout.split("\n").length, 1 + 2 + 2 + 1 + 1);
  });
});
