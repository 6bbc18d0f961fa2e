/**
 * Measures a `serve` process under overload: `npm run -s build && node dist/bench/overload.js [--url postgres://…] [--off]`. Each
 * round first measures the capacity with closed-loop clients, then sends an open-loop stream at that rate and at three times that
 * rate over persistent connections, as a proxy does. A response counts as goodput if it succeeds within a second of its request.
 * Every caller has its own address; one in ten has a key, and one in ten requests a cached response. `--off` turns load shedding
 * off.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { systemClock } from "../src/clock.js";
import { openDatabase } from "../src/database/database.js";
import { fillWithDemo } from "../src/demo/demo.js";
import { createLog } from "../src/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { createToken, hashToken } from "../src/tokens.js";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    off: { type: "boolean", default: false },
    repositories: { type: "string", default: "20000" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
  },
});
const MAIN = fileURLToPath(new URL("../bundle/main.js", import.meta.url));
const REPOSITORIES = Number(values.repositories);
const SECONDS = Number(values.seconds);
const DEADLINE_MS = 1_000;
const ACCOUNTS = 20;
const MANY = "1000000";
const print = (line: string) => process.stdout.write(`${line}\n`);
const dataDir = mkdtempSync(join(tmpdir(), "sidereal-bench-"));
const CONNECTIONS = 1_500;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });

/** Fills the database; returns API keys. */
async function prepare(): Promise<string[]> {
  const database = await openDatabase({ url: values.url, dataDir, pool: 4, log: createLog("error") });
  const modules = buildModules(database, systemClock, createLog("error"));
  await fillWithDemo(modules.catalog, { repositories: REPOSITORIES, days: 30, seed: 1, end: Date.now() });
  await updateDerived(modules);
  const keys: string[] = [];
  for (let i = 0; i < ACCOUNTS; i++) {
    const [id, key, now] = [`bench-${Date.now()}-${i}`, createToken("sid"), Date.now()];
    await sql`insert into accounts (id, name, email, email_verified, created_at, updated_at)
      values (${id}, '', ${`${id}@example.org`}, ${values.url ? true : 1}, ${new Date(now).toISOString()},
      ${new Date(now).toISOString()})`.execute(database.durable);
    await sql`insert into api_keys (account_id, name, hash, hint, created_at)
      values (${id}, 'bench', ${hashToken(key)}, ${key.slice(-4)}, ${now})`.execute(database.durable);
    keys.push(key);
  }
  await database.close();
  return keys;
}

async function serve(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN, "serve"], {
    env: {
      ...process.env,
      SIDEREAL_PORT: "0",
      SIDEREAL_DATA_DIR: dataDir,
      ...(values.url === undefined ? {} : { SIDEREAL_DATABASE_URL: values.url }),
      SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
      SIDEREAL_LIMIT_DEFAULT_KEY: MANY,
      SIDEREAL_LIMIT_HEAVY_KEY: MANY,
      ...(values.off ? { SIDEREAL_QUEUE_LENGTH: "100000", SIDEREAL_QUEUE_MS: "60000" } : {}),
      SIDEREAL_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`exited: ${output}`)));
    child.stdout?.on("data", (chunk) => {
      output += chunk;
      const found = /listens at (\S+)\n/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, url };
}

interface Kind {
  name: "ready" | "keyed" | "heavy" | "list";
  path: string;
  key?: string;
}

/** The i-th request. Almost none of them repeat, except those for cached responses. */
function kindOf(i: number, keys: readonly string[]): Kind {
  const random = (below: number) => Math.floor(Math.random() * below);
  const list = `/api/repos?minStars=${random(100_000)}&limit=${20 + random(80)}`;
  if (i % 10 === 0) return { name: "ready", path: "/api/home" };
  if (i % 10 === 1) return { name: "keyed", path: list, key: keys[i % keys.length] ?? "" };
  if (i % 10 < 4) return { name: "heavy", path: `/api/repos/${1 + random(REPOSITORIES)}/metrics?window=30d` };
  return { name: "list", path: list };
}

interface Outcome {
  kind: Kind["name"];
  /** 0: no response within a second. */
  status: number;
  ms: number;
}

function send(base: string, i: number, keys: readonly string[]): Promise<Outcome> {
  const { name, path, key } = kindOf(i, keys);
  const address = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  const headers = { "X-Forwarded-For": address, ...(key === undefined ? {} : { "X-API-Key": key }) };
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status: number) => {
      const ms = performance.now() - began;
      resolve({ kind: name, status: ms > DEADLINE_MS ? 0 : status, ms });
    };
    const sent = request(`${base}${path}`, { agent, headers }, (response) => {
      response.resume();
      response.once("end", () => end(response.statusCode ?? 0));
      response.once("error", () => end(0));
    });
    sent.once("error", () => end(0));
    sent.end();
  });
}

let requestCount = 0;

/** Opens all connections before the measurement. */
async function connect(base: string, keys: readonly string[]): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(base, requestCount++, keys)));
}

/** Requests per second with closed-loop clients. */
async function findCapacity(base: string, keys: readonly string[]): Promise<number> {
  const until = performance.now() + SECONDS * 1_000;
  let succeeded = 0;
  const caller = async () => {
    while (performance.now() < until)
      if ((await send(base, requestCount++, keys)).status === 200) succeeded++;
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  return succeeded / SECONDS;
}

/** An open-loop stream at a fixed rate. */
async function stream(base: string, keys: readonly string[], rate: number): Promise<Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  const began = performance.now();
  for (;;) {
    const passed = performance.now() - began;
    if (passed > SECONDS * 1_000) break;
    while (outcomes.length < (passed / 1_000) * rate) outcomes.push(send(base, requestCount++, keys));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return Promise.all(outcomes);
}

/** Timely responses per second, and the outcomes of each kind. */
function report(rate: number, outcomes: readonly Outcome[], capacity: number): void {
  const good = outcomes.filter(({ status }) => status === 200);
  const goodput = good.length / SECONDS;
  const times = good.map(({ ms }) => ms).sort((a, b) => a - b);
  const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? 0;
  const kinds = (["ready", "keyed", "heavy", "list"] as const).map((kind) => {
    const own = outcomes.filter((outcome) => outcome.kind === kind);
    const part = (status: number) =>
      `${Math.round((100 * own.filter((one) => one.status === status).length) / Math.max(1, own.length))} %`;
    return `${kind} ${part(200)} succeeded, ${part(503)} refused, ${part(0)} late`;
  });
  print(
    `${Math.round(rate)}/s sent: ${Math.round(goodput)}/s in time, ${Math.round((100 * goodput) / capacity)} % of the capacity, p99 ${Math.round(p99)} ms; ${kinds.join("; ")}`,
  );
}

async function main(): Promise<void> {
  const keys = await prepare();
  const { child, url } = await serve();
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      await connect(url, keys);
      const capacity = await findCapacity(url, keys);
      if (capacity === 0) throw new Error("nothing is succeeded");
      print(`round ${round + 1}: ${Math.round(capacity)}/s closed-loop`);
      for (const times of [1, 3]) {
        await connect(url, keys);
        report(capacity * times, await stream(url, keys, capacity * times), capacity);
      }
    }
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}

try {
  await main();
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();
