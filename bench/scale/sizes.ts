/** Rows and bytes of every table, and memory of what reads them. */
import { sql } from "kysely";
import { openStore } from "../support/stores.js";
import type { ScaleStore } from "./scale-store.js";

export interface TableSize {
  table: string;
  rows: number;
  /** With indexes and what is stored out of line. */
  bytes: number;
}

/** The tables that take a row or more for a thousand repositories, the largest first, and what the others take together. */
export async function tableSizes(store: ScaleStore): Promise<TableSize[]> {
  const { database } = await openStore(store);
  try {
    const sizes: TableSize[] = [];
    for (const table of await database.dialect.tables(database.read)) {
      const rows = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`.execute(
        database.read,
      );
      const bytes = await bytesOf(store.name, table).execute(database.read);
      sizes.push({ table, rows: Number(rows.rows[0]?.rows), bytes: Number(bytes.rows[0]?.bytes ?? 0) });
    }
    const isLarge = ({ rows }: TableSize) => rows >= store.size / 1_000;
    const rest = sizes.filter((one) => !isLarge(one)).reduce((sum, { bytes }) => sum + bytes, 0);
    const large = sizes.filter(isLarge).sort((a, b) => b.bytes - a.bytes);
    return [...large, { table: "others", rows: 0, bytes: rest }];
  } finally {
    await database.close();
  }
}

function bytesOf(engine: ScaleStore["name"], table: string) {
  if (engine === "sqlite")
    return sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat where aggregate = 1
      and name in (select name from sqlite_schema where tbl_name = ${table})`;
  return sql<{ bytes: number }>`select pg_total_relation_size(${table}) as bytes`;
}
