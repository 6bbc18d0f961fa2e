import type { UsageAllowanceTable, UsageCallerTable, UsageRouteTable } from "../database/database.js";
import { MAX_EVENTS, type UsageRows } from "./usage-rows.js";

/** Errors and blocked requests waiting to be written. They are a sample, so further ones are dropped. */
const MAX_ALL_EVENTS = 10_000;

type EventRow = UsageRows["events"][number];

/** Counts that are not written yet, as rows to add to the stored ones. */
export class UsageTally {
  readonly #routes = new Map<string, UsageRouteTable>();
  readonly #allowances = new Map<string, UsageAllowanceTable>();
  readonly #callers = new Map<string, UsageCallerTable>();
  /** By key, errors and blocked requests apart; oldest first. */
  readonly #events = new Map<string, EventRow[]>();
  #eventCount = 0;

  /** Number of rows of sums. */
  get size(): number {
    return this.#routes.size + this.#allowances.size + this.#callers.size;
  }

  addRoute(row: UsageRouteTable): void {
    const name = `${row.key_id} ${row.from_at} ${row.outcome} ${row.method} ${row.route}`;
    const sum = this.#routes.get(name);
    if (sum === undefined) this.#routes.set(name, row);
    else {
      sum.requests += row.requests;
      sum.bytes += row.bytes;
      sum.micros += row.micros;
    }
  }

  addAllowance(row: UsageAllowanceTable): void {
    const name = `${row.key_id} ${row.from_at} ${row.bucket}`;
    const known = this.#allowances.get(name);
    if (known === undefined || row.lowest < known.lowest) this.#allowances.set(name, row);
    else known.allowance = row.allowance;
  }

  addCaller(row: UsageCallerTable): void {
    const name = `${row.key_id} ${row.from_at} ${row.kind} ${row.name}`;
    const sum = this.#callers.get(name);
    if (sum === undefined) this.#callers.set(name, row);
    else {
      sum.requests += row.requests;
      sum.last_at = Math.max(sum.last_at, row.last_at);
    }
  }

  addEvent(row: EventRow): void {
    const name = `${row.key_id} ${row.status === 429}`;
    const latest = this.#events.get(name) ?? [];
    this.#events.set(name, latest);
    if (latest.length < MAX_EVENTS && this.#eventCount >= MAX_ALL_EVENTS) return;
    latest.push(row);
    if (latest.length > MAX_EVENTS) latest.shift();
    else this.#eventCount++;
  }

  /** Removes and returns about `max` rows; none if the tally is empty. */
  take(max: number): UsageRows {
    let left = max;
    const taken = <Row>(rows: Map<string, Row>, sizeOf: (row: Row) => number = () => 1): Row[] => {
      const some: Row[] = [];
      for (const [name, row] of rows) {
        if (left <= 0) break;
        some.push(row);
        rows.delete(name);
        left -= sizeOf(row);
      }
      return some;
    };
    const events = taken(this.#events, ({ length }) => length).flat();
    this.#eventCount -= events.length;
    const [routes, allowances] = [taken(this.#routes), taken(this.#allowances)];
    return { events, routes, allowances, callers: taken(this.#callers) };
  }

  /** Adds rows again that could not be written. */
  putBack({ routes, allowances, callers, events }: UsageRows): void {
    for (const row of routes) this.addRoute(row);
    for (const row of allowances) this.addAllowance(row);
    for (const row of callers) this.addCaller(row);
    for (const row of events) this.addEvent(row);
  }
}
