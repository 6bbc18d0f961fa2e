import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ImportWorld } from "../support/imports.js";

const HEADER = '{"type":"header","format":"sidereal","version":1}';
const repository = (more: object = {}) =>
  JSON.stringify({
    type: "repository",
    provider: "github",
    fullName: "o/r",
    refreshedAt: "2026-04-02T00:00:00Z",
    ...more,
  });
const snapshot = (date: string, stars: unknown, more: object = {}) =>
  JSON.stringify({ type: "snapshot", capturedAt: `2026-04-${date}T00:00:00Z`, stars, ...more });

const read = (...lines: string[]) => new ImportWorld().import({ "x.ndjson": lines.join("\n") });
const starsOf = (snapshots: readonly { stars: number }[] | undefined) => snapshots?.map(({ stars }) => stars);

describe("NDJSON", () => {
  test("gives repositories with the snapshots that follow them, and snapshots that stand alone", async () => {
    const { repositories, refused, report } = await read(
      HEADER,
      repository({
        id: "7",
        providerId: "R_1",
        stars: 11,
        description: " padded ",
        topics: ["b", "a"],
        fork: null,
      }),
      snapshot("01", 10, { forks: 3, source: "OBSERVED" }),
      "",
      snapshot("02", 11),
      snapshot("03", 5, { provider: "gitlab", fullName: "g/h/i", watchers: 2 }),
      snapshot("04", 12),
    );
    assert.deepEqual(refused, []);
    const known = repositories.get("o/r");
    assert.equal(known?.repository.id, 7);
    assert.equal(known.providerId, "R_1");
    assert.deepEqual(starsOf(known.snapshots), [10, 11, 12]);
    assert.deepEqual([known.snapshots[0]?.forks, known.snapshots[0]?.source], [3, "OBSERVED"]);
    assert.deepEqual(known.facts, {
      stars: 12,
      forks: 3,
      description: "padded",
      topics: ["a", "b"],
      fork: null,
    });
    assert.deepEqual(repositories.get("g/h/i")?.facts, { stars: 5, watchers: 2 });
    assert.equal(report.rows, 5);
  });

  test("a line of readings has the counts of many repositories at a time, a line of history those of one at many", async () => {
    const readings = (date: string, entries: unknown, more: object = {}) =>
      JSON.stringify({
        type: "readings",
        capturedAt: `2026-04-${date}T06:00:00Z`,
        provider: "github",
        source: "OBSERVED",
        entries,
        ...more,
      });
    const history = (entries: unknown, more: object = {}) =>
      JSON.stringify({
        type: "history",
        provider: "github",
        fullName: "o/r",
        providerId: "7",
        entries,
        ...more,
      });
    const { repositories, refused, report } = await read(
      readings("02", [["o/r", "7", 12, 3, null, 1]]),
      history(
        [
          ["2026-03-02", 9],
          ["2026-03-01", 8],
        ],
        { fromStart: true },
      ),
      readings("01", [
        ["o/r", "7", 11, 3, null, 1],
        ["o/other", null, 4, 0, 0, 0],
      ]),
    );
    assert.deepEqual(refused, []);
    assert.equal(report.snapshotsAdded, 5);
    const known = repositories.get("o/r");
    assert.deepEqual(starsOf(known?.snapshots), [8, 9, 11, 12]);
    assert.deepEqual(
      known?.snapshots.map(({ source }) => source),
      ["BACKFILLED", "BACKFILLED", "OBSERVED", "OBSERVED"],
    );
    assert.deepEqual([known?.repository.stars, known?.providerId], [12, "7"]);
    assert.deepEqual(starsOf(repositories.get("o/other")?.snapshots), [4]);
    const damaged = [
      readings("01", []),
      readings("01", [["o/r", "7", -1, 3, null, 1]]),
      readings("01", [["o/r", "7", 1, 3, null]]),
      readings("01", [["o", "7", 1, 3, null, 1]]),
      readings("01", [["o/r", "7", 1, 3, null, 1]], { source: "GUESSED" }),
      history([["2026-03-02", null]]),
      history([["2026-13-02", 1]]),
      history([["2026-03-02", 1]], { fromStart: false }),
    ];
    assert.equal((await read(...damaged)).refused.length, damaged.length);
  });

  test("a repository line speaks for the counts that it has; others are those of the newest snapshot", async () => {
    const factsAfter = async (line: object, ...earlier: string[]) => {
      const world = new ImportWorld();
      if (earlier.length > 0) await world.import({ "earlier.ndjson": earlier.join("\n") });
      const lines = [
        repository(line),
        snapshot("01", 10, { forks: 2, watchers: 7 }),
        snapshot("02", 11, { forks: 3 }),
      ];
      const { repositories } = await world.import({ "x.ndjson": lines.join("\n") });
      const found = repositories.get("o/r");
      return { ...found?.facts, countedAt: found?.repository.countedAt };
    };
    const counts = { stars: 11, forks: 3, watchers: 7, countedAt: Date.UTC(2026, 3, 2) };
    const before = [
      repository({ refreshedAt: undefined }),
      snapshot("01", 1, { forks: 1 }).replace("04-01", "03-01"),
    ];
    for (const refreshedAt of [
      undefined,
      "2026-04-01T00:00:00Z",
      "2026-04-02T00:00:00Z",
      "2026-04-09T00:00:00Z",
    ]) {
      assert.deepEqual(await factsAfter({ refreshedAt }), counts, refreshedAt);
      assert.deepEqual(
        await factsAfter({ refreshedAt }, ...before),
        counts,
        `${refreshedAt}, after old counts`,
      );
    }
    assert.deepEqual(await factsAfter({ stars: 12 }), { ...counts, stars: 12 });
    assert.deepEqual(await factsAfter({ stars: 12 }, ...before), { ...counts, stars: 12 });
    assert.deepEqual(await factsAfter({ stars: null }), counts);
    assert.deepEqual(await factsAfter({ stars: null, forks: null }, ...before), counts);
  });

  test("as README shows it gives the counts of its newest snapshot", async () => {
    const [, example = ""] = readFileSync("README.md", "utf8").match(/```ndjson\n(.*?)```/s) ?? [];
    const { repositories } = await read(example);
    const found = repositories.get("acme/kite");
    assert.deepEqual(found?.facts, { language: "Go", stars: 1_142, forks: 52 });
    assert.equal(found?.repository.countedAt, Date.UTC(2026, 3, 30, 6));
  });

  test("has wrong lines refused with their number, and all others taken over", async () => {
    const { repositories, refused } = await read(
      HEADER,
      snapshot("01", 1),
      repository(),
      "{broken",
      "[]",
      '{"type":"unknown"}',
      snapshot("32", 1),
      snapshot("01", -1),
      snapshot("01", "10"),
      snapshot("01", 1.5),
      snapshot("01", 2e12),
      snapshot("01", 1, { fullName: "o/r" }),
      snapshot("02", 2, { extra: 1 }),
      snapshot("03", 3),
      repository({ fullName: "nothing" }),
      snapshot("04", 4),
      repository({ fullName: "o/s", stars: 1, unknown: true }),
      snapshot("04", 4),
      repository({ fullName: "o/t" }),
    );
    assert.deepEqual(
      refused.map((line) => line.split(":")[1]),
      ["2", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "15", "16", "17", "18"],
    );
    assert.equal(refused[0], "x.ndjson:2: the preceding repository line was refused or is missing");
    assert.equal(refused[1], "x.ndjson:4: the line is not JSON");
    assert.equal(
      refused[3],
      "x.ndjson:6: type: must be one of header, repository, snapshot, readings, history, file, parted",
    );
    assert.equal(refused[5], "x.ndjson:8: stars: must be at least 0");
    assert.equal(refused[6], "x.ndjson:9: stars: must be a number");
    assert.equal(refused[9], "x.ndjson:12: provider and fullName belong together");
    assert.equal(refused[11], "x.ndjson:15: fullName: not of the form owner/name");
    assert.deepEqual([...repositories.keys()], ["o/r", "o/t"]);
    assert.deepEqual(starsOf(repositories.get("o/r")?.snapshots), [3]);
  });

  test("of a version that is not known is refused at its header", async () => {
    const { refused } = await read('{"type":"header","format":"sidereal","version":2}', repository());
    assert.deepEqual(refused, ["x.ndjson:1: unknown version 2; this program reads 1"]);
  });

  test("has lines refused whose facts are of the future, as no later file could correct them", async () => {
    const { refused, repositories } = await read(
      HEADER,
      repository({ factTimes: { stars: "2100-01-01T00:00:00Z" } }),
    );
    assert.deepEqual(refused, [
      "x.ndjson:2: factTimes.stars: time: 2100-01-01T00:00:00Z is before 2000 or in the future",
    ]);
    assert.equal(repositories.size, 0);
  });

  test("has lines refused whose texts no database could keep as they are", async () => {
    const half = "\ud800";
    const { refused, repositories } = await read(
      HEADER,
      repository({ fullName: `o/${half}` }),
      repository({ fullName: "o/a\u0000b" }),
      repository({ fullName: "o/a b" }),
      repository({ fullName: "../etc" }),
      repository({ providerId: "a\u0000b" }),
      repository({ providerId: half }),
      repository({ topics: [half] }),
      repository({ topics: ["a\u0000"] }),
      repository({ url: "https://github.com/o/\u0000" }),
      repository({ url: `https://github.com/o/${half}` }),
      repository({ url: "javascript:alert(1)" }),
      repository({ previousFullNames: [{ fullName: half, until: "2026-01-01T00:00:00Z" }] }),
      repository({ id: "9007199254740991" }),
      repository({ id: "0" }),
      repository({ language: "x".repeat(101) }),
      repository({ provider: "git hub" }),
      repository({
        fullName: "o/good",
        description: `a${half}b\u0000c`,
        homepage: "\u0000",
        language: " Go\u0007 ",
      }),
    );
    assert.deepEqual(
      refused.map((line) => Number(line.split(":")[1])),
      Array.from({ length: 16 }, (_, i) => i + 2),
    );
    assert.deepEqual(repositories.get("o/good")?.facts, {
      description: "a\ufffdb c",
      homepage: null,
      language: "Go",
    });
    assert.ok(
      refused.every((line) => !/\p{Cc}/u.test(line)),
      "no message holds a control character",
    );
  });

  test("has a line that is too long refused, and the next one read", async () => {
    const long = repository({ fullName: "o/long", description: "x".repeat(5_000_000) });
    const { refused, repositories } = await read(HEADER, long, repository(), long);
    assert.deepEqual(refused, ["x.ndjson:2: the line is too long", "x.ndjson:4: the line is too long"]);
    assert.deepEqual([...repositories.keys()], ["o/r"]);
  });

  test("may begin with a byte order mark, end its lines with CRLF, and have no last line break", async () => {
    const text = `\uFEFF${[HEADER, repository(), snapshot("01", 10)].join("\r\n")}`;
    const { repositories, refused } = await new ImportWorld().import({ "x.ndjson": text });
    assert.deepEqual(refused, []);
    assert.deepEqual(starsOf(repositories.get("o/r")?.snapshots), [10]);
  });

  test("of many long texts is taken over within the memory of the reading thread", async () => {
    const description = "文".repeat(9_990);
    const lines = Array.from({ length: 6_000 }, (_, i) =>
      repository({ fullName: `o/r${i}`, description: description + i }),
    );
    const { report } = await read(HEADER, ...lines);
    assert.deepEqual([report.repositoriesAdded, report.refused], [6_000, 0]);
  });
});
