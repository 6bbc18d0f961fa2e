import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import type { BackgroundWrites } from "../lib/background-writes.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import type { Revocations } from "./ttl-cache.js";

/** Shared by all parts of accounts. */
export interface AccountsContext {
  database: Database;
  config: Config;
  clock: Clock;
  log: Logger;
  /** Of keys, sessions and accounts. */
  revocations: Revocations;
  writes: BackgroundWrites;
  /** Whether an account is banned now. */
  bans: { hasAccount(id: string): boolean };
}
