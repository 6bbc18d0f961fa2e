import { BroadcastChannel } from "node:worker_threads";
import type { Clock } from "../clock.js";

/** How long what was read is taken for true without looking again. */
const HELD_MS = 5_000;
/** Readings that are held at most; those made longest ago leave first. */
const MAX_HELD = 10_000;

interface Reading<T> {
  found: T | undefined;
  /** Monotonic. */
  readAt: number;
}

/**
 * Who a secret speaks for, by the hash of the secret, so that a request need not ask the database. What changes is seen
 * five seconds later at most, and at once after `forget`.
 */
export class Held<T> {
  readonly #clock: Clock;
  readonly #holdsMisses: boolean;
  readonly #readings = new Map<string, Reading<T>>();
  /** Grows with each `forget`: what was read before one is not held after it. */
  #forgotten = 0;

  /** `holdsMisses`: also that a hash opens nothing. Many of these push out others, which are then read again. */
  constructor(clock: Clock, holdsMisses: boolean) {
    this.#clock = clock;
    this.#holdsMisses = holdsMisses;
  }

  /** What was read for this hash less than five seconds ago, else what `read` finds now. */
  async find(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const known = this.#readings.get(hash);
    const readAt = this.#clock.monotonic();
    if (known !== undefined && readAt - known.readAt < HELD_MS) return known.found;
    const forgotten = this.#forgotten;
    const found = await read();
    this.#readings.delete(hash);
    if (forgotten === this.#forgotten && (found !== undefined || this.#holdsMisses))
      this.#readings.set(hash, { found, readAt });
    for (const oldest of this.#readings.keys()) {
      if (this.#readings.size <= MAX_HELD) break;
      this.#readings.delete(oldest);
    }
    return found;
  }

  /** Looks again for everybody from now on. */
  forget(): void {
    this.#forgotten++;
    this.#readings.clear();
  }
}

/** Where each thread tells the others of this process that something was revoked. */
const CHANNEL = "sidereal revoked";

/** Lets all that is held be looked at again when something was revoked. */
export class Forgetting {
  readonly #listeners: (() => void)[] = [];
  #others: BroadcastChannel | undefined;

  add(listener: () => void): void {
    this.#listeners.push(listener);
  }

  forget(): void {
    this.#forgetHere();
    this.#others?.postMessage(null);
  }

  /** From now on other threads that have joined forget at once, too. Returns what ends that. */
  joinThreads(): () => void {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = () => this.#forgetHere();
    this.#others = channel;
    return () => {
      this.#others = undefined;
      channel.close();
    };
  }

  #forgetHere(): void {
    for (const listener of this.#listeners) listener();
  }
}
