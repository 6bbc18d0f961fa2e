import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { Redis } from "ioredis";
import { freePort } from "./ports.js";
import { RedisServer } from "./redis.js";
import { until } from "./until.js";

const SLOTS = 16_384;
/** Sends one command to a server. */
export async function tell(server: RedisServer, ...command: string[]): Promise<unknown> {
  const [name = "", ...args] = command;
  const redis = new Redis(server.url, { lazyConnect: true, protocol: 2, retryStrategy: null });
  redis.on("error", () => {});
  try {
    await redis.connect();
    return await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}

/** Servers that end with the tests that start them, before their folders are removed. */
export function newServers(count: number): RedisServer[] {
  const servers: RedisServer[] = [];
  after(() => Promise.all(servers.map((server) => server.kill())));
  for (let i = 0; i < count; i++) servers.push(new RedisServer());
  return servers;
}

/** A cluster of masters, each with a part of the slots. Ends with the tests that start it. */
export async function startCluster(masters: number): Promise<RedisServer[]> {
  const servers = newServers(masters);
  const buses: number[] = [];
  for (const server of servers) {
    const bus = await freePort();
    buses.push(bus);
    const settings = { "cluster-enabled": "yes", "cluster-port": String(bus), "cluster-node-timeout": "500" };
    await server.start(settings);
  }
  const share = Math.ceil(SLOTS / masters);
  for (const [i, server] of servers.entries()) {
    const last = Math.min(SLOTS, (i + 1) * share) - 1;
    await tell(server, "cluster", "addslotsrange", String(i * share), String(last));
    await tell(server, "cluster", "set-config-epoch", String(i + 1));
    const [first] = servers;
    if (first !== undefined && i > 0)
      await tell(server, "cluster", "meet", "127.0.0.1", String(first.port), String(buses[0]));
  }
  for (const server of servers)
    await until("the cluster is complete", async () => {
      const info = String(await tell(server, "cluster", "info"));
      return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${masters}`);
    });
  return servers;
}

/** A master with a replica, watched by three Sentinels. */
export interface SentinelGroup {
  master: RedisServer;
  replica: RedisServer;
  sentinels: RedisServer[];
}

export async function startSentinelGroup(name: string): Promise<SentinelGroup> {
  const [master, replica, ...sentinels] = newServers(5);
  assert.ok(master && replica);
  await master.start();
  await replica.start({ replicaof: `127.0.0.1 ${master.port}` });
  await until("the replica follows", async () =>
    String(await tell(replica, "info", "replication")).includes("master_link_status:up"),
  );
  const watching = [
    `sentinel monitor ${name} 127.0.0.1 ${master.port} 2`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 3000`,
  ].join("\n");
  for (const sentinel of sentinels) await sentinel.start({}, watching);
  for (const sentinel of sentinels)
    await until("the Sentinels know each other and the replica", async () => {
      const known = await tell(sentinel, "sentinel", "master", name);
      const facts = Array.isArray(known) ? known.map(String) : [];
      const factOf = (label: string) => facts[facts.indexOf(label) + 1];
      return factOf("num-other-sentinels") === "2" && factOf("num-slaves") === "1";
    });
  return { master, replica, sentinels };
}

/** Makes an authority and a certificate of it for this machine, in a folder. Returns the files. */
export function makeCertificate(folder: string): { ca: string; cert: string; key: string } {
  const at = (name: string) => join(folder, name);
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  run("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ours", "-days", "2");
  run("req", ...newKey, "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=redis");
  writeFileSync(at("own.ext"), "subjectAltName = IP:127.0.0.1\n");
  const signing = [
    "-CA",
    "ca.pem",
    "-CAkey",
    "ca.key",
    "-CAcreateserial",
    "-extfile",
    "own.ext",
    "-days",
    "2",
  ];
  run("x509", "-req", "-in", "own.csr", "-out", "own.pem", ...signing);
  return { ca: at("ca.pem"), cert: at("own.pem"), key: at("own.key") };
}
