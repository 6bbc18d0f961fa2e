/**
 * What all processes together have sent to each forge, in the database: one row per forge, which one process at a time changes.
 * What the states mean is up to `providers`. No token is stored, only names from which nobody can tell it.
 */
import { createHmac } from "node:crypto";
import { type Database, databaseFault } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { SharedStates } from "./contract.js";
import { UpstreamFailure } from "./failures.js";

/** How soon to try again while the database is away. */
const RETRY_MS = 5_000;

export interface ForgeStatesOptions {
  database: Database;
  clock: Clock;
  /** Reads the secret of the service, under which tokens are named. */
  readSecret: () => Promise<string>;
}

export class ForgeStates implements SharedStates {
  readonly #options: ForgeStatesOptions;
  #secret: string | undefined;

  constructor(options: ForgeStatesOptions) {
    this.#options = options;
  }

  /** One transaction, which locks one row. */
  async change<T>(forge: string, work: (state: string | null) => { state: string; result: T }): Promise<T> {
    const { write, dialect } = this.#options.database;
    return this.#reaching(() =>
      write.transaction().execute(async (tx) => {
        const select = tx.selectFrom("forge_states").select("body").where("provider", "=", forge);
        const locked = select.modifyEnd(dialect.lockRow);
        let row = await locked.executeTakeFirst();
        if (row === undefined) {
          // Another process may do the same.
          await tx
            .insertInto("forge_states")
            .values({ provider: forge, body: EMPTY })
            .onConflict((conflict) => conflict.doNothing())
            .execute();
          row = await locked.executeTakeFirstOrThrow();
        }
        const { state, result } = work(row.body === EMPTY ? null : row.body);
        await tx.updateTable("forge_states").set({ body: state }).where("provider", "=", forge).execute();
        return result;
      }),
    );
  }

  async nameOf(token: string): Promise<string> {
    this.#secret ??= await this.#reaching(this.#options.readSecret);
    return createHmac("sha256", this.#secret).update(`forge token ${token}`).digest("base64url");
  }

  /** While the database is away nothing could be recorded either, so nothing is sent. */
  async #reaching<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (databaseFault(error) === undefined) throw error;
      const until = this.#options.clock.now() + RETRY_MS;
      const message = "the database is away, and with it what other workers have sent";
      throw new UpstreamFailure("quota", message, { until, cause: error });
    }
  }
}

const EMPTY = "";
