/** Somebody who signs in and changes watchlists and keys, and remembers what was acknowledged. */

/** Sends one request to a service. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

/** Repositories of every new watchlist. */
const ITEMS = ["1", "2", "3"];
/** Name of watchlists that are never changed after their creation. */
export const UNCHANGED = "unchanged";

type State = string;

/** What may be stored of one thing: one state once it is known, several after requests without an acknowledgement. */
class Possible {
  states: readonly State[];

  constructor(state: State) {
    this.states = [state];
  }

  /** A request that changes the state, and whether it was acknowledged. */
  change(apply: (state: State) => State, isAcknowledged: boolean): void {
    const after = this.states.map(apply);
    this.states = [...new Set(isAcknowledged ? after : [...this.states, ...after])];
  }
}

interface List {
  token: string;
  name: Possible;
  /** Ids, sorted and joined. */
  items: Possible;
}

export class DiskClient {
  readonly counts = { acknowledged: 0, refused: 0, unexpected: 0, reads: 0, failedReads: 0 };
  readonly unexpected: string[] = [];
  readonly #lists: List[] = [];
  /** By secret: "active" or "revoked". */
  readonly #keys = new Map<string, Possible>();
  readonly #cookies: string[] = [];
  #key: { id: string; secret: string } | undefined;
  #serial = 0;
  #send: Send;
  #origin: string;

  constructor(send: Send, origin: string) {
    this.#send = send;
    this.#origin = origin;
  }

  /** Goes on with another process that has the same store. */
  moveTo(send: Send, origin: string): void {
    this.#send = send;
    this.#origin = origin;
  }

  /** Signs in with a mailed link; false if no link came or it could not be used. `nextLink`: the token of the next one. */
  async signIn(nextLink: () => Promise<string | undefined>): Promise<boolean> {
    const asked = await this.#change("POST", "/api/auth/magic-link", {
      email: `a${this.#serial++}@example.org`,
    });
    if (asked?.status !== 202) return false;
    const { requestToken } = JSON.parse(await asked.text()).data;
    const token = await nextLink();
    if (token === undefined) return false;
    const verified = await this.#change("POST", "/api/auth/verify", { requestToken, token });
    const cookie = verified?.headers.getSetCookie()[0]?.split(";")[0];
    if (verified?.status !== 200 || cookie === undefined) return false;
    this.#cookies.push(cookie);
    return true;
  }

  /** Changes a list, and, once signed in, keys and the list of the account. Returns whether all was acknowledged. */
  async round(): Promise<boolean> {
    const refused = this.counts.refused + this.counts.unexpected;
    const name = `name ${this.#serial++}`;
    for (const first of [name, UNCHANGED]) {
      const created = await this.#change("POST", "/api/watchlists", { name: first, ids: ITEMS });
      if (created?.status !== 201) continue;
      const { data } = JSON.parse(await created.text());
      this.#lists.push({
        token: data.token,
        name: new Possible(first),
        items: new Possible(ITEMS.join()),
      });
    }
    const list = this.#lists.find(({ name: { states } }) => !states.includes(UNCHANGED));
    if (list !== undefined) await this.#changeList(list, `renamed ${this.#serial++}`);
    if (this.#cookies.length > 0) await this.#changeAccount();
    await this.#read(`/api/repos/github/nobody/nothing-${this.#serial++}`, 404);
    await this.#read(`/api/repos?limit=1&page=${1 + (this.#serial % 50)}&sort=stars`, 200);
    return this.counts.refused + this.counts.unexpected === refused;
  }

  async #changeList({ token, name, items }: List, newName: string): Promise<void> {
    const path = `/api/watchlists/${token}`;
    const renamed = await this.#change("PATCH", path, { name: newName });
    name.change(() => newName, renamed?.status === 200);
    for (const id of ["4", "5"]) {
      const added = await this.#change("POST", `${path}/items`, { repositoryId: id });
      items.change((state) => sorted([...new Set([...split(state), id])]), isDone(added));
    }
    const removed = await this.#change("DELETE", `${path}/items/4`);
    items.change((state) => sorted(split(state).filter((id) => id !== "4")), isDone(removed));
  }

  async #changeAccount(): Promise<void> {
    if (this.#key !== undefined) {
      const { id, secret } = this.#key;
      const revoked = await this.#change("DELETE", `/api/me/keys/${id}`);
      this.#keys.get(secret)?.change(() => "revoked", isDone(revoked));
      if (!isDone(revoked)) return;
      this.#key = undefined;
    }
    const created = await this.#change("POST", "/api/me/keys", { name: "disk" });
    if (created?.status !== 201) return;
    const { data } = JSON.parse(await created.text());
    this.#key = { id: data.id, secret: data.key };
    this.#keys.set(data.key, new Possible("active"));
  }

  /** Reads everything back. Returns what is not as it was acknowledged, as short texts. */
  async findLost(): Promise<string[]> {
    const lost: string[] = [];
    const check = ({ states }: Possible, found: string, what: string) => {
      if (!states.includes(found)) lost.push(`${what}: "${found}" instead of "${states.join('" or "')}"`);
    };
    for (const { token, name, items } of this.#lists) {
      const list = await this.#get(`/api/watchlists/${token}`);
      const { data } = list.status === 200 ? JSON.parse(await list.text()) : { data: { name: "none" } };
      check(name, data.name, "name");
      const rows = await this.#get(`/api/watchlists/${token}/repositories?limit=100`);
      const ids =
        rows.status === 200
          ? JSON.parse(await rows.text()).data.map(({ id }: { id: string }) => id)
          : ["none"];
      check(items, sorted(ids), "items");
    }
    for (const [secret, state] of this.#keys) {
      const { status } = await this.#get("/api/limits", { Authorization: `Bearer ${secret}` });
      check(state, status === 200 ? "active" : status === 401 ? "revoked" : String(status), "key");
    }
    for (const Cookie of this.#cookies) {
      const { status } = await this.#get("/api/me", { Cookie });
      if (status !== 200) lost.push(`session: ${status}`);
    }
    return lost;
  }

  #get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send(path, { headers });
  }

  async #read(path: string, expected: number): Promise<void> {
    this.counts.reads++;
    const response = await this.#get(path).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status !== expected) this.counts.failedReads++;
  }

  /** Undefined without a response, as from a process that has ended. */
  async #change(method: string, path: string, body?: unknown): Promise<Response | undefined> {
    const cookie = this.#cookies.at(-1);
    const headers = {
      Origin: this.#origin,
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await this.#send(path, init).catch(() => undefined);
    const status = response?.status ?? 0;
    if (isDone(response)) this.counts.acknowledged++;
    else if (status === 0 || (status === 503 && response?.headers.has("retry-after"))) this.counts.refused++;
    else {
      this.counts.unexpected++;
      this.unexpected.push(`${method} ${path}: ${status} ${await response?.clone().text()}`);
    }
    return response;
  }
}

const isDone = (response: Response | undefined): boolean => response?.ok ?? false;
const split = (state: State): string[] => (state === "" ? [] : state.split(","));
const sorted = (ids: readonly string[]): State => [...ids].sort().join();
