import { AppError } from "../errors.js";

/** Downloads in flight of one caller, and of this process or thread. */
const MAX_OF_CALLER = 8;
const MAX_OF_PROCESS = 64;

const RETRY = { headers: { "Retry-After": "5" } };

/** Bounds the files that are sent at the same time, each of which holds an open file and some memory as long as its client takes. */
export class DownloadSlots {
  readonly #byCaller = new Map<string, number>();
  readonly #isCallerBounded: boolean;
  #all = 0;

  /** `isCallerBounded` is false where callers have no limits. */
  constructor(isCallerBounded: boolean) {
    this.#isCallerBounded = isCallerBounded;
  }

  /** Takes a slot. Returns what releases it, to be called once. Throws RATE_LIMITED or UNAVAILABLE. */
  enter(caller: string): () => void {
    const own = this.#byCaller.get(caller) ?? 0;
    if (this.#isCallerBounded && own >= MAX_OF_CALLER)
      throw new AppError("RATE_LIMITED", `Too many downloads: at most ${MAX_OF_CALLER} at a time.`, RETRY);
    if (this.#all >= MAX_OF_PROCESS)
      throw new AppError("UNAVAILABLE", "Too many files are being downloaded; try again later.", RETRY);
    this.#byCaller.set(caller, own + 1);
    this.#all++;
    return () => {
      this.#all--;
      const left = (this.#byCaller.get(caller) ?? 0) - 1;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    };
  }
}
