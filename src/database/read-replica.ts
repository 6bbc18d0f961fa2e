import pg from "pg";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { DatabaseFault } from "./fault.js";
import { Client, type StatementPool } from "./postgres-pool.js";

/** How long reads stay on the primary after the replica could not be reached. */
const RETRY_MS = 30_000;
/** SQLSTATE with which a replica ends a statement that reads rows the primary has removed since. */
const CONFLICT = "40001";

interface ReplicaPoolOptions {
  replica: StatementPool;
  primary: StatementPool;
  clock: Clock;
  log: Logger;
}

/** Runs statements on a replica, or else on the primary. Not for transactions: each takes a connection of its own. */
export class ReplicaPool implements StatementPool {
  readonly #options: ReplicaPoolOptions;
  /** Monotonic. */
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReplicaPoolOptions) {
    this.#options = options;
  }

  async run(statement: Parameters<StatementPool["run"]>[0]): Promise<pg.QueryResult> {
    const { replica, primary, clock, log } = this.#options;
    if (clock.monotonic() < this.#retryAt) return primary.run(statement);
    try {
      return await replica.run(statement);
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error;
      const { kind, cause } = error;
      if (kind === "unavailable") {
        this.#retryAt = clock.monotonic() + RETRY_MS;
        log.warn(
          { error: error.message },
          "the replica cannot be reached: series and exports read from the primary",
        );
      } else if (!(cause instanceof pg.DatabaseError && cause.code === CONFLICT)) throw error;
      return primary.run(statement);
    }
  }

  async connect(): Promise<Client> {
    return new Client(
      (statement) => this.run(statement),
      () => {},
    );
  }

  end(): Promise<void> {
    return this.#options.replica.end();
  }
}
