import type { Clock } from "../../lib/clock.js";
import { ownTurn } from "../../lib/loop-turns.js";

/** Time of work after which others get a turn. */
const TURN_MS = 5;

/** Long computations in short steps, between which the event loop serves others. */
export class Steps {
  readonly #clock: Pick<Clock, "monotonic">;
  #began: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  get now(): number {
    return this.#clock.monotonic();
  }

  /** Lets others have a turn if it has been some time. */
  async pause(): Promise<void> {
    if (this.now - this.#began < TURN_MS) return;
    await ownTurn();
    this.#began = this.now;
  }

  /** Does some work when all earlier work has ended, so that derived values see none of its changes. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.pause();
    }
  }
}

/** An earlier value is used for this many times as long as computing one took, so that changes do not keep a core busy. */
const REST = 9;

/** The state that derived values depend on. */
export interface Versioned {
  version: number;
  /** Whether deriving a value takes so long that an earlier one is used meanwhile. */
  readonly isLarge: boolean;
  /** How many values have replaced an earlier one that was used while they were computed. */
  replaced: number;
}

/** A value that depends on something with a version, computed again when it is wanted and the version has grown. */
export class Derived<T> {
  readonly #source: Versioned;
  readonly #steps: Steps;
  readonly #compute: () => Generator<void, T>;
  #known: { value: T; version: number } | undefined;
  #work: Promise<T> | undefined;
  #isEarlierUsed = false;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(source: Versioned, steps: Steps, compute: () => Generator<void, T>) {
    this.#source = source;
    this.#steps = steps;
    this.#compute = compute;
  }

  /** The value of the present version, if it is known. */
  get known(): T | undefined {
    return this.#known?.version === this.#source.version ? this.#known.value : undefined;
  }

  /** The value of the present version. */
  exact(): T | Promise<T> {
    if (this.known !== undefined) return this.known;
    this.#work ??= this.#renew().finally(() => {
      this.#work = undefined;
    });
    return this.#work;
  }

  /** The value of the present version if it is known; otherwise it is computed for a later caller, though not all the time. */
  peek(): T | undefined {
    if (this.known !== undefined) return this.known;
    // Callers that wait for the value get the error.
    if (this.#steps.now >= this.#restsUntil) Promise.resolve(this.exact()).catch(() => {});
    return undefined;
  }

  /** The value of the present version, or an earlier one while that takes long. */
  get(): T | Promise<T> {
    const known = this.#known;
    if (known === undefined || !this.#source.isLarge) return this.exact();
    const present = this.peek();
    if (present === undefined) this.#isEarlierUsed = true;
    return present ?? known.value;
  }

  #renew(): Promise<T> {
    return this.#steps.inTurn(async () => {
      const [{ version }, began] = [this.#source, this.#steps.now];
      const value = await this.#steps.run(this.#compute());
      this.#known = { value, version };
      this.#restsUntil = this.#steps.now + REST * (this.#steps.now - began);
      if (this.#isEarlierUsed) this.#source.replaced++;
      this.#isEarlierUsed = false;
      return value;
    });
  }
}
