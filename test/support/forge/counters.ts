import type { Answer, ForgeRequest } from "./answers.js";
import type { FaultName } from "./faults.js";

/** The key of requests without a token. */
export const ANONYMOUS = "anonymous";

/** What a forge has been asked for since it started, or since `reset`. Requests that were refused are counted too. */
export class Counters {
  requests = 0;
  /** By kind of path: `search`, `repository`, `repository-by-id`, `history`, `graphql`, `list`, `rate-limit`, `other`. */
  byKind: Record<string, number> = {};
  /** By token; `anonymous` without one. */
  byToken: Record<string, number> = {};
  /** By `kind token`. */
  byKindAndToken: Record<string, number> = {};
  byStatus: Record<number, number> = {};
  /** By name of the fault that was played. */
  byFault: Record<string, number> = {};
  /** Repositories whose present state was told on request: single ones (304 included) and those of batches, not rows of lists. */
  refreshed = 0;
  /** Answers of 304. */
  unchanged = 0;
  /** Bytes of bodies that were handed to sockets, as sent (compressed). */
  bytes = 0;
  /** The most requests of one token that were under way at once. */
  peakConcurrent = 0;
  /** The most requests of one token within one minute of the clock. */
  peakPerMinute = 0;

  reset(): void {
    Object.assign(this, new Counters());
  }

  count(request: ForgeRequest, answer: Answer, fault: FaultName | undefined): void {
    const token = request.token ?? ANONYMOUS;
    this.requests++;
    add(this.byKind, request.kind);
    add(this.byToken, token);
    add(this.byKindAndToken, `${request.kind} ${token}`);
    add(this.byStatus, answer.status);
    if (fault !== undefined) add(this.byFault, fault);
    else this.refreshed += answer.repositories;
    if (answer.status === 304) this.unchanged++;
  }

  addBytes(count: number): void {
    this.bytes += count;
  }
}

function add(counts: Record<string, number>, key: string | number): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
