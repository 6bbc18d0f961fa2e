import { connectTo, openPool, postgresDialect } from "../../../src/database/postgres.js";
import { openSqlite, sqliteDialect } from "../../../src/database/sqlite.js";
import { WriteQueue } from "../../../src/database/sqlite-writer.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import type { OldStore } from "./old-stores.js";

/** Opens a store without migrating it. `place`: a SQLite file, or the address of a PostgreSQL database. */
export function openOldStore(place: string): OldStore & { close(): Promise<void> } {
  if (!place.startsWith("postgres:")) {
    const { db } = openSqlite(place, { synchronous: "FULL", writers: new WriteQueue(systemClock) });
    return { db, dialect: sqliteDialect, close: () => db.destroy() };
  }
  const { db } = connectTo(openPool(place, { pool: 1, reads: false, log: createLog("silent") }));
  return { db, dialect: postgresDialect, close: () => db.destroy() };
}
