/**
 * Rows and bytes of every table of a store, with indexes: `npm run -s build && node dist/bench/sizes.js --size 100000 --days 90`,
 * with `--postgres-url URL` on that server.
 */
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { defaultFolder, openStore, prepareStore } from "./support/stores.js";

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "100000" },
    days: { type: "string", default: "90" },
    "postgres-url": { type: "string" },
  },
});
const postgresUrl = values["postgres-url"];
const engine = postgresUrl === undefined ? "sqlite" : "postgres";

const store = await prepareStore(
  { engine, size: Number(values.size), days: Number(values.days) },
  { folder: defaultFolder(), postgresUrl },
  (line) => void process.stderr.write(`${line}\n`),
);
const { database } = await openStore(store);
let total = 0;
for (const table of await database.dialect.tables(database.read)) {
  const counted = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`.execute(
    database.read,
  );
  const sized = await bytesOf(table).execute(database.read);
  const bytes = Number(sized.rows[0]?.bytes ?? 0);
  total += bytes;
  process.stdout.write(`${table}: ${Number(counted.rows[0]?.rows)} rows, ${bytes} bytes\n`);
}
process.stdout.write(`all tables: ${total} bytes\n`);
await database.close();

function bytesOf(table: string) {
  if (engine === "sqlite")
    return sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat where aggregate = 1
      and name in (select name from sqlite_schema where tbl_name = ${table})`;
  return sql<{ bytes: number }>`select pg_total_relation_size(${table}) as bytes`;
}
