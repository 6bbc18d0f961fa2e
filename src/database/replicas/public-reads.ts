import { randomInt } from "node:crypto";
import { Kysely, PostgresDialect } from "kysely";
import type { Clock } from "../../lib/clock.js";
import type { Logger } from "../../lib/log.js";
import type { Db } from "../dialect.js";
import { openPool } from "../postgres.js";
import { preparing } from "../postgres-pool.js";
import { ServerWatch } from "../postgres-watch.js";
import type { Prepare } from "../prepared.js";
import type { Schema } from "../schema.js";
import { FailoverPool } from "./failover-pool.js";
import { type Source, Sources } from "./sources.js";
import type { ReplicaStatus } from "./status.js";

/** The replicas of a database on PostgreSQL. */
export interface ReplicaOptions {
  /** Addresses; each leads to one server. */
  urls: readonly string[];
  /** Maximum lag of a replica that is read from, in ms. */
  maxLagMs: number;
  /** Which of them this process prefers; the others follow in order. Default: a random one, so that processes spread over them. */
  first?: number;
}

export interface PublicReadsOptions extends ReplicaOptions {
  primaryUrl: string;
  primaryWatch: ServerWatch;
  /** Connections to each server. */
  pool: number;
  clock: Clock;
  log: Logger;
}

/** Connections that read from a replica where one is usable, otherwise from the primary. */
export interface PublicConnections {
  db: Db;
  prepare: Prepare;
  sources: Pick<Sources, "generation">;
  /** Address of the server that is read from now, for connections that stay with it. */
  url(): string;
  status(): ReplicaStatus[];
  /** Throws ReplicaRefused. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export function connectReplicas(options: PublicReadsOptions): PublicConnections {
  const { urls, primaryUrl, primaryWatch, maxLagMs, pool, clock, log } = options;
  const first = (options.first ?? randomInt(urls.length)) % urls.length;
  const ordered = [...urls.slice(first), ...urls.slice(0, first)];
  const watches: ServerWatch[] = [];
  const replicas = ordered.map((url): Source => {
    const name = serverName(url);
    const watch = new ServerWatch({ url, clock, log, server: `the replica ${name}` });
    watches.push(watch);
    return { name, url, pool: openPool(url, { pool, reads: true, watch, log }) };
  });
  // Of its own, so that public reads cannot take the connections that people's own data is read with.
  const primary: Source = {
    name: "primary",
    url: primaryUrl,
    pool: openPool(primaryUrl, { pool, reads: true, watch: primaryWatch, log }),
  };
  const sources = new Sources({ primary, replicas, maxLagMs, clock, log });
  const failover = new FailoverPool(sources);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: failover }) });
  return {
    db,
    prepare: preparing(db, failover),
    sources,
    url: () => sources.current.url,
    status: () => sources.status,
    start: () => sources.start(),
    async close() {
      sources.close();
      for (const watch of watches) watch.close();
      await db.destroy();
      await Promise.all([primary, ...replicas].map((source) => source.pool.end()));
    },
  };
}

/** Host and port of an address, which may contain a password. */
export function serverName(url: string): string {
  if (!URL.canParse(url)) return "a replica";
  const { hostname, port, searchParams } = new URL(url);
  const host = hostname === "" ? (searchParams.get("host") ?? "localhost") : hostname;
  return `${host}:${port === "" ? (searchParams.get("port") ?? "5432") : port}`;
}
