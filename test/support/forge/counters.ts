import type { ForgeRequest, ForgeResponse } from "./responses.js";

/** The key of requests without a token. */
export const ANONYMOUS = "anonymous";

/** Counts requests since the start or `reset`, including refused ones. */
export class Counters {
  requests = 0;
  /** By kind of path: `search`, `repository`, `repository-by-id`, `history`, `graphql`, `list`, `rate-limit`, `other`. */
  byKind: Record<string, number> = {};
  /** By token; `anonymous` without one. */
  byToken: Record<string, number> = {};
  /** By `kind token`. */
  byKindAndToken: Record<string, number> = {};
  byStatus: Record<number, number> = {};
  /** By name of the injected fault. */
  byFault: Record<string, number> = {};
  /** Repositories refreshed by single requests (including 304) and batches; list rows do not count. */
  refreshed = 0;
  /** Number of 304 responses. */
  unchanged = 0;
  /** Bytes of bodies as sent (compressed). */
  bytes = 0;
  /** Maximum number of concurrent requests of one token. */
  peakConcurrent = 0;
  /** Maximum number of requests of one token within a clock minute. */
  peakPerMinute = 0;

  reset(): void {
    Object.assign(this, new Counters());
  }

  count(request: ForgeRequest, response: ForgeResponse, fault: string | undefined): void {
    const token = request.token ?? ANONYMOUS;
    this.requests++;
    add(this.byKind, request.kind);
    add(this.byToken, token);
    add(this.byKindAndToken, `${request.kind} ${token}`);
    add(this.byStatus, response.status);
    if (fault !== undefined) add(this.byFault, fault);
    else this.refreshed += response.repositories;
    if (response.status === 304) this.unchanged++;
  }

  addBytes(count: number): void {
    this.bytes += count;
  }
}

function add(counts: Record<string, number>, key: string | number): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
