import type { Generated } from "kysely";

/** Tables of API key usage; see schema.ts for conventions of columns. */

/** Columns of the rows of one key in one span of time. */
export interface UsageSpan {
  key_id: number;
  /** 1, 6 or 24; each request counts in one span of each length. */
  span_hours: number;
  /** Start of the span; a multiple of its length since 1970. */
  from_at: number;
}

export interface UsageRouteTable extends UsageSpan {
  /** Empty with the route `other`. */
  method: string;
  /** Path pattern, or `other`. */
  route: string;
  /** One of metering's OUTCOMES. */
  outcome: string;
  requests: number;
  /** Response bodies as sent. */
  bytes: number;
  /** Response times, in microseconds. */
  micros: number;
}

/** How close a key came to its limits. */
export interface UsageAllowanceTable extends UsageSpan {
  bucket: string;
  /** The limit of the bucket when the key was last used. */
  allowance: number;
  /** The lowest remaining count reported. */
  lowest: number;
  lowest_at: number;
}

/** Networks and user agents that used a key. */
export interface UsageCallerTable extends UsageSpan {
  /** address: a network, never a whole address. agent: a family of user agents. */
  kind: string;
  name: string;
  requests: number;
  last_at: number;
}

/** A recent error or rate-limited request; only a few are kept per key. */
export interface UsageEventTable {
  id: Generated<number>;
  key_id: number;
  at: number;
  /** null with the route `other`. */
  method: string | null;
  route: string;
  status: number;
  /** The error code of the response; null if it had none. */
  code: string | null;
  /** The bucket the request counted against; null: none. */
  bucket: string | null;
  /** The requested path: decoded, without query and tokens. */
  path: string | null;
}
