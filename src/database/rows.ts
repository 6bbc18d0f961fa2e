/** All rows of a table, in values that mean the same on both engines. */
import { sql } from "kysely";
import type { Db, PortableRow, PortableValue } from "./dialect.js";
import type { TableShape } from "./schema/schema.js";

/** Rows read at a time. */
const BATCH = 1_000;

/** Reads a table in the order of its primary key, some rows at a time. `db`: a transaction that sees one state. */
export async function* readRows(
  db: Db,
  { name, columns, key }: Pick<TableShape, "name" | "columns" | "key">,
): AsyncGenerator<PortableRow[]> {
  const refs = (names: readonly string[]) => sql.join(names.map((one) => sql.ref(one)));
  for (let after: unknown[] | undefined; ; ) {
    const rest = after === undefined ? sql`` : sql`where (${refs(key)}) > (${sql.join(after)})`;
    const { rows } = await sql<
      Record<string, unknown>
    >`select ${refs(columns)} from ${sql.table(name)} ${rest}
      order by ${refs(key)} limit ${sql.lit(BATCH)}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = key.map((column) => last[column]);
    yield rows.map((row) => columns.map((column) => portable(row[column])));
    if (rows.length < BATCH) return;
  }
}

function portable(value: unknown): PortableValue {
  if (value === null || typeof value === "number" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "boolean") return Number(value);
  throw new Error(`a value of the type ${typeof value} is in no table`);
}
