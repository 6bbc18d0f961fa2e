import type { UsageEventTable } from "../database/database.js";
import { HOUR_MS } from "../lib/clock.js";
import { outcomeOf, type Room, UsageSpan } from "./usage-span.js";

/** One request to count. */
export interface TalliedRequest {
  keyId: number;
  at: number;
  /** null with the route `other`. */
  method: string | null;
  /** The path pattern of the route; `other` if none matched. */
  route: string;
  status: number;
  bytes: number;
  micros: number;
  /** The key's allowance as reported in the response; undefined if it counted against another one. */
  allowance: { bucket: string; limit: number; remaining: number } | undefined;
  /** The error code of the response; null if it had none. */
  code: string | null;
  /** From storablePath; null unless the request failed. */
  path: string | null;
  /** A network. */
  address: string;
  /** A family of user agents. */
  agent: string;
}

/** An error or a rate-limited request. */
export type UsageEvent = Omit<UsageEventTable, "id" | "key_id">;

/** Bounds of the counts kept in memory. Anything beyond is counted as "other", so totals stay exact. */
export interface TallyBounds {
  /** Keys; requests of further keys are lost, and their number is logged. */
  keys: number;
  /** Hours of one key; later ones are counted in the last. */
  hours: number;
  /** Routes, networks and agent families of all keys and hours together. */
  entries: number;
  /** Networks of one key in one hour, in memory and in the database. */
  addresses: number;
  agents: number;
  /** Errors of one key, in memory and in the database; the same for rate-limited requests. */
  events: number;
  /** Errors and rate-limited requests of all keys together. */
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

/** What one key did, by hour since 1970. Events are the latest ones, oldest first. */
export interface KeyTally {
  hours: Map<number, UsageSpan>;
  errors: UsageEvent[];
  blocks: UsageEvent[];
}

/** Counts that are not written yet, within bounds. */
export class UsageTally {
  readonly keys = new Map<number, KeyTally>();
  readonly #bounds: TallyBounds;
  readonly #room: Room;
  #events = 0;
  /** Requests that were not counted because there were too many keys. */
  lost = 0;

  constructor(bounds: TallyBounds) {
    this.#bounds = bounds;
    this.#room = { left: bounds.entries };
  }

  /** Whether it should be written early. */
  get isCrowded(): boolean {
    return this.#room.left < this.#bounds.entries / 2 || this.keys.size > this.#bounds.keys / 2;
  }

  add(request: TalliedRequest): void {
    const { at, method, route, status, bytes, micros, allowance, code, path } = request;
    const tally = this.#tallyOf(request.keyId);
    if (tally === undefined) {
      this.lost++;
      return;
    }
    const span = this.#spanOf(tally, Math.floor(at / HOUR_MS));
    const outcome = outcomeOf(status);
    span.count({ outcome, method, route, requests: 1, bytes, micros });
    if (allowance !== undefined)
      span.lower(allowance.bucket, { limit: allowance.limit, lowest: allowance.remaining, at });
    span.see("addresses", { name: request.address, requests: 1, lastAt: at }, this.#bounds.addresses);
    span.see("agents", { name: request.agent, requests: 1, lastAt: at }, this.#bounds.agents);
    if (status < 400) return;
    const event = { at, method, route, status, code, bucket: allowance?.bucket ?? null, path };
    this.#keep(outcome === "blocked" ? tally.blocks : tally.errors, [event]);
  }

  /** Adds the counts of a later tally, after writing this one failed. */
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
   * Whole hours of keys with about `max` entries and events together; at least one hour, unless the tally is empty. The events
   * of a key are in the part with its first hour.
   */
  part(max: number): Map<number, KeyTally> {
    const part = new Map<number, KeyTally>();
    let size = 0;
    for (const [keyId, { hours, errors, blocks }] of this.keys) {
      const some: KeyTally = { hours: new Map(), errors, blocks };
      size += errors.length + blocks.length;
      for (const [hour, span] of hours) {
        if (size >= max && (part.size > 0 || some.hours.size > 0)) break;
        part.set(keyId, some);
        some.hours.set(hour, span);
        size += span.entries + span.allowances.size;
      }
      if (size >= max) break;
    }
    return part;
  }

  /** Removes a part once it is stored, and frees its room. Nothing may have been added since. */
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

  /** Keeps the latest events. They are a sample, so some may be dropped. */
  #keep(events: UsageEvent[], more: readonly UsageEvent[]): void {
    const before = events.length;
    const isFull = this.#events >= this.#bounds.allEvents;
    events.push(...more);
    events.sort((a, b) => a.at - b.at);
    events.splice(0, events.length - (isFull ? before : Math.min(events.length, this.#bounds.events)));
    this.#events += events.length - before;
  }
}
