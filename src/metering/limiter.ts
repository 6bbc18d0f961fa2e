import type { Clock } from "../clock.js";
import type { Bucket, CallerKind, Limits } from "../config/config.js";
import { AllowanceTable, createTableMemory, type Slot, type TableMemory } from "./allowance-table.js";
import {
  type Allowances,
  type AppliedLimit,
  type Caller,
  type Decision,
  decisionOf,
  type Level,
  lackingOf,
  levelOf,
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
    const now = this.#now();
    const levels: Level[] = [];
    let counted = 0;
    for (const limit of limits) {
      const level = counted === levels.length ? this.#take(limit, now, cost) : this.#look(limit, now, cost);
      levels.push(level);
      if (level.allowed && counted === levels.length - 1) counted++;
    }
    if (counted === limits.length) return levels;
    // Give back what the limits before the refusing one counted: a refused request costs nothing.
    return levels.map((level, i) => {
      const limit = limits[i];
      return i < counted && limit !== undefined ? this.#move(limit, now, -cost) : level;
    });
  }

  /** `adjust`, with every limit of the caller. */
  move(caller: Caller, bucket: Bucket, cost: number): Level[] {
    const now = this.#now();
    return this.#rates.limitsOf(caller, bucket).map((limit) => this.#move(limit, now, cost));
  }

  /** Whether `cost` fits, without counting it. */
  #look(limit: AppliedLimit, now: number, cost: number): Level {
    const { rate } = limit;
    const owed = this.#table.find(this.#slotOf(limit), now, rate.capacity);
    return levelOf(rate, owed, lackingOf(rate, owed, timeOf(rate, cost)));
  }

  /** Counts `cost` if it fits. */
  #take(limit: AppliedLimit, now: number, cost: number): Level {
    const { rate } = limit;
    const slot = this.#slotOf(limit);
    const time = timeOf(rate, cost);
    for (;;) {
      const owed = this.#table.find(slot, now, rate.capacity);
      const lacking = lackingOf(rate, owed, time);
      if (time === 0 || lacking > 0) return levelOf(rate, owed, lacking);
      if (this.#table.store(slot, now, owed + time)) return levelOf(rate, owed + time, 0);
    }
  }

  #move(limit: AppliedLimit, now: number, cost: number): Level {
    const { rate } = limit;
    const slot = this.#slotOf(limit);
    for (;;) {
      const owed = this.#table.find(slot, now, rate.capacity);
      const after = Math.max(0, Math.min(owed + timeOf(rate, cost), rate.capacity));
      // A caller evicted in the meantime gets nothing back: the entry belongs to another.
      const isKept = after === owed || (cost < 0 && !this.#table.isOwn);
      if (isKept || this.#table.store(slot, now, after)) return levelOf(rate, after, 0);
    }
  }

  #slotOf(limit: AppliedLimit): Slot {
    limit.slot ??= this.#table.slotOf(limit.name);
    return limit.slot;
  }

  /** Whole microseconds. Threads may read it in another order than they change an entry: the difference is only what passed in between. */
  #now(): number {
    return Math.floor(this.#clock.monotonic() * 1_000);
  }
}
