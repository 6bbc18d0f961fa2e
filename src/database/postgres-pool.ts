import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";
import { DatabaseFault, type FaultKind } from "./fault.js";

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

/** The fault that corresponds to a query error; the error itself if none does. */
function faultOf(error: unknown): unknown {
  // The server reports its errors as DatabaseError. Anything else means that the connection failed.
  if (!(error instanceof pg.DatabaseError)) return new DatabaseFault("unavailable", error);
  const { code = "" } = error;
  const kind = KINDS[code] ?? KINDS[code.slice(0, 2)];
  return kind === undefined ? error : new DatabaseFault(kind, error);
}

/** A pool whose errors are translated. */
export class FaultPool implements PostgresPool {
  readonly #pool: pg.Pool;
  #turns = 0;
  /** Kysely recognizes a connection by its client. */
  readonly #clients = new WeakMap<pg.PoolClient, FaultClient>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Number of times that a connection has been given back. */
  get turns(): number {
    return this.#turns;
  }

  /**
   * Runs a statement outside transactions, and returns its rows as arrays with their number of columns. The server parses a
   * statement with a name once per connection.
   */
  async rows<R extends unknown[]>(
    query: pg.QueryConfig & { name: string },
  ): Promise<{ rows: R[]; columns: number }> {
    const client = await this.#take();
    try {
      const { rows, fields } = await client.query<R>({ ...query, rowMode: "array" });
      return { rows, columns: fields.length };
    } catch (error) {
      throw faultOf(error);
    } finally {
      client.release();
    }
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#take();
    const known = this.#clients.get(client) ?? new FaultClient(client, () => this.#turns++);
    this.#clients.set(client, known);
    return known;
  }

  #take(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((error: unknown) => {
      const fault = faultOf(error);
      // Whatever the reason for refusing a connection, there is no database without one.
      throw fault instanceof DatabaseFault ? fault : new DatabaseFault("unavailable", error);
    });
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

class FaultClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #onRelease: () => void;

  constructor(client: pg.PoolClient, onRelease: () => void) {
    this.#client = client;
    this.#onRelease = onRelease;
  }

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: unknown): R;
  query(text: unknown, parameters: readonly unknown[] = []): unknown {
    if (typeof text !== "string") throw new Error("cursors are not used here");
    return this.#client.query(text, [...parameters]).catch((error: unknown) => {
      throw faultOf(error);
    });
  }

  release(): void {
    this.#onRelease();
    this.#client.release();
  }
}
