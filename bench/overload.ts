/**
 * Measures what a `serve` process does when more is asked than it can answer: `npm run -s build && node
 * dist/bench/overload.js [--url postgres://…] [--off]`. In each round it finds how many requests a second pass when each
 * waits for the one before; then so many come in a steady stream, and three times as many, whether earlier ones are
 * answered or not, over connections that stay open, as a proxy has them. An answer counts that is no error and comes within a
 * second of when it was asked. Callers have addresses of their own; one in ten has a key, and one in ten asks for what is ready. `--off` turns shedding off.
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
import { buildModules } from "../src/app.js";
import { systemClock } from "../src/clock.js";
import { openDatabase } from "../src/database/database.js";
import { fillWithDemo } from "../src/demo/demo.js";
import { createLog } from "../src/log.js";
import { updateDerived } from "../src/modules.js";
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
const MAIN = fileURLToPath(new URL("../src/main.js", import.meta.url));
const REPOSITORIES = Number(values.repositories);
const SECONDS = Number(values.seconds);
const DEADLINE_MS = 1_000;
const ACCOUNTS = 20;
const MANY = "1000000";
const print = (line: string) => process.stdout.write(`${line}\n`);
const dataDir = mkdtempSync(join(tmpdir(), "sidereal-bench-"));
const CONNECTIONS = 1_500;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });

/** Fills the store; gives the keys of accounts. */
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
      ...(values.off ? { SIDEREAL_SHED_HEAVY: "100000", SIDEREAL_SHED_ANONYMOUS: "100000" } : {}),
      SIDEREAL_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`ended: ${said}`)));
    child.stdout?.on("data", (chunk) => {
      said += chunk;
      const found = /answers at (\S+)\n/.exec(said)?.[1];
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

/** What the i-th request asks: nearly none of it was asked before, apart from what is to be ready. */
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
  /** 0: nothing within a second. */
  status: number;
  ms: number;
}

function ask(base: string, i: number, keys: readonly string[]): Promise<Outcome> {
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

let asked = 0;

/** Opens all connections, before the clock runs. */
async function connect(base: string, keys: readonly string[]): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(base, asked++, keys)));
}

/** As many as pass, with so many callers that each wait for their answer. */
async function findCapacity(base: string, keys: readonly string[]): Promise<number> {
  const until = performance.now() + SECONDS * 1_000;
  let answered = 0;
  const caller = async () => {
    while (performance.now() < until) if ((await ask(base, asked++, keys)).status === 200) answered++;
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  return answered / SECONDS;
}

/** A steady stream of so many a second. */
async function stream(base: string, keys: readonly string[], rate: number): Promise<Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  const began = performance.now();
  for (;;) {
    const passed = performance.now() - began;
    if (passed > SECONDS * 1_000) break;
    while (outcomes.length < (passed / 1_000) * rate) outcomes.push(ask(base, asked++, keys));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return Promise.all(outcomes);
}

/** The answers in time a second, and what became of each kind. */
function report(rate: number, outcomes: readonly Outcome[], capacity: number): void {
  const good = outcomes.filter(({ status }) => status === 200);
  const goodput = good.length / SECONDS;
  const times = good.map(({ ms }) => ms).sort((a, b) => a - b);
  const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? 0;
  const kinds = (["ready", "keyed", "heavy", "list"] as const).map((kind) => {
    const own = outcomes.filter((outcome) => outcome.kind === kind);
    const part = (status: number) =>
      `${Math.round((100 * own.filter((one) => one.status === status).length) / Math.max(1, own.length))} %`;
    return `${kind} ${part(200)} answered, ${part(503)} refused, ${part(0)} late`;
  });
  print(
    `${Math.round(rate)}/s asked: ${Math.round(goodput)}/s in time, ${Math.round((100 * goodput) / capacity)} % of the capacity, p99 ${Math.round(p99)} ms; ${kinds.join("; ")}`,
  );
}

async function main(): Promise<void> {
  const keys = await prepare();
  const { child, url } = await serve();
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      await connect(url, keys);
      const capacity = await findCapacity(url, keys);
      if (capacity === 0) throw new Error("nothing is answered");
      print(`round ${round + 1}: ${Math.round(capacity)}/s when each waits`);
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
