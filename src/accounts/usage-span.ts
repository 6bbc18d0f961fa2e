import { OTHER_AGENT } from "./agents.js";

/** The name of routes and of networks that are counted together. */
export const OTHER = "other";

/** Statuses by class, and 429 on its own. */
export const OUTCOMES = ["2xx", "3xx", "4xx", "5xx", "blocked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export function outcomeOf(status: number): Outcome {
  if (status === 429) return "blocked";
  return status < 300 ? "2xx" : status < 400 ? "3xx" : status < 500 ? "4xx" : "5xx";
}

/** The requests of one route with one outcome. */
export interface RouteCounts {
  outcome: Outcome;
  /** null with the route `other`. */
  method: string | null;
  /** A path pattern, or `other`. */
  route: string;
  requests: number;
  bytes: number;
  micros: number;
}
/** The lowest remaining count of a bucket. */
export interface Lowest {
  limit: number;
  lowest: number;
  at: number;
}
/** The requests of a network or an agent. */
interface Seen {
  requests: number;
  lastAt: number;
}

/** The number of entries that may still be added, shared by all spans of a tally. */
export interface Room {
  left: number;
}

/** What one key did in a span of time. */
export class UsageSpan {
  /** Keyed by outcome, method and route. */
  readonly routes = new Map<string, RouteCounts>();
  readonly allowances = new Map<string, Lowest>();
  readonly addresses = new Map<string, Seen>();
  readonly agents = new Map<string, Seen>();
  readonly #room: Room;
  #last: RouteCounts | undefined;

  constructor(room: Room = { left: Number.POSITIVE_INFINITY }) {
    this.#room = room;
  }

  /** Adds the counts of some requests. */
  count({ outcome, method, route, requests, bytes, micros }: RouteCounts): void {
    const counts = this.#countsOf(outcome, method, route);
    counts.requests += requests;
    counts.bytes += bytes;
    counts.micros += micros;
  }

  #countsOf(outcome: Outcome, method: string | null, route: string): RouteCounts {
    const last = this.#last;
    // Most requests are like the one before.
    if (last?.route === route && last.outcome === outcome && last.method === method) return last;
    const none = { outcome, requests: 0, bytes: 0, micros: 0 };
    this.#last = this.#entry(this.routes, {
      key: keyOf(outcome, method, route),
      create: () => ({ ...none, method, route }),
      other: keyOf(outcome, null, OTHER),
      createOther: () => ({ ...none, method: null, route: OTHER }),
      max: Number.POSITIVE_INFINITY,
    });
    return this.#last;
  }

  lower(bucket: string, { limit, lowest, at }: Lowest): void {
    const known = this.allowances.get(bucket);
    if (known === undefined) {
      this.allowances.set(bucket, { limit, lowest, at });
      return;
    }
    known.limit = limit;
    if (lowest >= known.lowest) return;
    known.lowest = lowest;
    known.at = at;
  }

  /** Adds requests of a network or an agent. `max`: how many names are counted separately. */
  see(kind: "addresses" | "agents", { name, requests, lastAt }: Seen & { name: string }, max: number): void {
    const seen = this[kind].get(name) ?? this.#newSeen(kind, name, max);
    seen.requests += requests;
    seen.lastAt = Math.max(seen.lastAt, lastAt);
  }

  #newSeen(kind: "addresses" | "agents", name: string, max: number): Seen {
    const create = () => ({ requests: 0, lastAt: 0 });
    const other = kind === "agents" ? OTHER_AGENT : OTHER;
    return this.#entry(this[kind], { key: name, create, other, createOther: create, max });
  }

  /** Number of entries that count against the room. */
  get entries(): number {
    return this.routes.size + this.addresses.size + this.agents.size;
  }

  /** Adds the counts of another span. */
  absorb(span: UsageSpan, { addresses, agents }: { addresses: number; agents: number }): void {
    for (const counts of span.routes.values()) this.count(counts);
    for (const [bucket, lowest] of span.allowances) this.lower(bucket, lowest);
    for (const [name, seen] of span.addresses) this.see("addresses", { name, ...seen }, addresses);
    for (const [name, seen] of span.agents) this.see("agents", { name, ...seen }, agents);
  }

  /** The entry of a key; of the other key if there is no room for another entry. */
  #entry<Value>(map: Map<string, Value>, { key, create, other, createOther, max }: NewEntry<Value>): Value {
    const known = map.get(key);
    if (known !== undefined) return known;
    const named = map.size - (map.has(other) ? 1 : 0);
    const hasRoom = named < max && this.#room.left > 0;
    const kept = hasRoom ? key : other;
    const present = map.get(kept);
    if (present !== undefined) return present;
    const value = hasRoom ? create() : createOther();
    map.set(kept, value);
    this.#room.left--;
    return value;
  }
}

interface NewEntry<Value> {
  key: string;
  create: () => Value;
  /** The key of the entry for everything beyond the bounds. */
  other: string;
  createOther: () => Value;
  /** Maximum number of entries besides the other one. */
  max: number;
}

function keyOf(outcome: Outcome, method: string | null, route: string): string {
  return `${outcome} ${method ?? ""} ${route}`;
}
