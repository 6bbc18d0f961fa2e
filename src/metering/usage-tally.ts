import { HOUR_MS } from "../clock.js";
import { OTHER_AGENT } from "./agents.js";

/** What stands for all routes, and for all networks, that are not told apart. */
export const OTHER = "other";

/** What an answer was: a class of statuses, or 429 by itself. */
export const OUTCOMES = ["2xx", "3xx", "4xx", "5xx", "blocked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export function outcomeOf(status: number): Outcome {
  if (status === 429) return "blocked";
  return status < 300 ? "2xx" : status < 400 ? "3xx" : status < 500 ? "4xx" : "5xx";
}

/** One request, as it is counted. */
export interface TalliedRequest {
  keyId: number;
  at: number;
  /** From a closed set. */
  route: string;
  status: number;
  bytes: number;
  micros: number;
  /** What the answer said of the key's own allowance; undefined where it did not. */
  allowance: { bucket: string; limit: number; remaining: number } | undefined;
  /** The error code of the response; null if it had none. */
  code: string | null;
  /** As storablePath returns it; null for a request that did not fail. */
  path: string | null;
  /** A network. */
  address: string;
  /** A family of programs. */
  agent: string;
}

export interface Counts {
  requests: number;
  bytes: number;
  micros: number;
}
export interface Lowest {
  limit: number;
  lowest: number;
  at: number;
}
export interface Seen {
  requests: number;
  lastAt: number;
}
export interface UsageEvent {
  at: number;
  route: string;
  status: number;
  code: string | null;
  bucket: string | null;
  path: string | null;
}

/** How much is held at most until it is written. What is beyond is counted as "other", so that totals stay true. */
export interface TallyBounds {
  /** Keys; requests of further ones are lost, and their number is told. */
  keys: number;
  /** Hours of one key; later ones are counted in the last of them. */
  hours: number;
  /** Routes, networks and families of all keys and hours together. */
  entries: number;
  /** Networks of one key in one hour, here and when stored. */
  addresses: number;
  agents: number;
  /** Errors of one key, and as many refusals, here and when stored. */
  events: number;
  /** Errors and refusals of all keys together. */
  allEvents: number;
}

export const TALLY_BOUNDS: TallyBounds = {
  keys: 10_000,
  hours: 48,
  entries: 50_000,
  addresses: 100,
  agents: 20,
  events: 25,
  allEvents: 10_000,
};

/** How many entries may still be made. */
interface Room {
  left: number;
}

/** What one key did in some span of time. */
export class UsageSpan {
  /** By outcome and route, with a space between. */
  readonly routes = new Map<string, Counts>();
  readonly allowances = new Map<string, Lowest>();
  readonly addresses = new Map<string, Seen>();
  readonly agents = new Map<string, Seen>();
  readonly #room: Room;

  constructor(room: Room = { left: Number.POSITIVE_INFINITY }) {
    this.#room = room;
  }

  count(outcome: string, route: string, more: Counts): void {
    const fresh = () => ({ requests: 0, bytes: 0, micros: 0 });
    const name = `${outcome} ${route}`;
    const counts = this.#entry(this.routes, name, Number.POSITIVE_INFINITY, `${outcome} ${OTHER}`, fresh);
    counts.requests += more.requests;
    counts.bytes += more.bytes;
    counts.micros += more.micros;
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

  /** `most`: how many may be told apart. */
  see(kind: "addresses" | "agents", name: string, more: Seen, most: number): void {
    const other = kind === "agents" ? OTHER_AGENT : OTHER;
    const seen = this.#entry(this[kind], name, most, other, () => ({ requests: 0, lastAt: 0 }));
    seen.requests += more.requests;
    seen.lastAt = Math.max(seen.lastAt, more.lastAt);
  }

  /** Entries that this takes of the room of all. */
  get entries(): number {
    return this.routes.size + this.addresses.size + this.agents.size;
  }

  /** Adds all that another span holds. */
  absorb(span: UsageSpan, { addresses, agents }: { addresses: number; agents: number }): void {
    for (const [name, counts] of span.routes) {
      const at = name.indexOf(" ");
      this.count(name.slice(0, at), name.slice(at + 1), counts);
    }
    for (const [bucket, lowest] of span.allowances) this.lower(bucket, lowest);
    for (const [name, seen] of span.addresses) this.see("addresses", name, seen, addresses);
    for (const [name, seen] of span.agents) this.see("agents", name, seen, agents);
  }

  #entry<Value>(
    map: Map<string, Value>,
    name: string,
    most: number,
    other: string,
    fresh: () => Value,
  ): Value {
    const known = map.get(name);
    if (known !== undefined) return known;
    const told = map.size - (map.has(other) ? 1 : 0);
    const kept = told < most && this.#room.left > 0 ? name : other;
    const present = map.get(kept);
    if (present !== undefined) return present;
    const value = fresh();
    map.set(kept, value);
    this.#room.left--;
    return value;
  }
}

/** What one key did, hour by hour (hours since 1970). Events are the last ones, oldest first. */
export interface KeyTally {
  hours: Map<number, UsageSpan>;
  errors: UsageEvent[];
  blocks: UsageEvent[];
}

/** What has been counted and is not written yet, within bounds whatever is asked. */
export class UsageTally {
  readonly keys = new Map<number, KeyTally>();
  readonly #bounds: TallyBounds;
  readonly #room: Room;
  #events = 0;
  /** Requests that could not be counted, as there were too many keys. */
  lost = 0;

  constructor(bounds: TallyBounds) {
    this.#bounds = bounds;
    this.#room = { left: bounds.entries };
  }

  /** Whether it should be written before its time. */
  get isCrowded(): boolean {
    return this.#room.left < this.#bounds.entries / 2 || this.keys.size > this.#bounds.keys / 2;
  }

  add(request: TalliedRequest): void {
    const { at, route, status, bytes, micros, allowance, code, path } = request;
    const tally = this.#tallyOf(request.keyId);
    if (tally === undefined) {
      this.lost++;
      return;
    }
    const span = this.#spanOf(tally, Math.floor(at / HOUR_MS));
    const outcome = outcomeOf(status);
    span.count(outcome, route, { requests: 1, bytes, micros });
    if (allowance !== undefined)
      span.lower(allowance.bucket, { limit: allowance.limit, lowest: allowance.remaining, at });
    const seen = { requests: 1, lastAt: at };
    span.see("addresses", request.address, seen, this.#bounds.addresses);
    span.see("agents", request.agent, seen, this.#bounds.agents);
    if (status < 400) return;
    const event = { at, route, status, code, bucket: allowance?.bucket ?? null, path };
    this.#keep(outcome === "blocked" ? tally.blocks : tally.errors, [event]);
  }

  /** Adds all that a later tally holds, after this one could not be written. */
  absorb(later: UsageTally): void {
    this.lost += later.lost;
    for (const [keyId, newer] of later.keys) {
      const tally = this.#tallyOf(keyId);
      if (tally === undefined) {
        for (const span of newer.hours.values())
          for (const { requests } of span.routes.values()) this.lost += requests;
        continue;
      }
      for (const [hour, span] of newer.hours) this.#spanOf(tally, hour).absorb(span, this.#bounds);
      this.#keep(tally.errors, newer.errors);
      this.#keep(tally.blocks, newer.blocks);
    }
  }

  /**
   * Some of what is held: whole hours of keys, as many as have about `most` entries and events; one at least, and none only
   * where nothing is held. The events of a key come with the first of its hours.
   */
  part(most: number): Map<number, KeyTally> {
    const part = new Map<number, KeyTally>();
    let size = 0;
    for (const [keyId, { hours, errors, blocks }] of this.keys) {
      const some: KeyTally = { hours: new Map(), errors, blocks };
      size += errors.length + blocks.length;
      for (const [hour, span] of hours) {
        if (size >= most && (part.size > 0 || some.hours.size > 0)) break;
        part.set(keyId, some);
        some.hours.set(hour, span);
        size += span.entries + span.allowances.size;
      }
      if (size >= most) break;
    }
    return part;
  }

  /** Takes away what `part` gave, once it is stored; nothing may have been added since. Its room is free again. */
  remove(part: ReadonlyMap<number, KeyTally>): void {
    for (const [keyId, { hours }] of part) {
      const tally = this.keys.get(keyId);
      if (tally === undefined) continue;
      for (const [hour, span] of hours) {
        tally.hours.delete(hour);
        this.#room.left += span.entries;
      }
      for (const events of [tally.errors, tally.blocks]) this.#events -= events.splice(0).length;
      if (tally.hours.size === 0) this.keys.delete(keyId);
    }
  }

  #tallyOf(keyId: number): KeyTally | undefined {
    const known = this.keys.get(keyId);
    if (known !== undefined) return known;
    if (this.keys.size >= this.#bounds.keys) return undefined;
    const tally = { hours: new Map(), errors: [], blocks: [] };
    this.keys.set(keyId, tally);
    return tally;
  }

  #spanOf({ hours }: KeyTally, hour: number): UsageSpan {
    const known =
      hours.get(hour) ?? (hours.size < this.#bounds.hours ? undefined : [...hours.values()].at(-1));
    if (known !== undefined) return known;
    const span = new UsageSpan(this.#room);
    hours.set(hour, span);
    return span;
  }

  /** Keeps the last ones; what is told of single requests is a sample, so it may also be left out. */
  #keep(events: UsageEvent[], more: readonly UsageEvent[]): void {
    const before = events.length;
    const isFull = this.#events >= this.#bounds.allEvents;
    events.push(...more);
    events.sort((a, b) => a.at - b.at);
    events.splice(0, events.length - (isFull ? before : Math.min(events.length, this.#bounds.events)));
    this.#events += events.length - before;
  }
}
