import { responseError, SiderealError } from "./error.js";
import { type ClientOptions, type CommonOptions, systemClock } from "./options.js";

/** One request, with its address complete. */
export interface Outgoing extends CommonOptions {
  /** In lower case. */
  method: string;
  address: string;
  body?: unknown;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRY = { attempts: 5, maxWaitMs: 60_000 };
/** The first wait if the service names none; each further one is twice as long. */
const FIRST_WAIT_MS = 500;
/** Retries of requests that were refused together are spread over this time. */
const SPREAD_MS = 250;
/** Statuses of an overloaded or restarting service, or of a proxy before one. */
const TRANSIENT = [502, 503, 504];

/**
 * Sends a request, again if that is safe, and returns the result of `read`. A rate limit refuses a request before
 * anything is done, so everything is sent again then. After other failures only a GET is, as a change may have been made.
 */
export async function send<T>(
  options: ClientOptions,
  outgoing: Outgoing,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { clock = systemClock, random = Math.random } = options;
  const { attempts, maxWaitMs } = { ...DEFAULT_RETRY, ...options.retry };
  let leftMs = maxWaitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(options, outgoing, read);
    } catch (error) {
      if (attempt >= attempts || !(error instanceof SiderealError) || !mayRepeat(error, outgoing.method))
        throw error;
      const waitMs =
        error.retryAfter === undefined
          ? FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + random() / 2)
          : error.retryAfter * 1_000 + SPREAD_MS * random();
      if (waitMs > leftMs) throw error;
      leftMs -= waitMs;
      await clock.sleep(waitMs, outgoing.signal);
    }
  }
}

function mayRepeat({ code, status }: SiderealError, method: string): boolean {
  if (status === 429) return true;
  return method === "get" && (code === "NETWORK" || code === "TIMEOUT" || TRANSIENT.includes(status));
}

/** Sends once. The time limit covers `read`; the signal also ends a body that is read later. */
async function sendOnce<T>(
  options: ClientOptions,
  outgoing: Outgoing,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { clock = systemClock, fetch = globalThis.fetch, onResponse } = options;
  const { signal, timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = outgoing;
  const request = requestOf(options, outgoing);
  signal?.throwIfAborted();
  const expired = new AbortController();
  const finished = new AbortController();
  void clock.sleep(timeoutMs, finished.signal).then(() => {
    if (!finished.signal.aborted) expired.abort();
  });
  const fail = (cause: unknown): never => {
    signal?.throwIfAborted();
    throw expired.signal.aborted
      ? new SiderealError("TIMEOUT", `No complete response within ${timeoutMs} ms.`)
      : new SiderealError("NETWORK", "The request failed before a complete response arrived.", { cause });
  };
  try {
    const response = await fetch(outgoing.address, {
      ...request,
      signal: signal === undefined ? expired.signal : AbortSignal.any([signal, expired.signal]),
    }).catch(fail);
    onResponse?.(response);
    if (response.status >= 400) throw responseError(response, await response.text().catch(fail), clock.now());
    return await read(response).catch(fail);
  } finally {
    finished.abort();
  }
}

function requestOf(options: ClientOptions, { method, body, headers }: Outgoing): RequestInit {
  // Without JSON first, routes of pictures and files send errors in their own form.
  const all = new Headers({ Accept: "application/json, */*;q=0.9" });
  if (options.apiKey !== undefined) all.set("Authorization", `Bearer ${options.apiKey}`);
  if (body !== undefined) all.set("Content-Type", "application/json");
  for (const [name, value] of Object.entries({ ...options.headers, ...headers })) all.set(name, value);
  return {
    method: method.toUpperCase(),
    headers: all,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}
