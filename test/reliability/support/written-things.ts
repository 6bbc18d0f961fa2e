/** What clients write to a service, each with how it is read back. */

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
export interface Written<State> {
  what: "list" | "own list" | "key" | "session" | "track request";
  states: State[];
  /** Whether it was written, or interrupted, since the last check. */
  isNew: boolean;
  /** undefined: the response says neither what it is nor that it is not there. */
  read(target: Pick<WriteTarget, "url">): Promise<State | undefined>;
}

/** A list as the service shows it; null: there is no such list. */
export type ListState = { name: string; ids: string[] } | null;
/** Whether a secret is accepted. */
export type SecretState = "accepted" | "refused";

export interface WrittenList extends Written<ListState> {
  /** Its address. */
  path: string;
}

export interface WrittenKey extends Written<SecretState> {
  id: string;
  secret: string;
}

export function writtenList(token: string, state: ListState): WrittenList {
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
export function writtenOwnList(cookie: string): Written<string[]> {
  return {
    ...{ what: "own list", states: [[]], isNew: true },
    async read(target) {
      const { status, body } = await request(target, "GET", "/api/me/watchlist?limit=100", { cookie });
      return status === 200 ? body.data.map(({ id }: { id: string }) => id).sort() : undefined;
    },
  };
}

export function writtenKey(id: string, secret: string): WrittenKey {
  return {
    ...{ what: "key", states: ["accepted"], isNew: true, id, secret },
    read: async (target) => secretState(await request(target, "GET", "/api/limits", { key: secret })),
  };
}

export function writtenSession(cookie: string): Written<SecretState> {
  return {
    ...{ what: "session", states: ["accepted"], isNew: true },
    read: async (target) => secretState(await request(target, "GET", "/api/me", { cookie })),
  };
}

/** A request to track a repository, as its full name; null: there is no such request. */
export function writtenRequest(id: string, fullName: string): Written<string | null> {
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
export interface Reply {
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
export async function request(
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
