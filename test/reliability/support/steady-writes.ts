import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Random } from "../../../bench/synthetic/random.js";
import {
  type ListState,
  type Reply,
  request,
  type SecretState,
  type WriteTarget,
  type Written,
  type WrittenKey,
  type WrittenList,
  writtenKey,
  writtenList,
} from "./written-things.js";

/** One write in this many concerns API keys, the others watchlists. */
const KEY_EVERY = 4;
/** Watchlists that are written to, and the number of repositories at which one is full. */
const OPEN_LISTS = 20;
const FULL = 30;
/** Time in which a check must find what was written: a process may remember a key for some seconds. */
const CHECK_MS = 8_000;
const CHECK_EVERY_MS = 500;

/** Writes that may be in flight at the same time, and what must be there because they were acknowledged. */
export class SteadyWrites {
  readonly #random: Random;
  readonly #lists: WrittenList[] = [];
  /** By session, each with one key at a time. */
  readonly #keys = new Map<string, WrittenKey | undefined>();
  readonly #toCheck = new Set<Written<unknown>>();
  /** Lists and sessions with a write in flight. */
  readonly #busy = new Set<unknown>();
  acknowledged = 0;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Sends a write. Resolves with the status of its response, 0 without one. */
  async next(target: WriteTarget): Promise<number> {
    const cookie = target.cookies.find((one) => !this.#busy.has(one));
    const isKey = this.#count++ % KEY_EVERY === 0 && cookie !== undefined;
    const { status } = await (isKey ? this.#writeKey(target, cookie) : this.#writeList(target));
    if (isSuccess(status)) this.acknowledged++;
    return status;
  }

  /** Compares what was written since the last check with the service. Returns what is wrong, in words. */
  async check(target: Pick<WriteTarget, "url">): Promise<string[]> {
    const latest = performance.now() + CHECK_MS;
    for (;;) {
      const wrong: string[] = [];
      for (const thing of this.#toCheck) {
        const found = await thing.read(target);
        if (found !== undefined && thing.states.some((state) => isDeepStrictEqual(state, found))) {
          thing.states = [found];
          this.#toCheck.delete(thing);
        } else wrong.push(`a ${thing.what} is ${JSON.stringify(found)}, not ${JSON.stringify(thing.states)}`);
      }
      if (wrong.length === 0 || performance.now() > latest) {
        this.#toCheck.clear();
        return wrong;
      }
      await setTimeout(CHECK_EVERY_MS);
    }
  }

  async #writeList(target: WriteTarget): Promise<Reply> {
    const id = this.#random.pick(target.repositoryIds);
    const open = this.#lists.flatMap((list) => {
      const [state, other] = list.states;
      const isOpen = state && other === undefined && state.ids.length < FULL && !state.ids.includes(id);
      return isOpen && !this.#busy.has(list) ? [{ list, state }] : [];
    });
    if (open.length < OPEN_LISTS) return this.#createList(target, id);
    const { list, state } = this.#random.pick(open);
    const to: ListState = { ...state, ids: [...state.ids, id] };
    return this.#change(list, to, () =>
      request(target, "POST", `${list.path}/items`, { json: { repositoryId: id } }),
    );
  }

  async #createList(target: WriteTarget, id: string): Promise<Reply> {
    const state = { name: `list ${this.#count}`, ids: [id] };
    const reply = await request(target, "POST", "/api/watchlists", { json: state });
    if (isSuccess(reply.status)) this.#lists.push(this.#written(writtenList(reply.body.data.token, state)));
    return reply;
  }

  /** Creates the key of a session, or revokes it. */
  async #writeKey(target: WriteTarget, cookie: string): Promise<Reply> {
    this.#busy.add(cookie);
    try {
      const key = this.#keys.get(cookie);
      if (key !== undefined) {
        this.#keys.delete(cookie);
        const revoke = () => request(target, "DELETE", `/api/me/keys/${key.id}`, { cookie });
        return await this.#change<SecretState>(key, "refused", revoke);
      }
      const reply = await request(target, "POST", "/api/me/keys", { cookie, json: { name: "key" } });
      if (isSuccess(reply.status)) {
        const { id, key: secret } = reply.body.data;
        this.#keys.set(cookie, this.#written(writtenKey(id, secret)));
      }
      return reply;
    } finally {
      this.#busy.delete(cookie);
    }
  }

  /** A change without a success may or may not have happened. */
  async #change<State>(thing: Written<State>, to: State, send: () => Promise<Reply>): Promise<Reply> {
    this.#written(thing);
    this.#busy.add(thing);
    thing.states = [...thing.states, to];
    const reply = await send();
    if (isSuccess(reply.status)) thing.states = [to];
    this.#busy.delete(thing);
    return reply;
  }

  #written<T extends Written<unknown>>(thing: T): T {
    this.#toCheck.add(thing);
    return thing;
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
