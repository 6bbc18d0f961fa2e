import { setTimeout } from "node:timers/promises";
import type { Window } from "../../../src/growth/growth.js";

interface Change {
  id: string;
  record: object | null;
}

/** A program that keeps a copy of the catalogue by the documented steps, and knows nothing else of the service. */
export class Follower {
  /** By id. */
  readonly copy = new Map<string, object>();
  /** Times that it had to begin again. */
  expired = 0;
  /** Requests that failed, as while the service was down. */
  failed = 0;
  readonly window: Window;
  readonly #limit: number;
  #next = "start";

  constructor(window: Window, limit: number) {
    this.window = window;
    this.#limit = limit;
  }

  /** Follows changes until `signal` is aborted. `url`: where the service is now. */
  async run(url: () => string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted)
      try {
        if (!(await this.#step(url()))) await setTimeout(PAUSE_MS);
      } catch {
        this.failed++;
        await setTimeout(PAUSE_MS);
      }
  }

  /** The revision up to which it has read the log; -1: it still reads all repositories. */
  get revision(): number {
    return this.#next === "start" ? -1 : JSON.parse(Buffer.from(this.#next, "base64url").toString())[2];
  }

  /** Reads one part. Returns whether there may be more. */
  async #step(url: string): Promise<boolean> {
    const query = `since=${this.#next}&include=record&window=${this.window}&limit=${this.#limit}`;
    const response = await fetch(`${url}/api/changes?${query}`);
    if (response.status === 410) {
      this.expired++;
      this.copy.clear();
      this.#next = "start";
      return true;
    }
    if (response.status !== 200) throw new Error(`/api/changes: ${response.status}`);
    const { data, meta }: { data: Change[]; meta: { nextCursor: string; hasMore: boolean } } =
      await response.json();
    for (const { id, record } of data) {
      if (record === null) this.copy.delete(id);
      else this.copy.set(id, record);
    }
    this.#next = meta.nextCursor;
    return meta.hasMore;
  }
}

const PAUSE_MS = 50;
