import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { csvRow, ImportWorld, RANKING_HEADER, rankingFile, rankingRow } from "../support/imports.js";
import { snapshotAt } from "../support/world.js";

const APRIL_1 = Date.UTC(2026, 3, 1);

/** Imports one file into an empty catalogue. */
const importOne = (content: string | Uint8Array, name = "ranking-2026-04-01.csv") =>
  new ImportWorld().import({ [name]: content });

describe("A Github-Ranking file", () => {
  test("gives facts and a snapshot of the file's date for each row", async () => {
    const { report, repositories } = await importOne(rankingFile({}));
    const dumped = repositories.get("o/r");
    assert.deepEqual(dumped?.facts, {
      url: "https://github.com/o/r",
      description: "A thing",
      language: "Go",
      stars: 100,
      forks: 10,
      openIssues: 5,
      availability: "AVAILABLE",
      pushedAt: Date.UTC(2026, 3, 1, 10),
    });
    assert.deepEqual(dumped?.snapshots, [snapshotAt(APRIL_1, 100, { forks: 10, openIssues: 5 })]);
    assert.deepEqual(report, {
      importId: null,
      files: 1,
      rows: 1,
      repositoriesAdded: 1,
      repositoriesChanged: 0,
      snapshotsAdded: 1,
      differing: 0,
      replaced: 0,
      skipped: 0,
      refused: 0,
      heldBack: 0,
      waiting: 0,
      confirmed: 0,
      warnings: [],
    });
  });

  test("that has a repository in several lists counts the first of them", async () => {
    const { report, repositories } = await importOne(
      rankingFile(
        { stars: "100", forks: "9" },
        { item: "top-100-forks", stars: "101", forks: "10" },
        { item: "Go", stars: "99", repo_url: "https://github.com/O/R" },
      ),
    );
    assert.equal(report.snapshotsAdded, 1);
    assert.equal(repositories.size, 1);
    assert.deepEqual(repositories.get("o/r")?.snapshots, [
      snapshotAt(APRIL_1, 100, { forks: 9, openIssues: 5 }),
    ]);
    assert.equal(repositories.get("o/r")?.repository.stars, 100);
  });

  test("of a later day may change the letter case of a name", async () => {
    const { repositories } = await new ImportWorld().import({
      "a-2026-04-01.csv": rankingFile({}),
      "a-2026-04-02.csv": rankingFile({ repo_url: "https://github.com/O/R", stars: "105" }),
    });
    assert.deepEqual([...repositories.keys()], ["O/R"]);
    assert.equal(repositories.get("O/R")?.snapshots.length, 2);
    assert.deepEqual(repositories.get("O/R")?.previousNames, []);
  });

  test("may leave language, issues, last commit and description empty: they are told to be unknown", async () => {
    const { repositories } = await importOne(
      rankingFile({ language: "", issues: "", last_commit: "", description: "" }),
    );
    const { language, openIssues, pushedAt, description } = repositories.get("o/r")?.facts ?? {};
    assert.deepEqual([language, openIssues, pushedAt, description], [null, null, null, null]);
  });

  test("may hold line breaks and quotes inside quotes, CRLF, a byte order mark, and columns in another order", async () => {
    const description = 'Says "hello",\n and goes on';
    const lines = `\uFEFF${rankingFile({ description }, { repo_url: "https://github.com/o/s" })}`;
    const { repositories, refused } = await importOne(lines.replaceAll("\n", "\r\n"));
    assert.deepEqual(refused, []);
    assert.equal(repositories.get("o/r")?.facts.description, 'Says "hello",  and goes on');
    assert.equal(repositories.size, 2);
    const columns = RANKING_HEADER.split(",").toReversed();
    const cells = rankingRow().split(",").toReversed();
    const reversed = await importOne(`${columns.join(",")},extra\n${cells.join(",")},1\n`);
    assert.deepEqual(reversed.repositories.get("o/r")?.snapshots, [
      snapshotAt(APRIL_1, 100, { forks: 10, openIssues: 5 }),
    ]);
  });

  test("keeps long descriptions, and takes out what no text should hold", async () => {
    const long = "界".repeat(5_835);
    const { repositories } = await importOne(
      rankingFile(
        { description: long },
        { repo_url: "https://github.com/o/s", description: " \u0000a\u0007\u001b[1mb\u0085 " },
        { repo_url: "https://github.com/o/t", description: `${"x".repeat(9_999)} ${"y".repeat(500)}` },
      ),
    );
    assert.equal(repositories.get("o/r")?.facts.description, long);
    assert.equal(repositories.get("o/s")?.facts.description, "a [1mb");
    assert.equal(repositories.get("o/t")?.facts.description, "x".repeat(9_999));
  });

  test("has wrong rows refused with the line they begin on, and all others taken over", async () => {
    const rows = [
      rankingRow({ description: "line\nbreak\nhere" }), // lines 2 to 4
      rankingRow({ stars: "12k" }),
      rankingRow({ forks: "-1" }),
      rankingRow({ stars: "" }),
      "", // line 8
      rankingRow({ issues: "1.5" }),
      rankingRow({ last_commit: "yesterday" }),
      rankingRow({ last_commit: "2026-02-30T00:00:00Z" }),
      rankingRow({ last_commit: "1999-12-31T23:59:59Z" }),
      rankingRow({ repo_url: "ftp://github.com/o/r" }),
      rankingRow({ repo_url: "https://github.com/only-owner" }),
      rankingRow({ repo_url: "https://example.org/o/r" }),
      rankingRow({ repo_url: "https://github.com/o/r/tree/main" }),
      "1,2,3",
      `${rankingRow()},1`,
      rankingRow({ language: "x".repeat(101) }),
      rankingRow({ repo_url: "https://github.com/o/last" }),
    ];
    const { refused, repositories, report } = await importOne(`${RANKING_HEADER}\n${rows.join("\n")}`);
    assert.deepEqual(refused, [
      'ranking-2026-04-01.csv:5: stars: "12k" is not a whole number',
      'ranking-2026-04-01.csv:6: forks: "-1" is not a whole number',
      'ranking-2026-04-01.csv:7: stars: "" is not a whole number',
      'ranking-2026-04-01.csv:9: issues: "1.5" is not a whole number',
      'ranking-2026-04-01.csv:10: last_commit: "yesterday" is not an ISO 8601 time',
      'ranking-2026-04-01.csv:11: last_commit: "2026-02-30T00:00:00Z" is not an ISO 8601 time',
      "ranking-2026-04-01.csv:12: last_commit: 1999-12-31T23:59:59Z is before 2000 or in the future",
      'ranking-2026-04-01.csv:13: repo_url: "ftp://github.com/o/r" is not the URL of a repository',
      'ranking-2026-04-01.csv:14: repo_url: "https://github.com/only-owner" is not the URL of a repository',
      'ranking-2026-04-01.csv:15: repo_url: unknown provider for the host "example.org"',
      'ranking-2026-04-01.csv:16: repo_url: "https://github.com/o/r/tree/main" is not the URL of a repository',
      "ranking-2026-04-01.csv:17: 3 columns instead of 11",
      "ranking-2026-04-01.csv:18: 12 columns instead of 11",
      `ranking-2026-04-01.csv:19: language: "${"x".repeat(60)}…" is longer than 100 characters`,
    ]);
    assert.deepEqual([...repositories.keys()], ["o/r", "o/last"]);
    assert.equal(report.rows, 16);
    assert.equal(report.refused, 14);
  });

  test("with a stray quote loses that row alone", async () => {
    const other = (name: string) =>
      rankingRow({ repo_url: `https://github.com/o/${name}`, description: "a, b" });
    const stray = (description: string) => `${rankingRow({ description: "" })}${description}`;
    const rows = [
      stray('"never closed'),
      other("a"),
      stray('"closed" too early'),
      other("b"),
      stray('in"side'),
      other("c"),
    ];
    const { refused, repositories } = await importOne(`${RANKING_HEADER}\n${rows.join("\n")}\n`);
    assert.deepEqual(refused, [
      "ranking-2026-04-01.csv:2: unexpected text after a closing quote",
      "ranking-2026-04-01.csv:4: unexpected text after a closing quote",
      "ranking-2026-04-01.csv:6: a quote inside an unquoted field",
    ]);
    assert.deepEqual([...repositories.keys()], ["o/a", "o/b", "o/c"]);
    const last = await importOne(
      `${RANKING_HEADER}\n${other("a")}\n${stray('"never closed')}\n${rankingRow()}`,
    );
    assert.deepEqual(last.refused, ["ranking-2026-04-01.csv:3: a quote is opened and never closed"]);
    assert.deepEqual([...last.repositories.keys()], ["o/a", "o/r"]);
  });

  test("with a record too long to be true loses that row alone", async () => {
    const { refused, repositories } = await importOne(
      `${RANKING_HEADER}\n${rankingRow({ description: "y".repeat(300_000) })}\n${rankingRow()}\n`,
    );
    assert.deepEqual(refused, [
      "ranking-2026-04-01.csv:2: the record is too long; a quote may never be closed",
    ]);
    assert.deepEqual([...repositories.keys()], ["o/r"]);
  });
});

describe("An awesome-go file", () => {
  const header = "repo,stars,new-stars-last-30d,new-stars-last-24H,language,archived";
  test("gives stars, language and whether it is archived; 0 stars are a failed fetch and left out", async () => {
    const { repositories, report, refused, skipped } = await importOne(
      `${header}\navelino/awesome-go,100,9,1,Go,false\nold/thing,5,0,0,,True\nlost/fetch,0,0,0,Go,false\nbad,1,0,0,Go,false\na/b/c,1,0,0,Go,false\no/r,7,0,0,Go,maybe\n`,
      "analysis-2026-04-01.csv",
    );
    assert.deepEqual([...repositories.keys()], ["avelino/awesome-go", "old/thing"]);
    assert.deepEqual(repositories.get("old/thing")?.facts, {
      url: "https://github.com/old/thing",
      language: null,
      archived: true,
      stars: 5,
      availability: "AVAILABLE",
    });
    assert.deepEqual(repositories.get("avelino/awesome-go")?.snapshots, [snapshotAt(APRIL_1, 100)]);
    assert.deepEqual(skipped, [
      "analysis-2026-04-01.csv:4: 0 stars: in this layout that is a failed fetch, not a count",
    ]);
    assert.deepEqual(refused, [
      'analysis-2026-04-01.csv:5: repo: "bad" is not of the form owner/name',
      'analysis-2026-04-01.csv:6: repo: "a/b/c" is not of the form owner/name',
      'analysis-2026-04-01.csv:7: archived: "maybe" is neither true nor false',
    ]);
    assert.deepEqual([report.rows, report.skipped, report.refused], [6, 1, 3]);
  });
});

describe("An awesome-selfhosted file", () => {
  const header = "date,slug,name,source_code_url,stargazers_count,updated_at,archived";
  const row = (date: string, url: string, stars: string | number) =>
    csvRow([date, "s", "S", url, stars, date, "False"]);

  test("has a date in every row and several forges, and groups may nest on GitLab", async () => {
    const { repositories, refused, skipped, report } = await importOne(
      [
        header,
        row("2026-04-01", "https://github.com/o/r/", 10),
        row("2026-04-02", "https://github.com/o/r.git", 12),
        row("2026-04-02", "https://www.github.com/o/zero", 0),
        row("2026-04-02", "http://gitlab.com/group/sub/deep/project/", 3),
        row("2026-04-02", "https://gitlab.com/group/project/-/tree/main", 3),
        row("2026-04-02", "https://codeberg.org/forgejo/forgejo", 5_000),
        row("2026-04-02", "https://git.example.org/o/r", 1),
        row("someday", "https://github.com/o/r", 1),
      ].join("\n"),
      "stars.csv",
    );
    assert.deepEqual(
      [...repositories.values()].map(({ repository: { provider, fullName, url } }) => [
        provider,
        fullName,
        url,
      ]),
      [
        ["GITHUB", "o/r", "https://github.com/o/r"],
        ["GITLAB", "group/sub/deep/project", "https://gitlab.com/group/sub/deep/project"],
        ["CODEBERG", "forgejo/forgejo", "https://codeberg.org/forgejo/forgejo"],
      ],
    );
    assert.deepEqual(repositories.get("o/r")?.snapshots, [
      snapshotAt(APRIL_1, 10),
      snapshotAt(APRIL_1 + 24 * HOUR_MS, 12),
    ]);
    assert.equal(repositories.get("group/sub/deep/project")?.repository.owner, "group/sub/deep");
    assert.equal(skipped.length, 1);
    assert.deepEqual(refused, [
      'stars.csv:6: source_code_url: "https://gitlab.com/group/project/-/tree/main" is not the URL of a repository',
      'stars.csv:8: source_code_url: unknown provider for the host "git.example.org"',
      'stars.csv:9: date: "someday" is not an ISO 8601 time',
    ]);
    assert.equal(report.snapshotsAdded, 4);
  });
});

describe("A file of a site about one repository's stars", () => {
  /** The end of a day is stored a millisecond before it. */
  const held = (capturedAt: number, stars: number) => ({
    ...snapshotAt(capturedAt - (capturedAt % DAY_MS === 0 ? 1 : 0), stars),
    source: "BACKFILLED",
  });

  test("of star-history has browsers' times and the stars still held, of several repositories", async () => {
    const { repositories, refused, report } = await importOne(
      [
        "Repository,Date,Stars",
        "o/r,Tue Dec 07 2021 20:50:22 GMT+0400 (Gulf Standard Time),1",
        "o/r,Wed Apr 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time),460",
        "o/s,Wed Apr 01 2026 02:00:00 GMT+0200 (Central European Summer Time),7",
        "o/r,2026-03-01T00:00:00Z,455",
        "o/r,yesterday,1",
        "nobody,Wed Apr 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time),1",
        "o/r,Thu Apr 01 2100 00:00:00 GMT+0000 (Coordinated Universal Time),1",
      ].join("\n"),
      "star-history-202641.csv",
    );
    assert.deepEqual(repositories.get("o/r")?.snapshots, [
      held(Date.UTC(2021, 11, 7, 16, 50, 22), 1),
      held(Date.UTC(2026, 2, 1), 455),
      held(APRIL_1, 460),
    ]);
    assert.deepEqual(repositories.get("o/s")?.snapshots, [held(APRIL_1, 7)]);
    // Those who have starred it and not withdrawn that are all its stars, at that moment.
    assert.equal(repositories.get("o/r")?.repository.stars, 460);
    assert.deepEqual(refused, [
      'star-history-202641.csv:6: Date: "yesterday" is not an ISO 8601 time',
      'star-history-202641.csv:7: Repository: "nobody" is not of the form owner/name',
      "star-history-202641.csv:8: Date: 2100-04-01T00:00:00.000Z is before 2000 or in the future",
    ]);
    assert.deepEqual([report.rows, report.warnings], [7, []]);
  });

  test("of daily-stars-explorer has the stars at the end of each day, and the repository in its name", async () => {
    const tomorrow = new Date(Date.now() + 24 * HOUR_MS)
      .toISOString()
      .slice(0, 10)
      .split("-")
      .reverse()
      .join("-");
    const text = `date,day-stars,total-stars\n30-03-2026,5,95\n31-03-2026,5,100\n2026-03-31,0,1\n${tomorrow},1,101`;
    const { repositories, refused, skipped } = await importOne(text, "o-x_r_s.t-stars-history.csv");
    assert.deepEqual(repositories.get("o-x/r_s.t")?.snapshots, [
      held(APRIL_1 - 24 * HOUR_MS, 95),
      held(APRIL_1, 100),
    ]);
    assert.deepEqual(refused, [
      'o-x_r_s.t-stars-history.csv:4: date: "2026-03-31" is not of the form 31-12-2025',
    ]);
    assert.deepEqual(skipped, ["o-x_r_s.t-stars-history.csv:5: the day has not ended"]);
    const unnamed = await importOne(text, "stars.csv");
    assert.match(unnamed.refused[0] ?? "", /name the file like owner_name-stars-history\.csv$/);
  });
});
