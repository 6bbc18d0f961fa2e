import assert from "node:assert/strict";
import { before, test } from "node:test";
import { parse } from "csv-parse/sync";
import { csvText } from "../../src/api/csv.js";
import { ageInDays } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { examples, fc } from "../support/properties.js";
import { FORMULA, spreadsheetCells } from "../support/spreadsheet.js";
import { type Answer, createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

type Row = Record<string, unknown>;

/** The lines as a reader of CSV has them, by column; strict about quotes and the number of cells. */
const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true });

/** What a cell must hold for a value of JSON. */
function cellOf(value: unknown, column: string): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return guarded(value.map(elementOf).join(";"));
  return typeof value === "string" && !TRUSTED.has(column) ? guarded(value) : String(value);
}

/** An anomaly by its kind, a part of a gain by its basis and stars. */
function elementOf(one: string | { kind: string } | { basis: string; gained: number }): string {
  if (typeof one === "string") return one;
  return "kind" in one ? one.kind : `${one.basis}:${one.gained}`;
}

const TRUSTED = new Set(["id", "provider", "window"]);
/** A text with an apostrophe before each of its parts that begins like a formula. */
const guarded = (text: string): string =>
  text
    .split(/(?<=[;|\t\r\n])/)
    .map((part) => (/^["\p{Zs}\p{Cf}]*[=+\-@＝＋－＠]/u.test(part) ? `'${part}` : part))
    .join("");

/** A record of JSON as one level: the trend and its scores beside the rest. */
function flat(record: Row): Row {
  const { trend, ...own } = record as Row & { trend?: Row };
  const { scores, ...growth } = (trend ?? {}) as Row & { scores?: Row };
  return { ...own, ...growth, ...scores };
}

const COLUMNS =
  "id,provider,owner,name,fullName,url,description,homepage,language,license,topics,stars,forks,openIssues,watchers,fork,archived,availability,createdAt,pushedAt,discoveredAt,refreshedAt,nextRefreshAt,window,from,to,fromSource,starsDelta,forksDelta,openIssuesDelta,starsGrowth,trending,rising,newHot,confidence,reliable,anomalies,starsCounted,newSince,confidenceReasons,lastSeenAt,stale,asOf,ageDays,basis,usualPerDay,hours,parts";

test("any text comes back from its cell, and none begins like a formula", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: fc.constantFrom(...`",;|\r\n\t=+-@＝＠ a'`) }),
  );
  const columns = ["a", "b"].map((name, i) => ({
    name,
    isForeign: true,
    value: (row: readonly [string, string]) => row[i] ?? null,
  }));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (rows) => {
      const written = csvText(columns, rows);
      assert.ok(written.startsWith("\uFEFF"));
      assert.deepEqual(
        rowsOf(written),
        rows.map(([a, b]) => ({ a: guarded(a), b: guarded(b) })),
      );
      for (const separator of [",", ";", "\t", "|"])
        for (const shown of spreadsheetCells(written, separator)) assert.doesNotMatch(shown, FORMULA);
    }),
    { numRuns: examples(500) },
  );
  assert.equal(
    csvText(columns, [["=1+1", 'say "hi", then\nleave']]),
    '\uFEFFa,b\r\n\'=1+1,"say ""hi"", then\nleave"\r\n',
  );
});

test("no separator makes a formula of a part of a text", () => {
  const column = [{ name: "a", isForeign: true, value: ([text]: readonly [string]) => text }];
  const written = (text: string) => csvText(column, [[text]]).replace(/^\uFEFF/, "");
  assert.equal(written("a;=1+1"), "a\r\na;'=1+1\r\n");
  assert.equal(written("＝1+1"), "a\r\n'＝1+1\r\n");
  assert.equal(written("a, b;\t@SUM(1)"), 'a\r\n"a, b;\t\'@SUM(1)"\r\n');
  assert.equal(written("1-2; a - b, c=d"), 'a\r\n"1-2; a - b, c=d"\r\n');
});

onSqliteAndLong("Lists as CSV", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  const same = (csv: Answer, json: Answer) => {
    assert.equal(csv.status, 200);
    assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
    assert.ok(json.body.data.length > 0);
    const expected = json.body.data.map((record: Row) => {
      const asOf = Object(record.trend).to ?? record.lastSeenAt;
      const row: Row = { ...flat(record), asOf, ageDays: ageInDays(asOf && Date.parse(asOf), NOW) };
      return Object.fromEntries(Object.keys(row).map((name) => [name, cellOf(row[name], name)]));
    });
    const rows = rowsOf(csv.body);
    for (const [i, row] of rows.entries())
      for (const [name, cell] of Object.entries(row)) assert.equal(cell, expected[i][name] ?? "", name);
    assert.equal(rows.length, expected.length);
    // No field of the JSON is missing.
    const names = Object.keys(Object.assign({}, ...json.body.data.map(flat)));
    for (const name of names) assert.ok(name in (rows[0] ?? {}), name);
  };

  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(
      observation(
        "=cmd/-x",
        [snapshot(24, 100, { forks: 1, openIssues: 9 }), snapshot(0, 150, { forks: 2, openIssues: 3 })],
        {
          facts: {
            description: '=HYPERLINK("http://evil.example","a, b")',
            homepage: "https://a.example",
            language: "C++",
            license: "MIT",
            topics: ["@admin", "web"],
            archived: false,
            createdAt: 1_700_000_000_000,
            pushedAt: 1_750_000_000_000,
          },
        },
      ),
      observation("b/purged", daily(5_000, 5_010, 5_020, 4_000)),
      observation("c/plain", daily(70, 68), { facts: { description: "+1, “quoted”, 日本" } }),
      observation("d/none"),
    );
  });

  test("format=csv has the rows of the JSON, field by field", async () => {
    for (const path of [
      "/api/repos?sort=stars",
      "/api/repos?sort=stars&window=30d",
      "/api/repos?q=plain",
      "/api/trending?archived=any",
    ]) {
      const csv = await world.get(`${path}${path.includes("?") ? "&" : "?"}format=csv`);
      same(csv, await world.get(path));
      assert.equal(csv.body.split("\r\n")[0], COLUMNS);
      assert.ok(csv.body.endsWith("\r\n"));
    }
  });

  test("what begins like a formula is text, and numbers below zero stay numbers", async () => {
    const { body } = await world.get("/api/repos?sort=stars&format=csv");
    const rows = rowsOf(body);
    const hostile = rows.find(({ name }) => name === "'-x");
    assert.deepEqual(
      [hostile?.owner, hostile?.fullName, hostile?.description, hostile?.topics, hostile?.openIssuesDelta],
      ["'=cmd", "'=cmd/-x", `'=HYPERLINK("http://evil.example","a, b")`, "'@admin;web", "-6"],
    );
    assert.equal(rows.find(({ name }) => name === "plain")?.starsDelta, "-2");
  });

  test("it is a file, and Link leads to the next one", async () => {
    const files = {
      "/api/repos": "sidereal-repositories.csv",
      "/api/trending": "sidereal-trending.csv",
      "/api/rising": "sidereal-rising.csv",
      "/api/new-hot": "sidereal-new-hot.csv",
    };
    for (const [path, file] of Object.entries(files)) {
      const { headers } = await world.get(`${path}?format=csv`);
      assert.equal(headers.get("content-disposition"), `attachment; filename="${file}"`);
    }
    let path: string | undefined = "/api/repos?sort=stars&format=csv&limit=3";
    const names: string[] = [];
    while (path !== undefined) {
      const { headers, body }: Answer = await world.get(path);
      names.push(...rowsOf(body).map(({ name = "" }) => name));
      path = /<https:\/\/sidereal\.example([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    assert.deepEqual(names, ["purged", "'-x", "plain", "none"]);
  });

  test("no rows are a line of names alone", async () => {
    const { body } = await world.get("/api/repos?language=cobol&format=csv");
    assert.equal(body, `${COLUMNS}\r\n`);
  });

  test("watchlists are there as CSV too, and stay private", async () => {
    const { body } = await world.send("POST", "/api/watchlists", { ids: ["2", "1"] });
    const list = `/api/watchlists/${body.data.token}`;
    const csv = await world.get(`${list}/repositories?format=csv`);
    same(csv, await world.get(`${list}/repositories`));
    assert.equal(csv.headers.get("content-disposition"), 'attachment; filename="sidereal-watchlist.csv"');
    const sums = await world.get(`${list}/metrics?format=csv`);
    same(sums, await world.get(`${list}/metrics`));
    assert.equal(
      sums.headers.get("content-disposition"),
      'attachment; filename="sidereal-watchlist-30d.csv"',
    );
    for (const { headers } of [csv, sums]) {
      assert.equal(headers.get("cache-control"), "private, no-cache");
      assert.equal(headers.get("x-robots-tag"), "noindex");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
    }
    const member = await signIn(world, mailbox, "ann@example.org");
    await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, member.headers);
    const mine = await world.get("/api/me/watchlist?format=csv", member.headers);
    same(mine, await world.get("/api/me/watchlist", member.headers));
    assert.equal(mine.headers.get("cache-control"), "no-store");
  });
});

onSqliteAndLong("A file of CSV", (engine) => {
  let world: World;
  let token: string;

  before(async () => {
    world = await createWorld(engine);
    const facts = { language: "日本語", topics: ["web", "=cmd"], createdAt: Date.UTC(2026, 3, 1) };
    await world.record(
      observation("a/one", daily(10, 40, 90), { facts }),
      observation("größe/zwei", daily(5, 6), { facts }),
    );
    token = (await world.send("POST", "/api/watchlists", { ids: ["1", "2"] })).body.data.token;
  });

  /** Strict about quotes and the number of cells; knows no byte order mark unless it is told of one. */
  const read = async (path: string) => {
    const response = await world.request(`${path}${path.includes("?") ? "&" : "?"}format=csv`);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("content-type"), "text/csv; charset=utf-8");
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], path);
    const text = bytes.toString("utf8");
    assert.equal(text.lastIndexOf("\uFEFF"), 0, path);
    assert.ok(text.endsWith("\r\n") && !/[^\r]\n/.test(text), path);
    const rows: Row[] = parse(bytes, { bom: true, columns: true, record_delimiter: "\r\n" });
    return rows;
  };
  /** A value of JSON as a cell. */
  const cells = (rows: readonly Row[]) =>
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, value === null ? "" : String(value)]),
      ),
    );
  const namesOf = ({ id, provider, fullName }: { id: string; provider: string; fullName: string }) => ({
    repositoryId: id,
    provider,
    fullName,
  });

  test("begins with a byte order mark and has CRLF line ends, wherever there is one", async () => {
    for (const path of [
      "/api/repos",
      "/api/repos?id=2",
      "/api/trending",
      "/api/repos/1/metrics",
      "/api/repos/1/ranks",
      "/api/metrics?repo=1",
      "/api/facets/languages",
      "/api/facets/topics",
      "/api/embed/chart?repo=github:a/one",
      `/api/watchlists/${token}/repositories`,
      `/api/watchlists/${token}/metrics`,
    ])
      assert.ok((await read(path)).length > 0, path);
    const names = (await read("/api/repos?id=2")).map(({ fullName }) => fullName);
    assert.deepEqual(names, ["größe/zwei"]);
  });

  test("of ranks has each rank with its repository", async () => {
    const { body } = await world.get("/api/repos/1/ranks");
    const { body: detail } = await world.get("/api/repos/github/a/one");
    assert.ok(body.data.length > 0);
    const expected = body.data.map((rank: Row) => ({ ...rank, ...namesOf(detail.data) }));
    assert.deepEqual(await read("/api/repos/1/ranks"), cells(expected));
  });

  test("of languages and topics has the rows of the page, with names that are no formulas", async () => {
    const { body, headers } = await world.get("/api/facets/languages?limit=1");
    assert.deepEqual(await read("/api/facets/languages?limit=1"), cells(body.data));
    assert.ok(headers.has("link"));
    const topics = (await read("/api/facets/topics")).map(({ name }) => name);
    assert.deepEqual(topics.sort(), ["'=cmd", "web"]);
  });

  test("of a chart has the points of all lines", async () => {
    const path = "/api/embed/chart?repo=github:a/one&repo=github:gr%C3%B6%C3%9Fe/zwei&align=age";
    const { body } = await world.get(path);
    const expected = body.data.series.flatMap(
      ({ points, repositoryId, provider, fullName }: { points: Row[] } & Row) =>
        points.map(({ at, ageDays, value, source }) => ({
          ...{ at, ageDays, metric: "stars", value, source },
          ...{ repositoryId, provider, fullName },
        })),
    );
    assert.equal(expected.length, 5);
    assert.deepEqual(await read(path), cells(expected));
    assert.ok(!body.data.svgUrl.includes("format"));
  });
});
