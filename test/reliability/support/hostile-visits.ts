/** Requests to every route, with a record that hostile texts made and with a hostile text instead of every value. */
import type { Route } from "../../../src/http/route.js";
import { PLANTED } from "../../support/dumps.js";

/** What requests are about. */
export interface Subject {
  /** Instead of every value. */
  text: string;
  /** A record in the catalogue. */
  repository: {
    id: number;
    provider: string;
    fullName: string;
    owner: string;
    name: string;
    language: string | null;
    license: string | null;
    topics: readonly string[];
  };
  /** A list with this record, or with an earlier one. */
  token: string;
  keyId: string;
  /** A request to track a repository. */
  requestId: string;
}

export interface Visit {
  method: string;
  path: string;
  /** As JSON. */
  json?: unknown;
  form?: Readonly<Record<string, string>>;
}

type Values = Readonly<Record<string, (subject: Subject) => string>>;
type Facts = Pick<Route, "method" | "path" | "query" | "body">;

const keyOf = ({ provider, fullName }: Subject["repository"]) => `${provider.toLowerCase()}:${fullName}`;

/** Values of path parameters. */
const IN_PATH: Values = {
  provider: ({ repository }) => repository.provider.toLowerCase(),
  owner: ({ repository }) => repository.owner,
  name: ({ repository }) => repository.name,
  fullName: ({ repository }) => repository.fullName,
  id: ({ repository }) => String(repository.id),
  repositoryId: ({ repository }) => String(repository.id),
  token: ({ token }) => token,
  keyId: ({ keyId }) => keyId,
  requestId: ({ requestId }) => requestId,
  listId: ({ requestId }) => requestId,
  questionId: ({ requestId }) => requestId,
  passkeyId: ({ text }) => text,
  sessionId: ({ text }) => text,
  ranking: () => "trending",
  file: () => PLANTED,
  site: () => "github",
  document: () => "api",
  part: () => "repositories-1",
  page: () => "home",
  version: () => "0123456789ab",
};

/** Values that lead to the record. */
const IN_QUERY: Values = {
  q: ({ repository }) => repository.name,
  provider: ({ repository }) => repository.provider.toLowerCase(),
  language: ({ repository }) => repository.language ?? "",
  topic: ({ repository }) => repository.topics[0] ?? "",
  license: ({ repository }) => repository.license ?? "",
  repo: ({ repository }) => keyOf(repository),
  fullName: ({ repository }) => repository.fullName,
  id: ({ repository }) => String(repository.id),
  repository: ({ repository }) => repository.fullName,
  target: ({ repository }) => keyOf(repository),
  text: ({ text }) => text,
  asked: ({ text }) => text,
  adding: ({ text }) => text,
  label: ({ text }) => text.slice(0, 40),
  title: ({ text }) => text.slice(0, 80),
  list: ({ text }) => `/explore?q=${encodeURIComponent(text.toWellFormed())}`,
  again: () => "1",
  name: ({ text }) => text,
  explain: () => "true",
  save: ({ repository }) => String(repository.id),
  next: ({ text }) => `/explore?q=${encodeURIComponent(text.toWellFormed())}`,
  token: ({ token }) => token,
  code: ({ text }) => text,
  key: ({ text }) => text,
  state: ({ text }) => text,
  error: ({ text }) => text,
  iss: ({ text }) => text,
};

/** Parameters that choose among forms and orders, so nothing of a record can be in their values. */
const CHOICES = new Set([
  ...["verbatim", "minStars", "maxStars", "createdAfter", "createdBefore", "pushedAfter", "archived", "fork"],
  ...["sort", "reliableOnly", "excludeAnomalous", "order", "window", "limit", "page", "cursor", "format"],
  ...["step", "updatedAfter", "first", "base", "since", "include", "most"],
  ...[
    "metric",
    "range",
    "theme",
    "shape",
    "width",
    "height",
    "style",
    "background",
    "zoom",
    "scale",
    "align",
    "view",
    "from",
    "to",
    "kind",
    "badge",
    "size",
    "ranking",
    "scope",
  ],
  ...["revoked", "again", "ended", "added", "removed", "deleted", "logged", "forge", "done"],
]);

/** Bodies of the routes of the API that take one. */
const JSON_BODIES: Readonly<Record<string, (text: string, subject: Subject) => unknown>> = {
  "POST /api/watchlists": (name, { repository }) => ({ name, ids: [String(repository.id)] }),
  "PATCH /api/watchlists/{token}": (name) => ({ name }),
  "POST /api/watchlists/{token}/items": (repositoryId) => ({ repositoryId }),
  "POST /api/watchlists/{token}/removals": (id) => ({ ids: [id], fullNames: [id] }),
  "POST /api/auth/magic-link": (text) => ({ email: "somebody@example.org", next: `/${text}` }),
  "POST /api/auth/verify": (token) => ({ requestToken: token, token }),
  "POST /api/auth/sign-in/{site}": (next) => ({ next: `/${next}` }),
  "POST /api/me/watchlist": (repositoryId) => ({ repositoryId }),
  "PATCH /api/me/watchlist": (name) => ({ name }),
  "POST /api/track": (repository) => ({ repository }),
  "POST /api/me/keys": (name) => ({ name }),
  "POST /mcp": (text, { repository }) => ({
    jsonrpc: "2.0",
    id: text,
    method: "tools/call",
    params:
      text.length % 2 === 0
        ? { name: "get_repositories", arguments: { repositories: keyOf(repository) } }
        : { name: "search_repositories", arguments: { q: repository.name, language: text } },
  }),
  "POST /api/auth/passkey/verify": (text) => ({
    credential: { id: text, response: { clientDataJSON: text, authenticatorData: text, signature: text } },
  }),
  "POST /api/me/passkeys": (text) => ({
    name: text,
    credential: {
      id: "AAAA",
      response: { clientDataJSON: "AAAA", attestationObject: "AAAA", transports: [text] },
    },
  }),
};

/** All fields of all forms: each form reads its own. */
const FORM_FIELDS = [
  ...[
    "name",
    "email",
    "next",
    "token",
    "query",
    "repository",
    "repositoryId",
    "repositories",
    "confirmation",
    "code",
    "target",
    "reason",
    "note",
    "days",
    "network",
  ],
] as const;

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

/** The name of a route in these tables. */
export const routeKey = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;

/**
 * The requests to a route, made when they are called. Throws where a parameter or a body is not known here, so that no new route
 * goes unvisited.
 */
export function visitsOf(route: Facts, subject: Subject): readonly (() => Visit)[] {
  const { method, query } = route;
  const truePath = () => pathOf(route, (name) => known(IN_PATH, name, route)(subject));
  const textPath = () => pathOf(route, () => subject.text);
  for (const name of query) if (!CHOICES.has(name)) known(IN_QUERY, name, route);
  if (method !== "GET")
    return [truePath, textPath].map((path) => () => ({ method, path: path(), ...bodyOf(route, subject) }));
  const filters = query.flatMap((name): [string, string][] => {
    const value = IN_QUERY[name]?.(subject) ?? "";
    return value === "" ? [] : [[name, value]];
  });
  const addresses = [
    truePath,
    () => withQuery(truePath(), filters),
    () => withQuery(truePath(), query.includes("format") ? [...filters, ["format", "csv"]] : filters),
    // Alone, as together they rarely match anything.
    ...filters.map((filter) => () => withQuery(truePath(), [filter])),
    () =>
      withQuery(
        textPath(),
        query.map((name) => [name, subject.text]),
      ),
    ...query.map((name) => () => withQuery(truePath(), [[name, subject.text]])),
  ];
  return addresses.map((path) => () => ({ method, path: path() }));
}

/** Whether visits of a route take away what others need, so they come last. */
export function isLast({ method, path }: Pick<Route, "method" | "path">): boolean {
  return method === "DELETE" || /\/(?:delete|revoke|remove)$/.test(path);
}

function known(values: Values, name: string, route: Facts): (subject: Subject) => string {
  const value = values[name];
  if (value === undefined) throw new Error(`${routeKey(route)}: there is no value for ${name} here`);
  return value;
}

function bodyOf(route: Facts, subject: Subject): Pick<Visit, "json" | "form"> {
  if (route.body === "form")
    return { form: Object.fromEntries(FORM_FIELDS.map((name) => [name, subject.text.slice(0, 5_000)])) };
  if (route.body === "none") return {};
  const body = JSON_BODIES[routeKey(route)];
  if (body === undefined) throw new Error(`${routeKey(route)}: there is no body for it here`);
  return { json: body(subject.text.slice(0, 5_000), subject) };
}

function pathOf({ path }: Facts, valueFor: (name: string) => string): string {
  const file = /^(.*)\{(\w+)\}(\.\w+)$/.exec(path);
  if (file !== null) return `${file[1]}${encoded(valueFor(file[2] ?? "").slice(0, 2_000))}${file[3]}`;
  return path.replaceAll(/\{(\w+)(\*?)\}/g, (_, name: string, rest: string) => {
    const value = valueFor(name).slice(0, 2_000);
    return rest === "" ? encoded(value) : value.split("/").map(encoded).join("/");
  });
}

/** As long as an address may be, so that most values reach the handler. */
function withQuery(path: string, pairs: readonly (readonly [string, string])[]): string {
  const share = Math.floor(7_000 / Math.max(1, pairs.length) / 9);
  const query = pairs.map(([name, value]) => `${name}=${encoded(value.slice(0, share))}`).join("&");
  return query === "" ? path : `${path}?${query}`;
}
