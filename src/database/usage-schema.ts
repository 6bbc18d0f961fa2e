import type { Generated } from "kysely";

/** The tables of what API keys were used for; see schema.ts for what all columns have in common. */

/** What the rows of one key in one span of time have in common. */
export interface UsageSpan {
  key_id: number;
  /** 1, 6 or 24: each request is in one span of each. */
  span_hours: number;
  /** When the span begins; a multiple of its length since 1970. */
  from_at: number;
}

export interface UsageRouteTable extends UsageSpan {
  /** Method and path pattern, or `other`. */
  route: string;
  /** One of metering's OUTCOMES. */
  outcome: string;
  requests: number;
  /** Of bodies, as they were sent. */
  bytes: number;
  /** Time that answering took, in microseconds. */
  micros: number;
}

/** How near a key came to its limit. */
export interface UsageAllowanceTable extends UsageSpan {
  bucket: string;
  /** The limit of the bucket when the key was last used. */
  allowance: number;
  /** The fewest requests that an answer said were left. */
  lowest: number;
  lowest_at: number;
}

/** Where a key was used from, and by which programs. */
export interface UsageCallerTable extends UsageSpan {
  /** address: a network, never a whole address. agent: a family of programs. */
  kind: string;
  name: string;
  requests: number;
  last_at: number;
}

/** A recent error or refusal; few are kept of each key. */
export interface UsageEventTable {
  id: Generated<number>;
  key_id: number;
  at: number;
  route: string;
  status: number;
  /** The error code of the answer; null where it had none. */
  code: string | null;
  /** The bucket in which the request counted; null: in none. */
  bucket: string | null;
  /** What was requested: decoded, without its query and tokens. */
  path: string | null;
}
