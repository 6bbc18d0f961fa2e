import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Agent, request as send } from "undici";
import { addKeys } from "../../bench/support/keys.js";
import {
  endChild,
  LOAD_CORE,
  type MeasuredServer,
  spawnPinned,
  startSidereal,
} from "../../bench/support/processes.js";
import type { ResultRow } from "../../bench/support/results.js";
import { quantile } from "../../bench/support/statistics.js";
import {
  copyStore,
  defaultFolder,
  openStore,
  prepareStore,
  STORE_END,
  type Store,
} from "../../bench/support/stores.js";
import { prepareWorst } from "../../bench/support/worst.js";
import { buildFront } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { BUCKETS } from "../../src/config/limits.js";
import { openDatabase } from "../../src/database/database.js";
import { Callers } from "../../src/http/caller.js";
import { createHttpServer } from "../../src/http/server.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, followChanges, type Modules } from "../../src/modules.js";
import { ManualClock } from "../support/manual-clock.js";
import { daily, NOW, observation } from "../support/world.js";
import { ACCOUNTS, type AttackSubject, floodOf, OWN_ATTACKS, type OwnAttack } from "./support/attack-list.js";
import { Flood, type FloodJob, type FloodReport } from "./support/flood.js";
import { assertHappened, type Harness, type HarnessContext, HarnessFailure } from "./support/harness.js";

const PROCESS = fileURLToPath(new URL("./support/flood-process.js", import.meta.url));
const SIZE = 100_000;
const SECONDS = 15;
/** Time for the list index. */
const START_MS = 4_000;
/** Time until an attack has what its bursts give it. */
const LEAD_MS = 1_000;
const HEALTH = "/healthz";
const PROBE_MS = 50;
/** A response that comes later is of no use. */
const IN_TIME_MS = 1_000;
/** Probes that may be waiting. */
const PROBES = 100;
const SLOWEST_HEALTH_MS = 250;
const MOST_GROWTH_MB = 256;
const MB = 1024 * 1024;

/** In its long form `SIDEREAL_ATTACK` may name a part of the names of attacks, which are then the only ones. */
export const attacks: Harness = {
  name: "attacks",
  proves: "The worst patterns of allowed requests neither stop the service nor fill its memory.",
  run: (context) => (context.scale === "short" ? countAttacks() : measure(context)),
};

async function measure({ report }: HarnessContext): Promise<ResultRow[]> {
  const place = { folder: defaultFolder(), postgresUrl: undefined };
  const store = await copyStore(await prepareStore({ engine: "sqlite", size: SIZE, days: 7 }, place, report));
  try {
    const keys = await addKeys(store, 9);
    const modules = await openStore(store);
    const subject = { ...(await prepareAttacks(modules, "long")), keys };
    await modules.database.close();
    const chosen = process.env.SIDEREAL_ATTACK;
    const rows: ResultRow[] = [];
    for (const attack of OWN_ATTACKS.filter(({ name }) => chosen === undefined || name.includes(chosen)))
      rows.push(...(await measureAttack({ store, subject, attack, report })));
    return rows;
  } finally {
    await store.remove();
  }
}

interface Run {
  store: Store;
  subject: AttackSubject;
  attack: OwnAttack;
  report: (line: string) => void;
}

async function measureAttack(run: Run): Promise<ResultRow[]> {
  const { attack, report } = run;
  const before = attack.unprotected === undefined ? undefined : await attackOnce(run, attack.unprotected);
  if (before !== undefined) report(`${attack.name}, unprotected: ${lineOf(before)}`);
  const now = await attackOnce(run, {});
  report(`${attack.name}: ${lineOf(now)}`);
  assertHappened(now.sent, `requests of "${attack.name}"`, 8);
  const row = (
    measure: string,
    unit: string,
    { of, ...rest }: { of: (outcome: Outcome) => number } & Pick<ResultRow, "target" | "note">,
  ): ResultRow => ({
    measure: `${attack.name}, from ${attack.from}: ${measure}`,
    size: SIZE,
    engine: "sqlite",
    value: of(now),
    unit,
    ...(before === undefined ? {} : { baseline: { name: "unprotected", value: of(before) } }),
    ...rest,
  });
  return [
    row("requests sent", "", { of: ({ sent }) => sent }),
    row("refused", "", { of: ({ refused }) => refused }),
    row("serving thread", "of a core", { of: ({ share }) => share }),
    row("/healthz, p99", "ms", { of: ({ healthMs }) => healthMs }),
    row("/healthz, CPU of the serving thread while it waits, p99", "ms", {
      of: ({ healthCpuMs }) => healthCpuMs,
      target: { atMost: SLOWEST_HEALTH_MS },
    }),
    row("growth of memory", "MB", { of: ({ growthMb }) => growthMb, target: { atMost: MOST_GROWTH_MB } }),
    row("others served in time", "%", { of: ({ othersPercent }) => othersPercent }),
  ];
}

interface Outcome {
  sent: number;
  /** Responses of 429 and 503, and connections that were closed. */
  refused: number;
  statuses: Record<string, number>;
  closed: number;
  /** CPU of the serving thread, and of all threads, as shares of a core. */
  share: number;
  allShare: number;
  healthMs: number;
  /** 99th percentile of the CPU time of the serving thread while a health check waits: its latency where nothing else runs. */
  healthCpuMs: number;
  growthMb: number;
  /** Requests of somebody else that got their response in time. */
  othersPercent: number;
}

const lineOf = ({ statuses, ...rest }: Outcome) =>
  `${Object.entries(rest)
    .map(([name, value]) => `${name} ${value.toLocaleString("en-US", { maximumFractionDigits: 2 })}`)
    .join(", ")}; ${JSON.stringify(statuses)}`;

async function attackOnce(
  { store, subject, attack }: Run,
  settings: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const server = await startSidereal(store, settings);
  const probe = new Probe(server, subject);
  try {
    await setTimeout(START_MS);
    await probe.warmUp();
    const { hostname, port } = new URL(server.url);
    const before = server.residentBytes() ?? Number.NaN;
    const flooding = flood({
      ...floodOf(attack, subject, { host: hostname, port: Number(port) }),
      seconds: SECONDS,
    });
    await setTimeout(LEAD_MS);
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, server.residentBytes() ?? 0);
    }, 200);
    const [began, mainBefore, allBefore] = [
      performance.now(),
      server.mainThreadCpuMs(),
      server.threadCpuMs(),
    ];
    const found = await probe.run((SECONDS - LEAD_MS / 1_000 - 1) * 1_000);
    const [elapsed, main, all] = [performance.now() - began, server.mainThreadCpuMs(), server.threadCpuMs()];
    const { sent, statuses, closed } = await flooding;
    clearInterval(watching);
    if (main === undefined || all === undefined || mainBefore === undefined || allBefore === undefined)
      throw new HarnessFailure("the system does not tell CPU times");
    const refused = (statuses["429"] ?? 0) + (statuses["503"] ?? 0) + closed;
    return {
      ...{ sent, refused, statuses, closed },
      share: (main - mainBefore) / elapsed,
      allShare: (all - allBefore) / elapsed,
      ...found,
      growthMb: (most - before) / MB,
    };
  } finally {
    await probe.close();
    await server.stop();
  }
}

async function flood(job: FloodJob & { seconds: number }): Promise<FloodReport> {
  const child = spawnPinned(process.execPath, [PROCESS], { core: LOAD_CORE, stdin: "pipe" });
  try {
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new HarnessFailure("the flood has no pipes");
    const ended = once(child, "exit");
    stdin.end(JSON.stringify(job));
    const [output, [code]] = await Promise.all([text(stdout), ended]);
    if (code !== 0) throw new HarnessFailure(`the flood ended with ${code}`);
    return JSON.parse(output);
  } finally {
    await endChild(child);
  }
}

/** Somebody who checks the health of a server, and somebody who reads it, each at a constant rate. */
class Probe {
  readonly #server: MeasuredServer;
  readonly #subject: AttackSubject;
  readonly #checker = new Agent({ connections: PROBES, connect: { localAddress: "127.0.0.254" } });
  readonly #reader = new Agent({ connections: PROBES, connect: { localAddress: "127.0.0.253" } });
  #sent = 0;

  constructor(server: MeasuredServer, subject: AttackSubject) {
    this.#server = server;
    this.#subject = subject;
  }

  async warmUp(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      await this.#send(HEALTH);
      await this.#send(this.#path());
    }
  }

  async run(ms: number): Promise<Pick<Outcome, "healthMs" | "healthCpuMs" | "othersPercent">> {
    const health: number[] = [];
    const healthCpu: number[] = [];
    const others: boolean[] = [];
    const pending: Promise<unknown>[] = [];
    const began = performance.now();
    for (let i = 0; performance.now() - began < ms; i++) {
      const cpuBefore = this.#cpuMs();
      const check = this.#send(HEALTH).then(({ took }) => {
        health.push(took);
        healthCpu.push(this.#cpuMs() - cpuBefore);
      });
      pending.push(check);
      // As often as the limits of an address allow.
      if (i % 10 === 0)
        pending.push(
          this.#send(this.#path()).then(({ status, took }) =>
            others.push(status === 200 && took <= IN_TIME_MS),
          ),
        );
      await setTimeout(Math.max(0, began + (i + 1) * PROBE_MS - performance.now()));
    }
    await Promise.all(pending);
    assertHappened(health.length, "health checks", 20);
    assertHappened(others.length, "requests of somebody else", 2);
    return {
      healthMs: quantile(health, 0.99),
      healthCpuMs: quantile(healthCpu, 0.99),
      othersPercent: (100 * others.filter(Boolean).length) / others.length,
    };
  }

  close(): Promise<unknown> {
    return Promise.all([this.#checker.destroy(), this.#reader.destroy()]);
  }

  /** CPU time of the serving thread. */
  #cpuMs(): number {
    const { pid } = this.#server;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  }

  /** Something that is not cached. */
  #path(): string {
    const { popular } = this.#subject;
    return `/api/repos/${popular[this.#sent++ % popular.length]?.id}`;
  }

  async #send(path: string): Promise<{ status: number; took: number }> {
    const began = performance.now();
    const dispatcher = path === HEALTH ? this.#checker : this.#reader;
    try {
      const { statusCode, body } = await send(this.#server.url + path, { dispatcher });
      await body.dump();
      return { status: statusCode, took: performance.now() - began };
    } catch {
      return { status: 0, took: performance.now() - began };
    }
  }
}

/** Repositories with long histories, and snapshots of each, one an hour. */
const LONG = { long: { repositories: 200, snapshots: 4_000 }, short: { repositories: 10, snapshots: 20 } };

/** Adds to a store what the attacks need, and names what is in it. */
async function prepareAttacks(
  modules: Modules,
  scale: "long" | "short",
): Promise<Omit<AttackSubject, "keys">> {
  const { repositories, snapshots } = LONG[scale];
  const { catalog } = modules;
  const names = Array.from({ length: repositories }, (_, i) => `long-${i}`);
  await catalog.recordAll(
    names.map((name) => ({
      provider: "GITHUB",
      owner: "sidereal-attack",
      name,
      at: STORE_END,
      snapshots: Array.from({ length: snapshots }, (_, i) => ({
        capturedAt: STORE_END - (snapshots - i) * HOUR_MS,
        stars: 1_000 + i,
        forks: 100 + (i >> 2),
        openIssues: 50 + (i % 9),
        watchers: 10,
        source: "IMPORTED" as const,
      })),
      facts: { stars: 1_000 + snapshots, forks: 100 + (snapshots >> 2) },
    })),
  );
  await followChanges(modules);
  const long = await Promise.all(
    names.map(
      async (name) => (await catalog.findByName("GITHUB", `sidereal-attack/${name}`))?.repository.id ?? 0,
    ),
  );
  return { ...(await prepareWorst(modules, scale === "long" ? undefined : 20)), long };
}

/** Units a minute of an address in each bucket. */
const LIMIT = 12;
const CONNECTIONS = 8;
const ADDRESSES = 2;
/** Real time after which an attack that nothing refuses is over. */
const GIVE_UP_MS = 10_000;

/**
 * Runs each attack against a server in this process whose clock does not move, until every connection was refused, and counts what
 * was served before.
 */
async function countAttacks(): Promise<ResultRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "sidereal-attacks-"));
  const log = createLog("silent");
  const clock = new ManualClock(NOW);
  const names = BUCKETS.filter((bucket) => bucket !== "free");
  const config = loadConfig({
    SIDEREAL_LIMITS: names.map((name) => `${name}=${LIMIT}`).join(),
    SIDEREAL_DATA_DIR: dataDir,
  });
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  try {
    const modules = buildModules(database, { clock, log });
    await modules.catalog.record(
      Array.from({ length: 30 }, (_, i) => observation(`acme/kite-${i}`, daily(1, 2 + i))),
    );
    const keys = await addKeys({ engine: "sqlite", url: undefined, dataDir }, ACCOUNTS);
    const subject = { ...(await prepareAttacks(modules, "short")), keys };
    const rows: ResultRow[] = [];
    for (const attack of OWN_ATTACKS) {
      // Each meets limits that nobody has used.
      const front = buildFront({ config, clock, log }, modules);
      const { server, close } = createHttpServer((message, response) => front.handle(message, response), {
        baseUrl: config.baseUrl,
        isLimited: true,
        callers: new Callers(config.trustedProxies),
        clock,
        log,
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      try {
        const { port } = server.address() as AddressInfo;
        rows.push(...(await countAttack(attack, floodOf(attack, subject, { host: "127.0.0.1", port }))));
      } finally {
        await close(0);
      }
    }
    return rows;
  } finally {
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function countAttack(
  { name, reading, from, buckets = 1 }: OwnAttack,
  job: FloodJob,
): Promise<ResultRow[]> {
  const addresses = from === "one address" ? 1 : ADDRESSES;
  const flood = new Flood({ ...job, connections: CONNECTIONS, addresses: job.addresses.slice(0, addresses) });
  const { report } = flood;
  const countOf = (...statuses: string[]) =>
    statuses.reduce((sum, status) => sum + (report.statuses[status] ?? 0), 0);
  const running = flood.run();
  const giveUpAt = performance.now() + GIVE_UP_MS;
  const isOver = () =>
    reading === undefined
      ? countOf("429", "503") + report.closed >= CONNECTIONS
      : report.opened >= CONNECTIONS;
  while (!isOver() && performance.now() < giveUpAt) await setImmediate();
  flood.stop();
  await running;
  assertHappened(report.sent, `requests of "${name}"`, CONNECTIONS);
  const wrong = Object.keys(report.statuses).filter((status) => status >= "500" && status !== "503");
  const head = { unit: "responses", note: `${report.sent} sent` };
  const errors: ResultRow = {
    ...head,
    measure: `${name}: server errors`,
    value: countOf(...wrong),
    target: { atMost: 0 },
  };
  if (reading !== undefined) return [errors];
  assertHappened(countOf("429", "503") + report.closed, `refused requests of "${name}"`);
  return [
    errors,
    {
      ...head,
      measure: `${name}: served before it was refused`,
      value: countOf("200", "201"),
      target: { atMost: LIMIT * addresses * buckets },
    },
  ];
}
