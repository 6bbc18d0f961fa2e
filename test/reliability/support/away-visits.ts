/** Requests of every kind that a missing database concerns, sent at a steady rate, and what came back. */
import { setTimeout } from "node:timers/promises";

/** What a request needs of the database. */
export type VisitKind =
  | "cached"
  | "cached page"
  | "cached, with a key"
  | "cached, with a new key"
  | "not cached"
  | "watchlist"
  | "write"
  | "readiness"
  | "health";

export interface Visit {
  kind: VisitKind;
  /** When it was sent; milliseconds of `performance.now()`. */
  sentAt: number;
  durationMs: number;
  /** 0: no response. */
  status: number;
  isStale: boolean;
  hasRetryAfter: boolean;
}

/** Time between two requests of a kind. */
const EVERY_MS = 250;
/** When a request counts as one without a response. */
const GIVE_UP_MS = 10_000;

const KINDS: readonly VisitKind[] = [
  "cached",
  "cached page",
  "cached, with a key",
  "cached, with a new key",
  "not cached",
  "watchlist",
  "write",
  "readiness",
  "health",
];

/** Sends requests until it is stopped. */
export class Visitors {
  readonly visits: Visit[] = [];
  /** Tokens of the watchlists whose creation was acknowledged. */
  readonly tokens: string[] = [];
  readonly #url: string;
  readonly #keys: readonly string[];
  readonly #stopping = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #serial = 0;
  #keysUsed = 0;

  /** `keys`: the first is used all the time, the others one after the other. */
  constructor(url: string, keys: readonly string[]) {
    this.#url = url;
    this.#keys = keys;
  }

  start(): void {
    for (const kind of KINDS) this.#loops.push(this.#loop(kind));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  /** Sends one request now, beside the others. `token`: of the watchlist to read. */
  async send(kind: VisitKind, token = this.tokens[0]): Promise<Visit> {
    const { path, ...init } = this.#requestOf(kind, token);
    const sentAt = performance.now();
    const visit: Visit = { kind, sentAt, durationMs: 0, status: 0, isStale: false, hasRetryAfter: false };
    try {
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      const response = await fetch(new URL(path, this.#url), {
        ...init,
        // Each kind has an address of its own: what waits for one caller delays no other.
        headers: { ...init.headers, "X-Forwarded-For": `192.0.2.${1 + KINDS.indexOf(kind)}` },
        signal,
        redirect: "manual",
      });
      const text = await response.text();
      visit.status = response.status;
      visit.isStale = response.headers.get("cache-status") !== null;
      visit.hasRetryAfter = response.headers.get("retry-after") !== null;
      if (kind === "write" && response.status === 201) this.tokens.push(JSON.parse(text).data.token);
    } catch {
      // Its status says so.
    }
    visit.durationMs = performance.now() - sentAt;
    this.visits.push(visit);
    return visit;
  }

  async #loop(kind: VisitKind): Promise<void> {
    const { signal } = this.#stopping;
    const sent: Promise<unknown>[] = [];
    while (!signal.aborted) {
      sent.push(this.send(kind));
      await setTimeout(EVERY_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(sent);
  }

  #requestOf(kind: VisitKind, token = ""): RequestInit & { path: string } {
    const list = "/api/repos?sort=stars&limit=5";
    const withKey = (key = "") => ({ path: list, headers: { Authorization: `Bearer ${key}` } });
    switch (kind) {
      case "cached":
        return { path: list };
      case "cached page":
        return { path: "/explore?sort=stars", headers: { Accept: "text/html" } };
      case "cached, with a key":
        return withKey(this.#keys[0]);
      case "cached, with a new key":
        return withKey(this.#keys[1 + (this.#keysUsed++ % (this.#keys.length - 1))]);
      case "not cached":
        return { path: `/api/repos/github/nobody/nothing-${this.#serial++}` };
      case "watchlist":
        return { path: `/api/watchlists/${token}` };
      case "write":
        return {
          path: "/api/watchlists",
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: "{}",
        };
      case "readiness":
        return { path: "/readyz" };
      case "health":
        return { path: "/healthz" };
    }
  }
}
