import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../../src/database/database.js";
import { createLog } from "../../../src/lib/log.js";
import { connectToServer, type Engine } from "../../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../../support/postgres.js";

/** Does something on each engine; what is opened is closed at the end. */
export async function withEngines(use: (engine: Engine) => Promise<void>): Promise<void> {
  const log = createLog("silent");
  const opened: Database[] = [];
  const folder = mkdtempSync(join(tmpdir(), "sidereal-harness-"));
  const keep = async (opening: Promise<Database>): Promise<Database> => {
    const database = await opening;
    opened.push(database);
    return database;
  };
  const closeAll = async () => {
    for (const database of opened.splice(0)) await database.close().catch(() => {});
  };
  const location = () => ({ url: undefined, dataDir: folder });
  try {
    await use({
      name: "sqlite",
      open: () =>
        keep(openDatabase({ url: undefined, dataDir: mkdtempSync(join(folder, "data-")), pool: 4, log })),
      location,
    });
    await closeAll();
    const server = await connectToServer();
    const urls: string[] = [];
    try {
      await use({
        name: "postgres",
        open: async () => {
          const url = await createTestDatabase(server.port);
          urls.push(url);
          return keep(openDatabase({ url, dataDir: "", pool: 4, log }));
        },
        location,
      });
      await closeAll();
      for (const url of urls) await dropTestDatabase(url);
    } finally {
      await closeAll();
      await server.stop();
    }
  } finally {
    await closeAll();
    rmSync(folder, { recursive: true, force: true });
  }
}
