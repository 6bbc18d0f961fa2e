import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Random } from "../../../bench/synthetic/random.js";

/** Things of earlier trials that a check looks at again. */
const OLD_CHECKED = 50;
const MAX_KEYS = 5;
/** Time between two writes of a client, and after one that was not acknowledged: a check reads all that was written. */
const PAUSE_MS = 5;
const RETRY_MS = 50;
/** What a client writes, by weight. */
const KINDS = [
  ["list", 60],
  ["key", 24],
  ["own list", 10],
  ["session", 3],
  ["track request", 3],
] as const;

/**
 * What clients were told, and what must therefore be so. A write counts as acknowledged when its whole response has arrived and says
 * success; one without such a response may or may not have happened, but never in part.
 */
export class AcknowledgedWrites {
  readonly #random: Random;
  readonly #things: Written<unknown>[] = [];
  /** By session. */
  readonly #keys = new Map<string, WrittenKey[]>();
  readonly #ownLists = new Map<string, Written<string[]>>();
  /** Sessions that were ended, or may have been. */
  readonly #ended = new Set<string>();
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
        const own: WrittenList[] = [];
        for (let known = this.interrupted; !signal.aborted; known = this.interrupted) {
          if (!(await this.#write(target, cookie, own))) break;
          await setTimeout(this.interrupted > known ? RETRY_MS : PAUSE_MS);
        }
      }),
    );
  }

  /** Compares with the service. Returns what is wrong, in words. What was interrupted is settled as it is found. */
  async check(target: Pick<WriteTarget, "url">): Promise<string[]> {
    const wrong: string[] = [];
    for (const thing of this.#toCheck()) {
      const { what, states } = thing;
      const found = await thing.read(target);
      if (found === undefined) wrong.push(`a ${what} cannot be read`);
      else if (!states.some((state) => isDeepStrictEqual(state, found)))
        wrong.push(
          `a ${what} is ${JSON.stringify(found)}, not ${states.map((one) => JSON.stringify(one)).join(" or ")}`,
        );
      else thing.states = [found];
      thing.isNew = false;
    }
    return wrong;
  }

  /** Things written so far, by kind. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { what } of this.#things) counts.set(what, (counts.get(what) ?? 0) + 1);
    return counts;
  }

  /** What is new, and some of the rest. */
  #toCheck(): Written<unknown>[] {
    const old = this.#things.filter(({ isNew }) => !isNew);
    const chosen = Array.from({ length: Math.min(OLD_CHECKED, old.length) }, () => this.#random.pick(old));
    return [...this.#things.filter(({ isNew }) => isNew), ...chosen];
  }

  #add<T extends Written<unknown>>(thing: T): T {
    this.#things.push(thing);
    return thing;
  }

  /** One write of a client. Returns false if the service is gone. */
  async #write(target: WriteTarget, cookie: string, own: WrittenList[]): Promise<boolean> {
    switch (this.#random.weighted(KINDS)) {
      case "key":
        return this.#writeKey(target, cookie);
      case "own list":
        return this.#writeOwnList(target, cookie);
      case "session":
        return this.#endSession(target, own);
      case "track request":
        return target.canRequest === true ? this.#request(target, cookie) : this.#writeList(target, own);
      default:
        return this.#writeList(target, own);
    }
  }

  async #writeList(target: WriteTarget, own: WrittenList[]): Promise<boolean> {
    const random = this.#random;
    const list = own.length === 0 ? undefined : random.pick(own);
    const state = list?.states[0];
    if (list === undefined || !state || list.states.length > 1 || random.chance(0.25))
      return this.#createList(target, own);
    const change = (method: string, to: ListState, more = "", json?: unknown) =>
      this.#change(list, to, () => request(target, method, list.path + more, { json }));
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

  async #createList(target: WriteTarget, own: WrittenList[]): Promise<boolean> {
    const name = `list ${this.#names++}`;
    const ids = this.#pickIds(target);
    const reply = await request(target, "POST", "/api/watchlists", { json: { name, ids } });
    if (this.#isAcknowledged(reply)) own.push(this.#add(writtenList(reply.body.data.token, { name, ids })));
    return reply.status !== 0;
  }

  /** Adds several repositories, of which all or none must be there, or removes one. */
  async #writeOwnList(target: WriteTarget, cookie: string): Promise<boolean> {
    const list = this.#ownLists.get(cookie) ?? this.#add(writtenOwnList(cookie));
    this.#ownLists.set(cookie, list);
    const [ids = []] = list.states;
    if (list.states.length > 1) return true;
    if (ids.length > 40 || (ids.length > 0 && this.#random.chance(0.4))) {
      const id = this.#random.pick(ids);
      const rest = ids.filter((one) => one !== id);
      return this.#change(list, rest, () => request(target, "DELETE", `/api/me/watchlist/${id}`, { cookie }));
    }
    const added = this.#pickIds(target);
    const all = [...new Set([...ids, ...added])].sort();
    return this.#change(list, all, () =>
      request(target, "POST", "/api/me/watchlist", { cookie, json: { ids: added } }),
    );
  }

  async #writeKey(target: WriteTarget, cookie: string): Promise<boolean> {
    const known = this.#keys.get(cookie) ?? [];
    this.#keys.set(cookie, known);
    const active = known.filter(({ states }) => states.includes("accepted"));
    const oldest = active[0];
    if (oldest !== undefined && (active.length >= MAX_KEYS || this.#random.chance(0.5)))
      return this.#change(oldest, "refused", () =>
        request(target, "DELETE", `/api/me/keys/${oldest.id}`, { cookie }),
      );
    const reply = await request(target, "POST", "/api/me/keys", { cookie, json: { name: "key" } });
    // A key whose response was interrupted may exist, and counts.
    if (reply.status === 409) return true;
    if (this.#isAcknowledged(reply))
      known.push(this.#add(writtenKey(reply.body.data.id, reply.body.data.key)));
    return reply.status !== 0;
  }

  async #endSession(target: WriteTarget, own: WrittenList[]): Promise<boolean> {
    const cookie = target.sessions?.find((one) => !this.#ended.has(one));
    if (cookie === undefined) return this.#writeList(target, own);
    this.#ended.add(cookie);
    const session = this.#add(writtenSession(cookie));
    return this.#change(session, "refused", () => request(target, "POST", "/api/auth/sign-out", { cookie }));
  }

  /** Requests a repository that the forge does not have. */
  async #request(target: WriteTarget, cookie: string): Promise<boolean> {
    const fullName = `requested/repository-${this.#names++}`;
    const json = { repository: `github:${fullName}` };
    const reply = await request(target, "POST", "/api/track", { cookie, json });
    if (this.#isAcknowledged(reply)) this.#add(writtenRequest(reply.body.data.id, fullName));
    return reply.status !== 0;
  }

  async #change<State>(thing: Written<State>, to: State, send: () => Promise<Reply>): Promise<boolean> {
    thing.isNew = true;
    const before = thing.states;
    thing.states = [...before, to];
    const reply = await send();
    if (this.#isAcknowledged(reply)) thing.states = [to];
    return reply.status !== 0;
  }

  #pickIds({ repositoryIds }: WriteTarget): string[] {
    return [...new Set(Array.from({ length: 4 }, () => this.#random.pick(repositoryIds)))];
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

/** A service under test, and who writes to it. */
export interface WriteTarget {
  url: string;
  /** Sessions of different accounts: each is a client of its own, with at most five keys. */
  cookies: readonly string[];
  /** More sessions, which clients may end; default: none. */
  sessions?: readonly string[];
  /** Repositories of its catalogue. */
  repositoryIds: readonly string[];
  /** Whether repositories may be requested; default false. */
  canRequest?: boolean;
}

/** What a thing may be: one state once its last write was acknowledged, and more while a write of it was interrupted. */
interface Written<State> {
  what: "list" | "own list" | "key" | "session" | "track request";
  states: State[];
  /** Whether it was written, or interrupted, since the last check. */
  isNew: boolean;
  /** undefined: the response says neither what it is nor that it is not there. */
  read(target: Pick<WriteTarget, "url">): Promise<State | undefined>;
}

/** A list as the service shows it; null: there is no such list. */
type ListState = { name: string; ids: string[] } | null;
/** Whether a secret is accepted. */
type SecretState = "accepted" | "refused";

interface WrittenList extends Written<ListState> {
  /** Its address. */
  path: string;
}

interface WrittenKey extends Written<SecretState> {
  id: string;
  secret: string;
}

function writtenList(token: string, state: ListState): WrittenList {
  const path = `/api/watchlists/${token}`;
  return {
    ...{ what: "list", states: [state], isNew: true, path },
    async read(target) {
      const { status, body } = await request(target, "GET", path);
      if (status === 404) return null;
      return status === 200 ? { name: body.data.name, ids: body.data.ids } : undefined;
    },
  };
}

/** The watchlist of an account, as the ids in it in alphabetical order; it is empty at first. */
function writtenOwnList(cookie: string): Written<string[]> {
  return {
    ...{ what: "own list", states: [[]], isNew: true },
    async read(target) {
      const { status, body } = await request(target, "GET", "/api/me/watchlist?limit=100", { cookie });
      return status === 200 ? body.data.map(({ id }: { id: string }) => id).sort() : undefined;
    },
  };
}

function writtenKey(id: string, secret: string): WrittenKey {
  return {
    ...{ what: "key", states: ["accepted"], isNew: true, id, secret },
    read: async (target) => secretState(await request(target, "GET", "/api/limits", { key: secret })),
  };
}

function writtenSession(cookie: string): Written<SecretState> {
  return {
    ...{ what: "session", states: ["accepted"], isNew: true },
    read: async (target) => secretState(await request(target, "GET", "/api/me", { cookie })),
  };
}

/** A request to track a repository, as its full name; null: there is no such request. */
function writtenRequest(id: string, fullName: string): Written<string | null> {
  return {
    ...{ what: "track request", states: [fullName], isNew: true },
    async read(target) {
      const { status, body } = await request(target, "GET", `/api/track/${id}`);
      if (status === 404) return null;
      return status === 200 ? body.data.fullName : undefined;
    },
  };
}

function secretState({ status }: Reply): SecretState | undefined {
  if (status === 200) return "accepted";
  return status === 401 ? "refused" : undefined;
}

/** How a request ended. */
interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a response of any route.
  body: any;
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
    // A proxy in front responds in its own form.
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, body: isJson ? JSON.parse(text) : null };
  } catch {
    return { status: 0, body: null };
  }
}
