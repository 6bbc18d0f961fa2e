import { Kysely, PostgresDialect as KyselyPostgresDialect, type RawBuilder, sql } from "kysely";
import pg from "pg";
import type { Logger } from "../lib/log.js";
import { type BulkRow, type Db, type Dialect, type PortableValue, replacing } from "./dialect.js";
import { isDistributed, sizeOnNodes } from "./distribute.js";
import { DatabaseFault } from "./fault.js";
import {
  connectionOf,
  FaultPool,
  LOCK_NOT_AVAILABLE,
  LOCKS,
  preparing,
  type StatementPool,
} from "./postgres-pool.js";
import { type Prepare, type Scalar, Slot } from "./prepared.js";
import type { BulkColumns, BulkTable, Schema } from "./schema/schema.js";

const ROWS_PER_STATEMENT = 5_000;
/** The server cancels statements of requests that run longer. */
const READ_TIMEOUT_MS = 10_000;
/** A connection on which that does not happen is dead, though the server may respond on others. */
const DEAD_READ_MS = READ_TIMEOUT_MS + 2_000;
/** A connection without traffic is checked after this time, and given up ten seconds later. */
const KEEP_ALIVE_MS = 10_000;
/**
 * The server ends a session that is in a transaction and sends nothing for so long: its process hangs, and others wait for its locks.
 * Shorter than a lease, and longer than any computation between two statements.
 */
const HUNG_WRITE = "5min";

interface PoolOptions {
  /** Maximum number of connections. */
  pool: number;
  /** Reads have a statement timeout; imports and rebuilds do not. */
  reads: boolean;
  log: Logger;
}

/** Statements on a pool, prepared once. */
export function connectTo(pool: StatementPool): { db: Kysely<Schema>; prepare: Prepare } {
  const db = new Kysely<Schema>({ dialect: new KyselyPostgresDialect({ pool }) });
  return { db, prepare: preparing(db, pool) };
}

/** Opens a pool. It connects when it is used. */
export function openPool(url: string, { pool: max, reads, log }: PoolOptions): FaultPool {
  const pool = new pg.Pool({
    ...connectionOf(url),
    max,
    types: numberTypes(),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    onConnect: reads ? limitReads : limitHungWrites,
  });
  // Without listeners, a server that goes away would end this process: clients report a connection that is lost, in use or
  // idle, and the pool repeats it for an idle one.
  pool.on("connect", (client) => {
    client.on("error", (error) => log.warn({ error: error.message }, "lost a database connection"));
  });
  pool.on("error", () => {});
  return new FaultPool(pool, reads ? DEAD_READ_MS : undefined);
}

// Both by a statement, as poolers refuse unknown parameters at the beginning of a session.

async function limitReads(client: pg.ClientBase): Promise<void> {
  const query = { text: `set statement_timeout = ${READ_TIMEOUT_MS}`, query_timeout: DEAD_READ_MS };
  await client.query(query);
}

/** A limit of the operator's stays. */
async function limitHungWrites(client: pg.ClientBase): Promise<void> {
  await client.query(`select set_config('idle_in_transaction_session_timeout', '${HUNG_WRITE}', false)
    where current_setting('idle_in_transaction_session_timeout') = '0'`);
}

/** Large integers and decimals as numbers, as SQLite gives them. */
function numberTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.NUMERIC, Number);
  return types;
}

function columnArrays(
  columns: BulkColumns,
  rows: readonly BulkRow[] | Slot<never, readonly (readonly Scalar[])[]>,
): RawBuilder<unknown> {
  const arrays = Object.values(columns).map((type, i) => {
    const column = (of: readonly BulkRow[], index: number) => {
      const values = of.map((row) => row[index] ?? null);
      return NUMBER_TYPES.has(type) ? numberArray(values) : values;
    };
    const values =
      rows instanceof Slot ? new Slot((given: never) => column(rows.of(given), i)) : column(rows, i);
    return sql`${values}::${sql.raw(type)}[]`;
  });
  return sql.join(arrays);
}

const NUMBER_TYPES: ReadonlySet<string> = new Set(["bigint", "smallint", "double precision"]);

/** Numbers as the text of an array. The driver would quote each of them, which costs more than all else of a bulk insert. */
function numberArray(values: readonly unknown[]): string {
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ",";
    text += values[i] ?? "NULL";
  }
  return `${text}}`;
}

function* chunks(rows: readonly BulkRow[]): Generator<readonly BulkRow[]> {
  for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT) yield rows.slice(i, i + ROWS_PER_STATEMENT);
}

function insertFrom(
  { table, columns }: BulkTable,
  rows: readonly BulkRow[],
  conflict: string,
): RawBuilder<unknown> {
  const names = sql.raw(Object.keys(columns).join(", "));
  return sql`insert into ${sql.raw(table)} (${names}) select * from unnest(${columnArrays(columns, rows)}) ${sql.raw(conflict)}`;
}

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select tablename as name from pg_tables
    where schemaname = current_schema()`.execute(db);
  return rows.map(({ name }) => name);
}

/** The sequences that ids come from, with their tables. */
async function sequencesOf(db: Db): Promise<{ name: string; sequence: string }[]> {
  const { rows } = await sql<{ name: string }>`select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'id' and is_identity = 'YES' order by table_name`.execute(
    db,
  );
  return ["repositories", ...rows.map(({ name }) => name)].map((name) => ({
    name,
    sequence: `${name}_id_seq`,
  }));
}

/**
 * Keeps the catalogue of a distributed database from being written until the returned function is called: a transaction that sees
 * one state of the coordinator still sees later commits of the other nodes. `db` is one connection.
 */
async function holdIfDistributed(db: Db): Promise<() => Promise<void>> {
  if (!(await isDistributed(db))) return async () => {};
  await sql`select pg_advisory_lock(${LOCKS.catalogue})`.execute(db);
  return async () => {
    await sql`select pg_advisory_unlock(${LOCKS.catalogue})`.execute(db);
  };
}

export const postgresDialect: Dialect = {
  engine: "postgres",
  libraryName: "postgres",
  types: {
    integer: sql`bigint`,
    ownId: sql`bigint generated always as identity`,
    small: sql`smallint`,
    text: sql`text collate "C"`,
    real: sql`double precision`,
    bytes: sql`bytea`,
    libraryTime: sql`timestamptz`,
    libraryFlag: sql`boolean`,
  },
  clustered: sql``,

  exclusively: (db, purpose, work) =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${LOCKS[purpose]})`.execute(tx);
      return work(tx);
    }),

  async allocateIds(tx, count) {
    const ids = await sql<{ id: number }>`
      select nextval('repositories_id_seq') as id from generate_series(1, ${count}::int)`.execute(tx);
    return ids.rows.map((row) => row.id);
  },
  async reserveId(tx, id) {
    if (id > (await postgresDialect.lastId(tx)))
      await sql`select setval('repositories_id_seq', ${id}::bigint)`.execute(tx);
  },

  async insertNew(tx, target, rows) {
    for (const chunk of chunks(rows)) await insertFrom(target, chunk, "on conflict do nothing").execute(tx);
  },

  async insertReporting(tx, target, rows) {
    const { columns, key } = target;
    const names = Object.keys(columns);
    const indexes = key.map((name) => names.indexOf(name));
    const inserted: boolean[] = [];
    for (const chunk of chunks(rows)) {
      const statement = insertFrom(target, chunk, `on conflict do nothing returning ${key.join(", ")}`);
      const result = await sql<Record<string, unknown>>`${statement}`.execute(tx);
      const fresh = new Set(result.rows.map((row) => key.map((name) => row[name]).join(" ")));
      // Of two equal keys in one chunk, the first was inserted.
      for (const row of chunk) inserted.push(fresh.delete(indexes.map((index) => row[index]).join(" ")));
    }
    return inserted;
  },

  upsert: (tx, target, rows) => postgresDialect.merge(tx, { ...target, sets: replacing(target) }, rows),
  async merge(tx, target, rows) {
    const conflict = `on conflict (${target.key.join(", ")}) do update set ${target.sets}`;
    for (const chunk of chunks(rows)) await insertFrom(target, chunk, conflict).execute(tx);
  },

  async updateRows(tx, { table, columns, key }, rows) {
    const keys = key.map((name) => `t.${name} = n.${name}`);
    const sets = Object.keys(columns)
      .filter((name) => !key.includes(name))
      .map((name) => `${name} = n.${name}`);
    for (const chunk of chunks(rows)) {
      await sql`update ${sql.table(table)} t set ${sql.raw(sets.join(", "))}
        from (${postgresDialect.rowsOf(columns, chunk)}) as n where ${sql.raw(keys.join(" and "))}`.execute(
        tx,
      );
    }
  },

  among(expression, values) {
    const isText = !(values instanceof Slot) && typeof values[0] === "string";
    return sql<boolean>`${expression} = any(${values}::${sql.raw(isText ? "text" : "bigint")}[])`;
  },
  rowsOf: (columns, rows) =>
    sql`select * from unnest(${columnArrays(columns, rows)}) as rows_of (${sql.raw(Object.keys(columns).join(", "))})`,
  jsonArray: (expression) => sql`coalesce(json_agg(${expression})::text, '[]')`,
  jsonRow: (values) => sql`json_build_array(${sql.join(values)})`,
  turnMs: undefined,
  lockRow: sql`for update`,

  async analyze(db, table) {
    if (table !== undefined) await sql`analyze ${sql.table(table)}`.execute(db);
    else {
      // Without names it would also analyze the system's tables, which takes twenty times as long as small tables of our own.
      const names = (await tablesOf(db)).map((name) => sql.table(name));
      // All tables in one statement may wait for a node that waits for this one.
      const parts = (await isDistributed(db)) ? names : [sql.join(names)];
      for (const part of parts) await sql`analyze ${part}`.execute(db);
    }
  },

  isInUse: (error) =>
    error instanceof DatabaseFault &&
    error.cause instanceof pg.DatabaseError &&
    error.cause.code === LOCK_NOT_AVAILABLE,

  // Vacuum does, when the server decides; its own log and copies of it are up to the operator.
  eraseDeleted: async () => true,
  snapshot: (db, work) =>
    db.connection().execute(async (connection) => {
      const release = await holdIfDistributed(connection);
      try {
        return await connection
          .transaction()
          .setIsolationLevel("repeatable read")
          .setAccessMode("read only")
          .execute(async (tx) => {
            await sql`set local statement_timeout = 0`.execute(tx);
            return work(tx);
          });
      } finally {
        await release();
      }
    }),

  // The server converts the values to the types of the table. It reads bytes in hexadecimal.
  async insertPortable(tx, table, { columns, rows }) {
    const names = sql.join(columns.map((name) => sql.ref(name)));
    const textOf = (value: PortableValue | undefined) =>
      typeof value === "object" && value
        ? `\\x${Buffer.from(value.base64, "base64").toString("hex")}`
        : value;
    const json = JSON.stringify(
      rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, textOf(row[i])]))),
    );
    await sql`insert into ${sql.table(table)} (${names}) overriding system value
      select ${names} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(tx);
  },
  tables: tablesOf,
  async lastId(db) {
    const { rows } = await sql<{ id: number }>`
      select case when is_called then last_value else 0 end as id from repositories_id_seq`.execute(db);
    return rows[0]?.id ?? 0;
  },
  async reindex(db) {
    const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
    await sql`reindex schema ${sql.id(rows[0]?.name ?? "public")}`.execute(db);
  },
  async sequencesBehind(db) {
    const behind: string[] = [];
    for (const { name, sequence } of await sequencesOf(db)) {
      const { rows } = await sql<{ last: number; highest: number }>`
        select case when is_called then last_value else 0 end as last,
          (select coalesce(max(id), 0) from ${sql.table(name)}) as highest from ${sql.table(sequence)}`.execute(
        db,
      );
      if ((rows[0]?.last ?? 0) < (rows[0]?.highest ?? 0)) behind.push(name);
    }
    return behind;
  },
  async advanceSequences(db) {
    for (const { name, sequence } of await sequencesOf(db))
      await sql`select setval(${sequence}, highest) from (select max(id) as highest from ${sql.table(name)}) as own
        where highest >= (select last_value from ${sql.table(sequence)})`.execute(db);
  },

  async serverTime(db) {
    // Both addresses are null on a socket, and the same on one machine.
    const { rows } = await sql<{ ms: number; isRemote: boolean }>`
      select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms,
        inet_client_addr() is distinct from inet_server_addr() as "isRemote"`.execute(db);
    return rows[0];
  },

  async size(db) {
    if (await isDistributed(db)) return sizeOnNodes(db);
    const size = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(
      db,
    );
    return size.rows[0]?.bytes ?? 0;
  },
};
