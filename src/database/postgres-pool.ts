/** Connections to PostgreSQL: a pool whose errors are translated, and the statements prepared on it. */
import type { Kysely, PostgresPool, PostgresPoolClient, PostgresQueryResult, RawBuilder } from "kysely";
import pg from "pg";
import { DatabaseFault, type FaultKind } from "./fault.js";
import type { ServerWatch } from "./postgres-watch.js";
import { type Bound, bound, type Given, type Prepare, type Scalar } from "./prepared.js";
import type { Schema } from "./schema.js";

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

/** SQLSTATE of errors without one of their own, and where Citus raises it for a node that has cut the connection during a statement. */
const INTERNAL_ERROR = "XX000";
const NODE_GONE = "ReportResultError";

/** What the pool says when all its connections were in use for too long. It has no code. */
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

/** Whether an error leaves the connection in an unknown state, so that it cannot be used again. */
function isFatal(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError);
}

/** What runs prepared statements. */
export interface RowsPool {
  /**
   * Runs a statement outside transactions, and returns its rows as arrays with their number of columns. The server parses a
   * statement with a name once per connection.
   */
  rows<R extends unknown[]>(
    query: pg.QueryConfig & { name: string },
  ): Promise<{ rows: R[]; columns: number }>;
}

export interface FaultPoolOptions {
  watch: ServerWatch;
  /** How long a statement may take; undefined: as long as it likes. The connection of one that takes longer is closed. */
  timeoutMs?: number | undefined;
}

/** A pool under watch, whose errors are translated. */
export class FaultPool implements PostgresPool, RowsPool {
  readonly #pool: pg.Pool;
  readonly #options: FaultPoolOptions;
  #turns = 0;
  /** Kysely recognizes a connection by its client. */
  readonly #clients = new WeakMap<pg.PoolClient, FaultClient>();

  constructor(pool: pg.Pool, options: FaultPoolOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Number of times that a connection has been given back. */
  get turns(): number {
    return this.#turns;
  }

  async rows<R extends unknown[]>(
    query: pg.QueryConfig & { name: string },
  ): Promise<{ rows: R[]; columns: number }> {
    const client = await this.#take();
    let isBroken = false;
    try {
      const { rows, fields } = await this.#options.watch.during(() =>
        runOn<pg.QueryArrayResult<R>>(client, { ...query, rowMode: "array" }, this.#options.timeoutMs),
      );
      return { rows, columns: fields.length };
    } catch (error) {
      isBroken = isFatal(error);
      throw faultOf(error);
    } finally {
      client.release(isBroken);
    }
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#take();
    const { watch, timeoutMs } = this.#options;
    const options = { watch, timeoutMs, onRelease: () => this.#turns++ };
    const known = this.#clients.get(client) ?? new FaultClient(client, options);
    this.#clients.set(client, known);
    return known;
  }

  #take(): Promise<pg.PoolClient> {
    return this.#options.watch
      .during(() => this.#pool.connect())
      .catch((error: unknown) => {
        const fault = faultOf(error);
        // Whatever the reason for refusing a connection, there is no database without one.
        throw fault instanceof DatabaseFault ? fault : new DatabaseFault("unavailable", error);
      });
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/**
 * Runs a statement; fails without a response within `timeoutMs`. The callbacks that `pg` sets for promises and for its own timeout keep
 * the result in memory until the next full garbage collection; a callback that is passed does not.
 */
async function runOn<R extends pg.QueryResult | pg.QueryArrayResult>(
  client: pg.PoolClient,
  query: pg.QueryConfig & { rowMode?: "array" },
  timeoutMs: number | undefined,
): Promise<R> {
  const { promise, resolve, reject } = Promise.withResolvers<R>();
  const fail = () => reject(new Error(`no response within ${timeoutMs} ms`));
  const timer = timeoutMs === undefined ? undefined : setTimeout(fail, timeoutMs);
  try {
    client.query(query, (error: Error | null, value: pg.QueryResult) => {
      if (error) reject(error);
      else resolve(value as R);
    });
    return await promise;
  } catch (error) {
    // The stack of the caller, not that of the socket.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface FaultClientOptions {
  watch: ServerWatch;
  timeoutMs: number | undefined;
  onRelease: () => void;
}

class FaultClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #options: FaultClientOptions;
  #isBroken = false;

  constructor(client: pg.PoolClient, options: FaultClientOptions) {
    this.#client = client;
    this.#options = options;
  }

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: unknown): R;
  query(text: unknown, parameters: readonly unknown[] = []): unknown {
    if (typeof text !== "string") throw new Error("cursors are not used here");
    const { watch, timeoutMs } = this.#options;
    const run = () => runOn(this.#client, { text, values: [...parameters] }, timeoutMs);
    return watch.during(run).catch((error: unknown) => {
      this.#isBroken ||= isFatal(error);
      throw faultOf(error);
    });
  }

  release(): void {
    this.#options.onRelease();
    this.#client.release(this.#isBroken);
  }
}

/**
 * From this number of columns on, all rows are sent as one JSON text, which takes this process half the time that many single
 * values take. PostgreSQL builds no array of more than 100.
 */
const MANY_COLUMNS = { from: 10, to: 100 };

/**
 * Prepares statements under names, by which each connection of the pool knows them after the first run. Equal statements share
 * one, so a connection keeps no more of them however often the modules over it are built.
 */
export function preparing(db: Kysely<Schema>, pool: RowsPool): Prepare {
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `sidereal_${names.size}`;
    names.set(text, name);
    return name;
  };
  return <V, R extends (Scalar | Uint8Array)[]>(build: (given: Given<V>) => RawBuilder<R>) => {
    let statement: Bound<V> | undefined;
    let asJson: string | undefined;
    return async (values: V) => {
      statement ??= bound(db, build);
      const parameters = statement.parametersOf(values);
      if (asJson !== undefined) {
        const { rows } = await pool.rows<[R[] | null]>({
          name: nameOf(asJson),
          text: asJson,
          values: parameters,
        });
        return rows[0]?.[0] ?? [];
      }
      const { text } = statement;
      const { rows, columns } = await pool.rows<R>({ name: nameOf(text), text, values: parameters });
      if (columns >= MANY_COLUMNS.from && columns <= MANY_COLUMNS.to) asJson = jsonText(text, columns);
      return rows;
    };
  };
}

/** A statement that returns the rows of another as a JSON array of arrays; null without rows. */
function jsonText(text: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`).join(", ");
  return `select json_agg(json_build_array(${names})) from (${text}) as t (${names})`;
}
