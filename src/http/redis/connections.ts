import { readFile } from "node:fs/promises";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { RedisAddress, RedisNode } from "../../config/config.js";

/** How long one Sentinel may take, so that there is time left for the next one. */
const SENTINEL_MS = 500;

export interface ConnectionOptions {
  address: RedisAddress;
  /** File with the certificates of the authorities to trust, in PEM; undefined: those that Node.js trusts. */
  caFile: string | undefined;
}

/** How a connection is made. */
export interface Attempt {
  /** Counts the tries: each begins with another node, so that one that hangs does not keep the others from being tried. */
  number: number;
  /** Gets the reasons for which it fails; commands mostly say only that it is closed. */
  onError: (error: Error) => void;
}

type Login = Pick<RedisOptions, "username" | "password" | "tls" | "connectionName">;

/** What both kinds of connection offer. */
export type Commands = Redis | Cluster;

/** None of them connects again by itself: whoever uses it decides when. */
const OPTIONS = {
  lazyConnect: true,
  // Commands fail immediately without a connection, and are never sent twice.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: null,
  maxRetriesPerRequest: 0,
  // The whole start has its own limit, by the injected clock.
  connectTimeout: 0,
  // It would need one more permission.
  disableClientInfo: true,
  protocol: 2,
} as const;

/** A connection for commands, which is not open yet. */
export async function newCommands(options: ConnectionOptions, attempt: Attempt): Promise<Commands> {
  const { address } = options;
  const { number, onError } = attempt;
  const common = { ...(await loginOf(options)), connectionName: "sidereal" };
  if (address.kind !== "cluster") return newSingle(address, common, attempt);
  const cluster = new Cluster(rotated(address.nodes, number), {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: null,
    // Certificates name hosts.
    dnsLookup: (host, found) => found(null, host),
    redisOptions: { ...common, disableClientInfo: true, protocol: 2 },
  });
  cluster.on("node error", (error: Error) => onError(error));
  cluster.on("error", onError);
  return cluster;
}

/** A connection for messages, which is not open yet. In a cluster, a message that one node gets is passed on to all. */
export async function newSubscriber(options: ConnectionOptions, attempt: Attempt): Promise<Redis> {
  const common = { ...(await loginOf(options)), connectionName: "sidereal-messages" };
  return newSingle(options.address, common, attempt);
}

function newSingle(
  { kind, nodes, database: db, master = "", sentinel }: RedisAddress,
  common: Login,
  { number, onError }: Attempt,
): Redis {
  const [first] = rotated(nodes, number);
  const { username, password } = sentinel;
  const redis =
    kind === "sentinel"
      ? new Redis({
          ...OPTIONS,
          ...common,
          db,
          sentinels: rotated(nodes, number),
          name: master,
          role: "master",
          connectTimeout: SENTINEL_MS,
          sentinelCommandTimeout: SENTINEL_MS,
          sentinelRetryStrategy: () => null,
          ...(username !== undefined && { sentinelUsername: username }),
          ...(password !== undefined && { sentinelPassword: password }),
          ...(common.tls !== undefined && { sentinelTLS: common.tls, enableTLSForSentinelMode: true }),
        })
      : new Redis({ ...OPTIONS, ...common, ...first, db });
  redis.on("error", onError);
  return redis;
}

/** What every server of the address needs. */
async function loginOf({ address, caFile }: ConnectionOptions): Promise<Login> {
  const { tls, username, password } = address;
  // Read each time, as authorities are replaced.
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile) };
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: ca }),
  };
}

function rotated(nodes: readonly RedisNode[], by: number): RedisNode[] {
  const from = by % nodes.length;
  return [...nodes.slice(from), ...nodes.slice(0, from)];
}
