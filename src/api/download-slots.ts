import { AppError } from "../errors.js";
import { type HttpRequest, InFlight } from "../http/http.js";

/** Downloads in flight of one address or account, of the wider IPv6 network of an address, and of this process or thread. */
const MAX_OF_CALLER = 8;
const MAX_OF_NETWORK = 32;
const MAX_OF_PROCESS = 64;

const RETRY = { headers: { "Retry-After": "5" } };

/** Bounds the files that are sent at the same time, each of which holds an open file and some memory as long as its client takes. */
export class DownloadSlots {
  readonly #inFlight = new InFlight();
  readonly #isCallerBounded: boolean;

  /** `isCallerBounded` is false where callers have no limits. */
  constructor(isCallerBounded: boolean) {
    this.#isCallerBounded = isCallerBounded;
  }

  /** Takes a slot. Returns what releases it, to be called once. Throws RATE_LIMITED or UNAVAILABLE. */
  enter({ kind, name, network, account = name }: HttpRequest["caller"]): () => void {
    const limits: [holder: string, most: number][] = [
      [`${kind} ${account}`, MAX_OF_CALLER],
      ...(network === undefined ? [] : [[`network ${network}`, MAX_OF_NETWORK] as [string, number]]),
    ];
    const taken: (() => void)[] = [];
    const release = () => {
      for (const give of taken.splice(0)) give();
    };
    for (const [holder, most] of [...(this.#isCallerBounded ? limits : []), ALL]) {
      const give = this.#inFlight.take(holder, most);
      if (give === undefined) {
        release();
        throw holder === ALL[0] ? TOO_MANY : overLimit(most);
      }
      taken.push(give);
    }
    return release;
  }
}

const ALL: [holder: string, most: number] = ["all", MAX_OF_PROCESS];

const TOO_MANY = new AppError("UNAVAILABLE", "Too many files are being downloaded; try again later.", RETRY);

function overLimit(most: number): AppError {
  return new AppError("RATE_LIMITED", `Too many downloads: at most ${most} at a time.`, RETRY);
}
