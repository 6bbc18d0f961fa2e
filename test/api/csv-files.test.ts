import assert from "node:assert/strict";
import { before, test } from "node:test";
import { parse } from "csv-parse/sync";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

type Row = Record<string, unknown>;

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
