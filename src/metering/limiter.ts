import type { Clock } from "../clock.js";
import type { Bucket, CallerKind, Limits } from "../limit-config.js";
import {
  type Allowances,
  type Caller,
  type Claim,
  type Decision,
  decision,
  type Rate,
  Rates,
  tighter,
  timeOf,
} from "./rates.js";
import { createTableMemory, Table, type TableMemory } from "./table.js";

export interface LimiterOptions {
  limits: Limits;
  clock: Clock;
  /** Memory shared with other threads, whose clocks must be the same; by default a table of its own. */
  memory?: TableMemory | undefined;
}

/**
 * GCRA: of each caller and bucket one time is kept, at which nothing will be owed any more. A request moves it by
 * `window / limit`, and passes while it stays within one window from now. So `limit` pass at once and `limit` more in each
 * window, evenly. Callers from IPv6 count against their own network and a wider one.
 *
 * The times are in a table that never grows. Nobody who is forgotten there gains by it: a full table can only make limits
 * tighter, and no flood of newcomers frees an offender.
 */
export class Limiter implements Allowances {
  readonly isImmediate = true;
  readonly #clock: Clock;
  readonly #rates: Rates;
  readonly #table: Table;

  constructor({ limits, clock, memory = createTableMemory() }: LimiterOptions) {
    this.#clock = clock;
    this.#rates = new Rates(limits);
    this.#table = new Table(memory);
  }

  /** Bytes of the table, whatever it holds. */
  get tableBytes(): number {
    return this.#table.bytes;
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(kind, bucket);
  }

  decide(caller: Caller, bucket: Bucket, cost: number): Decision {
    const claim = this.#rates.own(caller, bucket);
    const own = this.#take(claim, cost, true);
    const wideClaim = this.#rates.wide(caller, bucket);
    if (wideClaim === undefined) return own;
    const wide = this.#take(wideClaim, cost, own.allowed);
    if (!own.allowed || wide.allowed) return tighter(own, wide);
    // Given back: who is refused owes nothing for it.
    return { ...tighter(this.#move(claim, -cost), wide), allowed: false };
  }

  adjust(caller: Caller, bucket: Bucket, cost: number): Decision {
    const own = this.#move(this.#rates.own(caller, bucket), cost);
    const wide = this.#rates.wide(caller, bucket);
    return wide === undefined ? own : tighter(own, this.#move(wide, cost));
  }

  async close(): Promise<void> {}

  /** Asks for a cost; where it passes, it is counted if `counts`. */
  #take({ rate, name }: Claim, cost: number, counts: boolean): Decision {
    const asked = timeOf(rate, cost);
    const clearAt = this.#table.open(name);
    // Read while the place is held, so that no thread writes an older time over a newer one.
    const now = this.#now();
    const owed = owedAt(clearAt, now, rate);
    const lacking = asked === 0 ? 0 : Math.max(0, owed + asked - rate.capacity);
    const isTaken = counts && lacking === 0;
    if (isTaken && asked > 0) this.#table.write(now + owed + asked);
    this.#table.shut();
    return decision(rate, isTaken ? owed + asked : owed, lacking);
  }

  #move({ rate, name }: Claim, cost: number): Decision {
    const clearAt = this.#table.open(name);
    const now = this.#now();
    const after = Math.max(0, Math.min(owedAt(clearAt, now, rate) + cost * rate.step, rate.capacity));
    // Who has been forgotten meanwhile is given nothing back: the place is another's.
    if (cost > 0 || this.#table.isOwn) this.#table.write(now + after);
    this.#table.shut();
    return decision(rate, after, 0);
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic() * 1_000);
  }
}

/** Microseconds that are owed; within the capacity even if the clock should ever run back. */
function owedAt(clearAt: number, now: number, { capacity }: Rate): number {
  return Math.max(0, Math.min(clearAt - now, capacity));
}
