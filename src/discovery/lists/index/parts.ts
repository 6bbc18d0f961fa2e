import type { Window } from "../../../growth/growth.js";
import { keyBytes, type Order } from "./order.js";

/**
 * The list index is made of parts, each of which is read and replaced as a whole. All arrays are in shared memory. A
 * repository's slot is its id.
 */
export interface Parts {
  facts?: Facts;
  /** By slot: the bits of TRUST_BITS. */
  trust?: Uint8Array;
  topics?: Topics;
  /** By `orderName`. */
  orders: ReadonlyMap<string, Order>;
}

/** A part to replace the one of the same kind; of an order, the one of the same name. */
export type Part =
  | { kind: "facts"; facts: Facts }
  | { kind: "trust"; trust: Uint8Array }
  | { kind: "topics"; topics: Topics }
  | { kind: "order"; name: string; order: Order };

export interface Facts {
  /** Number of slots: greater than every id. */
  slots: number;
  /** By slot: the bits LISTED, ARCHIVED and FORK. */
  flags: Uint8Array;
  providers: Names;
  languages: Names;
  licenses: Names;
  /** The listed repositories by provider, language and license, and those that are archived or forks, ascending. */
  byProvider: Groups & {
    /** The group of most repositories, which is empty: testing all slots costs little more. */
    leftOut: number;
  };
  byLanguage: Groups;
  byLicense: Groups;
  archived: Uint32Array;
  forks: Uint32Array;
}

/** Slots in groups, ascending in each: those of group `i` are from `offsets[i]` to `offsets[i + 1]`. */
export interface Groups {
  offsets: Uint32Array;
  slots: Uint32Array;
}

/** The name that each repository has: `codes` holds by slot the index into `names` plus 1; 0 for none. */
export interface Names {
  codes: Uint16Array;
  names: readonly string[];
  /** false: there are more names than codes, so repositories with code 0 may have one. */
  isComplete: boolean;
}

/** The repositories of each common topic, those that most repositories have first: group `i` has `names[i]`. */
export interface Topics extends Groups {
  names: readonly string[];
}

export const LISTED = 1;
export const ARCHIVED = 2;
export const FORK = 4;

/** Bits of a repository's trend in each window: it is reliable; it has no anomaly. */
export const TRUST_BITS: Readonly<Record<Window, { reliable: number; clean: number }>> = {
  "24h": { reliable: 1, clean: 2 },
  "7d": { reliable: 4, clean: 8 },
  "30d": { reliable: 16, clean: 32 },
};

/**
 * Topics of fewer repositories are not in the index; looking them up in the database costs little. In a small catalogue a topic of
 * few repositories is among those that lists offer.
 */
export function commonFrom(slots: number): number {
  return Math.min(64, Math.ceil(slots / 300));
}

/** Bytes of a part in shared memory. */
export function partBytes(part: Part): number {
  switch (part.kind) {
    case "facts": {
      const { flags, providers, languages, licenses, archived, forks } = part.facts;
      const codes = [providers, languages, licenses].map((names) => names.codes);
      const { byProvider, byLanguage, byLicense } = part.facts;
      const groups = [byProvider, byLanguage, byLicense].flatMap(({ offsets, slots }) => [offsets, slots]);
      return bytesOf(flags, archived, forks, ...codes, ...groups);
    }
    case "trust":
      return part.trust.byteLength;
    case "topics":
      return bytesOf(part.topics.offsets, part.topics.slots);
    case "order": {
      const { slots, cells, codes, keys } = part.order;
      return bytesOf(slots, codes, ...(cells ? [cells] : [])) + keyBytes(keys);
    }
  }
}

function bytesOf(...arrays: readonly ArrayBufferView[]): number {
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
