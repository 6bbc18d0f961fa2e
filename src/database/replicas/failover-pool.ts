import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";
import { DatabaseFault } from "../fault.js";
import type { FaultPool, RowsPool } from "../postgres-pool.js";
import type { Source, Sources } from "./sources.js";

/**
 * SQLSTATEs with which a replica refuses one statement though it serves others: rows that the statement reads were removed by the
 * primary (40001, 40P01), it writes (25006), there is no connection, memory or disk left for it (53), or the files of this copy
 * are damaged (XX).
 */
const PRIMARY_RUNS = ["40001", "40P01", "25006", "53", "XX"];

/**
 * A pool over several servers, for statements that only read. A statement whose replica goes away is run again on the next
 * source, so its caller does not notice. One that only this replica refuses, as it conflicts with the replayed log, is run by the
 * primary, whose rows are never older. Transactions are not repeated: their caller may have used what the first statements returned.
 */
export class FailoverPool implements PostgresPool, RowsPool {
  readonly #sources: Sources;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  rows<R extends unknown[]>(
    query: pg.QueryConfig & { name: string },
  ): Promise<{ rows: R[]; columns: number }> {
    return this.run((pool) => pool.rows<R>(query));
  }

  async connect(): Promise<PostgresPoolClient> {
    return new FailoverClient(this, this.#sources, await this.open());
  }

  /** Takes a connection to the present source, or to the next ones. */
  async open(): Promise<OpenClient> {
    const { primary } = this.#sources;
    for (;;) {
      const source = this.#sources.current;
      try {
        return { source, client: await source.pool.connect() };
      } catch (error) {
        if (source === primary) throw error;
        if (nextAfter(error) === "primary") return { source: primary, client: await primary.pool.connect() };
        this.#sources.leave(source, error);
      }
    }
  }

  /** Runs work of one statement. Throws the fault of the primary, and errors of the statement itself. */
  async run<T>(work: (pool: FaultPool) => Promise<T>): Promise<T> {
    const { primary } = this.#sources;
    for (;;) {
      const source = this.#sources.current;
      try {
        return await work(source.pool);
      } catch (error) {
        const next = source === primary ? "none" : nextAfter(error);
        if (next === "none") throw error;
        if (next === "primary") return work(primary.pool);
        this.#sources.leave(source, error);
      }
    }
  }

  async end(): Promise<void> {}
}

interface OpenClient {
  source: Source;
  client: PostgresPoolClient;
}

/** Where a statement that a replica has failed is run again. */
function nextAfter(error: unknown): "replica" | "primary" | "none" {
  const cause = error instanceof DatabaseFault ? error.cause : error;
  const { code = "" } = cause instanceof pg.DatabaseError ? cause : {};
  if (PRIMARY_RUNS.some((start) => code.startsWith(start))) return "primary";
  if (!(error instanceof DatabaseFault)) return "none";
  // Without a code it is this process that has too few connections.
  if (error.kind === "busy" && code === "") return "primary";
  return error.kind === "unavailable" ? "replica" : "none";
}

class FailoverClient implements PostgresPoolClient {
  readonly #pool: FailoverPool;
  readonly #sources: Sources;
  #open: OpenClient;
  #isInTransaction = false;

  constructor(pool: FailoverPool, sources: Sources, open: OpenClient) {
    this.#pool = pool;
    this.#sources = sources;
    this.#open = open;
  }

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: unknown): R;
  query(text: unknown, parameters: readonly unknown[] = []): unknown {
    if (typeof text !== "string") throw new Error("cursors are not used here");
    this.#isInTransaction ||= /^\s*(?:begin|start)\b/i.test(text);
    return this.#run(text, parameters);
  }

  async #run(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<unknown>> {
    const { primary } = this.#sources;
    for (;;) {
      const { source, client } = this.#open;
      try {
        return await client.query(text, parameters);
      } catch (error) {
        const next = source === primary ? "none" : nextAfter(error);
        if (next === "replica") this.#sources.leave(source, error);
        if (next === "none" || this.#isInTransaction) throw error;
        const following =
          next === "primary"
            ? { source: primary, client: await primary.pool.connect() }
            : await this.#pool.open();
        client.release();
        this.#open = following;
      }
    }
  }

  release(): void {
    this.#open.client.release();
  }
}
