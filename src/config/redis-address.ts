/** A server and its port. */
export interface RedisNode {
  host: string;
  port: number;
}

/** Where Redis or Valkey is. */
export interface RedisAddress {
  /** One server, the master that a group of Sentinels names, or a cluster. */
  kind: "server" | "sentinel" | "cluster";
  /** The server, the Sentinels, or some nodes of the cluster. */
  nodes: readonly RedisNode[];
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
  /** The number of the database; 0 in a cluster. */
  database: number;
  /** With Sentinel: what the Sentinels call the master, and how to log in to them. */
  master: string | undefined;
  sentinel: { username: string | undefined; password: string | undefined };
}

const ADDRESS =
  /^redis(s)?(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
const NODE = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i;
const PORTS = { server: 6379, sentinel: 26379, cluster: 6379 } as const;
const SENTINEL_PARAMETERS = ["sentinel_username", "sentinel_password"];

/** What an address of Redis must look like, for messages that must not repeat it. */
export const REDIS_URL_RULE =
  "must be redis://host:port/database, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port; rediss for TLS";

/**
 * Parses the address of a server (`redis://user:password@host:port/database`), of a master behind Sentinels
 * (`redis+sentinel://host:port,host:port/master/database`) or of a cluster (`redis+cluster://host:port,host:port`); with TLS
 * they begin with `rediss`. Undefined if it is none of them.
 */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  const [, tls, form, login, hosts = "", path = "", query = ""] = ADDRESS.exec(text) ?? [];
  const kind = form === "sentinel" || form === "cluster" ? form : "server";
  const nodes = hosts.split(",").map((node) => parseNode(node, PORTS[kind]));
  if (hosts === "" || !nodes.every((node) => node !== undefined)) return undefined;
  if (kind === "server" && nodes.length > 1) return undefined;
  try {
    const parts = path.split("/").slice(1).map(decodeURIComponent);
    const master = kind === "sentinel" ? parts.shift() : undefined;
    if (kind === "sentinel" && !master) return undefined;
    const [number = "", ...rest] = parts;
    if (!/^\d{0,4}$/.test(number) || rest.length > 0 || (kind === "cluster" && Number(number) > 0))
      return undefined;
    const parameters = new URLSearchParams(query);
    const known = kind === "sentinel" ? SENTINEL_PARAMETERS : [];
    if ([...parameters.keys()].some((name) => !known.includes(name))) return undefined;
    const [username = "", ...password] = login?.split(":") ?? [];
    return {
      kind,
      nodes,
      tls: tls !== undefined,
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password.join(":")) || undefined,
      database: Number(number),
      master,
      sentinel: {
        username: parameters.get("sentinel_username") || undefined,
        password: parameters.get("sentinel_password") || undefined,
      },
    };
  } catch {
    // An invalid escape.
    return undefined;
  }
}

function parseNode(text: string, port: number): RedisNode | undefined {
  const [, host, given = String(port)] = NODE.exec(text) ?? [];
  const number = Number(given);
  if (host === undefined || number < 1 || number > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ""), port: number };
}
