import type { Clock } from "../clock.js";
import type { Logger } from "../log.js";
import type { StoredAnswer } from "./answer.js";

/** How long an answer may be given without asking whether the data has changed. */
const CHECK_MS = 2_000;
/** How long that question is waited for, before what is kept is given as it is. */
const PATIENCE_MS = 200;

interface Entry {
  answer: StoredAnswer;
  revision: string;
  bytes: number;
}

/**
 * Answers to public requests, ready to be sent, under a normalised key. An answer holds as long as the data's revision
 * does, which is asked for at most every two seconds; requests for the same key at the same time are computed once.
 * Bounded by bytes; the one that was used longest ago leaves first.
 */
export class FrontCache {
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Map<string, Promise<StoredAnswer>>();
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #readRevision: () => Promise<string>;
  readonly #log: Logger;
  #bytes = 0;
  #revision = "";
  #checking: { since: number; done: Promise<void> } | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(options: {
    maxBytes: number;
    clock: Clock;
    readRevision: () => Promise<string>;
    log: Logger;
  }) {
    this.#maxBytes = options.maxBytes;
    this.#clock = options.clock;
    this.#readRevision = options.readRevision;
    this.#log = options.log;
  }

  /**
   * The answer under `key`, computed when there is none that still holds. Only those worth keeping are kept; others,
   * such as errors, are shared by the requests of one `form` that came while they were computed. Where `compute` begins
   * nothing, it is the one that is kept, though it may have become wrong, or undefined if none is.
   */
  async get(
    key: string,
    form: string,
    compute: () => Promise<StoredAnswer> | undefined,
  ): Promise<StoredAnswer | undefined> {
    if (this.#maxBytes === 0) return compute();
    const revision = await this.#currentRevision();
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.revision === revision) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return entry.answer;
    }
    // Who asks after a change does not get what was begun before it.
    const place = `${revision} ${form} ${key}`;
    const running = this.#running.get(place);
    if (running !== undefined) return running;
    const computed = compute();
    if (computed === undefined) return entry?.answer;
    this.#running.set(place, computed);
    try {
      const answer = await computed;
      if (answer.isShared && revision === this.#revision) this.#keep(key, answer, revision);
      return answer;
    } finally {
      this.#running.delete(place);
    }
  }

  async #currentRevision(): Promise<string> {
    const now = this.#clock.monotonic();
    if (now - this.#checkedAt < CHECK_MS) return this.#revision;
    this.#checking ??= {
      since: now,
      done: this.#check().finally(() => {
        this.#checking = undefined;
      }),
    };
    const { since, done } = this.#checking;
    if (now - since < PATIENCE_MS) {
      const waiting = new AbortController();
      await Promise.race([done, this.#clock.sleep(PATIENCE_MS, waiting.signal)]);
      waiting.abort();
    }
    return this.#revision;
  }

  /** A database that does not answer leaves the revision as it was: what is kept is given, old or not. */
  async #check(): Promise<void> {
    const now = this.#clock.monotonic();
    try {
      this.#revision = await this.#readRevision();
      this.#checkedAt = now;
    } catch (error) {
      this.#log.warn({ err: error }, "the revision cannot be read: answers that are kept may be old");
      this.#checkedAt = this.#clock.monotonic();
    }
  }

  #keep(key: string, answer: StoredAnswer, revision: string): void {
    // Compressed forms are made when first asked for; together they are smaller than the plain one.
    const bytes = 2 * answer.body.byteLength + 2 * key.length + 500;
    this.#forget(key);
    if (bytes > this.#maxBytes / 10) return;
    this.#entries.set(key, { answer, revision, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
