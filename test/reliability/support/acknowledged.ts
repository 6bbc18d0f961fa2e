import { isDeepStrictEqual } from "node:util";
import type { Random } from "../../../src/demo/random.js";

/** A service under test, and who writes to it. */
export interface WriteTarget {
  url: string;
  /** Sessions of different accounts: each is a client of its own, with at most five keys. */
  cookies: readonly string[];
  /** Repositories of its catalogue. */
  repositoryIds: readonly string[];
}

/** A list as the service shows it; null: there is none. */
type ListState = { name: string; ids: string[] } | null;
type KeyState = "active" | "revoked";

/** What a thing may be: one state once its last write was acknowledged, and two while a write of it was interrupted. */
interface Written<State> {
  states: State[];
  /** Whether it was written, or interrupted, since the last check. */
  isNew: boolean;
}

interface WrittenKey extends Written<KeyState> {
  id: string;
  secret: string;
}

/** How a request ended. */
interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a response of any route.
  body: any;
}

/** Things of earlier trials that a check looks at again. */
const OLD_CHECKED = 30;
const MAX_KEYS = 5;

/**
 * What clients were told, and what must therefore be so. A write counts as acknowledged when its whole response has arrived and says
 * success; one without such a response may or may not have happened, but never in part.
 */
export class AcknowledgedWrites {
  readonly #random: Random;
  /** By the token that changes the list. */
  readonly #lists = new Map<string, Written<ListState>>();
  /** By session. */
  readonly #keys = new Map<string, WrittenKey[]>();
  acknowledged = 0;
  interrupted = 0;
  /** Responses that are neither success nor interruption. */
  readonly refused: string[] = [];
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Writes with a client per session until the signal, or until the service is gone. */
  async run(target: WriteTarget, signal: AbortSignal): Promise<void> {
    await Promise.all(
      target.cookies.map(async (cookie) => {
        const own: string[] = [];
        while (!signal.aborted && (await this.#write(target, cookie, own)));
      }),
    );
  }

  /** Compares with the service. Returns what is wrong, in words. What was interrupted is settled as it is found. */
  async check(target: WriteTarget): Promise<string[]> {
    const wrong: string[] = [];
    for (const [token, list] of this.#toCheck([...this.#lists])) {
      const { status, body } = await request(target, "GET", `/api/watchlists/${token}`);
      const found = status === 404 ? null : { name: body?.data?.name, ids: body?.data?.ids };
      if (status !== 200 && status !== 404) wrong.push(`a list cannot be read: ${status}`);
      else if (!list.states.some((state) => isDeepStrictEqual(state, found)))
        wrong.push(`a list is ${JSON.stringify(found)}, not ${JSON.stringify(list.states)}`);
      else list.states = [found];
      list.isNew = false;
    }
    const keys = [...this.#keys.values()].flatMap((own) => own.map((key) => [key.secret, key] as const));
    for (const [secret, key] of this.#toCheck(keys)) {
      const { status } = await request(target, "GET", "/api/limits", { key: secret });
      const found = status === 200 ? "active" : status === 401 ? "revoked" : undefined;
      if (found === undefined || !key.states.includes(found))
        wrong.push(`a key that is ${key.states.join(" or ")} got ${status}`);
      else key.states = [found];
      key.isNew = false;
    }
    return wrong;
  }

  /** A key that works, if there is one. */
  activeKey(): string | undefined {
    const all = [...this.#keys.values()].flat();
    return all.findLast(({ states }) => states.length === 1 && states[0] === "active")?.secret;
  }

  /** What is new, and some of the rest. */
  #toCheck<T extends Written<unknown>>(all: (readonly [string, T])[]): (readonly [string, T])[] {
    const old = all.filter(([, { isNew }]) => !isNew);
    const chosen = Array.from({ length: Math.min(OLD_CHECKED, old.length) }, () => this.#random.pick(old));
    return [...all.filter(([, { isNew }]) => isNew), ...chosen];
  }

  /** One write of a client. Returns false if the service is gone. */
  async #write(target: WriteTarget, cookie: string, own: string[]): Promise<boolean> {
    const random = this.#random;
    const token = own.length === 0 ? undefined : random.pick(own);
    const list = token === undefined ? undefined : this.#lists.get(token);
    const state = list?.states[0];
    if (random.chance(0.25)) return this.#writeKey(target, cookie);
    if (token === undefined || list === undefined || !state || list.states.length > 1 || random.chance(0.2))
      return this.#createList(target, own);
    const path = `/api/watchlists/${token}`;
    const change = (method: string, to: ListState, more = "", json?: unknown) =>
      this.#change(list, to, () => request(target, method, path + more, { json }));
    const { name, ids } = state;
    switch (random.between(0, 4)) {
      case 0: {
        const renamed = `list ${this.#names++}`;
        return change("PATCH", { name: renamed, ids }, "", { name: renamed });
      }
      case 1: {
        const id = random.pick(target.repositoryIds);
        const added = ids.includes(id) ? ids : [...ids, id];
        return change("POST", { name, ids: added }, "/items", { repositoryId: id });
      }
      case 2: {
        const id = ids.length === 0 ? random.pick(target.repositoryIds) : random.pick(ids);
        return change("DELETE", { name, ids: ids.filter((one) => one !== id) }, `/items/${id}`);
      }
      case 3:
        return change("DELETE", { name, ids: [] }, "/items");
      default:
        return change("DELETE", null);
    }
  }

  async #createList(target: WriteTarget, own: string[]): Promise<boolean> {
    const name = `list ${this.#names++}`;
    const ids = [...new Set(Array.from({ length: 4 }, () => this.#random.pick(target.repositoryIds)))];
    const reply = await request(target, "POST", "/api/watchlists", { json: { name, ids } });
    if (!this.#isAcknowledged(reply)) return reply.status !== 0;
    const { token } = reply.body.data;
    this.#lists.set(token, { states: [{ name, ids }], isNew: true });
    own.push(token);
    return true;
  }

  async #writeKey(target: WriteTarget, cookie: string): Promise<boolean> {
    const known = this.#keys.get(cookie) ?? [];
    this.#keys.set(cookie, known);
    const active = known.filter(({ states }) => states.includes("active"));
    const oldest = active[0];
    if (oldest !== undefined && (active.length >= MAX_KEYS || this.#random.chance(0.5)))
      return this.#change(oldest, "revoked", () =>
        request(target, "DELETE", `/api/me/keys/${oldest.id}`, { cookie }),
      );
    const reply = await request(target, "POST", "/api/me/keys", { cookie, json: { name: "key" } });
    // A key whose response was interrupted may exist, and counts.
    if (reply.status === 409) return true;
    if (!this.#isAcknowledged(reply)) return reply.status !== 0;
    const { id, key: secret } = reply.body.data;
    known.push({ id, secret, states: ["active"], isNew: true });
    return true;
  }

  async #change<State>(thing: Written<State>, to: State, send: () => Promise<Reply>): Promise<boolean> {
    thing.isNew = true;
    const before = thing.states;
    thing.states = [...before, to];
    const reply = await send();
    if (this.#isAcknowledged(reply)) thing.states = [to];
    return reply.status !== 0;
  }

  #isAcknowledged({ status, body }: Reply): boolean {
    if (status >= 200 && status < 300) {
      this.acknowledged++;
      return true;
    }
    this.interrupted++;
    if (status !== 0 && status !== 503) this.refused.push(`${status} ${JSON.stringify(body).slice(0, 200)}`);
    return false;
  }
}

interface Sending {
  json?: unknown;
  cookie?: string;
  key?: string;
}

/** Sends a request; status 0 if its response did not arrive whole. */
async function request(
  { url }: Pick<WriteTarget, "url">,
  method: string,
  path: string,
  { json, cookie, key }: Sending = {},
): Promise<Reply> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        origin: url,
        ...(cookie === undefined ? {} : { cookie }),
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  } catch {
    return { status: 0, body: null };
  }
}
