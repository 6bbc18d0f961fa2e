import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { Catalog } from "../../src/repositories/repositories.js";
import type { Engine } from "./engines.js";
import { ManualClock } from "./manual-clock.js";
import { allSnapshots } from "./snapshots.js";
import { NOW } from "./world.js";

/** The tables that recording writes, with the columns that put their rows in order. */
const RECORDED = {
  repositories: "id",
  previous_names: "repository_id, name_key",
  snapshot_hours: "provider, hour",
  import_files: "source, captured_at, file",
  outdated: "kind, repository_id",
  revision: "id",
} as const;

/** Every row that recording has written, table by table. */
export async function dumpTables(database: Database): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, order] of Object.entries(RECORDED)) {
    const { rows } = await sql<
      Record<string, unknown>
    >`select * from ${sql.table(table)} order by ${sql.raw(order)}`.execute(database.read);
    tables[table] = rows.map((row) => ({ ...row }));
  }
  // Which snapshots are in blocks depends on the batches, and so do the marks of those that are not.
  tables.snapshots = await allSnapshots(database);
  tables.outdated = tables.outdated?.filter((row) => Object(row).kind !== "tails") ?? [];
  return tables;
}

/** The tables without what a second recording may do: the number that grows with every change. */
export async function dumpRows(database: Database): Promise<Record<string, unknown[]>> {
  const { revision, ...tables } = await dumpTables(database);
  return tables;
}

/** Hours from each snapshot of a repository to NOW. */
export async function hoursOf(catalog: Catalog, id: number): Promise<number[]> {
  const [dumped] = await catalog.dump(id - 1, 1);
  return dumped?.repository.id === id
    ? dumped.snapshots.map((point) => (NOW - point.capturedAt) / HOUR_MS)
    : [];
}

/** A catalogue over a fresh database. */
export async function openCatalog(engine: Engine): Promise<{ database: Database; catalog: Catalog }> {
  const database = await engine.open();
  return { database, catalog: new Catalog(database, new ManualClock(NOW)) };
}
