import type { Socket } from "node:net";
import type { Clock } from "../clock.js";

/** How long a connection is not read after a refusal. Longer where many wait, so that refusals of all stay below a rate. */
const LEAST_MS = 100;
const REFUSALS_PER_MS = 2;
/** Shorter than an idle connection is kept. */
const MOST_MS = 4_000;
const STEP_MS = 50;
/** How long an address is known to have been refused: at least this, and less than twice as long. */
const KNOWN_MS = 5_000;
/** Addresses that are known. */
const MOST_KNOWN = 50_000;

/**
 * Slows down clients that keep sending after a refusal (429 or 503). A refusal costs tens of microseconds, so a flood of refused
 * requests would occupy the thread as much as responses do.
 */
export class Restraint {
  readonly #clock: Clock;
  readonly #ended: AbortSignal;
  /** When each is read again, monotonic. */
  readonly #held = new Map<Socket, number>();
  #refused = new Set<string>();
  #refusedBefore = new Set<string>();
  #changedAt = Number.NEGATIVE_INFINITY;
  #isReleasing = false;
  #hasEnded = false;

  /** `ended`: aborted when the server has closed. */
  constructor(clock: Clock, ended: AbortSignal) {
    this.#clock = clock;
    this.#ended = ended;
  }

  /** Notes that a request of an address was refused, and does not read its connection for a moment. */
  hold(socket: Socket, name: string): void {
    const now = this.#clock.monotonic();
    this.#turn(now);
    if (this.#refused.size < MOST_KNOWN) this.#refused.add(name);
    if (this.#hasEnded || socket.destroyed || this.#held.has(socket)) return;
    socket.pause();
    const pauseMs = Math.min(MOST_MS, Math.max(LEAST_MS, this.#held.size / REFUSALS_PER_MS));
    this.#held.set(socket, now + pauseMs);
    if (!this.#isReleasing) void this.#release();
  }

  /** Whether a request of an address was refused in the last seconds. */
  wasRefused(name: string): boolean {
    this.#turn(this.#clock.monotonic());
    return this.#refused.has(name) || this.#refusedBefore.has(name);
  }

  /** Forgets a connection that has closed. */
  forget(socket: Socket): void {
    this.#held.delete(socket);
  }

  /** Resumes reading all connections, and holds none from now on. */
  end(): void {
    this.#hasEnded = true;
    for (const socket of this.#held.keys()) socket.resume();
    this.#held.clear();
  }

  #turn(now: number): void {
    const age = now - this.#changedAt;
    if (age < KNOWN_MS) return;
    this.#refusedBefore = age < 2 * KNOWN_MS ? this.#refused : new Set();
    this.#refused = new Set();
    this.#changedAt = now;
  }

  async #release(): Promise<void> {
    this.#isReleasing = true;
    while (this.#held.size > 0 && !this.#ended.aborted) {
      await this.#clock.sleep(STEP_MS, this.#ended);
      const now = this.#clock.monotonic();
      for (const [socket, until] of this.#held) {
        // Not sorted by time: those held while many waited are held for longer.
        if (until > now) continue;
        this.#held.delete(socket);
        socket.resume();
      }
    }
    this.#isReleasing = false;
  }
}
