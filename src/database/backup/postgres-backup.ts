import pg from "pg";
import type { Clock } from "../../lib/clock.js";
import { LATEST_VERSION, migrateIn } from "../migrate.js";
import { connectionDb, holdIfDistributed, numberTypes, postgresDialect } from "../postgres.js";
import { APPLICATION_NAME, connectionOf } from "../postgres-url.js";
import { inOrder, type OwnTables, readOwnTables, type TableColumns } from "./own-tables.js";
import {
  allOf,
  type BackupPart,
  BackupRefused,
  type BackupSource,
  type RestoreOptions,
  type RestoreTarget,
} from "./parts.js";
import { copyIn, copyOut } from "./postgres-copy.js";

/** How backups and restores name themselves: they are no service that a restore must wait for. */
const BACKUP_NAME = `${APPLICATION_NAME} backup`;
/** The part with the positions of all sequences, after the tables. */
const SEQUENCES = "sequences";
/** The sequence that no column owns. */
const REPOSITORY_IDS = "repositories_id_seq";
/** SQLSTATE of dropping what others depend on. */
const DEPENDENT_OBJECTS = "2BP01";
/** Attempts at locking the tables while growth is swapped. */
const TRIES = 20;
/** Looks at who uses a database before it is taken to be in use: a second. */
const LOOKS = 10;

/**
 * Reads all tables of the store in one transaction that sees the state at its beginning. It locks no row; only dropping a table, as a rebuild of
 * growth does at its end, waits for it. A distributed database is not recorded to meanwhile.
 */
export async function postgresSource(url: string, clock: Clock): Promise<BackupSource> {
  const client = await connect(url);
  try {
    // Until the connection is closed.
    await holdIfDistributed(connectionDb(client));
    const tables = await begin(client, clock);
    const { rows } = await client.query<{ version: number; bytes: string }>(
      "select max(version)::int as version, pg_database_size(current_database()) as bytes from schema_version",
    );
    return {
      kind: "postgres",
      version: rows[0]?.version ?? 0,
      bytes: Number(rows[0]?.bytes ?? 0),
      async *parts() {
        for (const { name, columns } of tables)
          yield { name, columns, data: copyOut(client, `copy ${tableText({ name, columns })} to stdout`) };
        yield { name: SEQUENCES, data: sequencesOf(client, tables) };
      },
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** Restores into a schema without a store, or replaces the tables of the one there, in one transaction. Tables of others stay. */
export async function postgresTarget(
  url: string,
  clock: Clock,
  { version, replaces }: RestoreOptions,
): Promise<RestoreTarget> {
  const client = await connect(url);
  const tx = await connectionDb(client).startTransaction().execute();
  const abandon = async () => {
    await client.query("rollback").catch(() => {});
    await client.end();
  };
  try {
    const found = await readOwnTables(client, clock);
    if (found.tables.length > 0) {
      refuseForeign(found);
      if (!replaces)
        throw new BackupRefused("The database has tables already. Use --replace to replace them.");
      await refuseIfUsed(client);
      await drop(client, found.tables);
    }
    await client.query(`drop sequence if exists ${REPOSITORY_IDS}`);
    await migrateIn(tx, postgresDialect, { clock, to: version });
    const { tables: made } = await readOwnTables(client, clock);
    // Migrations insert rows that the backup has, too.
    await client.query(`truncate ${made.map(({ name }) => quoted(name)).join(", ")} restart identity`);
    return {
      async add(part) {
        if (part.name === SEQUENCES) return setSequences(client, part, made);
        const table = made.find(({ name }) => name === part.name);
        const columns = part.columns ?? [];
        if (table === undefined || columns.some((column) => !table.columns.includes(column)))
          throw new BackupRefused(`The backup has a part that is not known: ${part.name}.`);
        await copyIn(
          client,
          `copy ${tableText({ name: part.name, columns: [...columns] })} from stdin`,
          part.data,
        );
      },
      async prepare() {
        if (version < LATEST_VERSION) await migrateIn(tx, postgresDialect, { clock });
      },
      async finish() {
        await tx.commit().execute();
        await postgresDialect.analyze(connectionDb(client));
        await client.end();
      },
      abandon,
    };
  } catch (error) {
    await abandon();
    throw error;
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionOf(url, BACKUP_NAME),
    types: numberTypes(),
  });
  // A server that goes away fails the statement in progress.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new BackupRefused(`The database cannot be reached: ${messageOf(error)}`, { cause: error });
  }
  return client;
}

/**
 * Begins the transaction, with all tables locked against being dropped before it sees anything: a table that is swapped between
 * the two would be found empty.
 */
async function begin(client: pg.Client, clock: Clock): Promise<TableColumns[]> {
  for (let tries = 1; ; tries++) {
    const { tables, doubtful, isStore } = await readOwnTables(client, clock);
    if (!isStore) throw new BackupRefused("The database has no tables of Sidereal.");
    if (doubtful.length > 0)
      throw new BackupRefused(
        `The database was made by a newer Sidereal, and this one does not know whether these tables belong to it: ${doubtful.join(", ")}. Take the backup with the newer one.`,
      );
    await client.query("begin isolation level repeatable read read only");
    try {
      await client.query(
        `lock table ${tables.map(({ name }) => quoted(name)).join(", ")} in access share mode`,
      );
      return await inOrder(client, tables);
    } catch (error) {
      await client.query("rollback");
      if (tries === TRIES) throw error;
    }
  }
}

/** Refuses to replace tables that may not be those of a store. */
function refuseForeign({ isStore, tables, doubtful }: OwnTables): void {
  const names = (isStore ? doubtful : tables.map(({ name }) => name)).join(", ");
  if (!isStore)
    throw new BackupRefused(
      `The database has tables with names of ours, but no version, so they may belong to another program: ${names}. Drop them if not, or restore into another schema.`,
    );
  if (doubtful.length > 0)
    throw new BackupRefused(
      `The database was made by a newer Sidereal, and this one does not know whether these tables belong to it: ${names}. Drop them if they do, or restore into another schema.`,
    );
}

async function drop(client: pg.Client, tables: readonly TableColumns[]): Promise<void> {
  try {
    await client.query(`drop table ${tables.map(({ name }) => quoted(name)).join(", ")}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === DEPENDENT_OBJECTS)) throw error;
    throw new BackupRefused(`Something of another program depends on the tables: ${error.detail}.`, {
      cause: error,
    });
  }
}

interface Sequence {
  name: string;
  /** null: not used yet. */
  value: string | null;
}

/** The sequences of the tables. Other programs may have some in the schema. */
async function readSequences(client: pg.Client, tables: readonly TableColumns[]): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(
    `select sequencename::text as name, last_value::text as value from pg_sequences
    where schemaname = current_schema() and (sequencename = $1 or exists (
      select 1 from pg_depend d join pg_class t on t.oid = d.refobjid
      where d.classid = 'pg_class'::regclass and d.objid = format('%I.%I', schemaname, sequencename)::regclass
        and d.deptype in ('a', 'i') and t.relnamespace = current_schema()::regnamespace and t.relname = any ($2)))
    order by sequencename`,
    [REPOSITORY_IDS, tables.map(({ name }) => name)],
  );
  return rows;
}

async function* sequencesOf(client: pg.Client, tables: readonly TableColumns[]): AsyncGenerator<Uint8Array> {
  const used = (await readSequences(client, tables)).filter(({ value }) => value !== null);
  yield Buffer.from(JSON.stringify(used));
}

/** Backups of earlier versions also have the sequences of other programs, which stay as they are. */
async function setSequences(
  client: pg.Client,
  { data }: BackupPart,
  tables: readonly TableColumns[],
): Promise<void> {
  const rows: { name: string; value: string }[] = JSON.parse((await allOf(data)).toString());
  const own = new Set((await readSequences(client, tables)).map(({ name }) => name));
  for (const { name, value } of rows)
    if (own.has(name)) await client.query("select setval($1::regclass, $2)", [quoted(name), value]);
}

async function refuseIfUsed(client: pg.Client): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where datname = current_database()
        and application_name like $1 || '%' and application_name not like $2 || '%' limit 1`,
      [APPLICATION_NAME, BACKUP_NAME],
    );
    if (rows.length === 0) return;
    // A service that has just stopped leaves its connections for a moment. The view stays the same within a transaction.
    await client.query("select pg_stat_clear_snapshot(), pg_sleep(0.1)");
  }
  throw new BackupRefused("A process uses the database. Stop the service first.");
}

function tableText({ name, columns }: TableColumns): string {
  return `${quoted(name)} (${columns.map(quoted).join(", ")})`;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const messageOf = (error: unknown) =>
  error instanceof Error ? error.message || String("code" in error ? error.code : error.name) : String(error);
