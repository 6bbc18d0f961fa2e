/** The most expensive and the most stubborn patterns of allowed requests that we know, by what they use up. */
import type { WorstSubject } from "../../../bench/support/worst.js";
import { limits } from "../../support/limits.js";
import { unknownSession } from "../../support/members.js";
import type { FloodJob, Reading } from "./flood.js";

/** What the attacks are about. */
export interface AttackSubject extends WorstSubject {
  /** Ids of repositories with long histories, for requests about a hundred at a time. */
  long: readonly number[];
  /** API keys, one of each account. */
  keys: readonly string[];
}

interface Sent {
  method?: "GET" | "POST";
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** One attack, from one address or from many. */
export interface OwnAttack {
  name: string;
  from: "one address" | "250 addresses" | "8 accounts";
  connections: number;
  depth: number;
  reading?: Reading;
  perConnection?: number;
  send: (i: number, subject: AttackSubject) => Sent;
  /** Different requests; more of them are the same again. */
  variants: number;
  /** Settings that turn off what protects from it; undefined: nothing that could be turned off does. */
  unprotected: Readonly<Record<string, string>> | undefined;
  /** Buckets of limits that it uses up; by default one. */
  buckets?: number;
}

/** Of the attacks from accounts; each has one key. */
export const ACCOUNTS = 8;

const NO_LIMITS = { SIDEREAL_LIMITS: "false" };
/** Without limits there is no queue either. */
const NO_DAILY = {
  ...NO_LIMITS,
  ...limits("watchlists=1000000,watchlist-items=100000000"),
};

const query = (parameters: readonly (readonly [string, string | number])[]) =>
  new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, String(value)])).toString();

const JSON_HEADERS = { "Content-Type": "application/json" };

/** Addresses as long as they may be, of as many parts as fit in. */
const LONGEST_ADDRESSES = [
  `/explore?${"q=&topic=&a=&".repeat(700)}`,
  `/api/repos?${"id&".repeat(2_700)}`,
  `/api/a${"/".repeat(8_000)}`,
].map((address) => address.slice(0, 7_990));

const search = (i: number, { topics }: AttackSubject) =>
  query([
    ["q", "a b"],
    ...topics.slice(0, 20).map((name) => ["topic", name] as const),
    ["sort", "rising"],
    ["order", "asc"],
    ["limit", 100],
    ["page", 1 + (i % 100)],
    ["minStars", i],
  ]);

export const OWN_ATTACKS: readonly OwnAttack[] = [
  {
    name: "Pipelined requests over the limit",
    from: "one address",
    connections: 250,
    depth: 30,
    variants: 2_000,
    send: (i) => ({ path: `/api/repos?minStars=${i}` }),
    unprotected: NO_LIMITS,
  },
  {
    name: "The longest heads, over the limit",
    from: "one address",
    connections: 250,
    depth: 1,
    variants: 20,
    send: (i) => ({
      path: `${LONGEST_ADDRESSES[i % LONGEST_ADDRESSES.length]}${i}`,
      headers: {
        Accept: `text/csv${",".repeat(4_000)}`,
        ...(i % 2 === 0
          ? { "X-API-Key": ",".repeat(3_800) }
          : { Cookie: `${"; ".repeat(1_800)}${unknownSession(i, "")}` }),
      },
    }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Pipelined requests over the limit, many addresses",
    from: "250 addresses",
    connections: 4_000,
    depth: 30,
    variants: 2_000,
    send: (i) => ({ path: `/api/repos?minStars=${i}` }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Searches as pages",
    from: "250 addresses",
    connections: 1_000,
    depth: 1,
    variants: 4_000,
    send: (i, subject) => ({ path: `/explore?${search(i, subject)}`, headers: { Accept: "text/html" } }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Pages with a forged session",
    from: "250 addresses",
    connections: 1_000,
    depth: 1,
    variants: 4_000,
    send: (i) => ({ path: "/", headers: { Cookie: unknownSession(i, "") } }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Series of 100 repositories and sums of 500",
    from: "250 addresses",
    connections: 500,
    depth: 1,
    variants: 2_000,
    send: (i, { long, token }) => ({
      path:
        i % 2 === 0
          ? `/api/watchlists/${token}/metrics?window=all`
          : `/api/metrics?window=all&${query(Array.from({ length: 100 }, (_, j) => ["repo", long[(i + j) % long.length] ?? 0]))}`,
    }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Responses that nobody reads",
    from: "250 addresses",
    connections: 2_500,
    depth: 20,
    reading: "nothing",
    variants: 20_000,
    send: (i) => ({ path: `/api/repos?limit=100&minStars=${i % 5_000}&page=${1 + (i % 4)}` }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Cards",
    from: "250 addresses",
    connections: 500,
    depth: 1,
    variants: 1_000,
    send: (i, { popular }) => ({
      path: `/api/embed/card.png?${query([["repo", popular[i % popular.length]?.key ?? ""]])}`,
    }),
    unprotected: NO_LIMITS,
  },
  {
    name: "Streams read slowly",
    from: "8 accounts",
    connections: ACCOUNTS,
    depth: 1,
    reading: "slowly",
    variants: ACCOUNTS,
    send: (i, { keys }) => ({
      path: "/api/repos.ndjson",
      headers: { "X-API-Key": keys[i % ACCOUNTS] ?? "" },
    }),
    unprotected: undefined,
  },
  {
    name: "Connections opened for one request",
    from: "one address",
    connections: 250,
    depth: 1,
    perConnection: 1,
    variants: 1,
    send: () => ({ path: "/api/stats/summary" }),
    unprotected: NO_LIMITS,
  },
  {
    name: "New watchlists of 500",
    from: "250 addresses",
    connections: 500,
    depth: 1,
    variants: 500,
    send: (i, { popular }) => ({
      method: "POST",
      path: "/api/watchlists",
      headers: JSON_HEADERS,
      body: JSON.stringify({ ids: popular.slice(i, i + 500).map(({ id }) => String(id)) }),
    }),
    unprotected: NO_DAILY,
  },
  {
    name: "Calls of tools",
    from: "250 addresses",
    buckets: 2,
    connections: 500,
    depth: 1,
    variants: 2_000,
    send: (i, { topics }) => ({
      method: "POST",
      path: "/mcp",
      headers: JSON_HEADERS,
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: i,
        method: "tools/call",
        params: {
          name: "search_repositories",
          arguments: {
            q: "a b",
            topic: topics.slice(0, 20),
            sort: "stars-gained",
            order: "asc",
            minStars: i,
          },
        },
      }),
    }),
    unprotected: NO_LIMITS,
  },
];

/** What clients need to know of a server. */
interface Victim {
  host: string;
  port: number;
}

/** The flood of an attack. */
export function floodOf(
  { connections, depth, reading = "all", perConnection, variants, send, from }: OwnAttack,
  subject: AttackSubject,
  { host, port }: Victim,
): FloodJob {
  const addresses = from === "one address" ? 1 : from === "8 accounts" ? ACCOUNTS : 250;
  return {
    host,
    port,
    addresses: Array.from({ length: addresses }, (_, i) => `127.0.0.${i + 2}`),
    connections,
    depth,
    reading,
    ...(perConnection === undefined ? {} : { perConnection }),
    requests: Array.from({ length: variants }, (_, i) => textOf(send(i, subject), host)),
  };
}

function textOf({ method = "GET", path, headers = {}, body = "" }: Sent, host: string): string {
  const length = body === "" ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: host, ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
