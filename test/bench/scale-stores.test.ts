import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { copyToPostgres } from "../../bench/scale/copy-to-postgres.js";
import { multiplyStore } from "../../bench/scale/multiply.js";
import { onServer, openStore, STORE_END, withDatabase } from "../../bench/support/stores.js";
import { fillWithSynthetic } from "../../bench/synthetic/synthetic.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { type Modules, updateDerived } from "../../src/modules.js";
import { checkStore } from "../../src/transfer/transfer.js";
import { connectToServer } from "../support/engines.js";
import type { PostgresServer } from "../support/postgres.js";

const REPOSITORIES = 60;
const TIMES = 3;
const DATABASE = `sidereal_scale_test_${process.pid}`;

let folder: string;
let server: PostgresServer;
let url: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "sidereal-scale-"));
  server = await connectToServer();
  url = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
  await onServer(url, `create database ${DATABASE} template template0 encoding 'UTF8'`);
});

after(async () => {
  await onServer(url, `drop database if exists ${DATABASE} with (force)`);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function read({ database }: Modules, text: string): Promise<unknown[]> {
  const { rows } = await sql.raw<Record<string, unknown>>(text).execute(database.read);
  // Rows of SQLite have no prototype.
  return rows.map((row) => ({ ...row }));
}

test("a store that is multiplied has every repository once, and is whole; its copy on PostgreSQL has the same rows", async () => {
  const source = join(folder, "source");
  const dataDir = join(folder, "multiplied");
  const filled = await openStore({ url: undefined, dataDir: source });
  await fillWithSynthetic(filled.catalog, { repositories: REPOSITORIES, days: 40, seed: 1, end: STORE_END });
  await filled.database.close();
  await multiplyStore(source, { dataDir, times: TIMES, report: () => {} });
  const multiplied = await openStore({ url: undefined, dataDir });
  await updateDerived(multiplied);
  await multiplied.database.close();
  await copyToPostgres(dataDir, withDatabase(url, DATABASE));

  const stores = [
    await openStore({ url: undefined, dataDir }),
    await openStore({ url: withDatabase(url, DATABASE), dataDir: folder }),
  ];
  try {
    const results = await Promise.all(
      stores.map(async (store) => ({
        counts: await read(
          store,
          `select cast(count(*) as text) as repositories, cast(count(distinct name_key) as text) as names,
            cast(count(distinct provider_id) as text) as ids from repositories`,
        ),
        repositories: await read(store, "select * from repositories order by id"),
        snapshots: await read(store, "select * from snapshots order by repository_id, captured_at"),
        rollups: await read(store, "select * from rollups order by repository_id, window_hours"),
        found: (await store.search.find("a", { limit: 5, counted: 1_000 })).ids,
      })),
    );
    const [sqlite, postgres] = results;
    const all = String(REPOSITORIES * TIMES);
    assert.deepEqual(sqlite?.counts, [{ repositories: all, names: all, ids: all }]);
    assert.deepEqual(postgres, sqlite);
    for (const address of [undefined, withDatabase(url, DATABASE)]) {
      const { findings } = await checkStore(
        { url: address, dataDir },
        { clock: systemClock, log: createLog("silent") },
      );
      assert.deepEqual(findings, []);
    }
  } finally {
    for (const { database } of stores) await database.close();
  }
});
