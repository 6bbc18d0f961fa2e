import type { Clock } from "../../lib/clock.js";
import { ownTurn } from "../../lib/loop-turns.js";

/** Time of work after which others get a turn. */
const TURN_MS = 5;

/** Long computations in short steps, between which the event loop serves others. */
export class Steps {
  readonly #clock: Pick<Clock, "monotonic">;
  #began: number;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  /** Lets others have a turn if it has been some time. Returns whether they had one. */
  async pause(): Promise<boolean> {
    if (this.#clock.monotonic() - this.#began < TURN_MS) return false;
    await ownTurn();
    this.#began = this.#clock.monotonic();
    return true;
  }

  /** Runs a computation. */
  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.pause();
    }
  }
}

/** What derived values depend on. */
export interface Versioned {
  version: number;
  /** Whether deriving a value takes so long that an earlier one is used meanwhile. */
  readonly isLarge: boolean;
}

/** A value that depends on something with a version, computed again when it is wanted and the version has grown. */
export class Derived<T> {
  readonly #source: Versioned;
  readonly #steps: Steps;
  readonly #compute: () => Generator<void, T>;
  #known: { value: T; version: number } | undefined;
  #work: Promise<T> | undefined;

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

  /** The value of the present version if it is known; otherwise it is computed for a later caller. */
  peek(): T | undefined {
    if (this.known !== undefined) return this.known;
    // Whoever waits for the value gets the error.
    Promise.resolve(this.exact()).catch(() => {});
    return undefined;
  }

  /** The value of the present version, or an earlier one while that takes long. */
  get(): T | Promise<T> {
    const known = this.#known;
    return known === undefined || !this.#source.isLarge ? this.exact() : (this.peek() ?? known.value);
  }

  async #renew(): Promise<T> {
    for (;;) {
      const { version } = this.#source;
      const steps = this.#compute();
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done === true) {
          this.#known = { value: step.value, version };
          return step.value;
        }
        if ((await this.#steps.pause()) && version !== this.#source.version) break;
      }
    }
  }
}
