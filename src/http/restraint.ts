import type { Socket } from "node:net";
import type { Clock } from "../lib/clock.js";

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
  /** In which step each is read again. */
  readonly #held = new Map<Socket, number>();
  /** The same by step, so that a step costs what it releases, however many wait. */
  readonly #due = new Map<number, Set<Socket>>();
  /** The last step whose connections are read again. */
  #step = 0;
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

  /** Notes that a request of an address was refused. */
  note(name: string, now = this.#clock.monotonic()): void {
    this.#turn(now);
    if (this.#refused.size < MOST_KNOWN) this.#refused.add(name);
  }

  /** Notes that a request of an address was refused, and does not read its connection for a moment. */
  hold(socket: Socket, name: string): void {
    const now = this.#clock.monotonic();
    this.note(name, now);
    if (this.#hasEnded || socket.destroyed || this.#held.has(socket)) return;
    socket.pause();
    const pauseMs = Math.min(MOST_MS, Math.max(LEAST_MS, this.#held.size / REFUSALS_PER_MS));
    if (!this.#isReleasing) void this.#release(now);
    const step = Math.ceil((now + pauseMs) / STEP_MS);
    this.#held.set(socket, step);
    const together = this.#due.get(step);
    if (together === undefined) this.#due.set(step, new Set([socket]));
    else together.add(socket);
  }

  /** Whether a request of an address was refused in the last seconds. */
  wasRefused(name: string): boolean {
    this.#turn(this.#clock.monotonic());
    return this.#refused.has(name) || this.#refusedBefore.has(name);
  }

  /** Forgets a connection that has closed. */
  forget(socket: Socket): void {
    const step = this.#held.get(socket);
    if (step === undefined) return;
    this.#held.delete(socket);
    this.#due.get(step)?.delete(socket);
  }

  /** Resumes reading all connections, and holds none from now on. */
  end(): void {
    this.#hasEnded = true;
    for (const socket of this.#held.keys()) socket.resume();
    this.#held.clear();
    this.#due.clear();
  }

  #turn(now: number): void {
    const age = now - this.#changedAt;
    if (age < KNOWN_MS) return;
    this.#refusedBefore = age < 2 * KNOWN_MS ? this.#refused : new Set();
    this.#refused = new Set();
    this.#changedAt = now;
  }

  async #release(now: number): Promise<void> {
    this.#isReleasing = true;
    this.#step = Math.floor(now / STEP_MS);
    do {
      await this.#clock.sleep(STEP_MS, this.#ended);
      const current = Math.floor(this.#clock.monotonic() / STEP_MS);
      while (this.#step < current) this.#resume(++this.#step);
    } while (this.#held.size > 0 && !this.#ended.aborted);
    this.#due.clear();
    this.#isReleasing = false;
  }

  #resume(step: number): void {
    for (const socket of this.#due.get(step) ?? []) {
      this.#held.delete(socket);
      socket.resume();
    }
    this.#due.delete(step);
  }
}
