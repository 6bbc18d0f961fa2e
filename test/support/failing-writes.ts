import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import type { Engine } from "./engines.js";

/** A database to which nothing can be written until `repair` is called; the durable connection works. */
export async function withFailingWrites(
  engine: Engine,
  database: Database,
): Promise<{ failing: Database; repair: () => void }> {
  const closed = await engine.open();
  await sql`select 1`.execute(closed.write);
  await closed.close();
  let write = closed.write;
  const failing: Database = {
    ...database,
    get write() {
      return write;
    },
  };
  return {
    failing,
    repair: () => {
      write = database.write;
    },
  };
}
