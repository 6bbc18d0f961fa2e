import { sql } from "kysely";
import type { Database, Db, Tx } from "../../database/database.js";

/** The prepared documents, with their row in `summaries`. */
const ROWS = { summary: 1, home: 2 } as const;
type PreparedName = keyof typeof ROWS;

/** A prepared document, with the time at which its content last changed. */
export interface Prepared {
  generatedAt: number;
}

/** Stores a document unless it equals the stored one in everything but its time. Returns whether it was stored. */
export async function storePrepared<T extends Prepared>(
  tx: Tx,
  name: PreparedName,
  value: T,
): Promise<boolean> {
  const stored = await readPrepared<T>(tx, name);
  const body = JSON.stringify(value);
  if (stored !== undefined && JSON.stringify({ ...stored, generatedAt: value.generatedAt }) === body)
    return false;
  await sql`insert into summaries (id, body) values (${ROWS[name]}, ${body})
    on conflict (id) do update set body = excluded.body`.execute(tx);
  return true;
}

/** The stored document; undefined before the first update. */
export async function readPrepared<T extends Prepared>(db: Db, name: PreparedName): Promise<T | undefined> {
  const row = await db.selectFrom("summaries").select("body").where("id", "=", ROWS[name]).executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.body);
}

/** Reads a stored document; undefined before the first update. */
export type DocumentReader = <T extends Prepared>(name: PreparedName) => Promise<T | undefined>;

/** Makes the reader of stored documents for requests. A document is parsed once, so callers must not change it. */
export function documentReader({ prepare }: Database): DocumentReader {
  const read = prepare<number, [body: string]>(
    (given) => sql`select body from summaries where id = ${given((id) => id)}`,
  );
  const parsed = new Map<PreparedName, { body: string; value: unknown }>();
  return async <T extends Prepared>(name: PreparedName) => {
    const [row] = await read(ROWS[name]);
    if (row === undefined) return undefined;
    const [body] = row;
    let known = parsed.get(name);
    if (known?.body !== body) {
      known = { body, value: JSON.parse(body) };
      parsed.set(name, known);
    }
    // The name decides the type.
    return known.value as T;
  };
}
