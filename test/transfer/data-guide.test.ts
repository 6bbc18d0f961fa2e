import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { writeDump } from "../../src/transfer/transfer.js";
import { onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { ManualClock } from "../support/manual-clock.js";
import { openCatalog } from "../support/tables.js";
import { NOW, observation, snapshotAt } from "../support/world.js";

/** What the test uses of DuckDB, which is installed with the generators of clients. */
interface DuckDb {
  DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> };
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): unknown[] }>;
  closeSync(): void;
}

const root = temporaryFolder();
const CLIENT = resolve("client/package.json");
const isInstalled = existsSync(resolve("client/node_modules/@duckdb/node-api"));
const skip = isInstalled ? false : "run npm ci --prefix client first";

onSqlite("The statements of docs/DATA.md", (engine) => {
  test("run in DuckDB on a dump, and give each snapshot to its repository", { skip }, async () => {
    const { catalog } = await openCatalog(engine);
    const at = (month: number, day: number) => Date.UTC(2026, month - 1, day, 12);
    const facts = { language: "Go" };
    await catalog.record([
      observation("o/slow", [snapshotAt(at(3, 30), 100), snapshotAt(at(4, 20), 110)], { facts }),
      observation("o/none"),
      // The history of stars counts something else.
      observation("facebook/react", [
        snapshotAt(at(3, 31), 200, { forks: 1 }),
        snapshotAt(at(4, 1), 5, { source: "BACKFILLED" }),
        snapshotAt(at(4, 21), 250, { forks: 2 }),
        snapshotAt(at(4, 22), 260, { forks: 3 }),
      ]),
      observation("o/new", [snapshotAt(at(4, 2), 9_000)]),
    ]);
    const folder = mkdtempSync(join(root, "data-"));
    const { name } = await writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW) });
    const { DuckDBInstance }: DuckDb = createRequire(CLIENT)("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run("set timezone = 'UTC'");
    const answers: unknown[] = [];
    for (const [, sql = ""] of readFileSync("docs/DATA.md", "utf8").matchAll(/^```sql\n(.*?)^```/gms))
      answers.push(
        (
          await connection.runAndReadAll(sql.replaceAll("dump.ndjson.gz", join(folder, name)))
        ).getRowObjectsJson(),
      );
    connection.closeSync();
    assert.deepEqual(answers, [
      [
        { type: "header", lines: 1 },
        { type: "repository", lines: 4 },
        { type: "snapshot", lines: 7 },
      ],
      [],
      [
        { fullName: "facebook/react", language: null, stars: "260", gained: "60" },
        { fullName: "o/slow", language: "Go", stars: "110", gained: "10" },
      ],
      [
        { week: "2026-04-20", stars: "260", forks: "3" },
        { week: "2026-03-30", stars: "200", forks: "1" },
      ],
    ]);
  });
});
