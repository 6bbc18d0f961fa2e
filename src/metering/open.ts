import type { Clock } from "../clock.js";
import type { Limits } from "../limit-config.js";
import type { Logger } from "../log.js";
import { Limiter } from "./limiter.js";
import type { Allowances } from "./rates.js";
import { SharedLimiter } from "./shared-limiter.js";
import type { TableMemory } from "./table.js";

export interface AllowancesOptions {
  /** Undefined: nothing is limited. */
  limits: Limits | undefined;
  /** Where allowances are shared with other processes; absent: they are not. */
  redisUrl: string | undefined;
  /** Asked only where they are shared; must be the same in all these processes. */
  readSecret: () => Promise<string>;
  /** Memory shared with other threads. */
  memory: TableMemory | undefined;
  clock: Clock;
  log: Logger;
}

/** The allowances as configured. A store that is away is no failure: it is tried again. */
export async function openAllowances(options: AllowancesOptions): Promise<Allowances | undefined> {
  const { limits, redisUrl: url, memory, clock, log } = options;
  if (limits === undefined) return undefined;
  const local = new Limiter({ limits, clock, memory });
  if (url === undefined) return local;
  // Loaded only here: the client library alone makes every request a third slower, also while it is not used.
  const { RedisStore } = await import("./redis-store.js");
  const store = new RedisStore({ url, secret: await options.readSecret(), clock, log });
  await store.open();
  return new SharedLimiter(local, store, limits);
}
