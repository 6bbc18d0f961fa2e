/**
 * Measures limits that two `serve` processes share: `npm run -s build && node dist/bench/shared-limits.js [redis-server]`.
 * Counts how many requests of one caller pass, and how long responses take, while Redis is available, is killed, comes back, and
 * hangs. Needs a `redis-server`, which it starts on a free port.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../test/support/ports.js";

const MAIN = fileURLToPath(new URL("../bundle/main.js", import.meta.url));
const LIMIT = 120;
const REQUESTS = 2_000;
const TOGETHER = 16;
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Waits for a line that matches. */
async function waitForLine(child: ChildProcess, expected: RegExp): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(`exited: ${output}`)));
    child.stdout?.on("data", (chunk) => {
      output += chunk;
      const found = expected.exec(output);
      if (found !== null) resolve(found[1] ?? "");
    });
  });
}

const folder = mkdtempSync(join(tmpdir(), "sidereal-bench-"));
const port = await freePort();
async function startRedis(): Promise<ChildProcess> {
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const child = spawn(process.argv[2] ?? "redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  await waitForLine(child, /(Ready to accept connections)/);
  return child;
}

const started: ChildProcess[] = [];
async function serve(): Promise<string> {
  const child = spawn(process.execPath, [MAIN, "serve"], {
    env: {
      ...process.env,
      SIDEREAL_PORT: "0",
      SIDEREAL_DATA_DIR: folder,
      SIDEREAL_REDIS_URL: `redis://127.0.0.1:${port}`,
      SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
      SIDEREAL_LIMIT_DEFAULT_ANONYMOUS: String(LIMIT),
      SIDEREAL_LOG_LEVEL: "silent",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  return waitForLine(child, /listens at (\S+)\n/);
}

/** Sends all requests of one caller, alternating between the processes. */
async function measure(name: string, address: string, middle: () => void): Promise<void> {
  const statuses = new Map<number, number>();
  const times: number[] = [];
  let sent = 0;
  const began = performance.now();
  const send = async () => {
    while (sent < REQUESTS) {
      const i = sent++;
      if (i === REQUESTS / 20) middle();
      const from = performance.now();
      const response = await fetch(`${urls[i % urls.length]}/api/stats/summary`, {
        headers: { "X-Forwarded-For": address },
      });
      await response.arrayBuffer();
      times.push(performance.now() - from);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, send));
  const seconds = (performance.now() - began) / 1_000;
  times.sort((a, b) => a - b);
  const at = (part: number) => (times[Math.ceil(times.length * part) - 1] ?? 0).toFixed(1);
  const refilled = Math.floor((seconds * LIMIT) / 60);
  print(
    `${name}: ${statuses.get(200) ?? 0} of ${REQUESTS} passed, ${statuses.get(429) ?? 0} were refused, in ${seconds.toFixed(1)} s (limit ${LIMIT}, and ${refilled} refilled); p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );
}

let redis = await startRedis();
const urls = [await serve(), await serve()];
try {
  await measure("warming up", "198.18.0.1", () => {});
  await measure("Redis available", "198.18.0.2", () => {});
  await measure("Redis killed after a twentieth", "198.18.0.3", () => redis.kill("SIGKILL"));
  redis = await startRedis();
  // The first request after a second reconnects.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await measure("Redis restarted, reconnecting", "198.18.0.4", () => {});
  await measure("Redis available", "198.18.0.5", () => {});
  await measure("Redis hangs after a twentieth", "198.18.0.6", () => redis.kill("SIGSTOP"));
} finally {
  for (const child of started) child.kill("SIGTERM");
  await Promise.all(started.map((child) => (child.exitCode === null ? once(child, "exit") : undefined)));
  redis.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
