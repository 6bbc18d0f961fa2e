import { AppError } from "../errors.js";
import type { HttpRequest } from "../http/http.js";

/** Downloads in flight of one address or account, of the wider IPv6 network of an address, and of this process or thread. */
const MAX_OF_CALLER = 8;
const MAX_OF_NETWORK = 32;
const MAX_OF_PROCESS = 64;

const RETRY = { headers: { "Retry-After": "5" } };

/** Bounds the files that are sent at the same time, each of which holds an open file and some memory as long as its client takes. */
export class DownloadSlots {
  readonly #byHolder = new Map<string, number>();
  readonly #isCallerBounded: boolean;
  #all = 0;

  /** `isCallerBounded` is false where callers have no limits. */
  constructor(isCallerBounded: boolean) {
    this.#isCallerBounded = isCallerBounded;
  }

  /** Takes a slot. Returns what releases it, to be called once. Throws RATE_LIMITED or UNAVAILABLE. */
  enter({ kind, name, network, account = name }: HttpRequest["caller"]): () => void {
    const holders: [string, number][] = [[`${kind} ${account}`, MAX_OF_CALLER]];
    if (network !== undefined) holders.push([`network ${network}`, MAX_OF_NETWORK]);
    for (const [holder, most] of this.#isCallerBounded ? holders : [])
      if ((this.#byHolder.get(holder) ?? 0) >= most)
        throw new AppError("RATE_LIMITED", `Too many downloads: at most ${most} at a time.`, RETRY);
    if (this.#all >= MAX_OF_PROCESS)
      throw new AppError("UNAVAILABLE", "Too many files are being downloaded; try again later.", RETRY);
    this.#all++;
    for (const [holder] of holders) this.#byHolder.set(holder, (this.#byHolder.get(holder) ?? 0) + 1);
    return () => {
      this.#all--;
      for (const [holder] of holders) {
        const left = (this.#byHolder.get(holder) ?? 0) - 1;
        if (left > 0) this.#byHolder.set(holder, left);
        else this.#byHolder.delete(holder);
      }
    };
  }
}
