/**
 * Measures the limiter: `npm run -s build && node --expose-gc dist/bench/limiter.js`. First alone with a million addresses:
 * memory, time per decision, and whether an offender stays limited. Then the time it adds to a cached response, and the time an
 * API key and usage counting add, alternating and without the network. Then usage counting alone.
 */
import { sql } from "kysely";
import { Callers, networkOf } from "../src/accounts/callers.js";
import { Usage } from "../src/accounts/usage.js";
import { buildFront, buildMembers } from "../src/app/service.js";
import { loadConfig } from "../src/config/config.js";
import { LIMIT_SETTINGS, readLimits } from "../src/config/limits.js";
import { openDatabase } from "../src/database/database.js";
import { fillWithDemo } from "../src/demo/demo.js";
import { createTableMemory, Limiter } from "../src/http/metering/limiter.js";
import type { Caller } from "../src/http/metering/rates.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { inject } from "../test/support/inject.js";

const ADDRESSES = 1_000_000;
const print = (line: string) => process.stdout.write(`${line}\n`);
const log = createLog("error");

/** Memory of the process, in megabytes. */
function residentMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1e6;
}

function quantile(sorted: Float64Array, part: number): number {
  return sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
}

/** Every other address is IPv6, with sixteen /64 networks per /48. */
function peerOf(i: number): string {
  return i % 2 === 0
    ? `${10 + (i >>> 24)}.${(i >>> 16) & 255}.${(i >>> 8) & 255}.${i & 255}`
    : `2001:db8:${(i >>> 5).toString(16)}:${(i & 31).toString(16)}::1`;
}

function measureDecisions(): void {
  const callers = new Callers([]);
  const times = new Float64Array(ADDRESSES);
  times.fill(1);
  const before = residentMb();
  const memory = createTableMemory();
  const limiter = new Limiter({ limits: readLimits({}, []), clock: systemClock, memory });
  const ask = (peer: string) => {
    const name = callers.nameOf(peer, null);
    const network = networkOf(name);
    const caller: Caller =
      network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
    return limiter.decide(caller, "default", 1);
  };
  const offender = "203.0.113.66";
  let tried = 0;
  let passed = 0;
  const began = performance.now();
  for (let i = 0; i < ADDRESSES; i++) {
    const peer = peerOf(i);
    const from = performance.now();
    const { allowed } = ask(peer);
    times[i] = (performance.now() - from) * 1_000;
    if (!allowed) throw new Error("a newcomer was refused");
    if (i % 100 === 0) {
      tried++;
      if (ask(offender).allowed) passed++;
    }
  }
  const seconds = (performance.now() - began) / 1_000;
  const added = residentMb() - before;
  times.sort();
  print(`${ADDRESSES} addresses in ${seconds.toFixed(1)} s`);
  print(`memory: table ${(memory.buffer.byteLength / 1e6).toFixed(1)} MB, process +${added.toFixed(1)} MB`);
  print(
    `address and decision: p50 ${quantile(times, 0.5).toFixed(2)} µs  p99 ${quantile(times, 0.99).toFixed(2)} µs  p99.9 ${quantile(times, 0.999).toFixed(2)} µs`,
  );
  const most = 120 + Math.ceil(seconds * 2);
  print(`offender: ${tried} tries, ${passed} passed (limit ${most}); now allowed: ${ask(offender).allowed}`);
}

class Uncounted extends Usage {
  override record(): void {}
}

async function measureRequests(): Promise<void> {
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  const modules = buildModules(database, { clock: systemClock, log });
  await fillWithDemo(modules.catalog, { repositories: 500, days: 3, seed: 1, end: systemClock.now() });
  await updateDerived(modules);
  await sql`insert into accounts (id, name, email, email_verified, created_at, updated_at)
    values ('bench', '', 'bench@example.org', 1, 0, 0)`.execute(database.durable);
  const generous = Object.fromEntries(LIMIT_SETTINGS.map((name) => [name, "1000000"]));
  const contextOf = (env: Record<string, string>) => {
    return { config: loadConfig({ ...generous, ...env }), clock: systemClock, log };
  };
  const members = buildMembers(contextOf({}), modules);
  const { key, secret } = await members.keys.create("bench", "bench");
  const limited = buildFront(contextOf({}), modules, members);
  const uncounted = new Uncounted({ database, clock: systemClock, log });
  const fronts = {
    without: buildFront(contextOf({ SIDEREAL_LIMITS: "false" }), modules, members),
    limited,
    keyed: buildFront(contextOf({}), modules, { ...members, usage: uncounted }),
    counted: limited,
  };
  const names = ["without", "limited", "keyed", "counted"] as const;
  const url = "http://localhost/api/repos?sort=stars";
  const rounds = 20_000;
  const medians: Record<(typeof names)[number], number[]> = {
    without: [],
    limited: [],
    keyed: [],
    counted: [],
  };
  for (let turn = 0; turn < 7; turn++) {
    for (const name of names) {
      const headers = {
        "User-Agent": "curl/8.5.0",
        ...(name === "keyed" || name === "counted" ? { Authorization: `Bearer ${secret}` } : {}),
      };
      const times = new Float64Array(rounds);
      for (let i = 0; i < rounds; i++) {
        const request = new Request(url, { headers });
        const from = performance.now();
        const front = fronts[name];
        const response = await inject(
          (message, reply) => void front.handle(message, reply),
          request,
          peerOf(i),
        );
        times[i] = (performance.now() - from) * 1_000;
        if (response.status !== 200) throw new Error(`returned ${response.status}`);
      }
      times.sort();
      // The first round warms up the compiler.
      if (turn > 0) medians[name].push(quantile(times, 0.5));
    }
  }
  const least = (values: number[]) => Math.min(...values);
  print(
    `a cached response: without limits ${least(medians.without).toFixed(1)} µs, with ${least(medians.limited).toFixed(1)} µs, with a key ${least(medians.keyed).toFixed(1)} µs, counted too ${least(medians.counted).toFixed(1)} µs (least median of 6 turns of ${rounds})`,
  );
  await members.usage.flush();
  const { totals } = await members.usage.view("bench", key.id, "24h");
  if (totals.requests !== 7 * rounds) throw new Error(`${totals.requests} requests were counted`);
  await measureCounting(members.usage, key.id);
  await database.close();
}

async function measureCounting(usage: Usage, keyId: number): Promise<void> {
  const rounds = 500_000;
  const addresses = Array.from({ length: 50 }, (_, i) => `192.0.${i}.1`);
  const began = performance.now();
  for (let i = 0; i < rounds; i++)
    usage.record({
      keyId,
      method: "GET",
      route: i % 2 === 0 ? "/api/repos" : "/api/home",
      status: i % 10 === 0 ? 404 : 200,
      bytes: 4_000,
      durationMs: 0.1,
      allowance: { bucket: "default", limit: 1_200, remaining: i % 1_200 },
      path: "/api/repos",
      code: null,
      caller: addresses[i % 50] ?? "",
      userAgent: "curl/8.5.0",
    });
  const each = ((performance.now() - began) * 1_000) / rounds;
  const from = performance.now();
  await usage.flush();
  print(
    `counting alone: ${each.toFixed(2)} µs a request; writing what one key did: ${(performance.now() - from).toFixed(1)} ms`,
  );
}

measureDecisions();
await measureRequests();
