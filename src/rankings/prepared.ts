import { sql } from "kysely";
import type { Database, Tx } from "../database/database.js";

/** What is prepared beforehand, and the row of `summaries` that holds it. */
const ROWS = { summary: 1, home: 2 } as const;

/** Keeps a prepared answer in place of the one before. */
export async function keepPrepared(tx: Tx, name: keyof typeof ROWS, value: object): Promise<void> {
  await sql`insert into summaries (id, body) values (${ROWS[name]}, ${JSON.stringify(value)})
    on conflict (id) do update set body = excluded.body`.execute(tx);
}

/** A prepared answer as it was kept; undefined before there is any. */
export async function readPrepared<T extends object>(
  database: Database,
  name: keyof typeof ROWS,
): Promise<T | undefined> {
  const row = await database.read
    .selectFrom("summaries")
    .select("body")
    .where("id", "=", ROWS[name])
    .executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.body);
}
