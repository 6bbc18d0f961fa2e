import { hash, randomBytes } from "node:crypto";
import type { Bucket, CallerKind, Limits } from "../../config/config.js";
import type { Clock } from "../../lib/clock.js";
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
  type Slot,
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

/** Entries of a set; a name can be in any of them. */
const WAYS = 16;
const DEFAULT_ENTRIES = 2 ** 21;
const ENTRY_BYTES = 8;
/** An entry holds a tag in its upper 20 bits and a time in the 44 below: whole microseconds, which return after 203 days. */
const TAG_SHIFT = 12;
const HIGH_TIME_MASK = (1 << TAG_SHIFT) - 1;
const TIME_SPAN = 2 ** 44;
/** Times further ahead than this, over an hour, have passed. */
const MAX_AHEAD = 2 ** 32;

/** The memory of a table, which can be handed to other threads. */
export interface TableMemory {
  buffer: SharedArrayBuffer;
  /** The same in all threads, so that they find each other's entries, and secret, so that nobody can aim at an entry. */
  secret: string;
}

/** New, empty memory. `entries`: a power of two, at least 16. */
export function createTableMemory(
  entries = DEFAULT_ENTRIES,
  secret = randomBytes(16).toString("hex"),
): TableMemory {
  return { buffer: new SharedArrayBuffer(entries * ENTRY_BYTES), secret };
}

/**
 * Until when each name owes, in memory of fixed size that threads may share. Each entry is one word, changed by compare-and-swap: no
 * thread waits for another, and one that dies leaves nothing behind. A secret hash picks the set of sixteen entries a name belongs
 * to. In a full set, the entry that owes least is evicted, which owes nothing if there is such an entry; the new name
 * inherits its debt (Space-Saving, Metwally et al. 2005).
 */
export class AllowanceTable {
  readonly #secret: string;
  readonly #setMask: number;
  readonly #words: BigInt64Array<SharedArrayBuffer>;
  /** The same memory as halves of words, the lower half first. */
  readonly #halves: Int32Array<SharedArrayBuffer>;
  readonly #scratchHalves = new Int32Array(2);
  readonly #scratch = new BigInt64Array(this.#scratchHalves.buffer);
  #index = 0;
  #word = 0n;
  #isOwn = false;

  constructor({ buffer, secret }: TableMemory) {
    this.#secret = secret;
    this.#words = new BigInt64Array(buffer);
    this.#halves = new Int32Array(buffer);
    this.#setMask = this.#words.length / WAYS - 1;
  }

  /** Takes some microseconds, so callers keep it. */
  slotOf(name: string): Slot {
    const digest = hash("sha256", this.#secret + name, "buffer");
    return {
      first: (digest.readUInt32LE(0) & this.#setMask) * WAYS,
      tag: 1 + (digest.readUInt32LE(4) % (2 ** 20 - 1)),
    };
  }

  /** Finds the entry of a slot, or the one it would take over. Returns what is owed there, in microseconds; at most `most`. */
  find({ first, tag }: Slot, now: number, most: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let entry = first; entry < first + WAYS; entry++) {
      const high = Atomics.load(this.#halves, 2 * entry + 1);
      this.#isOwn = high >>> TAG_SHIFT === tag;
      const owes = this.#isOwn ? -1 : owed(Atomics.load(this.#halves, 2 * entry), high, now);
      if (owes >= least) continue;
      least = owes;
      this.#index = entry;
      if (this.#isOwn) break;
    }
    this.#word = Atomics.load(this.#words, this.#index);
    this.#scratch[0] = this.#word;
    const [low = 0, high = 0] = this.#scratchHalves;
    // It may have changed since.
    this.#isOwn = high >>> TAG_SHIFT === tag;
    return Math.min(owed(low, high, now), most);
  }

  /** Whether the entry that was found belongs to its name already. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /**
   * Stores what is owed in the entry that was found, and takes it over if necessary. Returns false where another thread has
   * changed it since; then the entry must be found again.
   */
  store({ first, tag }: Slot, now: number, owes: number): boolean {
    const clearAt = (now + owes) % TIME_SPAN;
    this.#scratchHalves[0] = clearAt | 0;
    this.#scratchHalves[1] = (tag << TAG_SHIFT) | Math.floor(clearAt / 2 ** 32);
    const word = this.#scratch[0] ?? 0n;
    if (Atomics.compareExchange(this.#words, this.#index, this.#word, word) !== this.#word) return false;
    if (this.#isOwn || !this.#isElsewhere(first, tag)) return true;
    // Another thread has just taken over another entry for the same name: it gives way, or this one does, or both.
    return Atomics.compareExchange(this.#words, this.#index, word, this.#word) !== word;
  }

  #isElsewhere(first: number, tag: number): boolean {
    for (let entry = first; entry < first + WAYS; entry++) {
      if (entry !== this.#index && Atomics.load(this.#halves, 2 * entry + 1) >>> TAG_SHIFT === tag)
        return true;
    }
    return false;
  }
}

/** Microseconds owed; 0 for a time that has passed. */
function owed(low: number, high: number, now: number): number {
  const clearAt = (high & HIGH_TIME_MASK) * 2 ** 32 + (low >>> 0);
  const ahead = clearAt - (now % TIME_SPAN);
  const wrapped = ahead < 0 ? ahead + TIME_SPAN : ahead;
  return wrapped < MAX_AHEAD ? wrapped : 0;
}
