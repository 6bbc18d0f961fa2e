import { type ClientOptions, type Clock, Sidereal } from "../../client/src/client.js";
import type { World } from "./world.js";

/** Sends the requests of a client to a world, and keeps their methods and addresses. */
export interface WorldClient {
  client: Sidereal;
  /** Such as `GET /api/repos?limit=1`. */
  sent: string[];
  /** The statuses of the responses. */
  statuses: number[];
}

export function clientOf(world: World, options: Partial<ClientOptions> = {}): WorldClient {
  const sent: string[] = [];
  const statuses: number[] = [];
  const client = new Sidereal({
    baseUrl: "http://localhost",
    clock: new EagerClock(),
    onResponse: ({ status }) => statuses.push(status),
    fetch: (address, init) => {
      const path = address.slice("http://localhost".length);
      sent.push(`${init.method} ${path}`);
      return world.request(path, init);
    },
    ...options,
  });
  return { client, sent, statuses };
}

/** A client whose requests get these outcomes, in their order: responses, or errors of the network. */
export function scriptedClient(
  outcomes: readonly ((signal: AbortSignal) => Response | Promise<Response>)[],
  options: Partial<ClientOptions> = {},
): WorldClient & { clock: EagerClock; requests: RequestInit[] } {
  const sent: string[] = [];
  const statuses: number[] = [];
  const requests: RequestInit[] = [];
  const clock = new EagerClock();
  const client = new Sidereal({
    baseUrl: "https://sidereal.example",
    clock,
    random: () => 0,
    onResponse: ({ status }) => statuses.push(status),
    fetch: async (address, init) => {
      const outcome = outcomes[sent.length];
      sent.push(`${init.method} ${address}`);
      requests.push(init);
      if (outcome === undefined) throw new Error("no more requests were expected");
      return outcome(init.signal ?? new AbortController().signal);
    },
    ...options,
  });
  return { client, sent, statuses, clock, requests };
}

/** From this many milliseconds on, a wait is a time limit, which never ends here unless a test expires it. */
const LIMIT_MS = 30_000;

/** Waits between attempts end immediately, and are kept; time limits end when a test says so. */
export class EagerClock implements Clock {
  #now = Date.UTC(2026, 3, 30, 12);
  readonly waits: number[] = [];
  readonly #limits = new Set<() => void>();
  /** What happens before a wait ends. */
  onWait: (ms: number) => void = () => {};

  now(): number {
    return this.#now;
  }

  /** Time limits that have not ended. */
  get pending(): number {
    return this.#limits.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms < LIMIT_MS) {
      this.waits.push(ms);
      this.#now += ms;
      this.onWait(ms);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = () => {
        this.#limits.delete(end);
        resolve();
      };
      this.#limits.add(end);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  /** Ends all time limits. */
  expire(): void {
    for (const end of this.#limits) end();
  }
}
