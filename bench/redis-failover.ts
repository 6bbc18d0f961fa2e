/**
 * Measures what three processes that share limits notice of a failover: `npm run -s build && node dist/bench/redis-failover.js`.
 * Counts decisions that fail or wait, and what passes beyond the limit, while the master behind Sentinels is killed or hangs, and
 * while a master of a cluster is killed. Needs `redis-server` and `redis-cli`; starts servers on free ports.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readLimits } from "../src/config/limits.js";
import { parseRedisUrl } from "../src/config/redis-address.js";
import type { Caller } from "../src/http/metering/rates.js";
import { openAllowances } from "../src/http/metering/shared-limiter.js";
import { openRedis } from "../src/http/redis/redis.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { freePort } from "../test/support/ports.js";

const LIMIT = 600;
const PROCESSES = 3;
const CALM_MS = 4_000;
const WATCHED_MS = 15_000;
/** A decision that takes longer has waited for more than one reply. */
const LONG_MS = 150;
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Servers that end together. */
class Servers {
  readonly folder = mkdtempSync(join(tmpdir(), "sidereal-failover-"));
  readonly #running: ChildProcess[] = [];

  /** `sentinel`: the text of its configuration, if it is a Sentinel. */
  async start(args: readonly string[], sentinel?: string): Promise<{ port: number; child: ChildProcess }> {
    const port = await freePort();
    const own = ["--port", String(port), "--bind", "127.0.0.1"];
    const files = ["--save", "", "--dir", this.folder, "--dbfilename", `${port}.rdb`];
    const file = join(this.folder, `${port}.conf`);
    if (sentinel !== undefined) writeFileSync(file, sentinel);
    const all = sentinel === undefined ? [...own, ...files, ...args] : [file, "--sentinel", ...own];
    const child = spawn("redis-server", all, { stdio: "ignore" });
    this.#running.push(child);
    await setTimeout(300);
    return { port, child };
  }

  stop(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A deployment: its address, and the server that fails. */
interface Deployment {
  url: string;
  failing: ChildProcess;
}

async function startSentinels(servers: Servers): Promise<Deployment> {
  const master = await servers.start([]);
  await servers.start(["--replicaof", "127.0.0.1", String(master.port)]);
  await setTimeout(1_500);
  const watching = `sentinel monitor main 127.0.0.1 ${master.port} 2\nsentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 5000\n`;
  const nodes: string[] = [];
  for (let i = 0; i < 3; i++) nodes.push(`127.0.0.1:${(await servers.start([], watching)).port}`);
  await setTimeout(4_000);
  return { url: `redis+sentinel://${nodes.join()}/main`, failing: master.child };
}

async function startCluster(servers: Servers): Promise<Deployment> {
  const started: { port: number; child: ChildProcess }[] = [];
  for (let i = 0; i < 6; i++) {
    const own = ["--cluster-config-file", `${i}.nodes`, "--cluster-port", String(await freePort())];
    started.push(await servers.start(["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", ...own]));
  }
  const nodes = started.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync("redis-cli", ["--cluster", "create", ...nodes, "--cluster-replicas", "1", "--cluster-yes"]);
  await setTimeout(4_000);
  const [, second] = started;
  if (second === undefined) throw new Error("no server was started");
  return { url: `redis+cluster://${nodes.join()}`, failing: second.child };
}

async function measure(name: string, { url, failing }: Deployment, signal: NodeJS.Signals): Promise<void> {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new Error(`not an address: ${url}`);
  const readSecret = async () => "a secret";
  const clock = systemClock;
  const limits = { ...readLimits({}, []), default: { anonymous: LIMIT, key: LIMIT, signed_in: LIMIT } };
  const opening = Array.from({ length: PROCESSES }, async () => {
    const redis = openRedis({ address, caFile: undefined, clock, log: createLog("silent"), readSecret });
    const options = { limits, redis: redis.client, memory: undefined, clock, readSecret };
    return { redis, allowances: await openAllowances(options) };
  });
  const opened = await Promise.all(opening);
  const counts = { decisions: 0, errors: 0, passed: 0, long: 0 };
  let slowest = 0;
  const decide = async (i: number, caller: Caller): Promise<boolean> => {
    const began = performance.now();
    counts.decisions++;
    const decision = await Promise.resolve(
      opened[i % PROCESSES]?.allowances?.decide(caller, "default", 1),
    ).catch(() => void counts.errors++);
    const ms = performance.now() - began;
    slowest = Math.max(slowest, ms);
    if (ms > LONG_MS) counts.long++;
    return decision?.allowed === true;
  };
  const began = performance.now();
  let failedAt = Number.POSITIVE_INFINITY;
  let backAt: number | undefined;
  for (let i = 0; performance.now() - began < CALM_MS + WATCHED_MS; i++) {
    void decide(i, { kind: "anonymous", name: "one caller" }).then((isAllowed) => {
      if (isAllowed) counts.passed++;
    });
    void decide(i + 1, { kind: "anonymous", name: `caller ${i % 500}` });
    if (i % 4 === 3) await setTimeout(10);
    const now = performance.now();
    if (failedAt > now && now - began > CALM_MS) {
      failing.kill(signal);
      failedAt = now;
    }
    const areBack = now - failedAt > 500 && opened.every(({ redis }) => redis.client.isAvailable);
    if (areBack) backAt ??= now - failedAt;
  }
  const fair = Math.round(LIMIT * (1 + (performance.now() - began) / 60_000));
  await Promise.all(opened.map(({ redis }) => redis.close()));
  const back = backAt === undefined ? "not" : `after ${(backAt / 1_000).toFixed(1)} s`;
  print(
    `${name}: ${counts.decisions} decisions, ${counts.errors} failed, ${counts.long} took over ${LONG_MS} ms, the longest ` +
      `${Math.round(slowest)} ms; shared again ${back}; ${counts.passed} of one caller passed, of ${fair}`,
  );
}

const CASES = [
  ["Sentinel, master killed", startSentinels, "SIGKILL"],
  ["Sentinel, master hangs", startSentinels, "SIGSTOP"],
  ["Cluster, one master killed", startCluster, "SIGKILL"],
] as const;
for (const [name, start, signal] of CASES) {
  const servers = new Servers();
  try {
    await measure(name, await start(servers), signal);
  } finally {
    servers.stop();
  }
}
