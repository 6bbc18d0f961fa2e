import type { ForgeRequest, ForgeResponse } from "./responses.js";

/** Counts requests since the start or `reset`, including refused ones. */
export class Counters {
  requests = 0;
  /** By kind of path: `search`, `repository`, `repository-by-id`, `history`, `graphql`, `list`, `rate-limit`, `other`. */
  byKind: Record<string, number> = {};
  /** By token; `anonymous` without one. */
  byToken: Record<string, number> = {};
  /** By name of the injected fault. */
  byFault: Record<string, number> = {};
  /** Repositories refreshed by single requests (including 304) and batches; list rows do not count. */
  refreshed = 0;

  reset(): void {
    Object.assign(this, new Counters());
  }

  count(request: ForgeRequest, response: ForgeResponse, fault: string | undefined): void {
    this.requests++;
    add(this.byKind, request.kind);
    add(this.byToken, request.token ?? "anonymous");
    if (fault !== undefined) add(this.byFault, fault);
    else this.refreshed += response.repositories;
  }
}

function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
