import { setTimeout } from "node:timers/promises";

/** A request of a load, or what became of it. */
export interface Outcome {
  kind: "read" | "write";
  /** When it was scheduled, and when its response had arrived; in ms, monotonic. */
  scheduledAt: number;
  endedAt: number;
  /** Why it counts as an error; undefined for a success. */
  problem: string | undefined;
}

/** Requests per second. */
export interface Rates {
  reads: number;
  writes: number;
}

/** Sends the i-th request of a kind. Resolves with the status of its response, 0 without one. */
export type SendOne = (kind: Outcome["kind"], i: number) => Promise<number>;

/**
 * Reads and writes at constant rates until it is stopped. Each request is sent at its scheduled time, whether or not earlier ones
 * have been responded to: an outage costs as many errors as people would see.
 */
export class SteadyLoad {
  readonly outcomes: Outcome[] = [];
  readonly #send: SendOne;
  readonly #stopping = new AbortController();
  readonly #done: Promise<unknown>;

  constructor(send: SendOne, rates: Rates) {
    this.#send = send;
    this.#done = Promise.all([this.#run("read", rates.reads), this.#run("write", rates.writes)]);
  }

  /** Stops, and waits for all responses. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(kind: Outcome["kind"], rate: number): Promise<void> {
    const sent: Promise<void>[] = [];
    const began = performance.now();
    for (let i = 0; !this.#stopping.signal.aborted; i++) {
      const scheduledAt = began + (i * 1_000) / rate;
      const early = scheduledAt - performance.now();
      if (early > 0) await setTimeout(early);
      sent.push(this.#sendAt(kind, i, scheduledAt));
    }
    await Promise.all(sent);
  }

  async #sendAt(kind: Outcome["kind"], i: number, scheduledAt: number): Promise<void> {
    const status = await this.#send(kind, i);
    const problem = status >= 200 && status < 300 ? undefined : status === 0 ? "no response" : String(status);
    this.outcomes.push({ kind, scheduledAt, endedAt: performance.now(), problem });
  }
}

/** Errors of each kind, the most frequent first: `12 × 503, 1 × 502`. */
export function describeProblems(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const { problem } of outcomes)
    if (problem !== undefined) counts.set(problem, (counts.get(problem) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.map(([problem, count]) => `${count} × ${problem}`).join(", ");
}
