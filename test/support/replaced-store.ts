import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Database } from "../../src/database/database.js";
import type { Engine } from "./engines.js";
import { createTestDatabase, endSessions, replaceTestDatabase } from "./postgres.js";
import { until } from "./until.js";

/** Keeps the state of the database that an engine gave last. Returns what puts that back, under the open connections. */
export async function keepState(engine: Engine, database: Database): Promise<() => Promise<void>> {
  const { url, dataDir } = engine.location();
  if (url === undefined) {
    const [path, kept] = [join(dataDir, "sidereal.db"), join(dataDir, "kept.db")];
    await copyContent(path, kept);
    return () => copyContent(kept, path);
  }
  const closed = () =>
    until("the connections are closed", () => database.pools().every(({ open }) => open === 0));
  await endSessions(url);
  await closed();
  const kept = await createTestDatabase(Number(new URL(url).port), url);
  return async () => {
    await replaceTestDatabase(url, kept);
    await closed();
  };
}

async function copyContent(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from);
  await backup(source, to);
  source.close();
}
