/**
 * Measures the limiter: `npm run -s build && node --expose-gc dist/bench/limiter.js`. First by itself, with a million
 * addresses: memory, time of a decision, and whether an offender is remembered. Then what it adds to a request for an
 * answer that is ready, through everything but the network, in turns with and without it.
 */
import { buildFront, buildModules } from "../src/app.js";
import { systemClock } from "../src/clock.js";
import { loadConfig } from "../src/config.js";
import { openDatabase } from "../src/database/database.js";
import { fillWithDemo } from "../src/demo/demo.js";
import { LIMIT_SETTINGS, readLimits } from "../src/limit-config.js";
import { createLog } from "../src/log.js";
import { type Caller, Callers, Limiter, networkOf } from "../src/metering/metering.js";
import { updateDerived } from "../src/modules.js";

const ADDRESSES = 1_000_000;
const print = (line: string) => process.stdout.write(`${line}\n`);
const log = createLog("error");

/** All that the process holds, in megabytes. */
function residentMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1e6;
}

function quantile(sorted: Float64Array, part: number): number {
  return sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
}

/** Every other address is of IPv6, sixteen networks of 64 bits to one of 48. */
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
  const limiter = new Limiter({ limits: readLimits({}, []), clock: systemClock });
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
  print(`memory: table ${(limiter.tableBytes / 1e6).toFixed(1)} MB, process +${added.toFixed(1)} MB`);
  print(
    `address and decision: p50 ${quantile(times, 0.5).toFixed(2)} µs  p99 ${quantile(times, 0.99).toFixed(2)} µs  p99.9 ${quantile(times, 0.999).toFixed(2)} µs`,
  );
  const most = 120 + Math.ceil(seconds * 2);
  print(
    `offender: ${tried} tries, ${passed} passed (its limit lets ${most}); now allowed: ${ask(offender).allowed}`,
  );
}

async function measureRequests(): Promise<void> {
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  const modules = buildModules(database, systemClock);
  await fillWithDemo(modules.catalog, { repositories: 500, days: 3, seed: 1, end: systemClock.now() });
  await updateDerived(modules);
  const generous = Object.fromEntries(LIMIT_SETTINGS.map((name) => [name, "1000000"]));
  const frontOf = (env: Record<string, string>) =>
    buildFront({ config: loadConfig({ ...generous, ...env }), clock: systemClock, log }, modules);
  const fronts = { without: frontOf({ SIDEREAL_LIMITS: "false" }), with: frontOf({}) };
  const url = "http://localhost/api/repos?sort=stars";
  const rounds = 20_000;
  const medians = { without: [] as number[], with: [] as number[] };
  for (let turn = 0; turn < 7; turn++) {
    for (const name of ["without", "with"] as const) {
      const times = new Float64Array(rounds);
      for (let i = 0; i < rounds; i++) {
        const request = new Request(url);
        const from = performance.now();
        const response = await fronts[name](request, peerOf(i));
        times[i] = (performance.now() - from) * 1_000;
        if (response.status !== 200) throw new Error(`answered ${response.status}`);
      }
      times.sort();
      // The first turn is for the compiler.
      if (turn > 0) medians[name].push(quantile(times, 0.5));
    }
  }
  const least = (values: number[]) => Math.min(...values);
  print(
    `a ready answer: without limits ${least(medians.without).toFixed(1)} µs, with ${least(medians.with).toFixed(1)} µs (least median of 6 turns of ${rounds})`,
  );
  await database.close();
}

measureDecisions();
await measureRequests();
