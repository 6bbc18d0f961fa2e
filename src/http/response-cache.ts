import type { Clock } from "../clock.js";
import type { Logger } from "../log.js";
import type { StoredResponse } from "./stored-response.js";

/** How long a response is served without asking whether the data has changed. */
const CHECK_MS = 2_000;
/** How long to wait for that check before serving what is cached. */
const PATIENCE_MS = 200;

interface Entry {
  response: StoredResponse;
  revision: string;
  bytes: number;
}

export interface ResponseCacheOptions {
  /** 0 turns the cache off. */
  maxBytes: number;
  clock: Clock;
  /** Differs whenever a cached response may have become wrong. */
  readRevision: () => Promise<string>;
  log: Logger;
}

/**
 * Responses to public requests, ready to be sent, under a normalised key. A response is valid as long as the revision of the
 * data stays the same, which is checked at most every two seconds. Concurrent requests for one key are computed once.
 * Bounded by bytes; the least recently used response is evicted first.
 */
export class ResponseCache {
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<StoredResponse>>();
  readonly #options: ResponseCacheOptions;
  #bytes = 0;
  #revision = "";
  #checking: { since: number; done: Promise<void> } | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
  }

  /** The cached response, where it is known to be valid without asking the database. */
  peek(key: string): StoredResponse | undefined {
    return this.#isChecked() ? this.#find(key, this.#revision) : undefined;
  }

  /**
   * The response for `key`, computed unless a valid one is cached. `compute` returns undefined when the work is shed: then
   * an outdated response is served if there is one, else undefined. An error of `compute` reaches every waiting request.
   */
  async get(
    key: string,
    compute: () => Promise<StoredResponse> | undefined,
  ): Promise<StoredResponse | undefined> {
    if (this.#options.maxBytes === 0) return compute();
    const revision = await this.#currentRevision();
    const cached = this.#find(key, revision);
    if (cached !== undefined) return cached;
    // A request that arrives after a change does not join work that began before it.
    const work = `${revision} ${key}`;
    const pending = this.#pending.get(work);
    if (pending !== undefined) return pending;
    const computing = compute();
    if (computing === undefined) return this.#entries.get(key)?.response;
    this.#pending.set(work, computing);
    try {
      const response = await computing;
      if (response.isShared && revision === this.#revision) this.#keep(key, response, revision);
      return response;
    } finally {
      this.#pending.delete(work);
    }
  }

  #find(key: string, revision: string): StoredResponse | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.revision !== revision) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.response;
  }

  #isChecked(): boolean {
    return this.#options.clock.monotonic() - this.#checkedAt < CHECK_MS;
  }

  async #currentRevision(): Promise<string> {
    if (this.#isChecked()) return this.#revision;
    const now = this.#options.clock.monotonic();
    this.#checking ??= {
      since: now,
      done: this.#check().finally(() => {
        this.#checking = undefined;
      }),
    };
    const { since, done } = this.#checking;
    if (now - since < PATIENCE_MS) {
      const waiting = new AbortController();
      await Promise.race([done, this.#options.clock.sleep(PATIENCE_MS, waiting.signal)]);
      waiting.abort();
    }
    return this.#revision;
  }

  /** A database that does not respond leaves the revision as it was, so cached responses go on being served. */
  async #check(): Promise<void> {
    const { clock, log, readRevision } = this.#options;
    const now = clock.monotonic();
    try {
      this.#revision = await readRevision();
      this.#checkedAt = now;
    } catch (error) {
      log.warn({ err: error }, "the data revision cannot be read: cached responses may be outdated");
      this.#checkedAt = clock.monotonic();
    }
  }

  #keep(key: string, response: StoredResponse, revision: string): void {
    // Compressed forms are made on demand; together they are smaller than the plain body.
    const bytes = 2 * response.body.byteLength + 2 * key.length + 500;
    this.#evict(key);
    if (bytes > this.#options.maxBytes / 10) return;
    this.#entries.set(key, { response, revision, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#options.maxBytes) break;
      this.#evict(oldest);
    }
  }

  #evict(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
