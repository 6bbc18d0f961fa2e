import { LRUCache } from "lru-cache";
import { databaseFault } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { OVERLOADED, type QueuedWork, type Waiter } from "./limits.js";
import type { StoredResponse } from "./response.js";

/** Age at which the revision is read again, while requests go on. */
const CHECK_MS = 1_000;
/** Longest time that a response is served after its revision was last known to be current. */
const FRESH_MS = 2_000;
/** How long to wait for that check before serving the cached response. */
const PATIENCE_MS = 200;

/** Responses in each segment of the cache, however small they are. */
const MAX_ENTRIES = 20_000;
/** Share of the bytes for responses requested once: a scan of many addresses evicts no others. */
const ONCE_SHARE = 0.2;

/** Who computes a response that others get as well: it goes before the first response for an anonymous caller. */
const REFRESH: Waiter = { priority: "account", caller: "refresh", isGone: () => false };

/** A request for a response that is not cached. */
export interface CacheRequest {
  waiter: Waiter;
  /** Computes the response for the first caller; others join. */
  compute(waiter: Waiter): QueuedWork<StoredResponse>;
}

interface Entry {
  response: StoredResponse;
  revision: string;
  /** When its computation began; monotonic. */
  computedAt: number;
  /** Whether a newer response is being computed. */
  isRefreshing: boolean;
  /** The same response marked as stale, and when it was last known to be current; monotonic. */
  stale?: { response: StoredResponse; since: number } | undefined;
}

/** How full the cache is, and how often it has helped since the start. */
export interface CacheState {
  responses: number;
  bytes: number;
  /** 0: it is off. */
  maxBytes: number;
  /** Requests that got a cached response, and those for which one was computed or waited for. */
  hits: number;
  misses: number;
}

/** The state that cached responses depend on. */
export interface CachedRevision {
  /** Differs whenever a cached response may have become wrong. */
  revision: string;
  /** Differs when nothing that is cached may be served any longer, not even as stale. */
  replacedIn: number;
}

/** A revision and when it was last known to be current. */
interface Known {
  revision: string;
  /** Monotonic. */
  at: number;
}

interface ResponseCacheOptions {
  /** 0 turns the cache off. */
  maxBytes: number;
  clock: Clock;
  readRevision: () => Promise<CachedRevision>;
  markPage: StaleOptions["markPage"];
  log: Logger;
}

/**
 * Responses to public requests, ready to be sent, under a normalised key. A response is served for two seconds after the revision
 * of the data was last known to be the one it was computed at. The revision is read about every second, so a response in
 * use is replaced in that time: one request computes the new response while the others get the previous one. Concurrent requests for
 * one key are computed once. Bounded by bytes.
 *
 * While the database does not respond, cached responses are served for up to an hour, marked as stale.
 */
export class ResponseCache {
  /** Responses requested once, and those requested again. */
  readonly #once: LRUCache<string, Entry>;
  readonly #again: LRUCache<string, Entry>;
  readonly #pending = new Map<string, QueuedWork<StoredResponse>>();
  readonly #options: ResponseCacheOptions;
  #current: Known = { revision: "", at: Number.NEGATIVE_INFINITY };
  #previous: Known = this.#current;
  #replacedIn = 0;
  /** When the revision was last read, successfully or not. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: { since: number; done: Promise<void> } | undefined;
  #hits = 0;
  #misses = 0;

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
    const { maxBytes } = options;
    const segment = (share: number) =>
      new LRUCache<string, Entry>({
        max: MAX_ENTRIES,
        maxSize: Math.ceil(share * maxBytes) || 1,
        maxEntrySize: Math.floor(maxBytes / 10),
        sizeCalculation: ({ response }, key) => sizeOf(key, response),
      });
    this.#once = segment(ONCE_SHARE);
    this.#again = segment(1 - ONCE_SHARE);
  }

  get state(): CacheState {
    return {
      responses: this.#once.size + this.#again.size,
      bytes: this.#once.calculatedSize + this.#again.calculatedSize,
      maxBytes: this.#options.maxBytes,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  /** The cached response, if it may be served without computing or waiting. `now`: monotonic. */
  peek(key: string, now: number): StoredResponse | undefined {
    const age = now - this.#checkedAt;
    if (age >= FRESH_MS) return undefined;
    if (age >= CHECK_MS) void this.#startCheck(now);
    const entry = this.#find(key);
    if (entry === undefined) return undefined;
    const isCurrent = entry.revision === this.#current.revision;
    const outdated = entry.isRefreshing && this.#isServable(entry, now) ? entry.response : undefined;
    const served = isCurrent ? this.#serve(entry, now) : outdated;
    if (served !== undefined) this.#hits++;
    return served;
  }

  /**
   * The response for `key`, computed unless a valid one is cached. If computing it is refused because of overload, or the database
   * is not available, an outdated response is served instead where there is one. Any other error reaches every waiting
   * request.
   */
  async get(key: string, { waiter, compute }: CacheRequest): Promise<StoredResponse> {
    if (this.#options.maxBytes === 0) return compute(waiter).result;
    const revision = await this.#currentRevision();
    const entry = this.#find(key);
    const now = this.#options.clock.monotonic();
    const served = entry?.revision === revision ? this.#serve(entry, now) : undefined;
    if (served !== undefined) {
      this.#hits++;
      return served;
    }
    this.#misses++;
    const first = entry === undefined ? waiter : REFRESH;
    const computing = this.#computeOnce({ key, revision }, { waiter: first, compute });
    if (entry === undefined) return computing;
    if (!this.#isServable(entry, now)) {
      return computing.catch((error: unknown) => {
        const outdated = this.#replacementFor(error, entry);
        if (outdated === undefined) throw error;
        return outdated;
      });
    }
    entry.isRefreshing = true;
    // The failure is thrown for requests that come when the previous response may no longer be served.
    computing.then(
      () => {},
      () => {
        entry.isRefreshing = false;
      },
    );
    return entry.response;
  }

  #find(key: string): Entry | undefined {
    const entry = this.#once.get(key);
    if (entry === undefined) return this.#again.get(key);
    this.#once.delete(key);
    this.#again.set(key, entry);
    return entry;
  }

  /** A cached response, marked as stale if it may be outdated; undefined if it has been for too long. */
  #serve(entry: Entry, now: number): StoredResponse | undefined {
    const { revision, at } = this.#current;
    const since = entry.revision === revision && now - at < FRESH_MS ? at : this.#currentUntil(entry);
    const age = now - since;
    if (age < FRESH_MS) {
      entry.stale = undefined;
      return entry.response;
    }
    if (age >= MAX_STALE_MS) return undefined;
    if (entry.stale?.since !== since) {
      const { clock, markPage } = this.#options;
      const ageMs = () => clock.monotonic() - since;
      entry.stale = {
        response: staleResponse(entry.response, { ageMs, at: clock.now() - age, markPage }),
        since,
      };
    }
    return entry.stale.response;
  }

  /** When a response was last known to be current. */
  #currentUntil({ revision, computedAt }: Entry): number {
    const known = [this.#current, this.#previous].find((one) => one.revision === revision);
    return Math.max(computedAt, known?.at ?? computedAt);
  }

  /** The fallback for a response that could not be computed. */
  #replacementFor(error: unknown, entry: Entry): StoredResponse | undefined {
    const now = this.#options.clock.monotonic();
    if (error === OVERLOADED && now - this.#current.at < FRESH_MS) return entry.response;
    return error === OVERLOADED || databaseFault(error) !== undefined ? this.#serve(entry, now) : undefined;
  }

  /** Whether an outdated response may still be served, while the one that replaces it is computed. */
  #isServable({ revision }: Entry, now: number): boolean {
    return revision === this.#previous.revision && now - this.#previous.at < FRESH_MS;
  }

  #computeOnce(
    { key, revision }: { key: string; revision: string },
    { waiter, compute }: CacheRequest,
  ): Promise<StoredResponse> {
    // A request that arrives after a change does not join work that began before it.
    const work = `${revision} ${key}`;
    const pending = this.#pending.get(work);
    if (pending !== undefined) {
      pending.join(waiter);
      return pending.result;
    }
    const computedAt = this.#options.clock.monotonic();
    const { result, join } = compute(waiter);
    const kept = result
      .then((response) => {
        if (response.isShared && revision === this.#current.revision)
          (this.#again.has(key) ? this.#again : this.#once).set(key, {
            response,
            revision,
            computedAt,
            isRefreshing: false,
          });
        return response;
      })
      .finally(() => this.#pending.delete(work));
    this.#pending.set(work, { result: kept, join });
    return kept;
  }

  async #currentRevision(): Promise<string> {
    const now = this.#options.clock.monotonic();
    const age = now - this.#checkedAt;
    if (age < CHECK_MS) return this.#current.revision;
    const { since, done } = this.#startCheck(now);
    if (age >= FRESH_MS && now - since < PATIENCE_MS) {
      const waiting = new AbortController();
      await Promise.race([done, this.#options.clock.sleep(PATIENCE_MS, waiting.signal)]);
      waiting.abort();
    }
    return this.#current.revision;
  }

  #startCheck(now: number): { since: number; done: Promise<void> } {
    this.#checking ??= {
      since: now,
      done: this.#check(now).finally(() => {
        this.#checking = undefined;
      }),
    };
    return this.#checking;
  }

  /** A database that does not respond leaves the revision as it was, so cached responses go on being served. */
  async #check(now: number): Promise<void> {
    const { clock, log, readRevision } = this.#options;
    try {
      const { revision, replacedIn } = await readRevision();
      if (replacedIn !== this.#replacedIn) {
        this.#once.clear();
        this.#again.clear();
      }
      this.#replacedIn = replacedIn;
      if (revision !== this.#current.revision) this.#previous = this.#current;
      this.#current = { revision, at: now };
      this.#checkedAt = now;
    } catch (error) {
      log.warn({ err: error }, "the data revision cannot be read: cached responses may be outdated");
      this.#checkedAt = clock.monotonic();
    }
  }
}

/** Compressed and stale forms are made on demand; together they are smaller than the plain body, or are not kept for long. */
function sizeOf(key: string, { body }: StoredResponse): number {
  return 2 * body.byteLength + 2 * key.length + 1_500;
}

/** How long a response is served after it was last known to be current, when there is no newer one. */
export const MAX_STALE_MS = 3_600_000;

/** No cache may take it for fresh, but each may keep it for the same reason for which it is sent. */
const CACHE_CONTROL = `public, max-age=0, stale-if-error=${MAX_STALE_MS / 1_000}`;
/** RFC 9211. */
const CACHE_STATUS = "sidereal; hit; detail=stale";

export interface StaleOptions {
  /** Time since it was last known to be current, in ms, whenever it is sent. */
  ageMs: () => number;
  /** When that was, in Unix milliseconds. */
  at: number;
  /** Adds a note for the reader to the HTML of a page. */
  markPage: (html: string, at: number) => string;
}

/**
 * A shared response that may be outdated, as it is sent while the database does not respond: marked as stale for programs and
 * caches, and visibly on pages.
 */
export function staleResponse(stored: StoredResponse, { ageMs, at, markPage }: StaleOptions): StoredResponse {
  const fields = new Map<string, string>();
  for (let i = 0; i < stored.headers.length; i += 2)
    fields.set(stored.headers[i] ?? "", stored.headers[i + 1] ?? "");
  const isPage = fields.get("Content-Type")?.startsWith("text/html") ?? false;
  const body = isPage ? Buffer.from(markPage(stored.body.toString(), at)) : stored.body;
  // A page that says when it is from is another one.
  const etag = isPage ? stored.etag?.replace(/"$/, `.${Math.floor(at / 1_000)}"`) : stored.etag;
  fields.set("Cache-Control", CACHE_CONTROL).set("Cache-Status", CACHE_STATUS);
  if (etag !== undefined) fields.set("ETag", etag);
  const headers = [...fields].flat();
  return {
    ...stored,
    headers,
    body,
    etag,
    age: () => String(Math.floor(ageMs() / 1_000)),
    variants: new Map(),
  };
}
