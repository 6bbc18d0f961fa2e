import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type Database, openDatabase, type StoreLocation } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import type { Engine } from "./engines.js";
import { temporaryFolder } from "./imports.js";
import { ManualClock } from "./manual-clock.js";
import { NOW } from "./world.js";

/** A place for a store, without one. */
export async function emptyPlace(engine: Engine): Promise<StoreLocation> {
  if (engine.name === "sqlite")
    return { url: undefined, dataDir: mkdtempSync(join(temporaryFolder(), "data-")) };
  const database = await engine.open();
  await database.close();
  const { url } = engine.location();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Not the schema, which may have views of Citus.
  await client.query(`do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' loop
      execute format('drop table %I cascade', name);
    end loop;
    drop sequence repositories_id_seq;
  end $$`);
  await client.end();
  return { url, dataDir: "" };
}

/** Opens the store at a place. Whoever opens it closes it. */
export function openAt({ url, dataDir }: StoreLocation): Promise<Database> {
  return openDatabase({ url, dataDir, pool: 2, log: createLog("silent") });
}

/** The export of a store, as text. */
export async function exportOf(database: Database): Promise<string> {
  let text = "";
  for await (const line of exportCatalogue(new Catalog(database, new ManualClock(NOW)))) text += line;
  return text;
}

/** The settings of a command on the store at a place. */
export function settingsOf({ url }: StoreLocation): Record<string, string> {
  return url === undefined ? {} : { SIDEREAL_DATABASE_URL: url };
}
