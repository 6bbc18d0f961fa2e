/** Connections to PostgreSQL: a pool whose errors are translated, and the statements prepared on it. */

import type { Kysely, PostgresPool, PostgresPoolClient, PostgresQueryResult, RawBuilder } from "kysely";
import pg from "pg";
import { DatabaseFault, type FaultKind } from "./fault.js";
import { type Bound, bound, type Given, type Prepare, type Scalar } from "./prepared.js";
import type { Schema } from "./schema/schema.js";

/** SQLSTATE of a lock that could not be taken within `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = "55P03";

/** By SQLSTATE, else by its class, the first two characters (PostgreSQL, appendix A). */
const KINDS: Readonly<Record<string, FaultKind>> = {
  "25006": "unavailable", // read-only transaction: a standby took over the address
  "40001": "busy", // serialization failure
  "40P01": "busy", // deadlock
  "53100": "full", // disk full
  "57014": "busy", // statement timeout
  [LOCK_NOT_AVAILABLE]: "busy",
  "08": "unavailable", // connection exception
  "53": "busy", // insufficient resources, such as too many connections
  "58": "unavailable", // system error
  "57": "unavailable", // operator intervention: shutting down, starting up
};

/** SQLSTATE of errors without one of their own; Citus raises it for a node that has cut the connection during a statement. */
const INTERNAL_ERROR = "XX000";
const NODE_GONE = "ReportResultError";

/** The message of the pool when all its connections were in use for too long. It has no code. */
const POOL_EXHAUSTED = "timeout exceeded when trying to connect";

/** The fault that corresponds to a query error; the error itself if none does. */
function faultOf(error: unknown): unknown {
  if (error instanceof Error && error.message === POOL_EXHAUSTED) return new DatabaseFault("busy", error);
  // The server reports its errors as DatabaseError. Anything else means that the connection failed.
  if (!(error instanceof pg.DatabaseError)) return new DatabaseFault("unavailable", error);
  const { code = "", routine } = error;
  if (code === INTERNAL_ERROR && routine === NODE_GONE) return new DatabaseFault("unavailable", error);
  const kind = KINDS[code] ?? KINDS[code.slice(0, 2)];
  return kind === undefined ? error : new DatabaseFault(kind, error);
}

type Statement = pg.QueryConfig & { rowMode?: "array" };

/** Runs a statement. Throws DatabaseFault, and errors of the statement itself. */
type Run = (statement: Statement) => Promise<pg.QueryResult>;

/** A pool that also runs single statements outside transactions. */
export interface StatementPool extends PostgresPool {
  /** The server parses a statement with a name once per connection. */
  run: Run;
}

/** A client as Kysely uses it. */
export class Client implements PostgresPoolClient {
  constructor(
    readonly run: Run,
    readonly release: () => void,
  ) {}

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: unknown): R;
  query(text: unknown, parameters: readonly unknown[] = []): unknown {
    if (typeof text !== "string") throw new Error("cursors are not used here");
    return this.run({ text, values: [...parameters] });
  }
}

/** A pool whose errors are translated. */
export class FaultPool implements StatementPool {
  readonly #pool: pg.Pool;
  readonly #timeoutMs: number | undefined;
  #turns = 0;
  /** Throws if the store, which has this version, must not be written to; undefined while it is opened, and for reading. */
  checkVersion: ((version: number) => void) | undefined;

  /** `timeoutMs`: how long a statement may take before its connection is closed; undefined: as long as it likes. */
  constructor(pool: pg.Pool, timeoutMs?: number) {
    this.#pool = pool;
    this.#timeoutMs = timeoutMs;
  }

  /** Number of times that a connection has been given back. */
  get turns(): number {
    return this.#turns;
  }

  /** Its connections now. */
  get state(): { open: number; idle: number; waiting: number } {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { open, idle, waiting };
  }

  async run(statement: Statement): Promise<pg.QueryResult> {
    const client = await this.connect();
    try {
      return await client.run(statement);
    } finally {
      client.release();
    }
  }

  async connect(): Promise<Client> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      const fault = faultOf(error);
      // Whatever the reason for refusing a connection, there is no database without one.
      throw fault instanceof DatabaseFault ? fault : new DatabaseFault("unavailable", error);
    });
    let isBroken = false;
    const run = (statement: Statement) =>
      runOn(client, statement, this.#timeoutMs).catch((error: unknown) => {
        // Any other error leaves the connection in an unknown state.
        isBroken ||= !(error instanceof pg.DatabaseError);
        throw faultOf(error);
      });
    const release = () => {
      this.#turns++;
      client.release(isBroken);
    };
    const { checkVersion } = this;
    return new Client(checkVersion === undefined ? run : checkedFirst(run, checkVersion), release);
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/**
 * Checks the version of the store before the first statement. A transaction keeps others from migrating until it ends, so that nothing is
 * written to a store that another program has migrated meanwhile.
 */
function checkedFirst(run: Run, checkVersion: (version: number) => void): Run {
  let isChecked = false;
  return async (statement) => {
    if (isChecked) return run(statement);
    isChecked = true;
    const isTransaction = statement.text === "begin";
    const text = isTransaction ? `begin; ${KEEP_VERSION}; ${READ_VERSION}` : READ_VERSION;
    // For several statements together, it is a list.
    const last: pg.QueryResult | undefined = [await run({ text })].flat().at(-1);
    try {
      checkVersion(last?.rows[0]?.version ?? 0);
    } catch (error) {
      if (isTransaction) await run({ text: "rollback" });
      throw error;
    }
    return isTransaction && last !== undefined ? last : run(statement);
  };
}

/** Keys of our advisory locks. */
export const LOCKS = { migrate: 7_301_001, catalogue: 7_301_002 } as const;
const KEEP_VERSION = `select pg_advisory_xact_lock_shared(${LOCKS.migrate})`;
const READ_VERSION = "select max(version) as version from schema_version";

/**
 * Runs a statement; fails without a response within `timeoutMs`. The callbacks that `pg` sets for promises and for its own timeout keep
 * the result in memory until the next full garbage collection; a callback that is passed does not.
 */
async function runOn(
  client: pg.PoolClient,
  statement: Statement,
  timeoutMs: number | undefined,
): Promise<pg.QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
  const fail = () => reject(new Error(`no response within ${timeoutMs} ms`));
  const timer = timeoutMs === undefined ? undefined : setTimeout(fail, timeoutMs);
  try {
    client.query(statement, (error: Error | null, result: pg.QueryResult) =>
      error ? reject(error) : resolve(result),
    );
    return await promise;
  } catch (error) {
    // The stack of the caller, not that of the socket.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * From this number of columns on, all rows are sent as one JSON text, which takes this process half the time that many single
 * values take. PostgreSQL builds no array of more than 100.
 */
const MANY_COLUMNS = { from: 10, to: 100 };

/** Names of prepared statements by their text, of all pools: one connection may serve several of them. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `sidereal_${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * Prepares statements under names, by which each connection of the pool knows them after the first run. Equal statements share
 * one, so a connection keeps no more of them however often the modules over it are built.
 */
export function preparing(db: Kysely<Schema>, pool: StatementPool): Prepare {
  return <V, R extends (Scalar | Uint8Array)[]>(build: (given: Given<V>) => RawBuilder<R>) => {
    let statement: Bound<V> | undefined;
    let asJson: string | undefined;
    return async (given: V): Promise<R[]> => {
      statement ??= bound(db, build);
      const isJson = asJson !== undefined;
      const text = asJson ?? statement.text;
      const values = statement.parametersOf(given);
      const { rows, fields } = await pool.run({ name: nameOf(text), text, values, rowMode: "array" });
      if (isJson) return rows[0]?.[0] ?? [];
      if (fields.length >= MANY_COLUMNS.from && fields.length <= MANY_COLUMNS.to)
        asJson = jsonText(text, fields.length);
      return rows;
    };
  };
}

/** A statement that returns the rows of another as a JSON array of arrays; null without rows. */
function jsonText(text: string, columns: number): string {
  const list = Array.from({ length: columns }, (_, i) => `c${i}`).join(", ");
  return `select json_agg(json_build_array(${list})) from (${text}) as t (${list})`;
}

/** How processes of this program name themselves to the server; a restore looks for it. */
export const APPLICATION_NAME = "sidereal";

/**
 * Options that connect under a name which begins with ours. A name in the URL would replace it, so that a restore would not see the
 * connection: it follows in brackets instead.
 */
export function connectionOf(url: string): { connectionString: string; application_name: string } {
  const [address = "", query = ""] = split(url);
  const parameters = new URLSearchParams(query);
  const own = parameters.get("application_name");
  parameters.delete("application_name");
  return {
    connectionString: parameters.size === 0 ? address : `${address}?${parameters}`,
    application_name: own === null ? APPLICATION_NAME : `${APPLICATION_NAME} (${own})`,
  };
}

function split(url: string): [address: string, query?: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
