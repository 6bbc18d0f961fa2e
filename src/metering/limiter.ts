import type { Clock } from "../clock.js";
import type { Bucket, CallerKind, Limits } from "../limit-config.js";
import { AllowanceTable, createTableMemory, type TableMemory } from "./allowance-table.js";
import {
  type Allowances,
  type AppliedLimit,
  type Caller,
  type Decision,
  decisionOf,
  type Level,
  levelOf,
  type Rate,
  Rates,
  timeOf,
} from "./rates.js";

export interface LimiterOptions {
  limits: Limits;
  clock: Clock;
  /** Memory shared with other threads, whose clocks must agree; by default memory of its own. */
  memory?: TableMemory | undefined;
}

/**
 * GCRA: stores one time per caller and bucket, at which nothing is owed any more. A request moves it forward by
 * `window / limit` and is allowed while it stays within one window from now. So `limit` requests succeed immediately, and
 * `limit` more in each window, evenly spread. A request counts only if the caller and all its groups (network, account) allow it.
 *
 * The times are in a table of fixed size. Evicting an entry never loosens a limit: a full table only makes limits tighter, and
 * a flood of new callers frees no offender.
 */
export class Limiter implements Allowances {
  readonly isImmediate = true;
  readonly #clock: Clock;
  readonly #rates: Rates;
  readonly #table: AllowanceTable;

  constructor({ limits, clock, memory = createTableMemory() }: LimiterOptions) {
    this.#clock = clock;
    this.#rates = new Rates(limits);
    this.#table = new AllowanceTable(memory);
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(kind, bucket);
  }

  decide(caller: Caller, bucket: Bucket, cost: number): Decision {
    return decisionOf(this.take(caller, bucket, cost));
  }

  adjust(caller: Caller, bucket: Bucket, cost: number): Decision {
    return decisionOf(this.move(caller, bucket, cost));
  }

  levels(caller: Caller, bucket: Bucket): Level[] {
    return this.take(caller, bucket, 0);
  }

  /** `decide`, with every limit of the caller. */
  take(caller: Caller, bucket: Bucket, cost: number): Level[] {
    const limits = this.#rates.limitsOf(caller, bucket);
    const levels: Level[] = [];
    let counted = 0;
    for (const limit of limits) {
      const level = this.#take(limit, cost, counted === levels.length);
      levels.push(level);
      if (level.allowed && counted === levels.length - 1) counted++;
    }
    if (counted === limits.length) return levels;
    // Give back what the limits before the refusing one counted: a refused request costs nothing.
    return levels.map((level, i) => {
      const limit = limits[i];
      return i < counted && limit !== undefined ? this.#move(limit, -cost) : level;
    });
  }

  /** `adjust`, with every limit of the caller. */
  move(caller: Caller, bucket: Bucket, cost: number): Level[] {
    return this.#rates.limitsOf(caller, bucket).map((limit) => this.#move(limit, cost));
  }

  async close(): Promise<void> {}

  /** Whether a cost fits; counts it if it does and `counts`. */
  #take({ rate, name }: AppliedLimit, cost: number, counts: boolean): Level {
    const time = timeOf(rate, cost);
    const clearAt = this.#table.open(name);
    // Read while the entry is locked, so that no thread overwrites a newer time with an older one.
    const now = this.#now();
    const owed = owedAt(clearAt, now, rate);
    const lacking = time === 0 ? 0 : Math.max(0, owed + time - rate.capacity);
    const isTaken = counts && lacking === 0;
    if (isTaken && time > 0) this.#table.write(now + owed + time);
    this.#table.close();
    return levelOf(rate, isTaken ? owed + time : owed, lacking);
  }

  #move({ rate, name }: AppliedLimit, cost: number): Level {
    const clearAt = this.#table.open(name);
    const now = this.#now();
    const after = Math.max(0, Math.min(owedAt(clearAt, now, rate) + timeOf(rate, cost), rate.capacity));
    // A caller evicted in the meantime gets nothing back: the entry belongs to another.
    if (cost > 0 || this.#table.isOwn) this.#table.write(now + after);
    this.#table.close();
    return levelOf(rate, after, 0);
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic() * 1_000);
  }
}

/** Microseconds owed; at most the capacity, even if the clock runs backwards. */
function owedAt(clearAt: number, now: number, { capacity }: Rate): number {
  return Math.max(0, Math.min(clearAt - now, capacity));
}
