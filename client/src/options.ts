/** The source of time; tests replace it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds, or as soon as the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** When a failed request is sent again. */
export interface Retry {
  /** Most attempts, the first one included; 5 by default. */
  attempts: number;
  /** Most milliseconds that a call waits between its attempts, in all; 60,000 by default. */
  maxWaitMs: number;
}

/** A response that the service can confirm instead of sending it again. */
export interface StoredResponse {
  etag: string;
  text: string;
}

/** The store of such responses; a Map will do. They depend on the API key, so each client needs its own. */
export interface ResponseStore {
  get(address: string): StoredResponse | undefined;
  set(address: string, response: StoredResponse): unknown;
}

export interface ClientOptions {
  /** The address of the service, with the path that it has there, if any. */
  baseUrl: string;
  /** The key of an account, for higher limits. */
  apiKey?: string | undefined;
  /** Milliseconds until an attempt is given up; 30,000 by default. */
  timeoutMs?: number | undefined;
  /** `{ attempts: 1 }` never sends a request again. */
  retry?: Partial<Retry> | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Keeps the JSON of GET requests. Browsers need none, as they keep responses themselves. */
  store?: ResponseStore | undefined;
  /** Called with every response, for its headers, such as the remaining rate limit. It must not read the body. */
  onResponse?: ((response: Response) => void) | undefined;
  /** In place of the global function. */
  fetch?: ((address: string, init: RequestInit) => Promise<Response>) | undefined;
  clock?: Clock | undefined;
  /** Returns numbers from 0 to 1, which spread retries. */
  random?: (() => number) | undefined;
}

/** The options of every call besides the parameters of its path. */
export interface CommonOptions {
  /** Ends the call, also while it waits for its next attempt. It then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** In place of the `timeoutMs` of the client. */
  timeoutMs?: number | undefined;
  /** Additional headers. They win over those of the client. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
      signal?.addEventListener("abort", end);
    }),
};

/** Longest delay of `setTimeout`. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
