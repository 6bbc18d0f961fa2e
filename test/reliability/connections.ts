import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { addKeys } from "../../bench/support/keys.js";
import { type MeasuredServer, startSidereal } from "../../bench/support/processes.js";
import { absoluteRow, type ResultRow } from "../../bench/support/results.js";
import { runLoad } from "../../bench/support/run-load.js";
import { quantile } from "../../bench/support/statistics.js";
import { copyStore, defaultFolder, prepareStore, type Store } from "../../bench/support/stores.js";
import { buildFront } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { LIMIT_NAMES } from "../../src/config/limits.js";
import { openDatabase } from "../../src/database/database.js";
import { Callers } from "../../src/http/caller.js";
import { createHttpServer } from "../../src/http/server.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { inject } from "../support/inject.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";
import { type AttackReport, attack } from "./support/attack.js";
import { BAD_KINDS, type BadKind, openBad, type Victim } from "./support/bad-clients.js";
import { assertHappened, type Harness, type HarnessContext } from "./support/harness.js";
import { openFiles } from "./support/server-sockets.js";

/** How long the service may hold a connection of each kind, in seconds, with what the measurement itself adds. */
const LONGEST_S: Readonly<Record<BadKind, number>> = {
  "sends nothing": 17,
  "sends its head slowly": 17,
  "sends its body slowly": 22,
  "never reads": 67,
  "reads a byte a second": 67,
  "sends requests without reading": 67,
  "ends its side and stays": 67,
  "resets while a response is sent": 6,
  "is idle after a request": 11,
  "speaks TLS": 67,
};

const BAD = 2_000;
const RUNS = 5;
const RATE = 200;
const CALM_SECONDS = 10;
const ATTACK_SECONDS = 75;
/** Of the attack: time for all connections to be open. */
const LEAD_MS = 6_000;
const AFTER_MS = 12_000;
const MB = 1024 * 1024;
/** What the heap of a process keeps for the next burst, in MB. */
const LEFT_MB = 64;

const SOURCES: Readonly<Record<string, readonly string[]>> = {
  "249 addresses": Array.from({ length: 249 }, (_, index) => `127.0.0.${index + 2}`),
  "one address": ["127.0.0.2"],
};

export const connections: Harness = {
  name: "connections",
  proves:
    "Connections that are idle, half sent or never read are closed on time, and hardly slow down other clients.",
  run: (context) => (context.scale === "short" ? closeBadConnections() : measure(context)),
};

async function measure({ report }: HarnessContext): Promise<ResultRow[]> {
  const place = { folder: defaultFolder(), postgresUrl: undefined };
  const store = await prepareStore({ engine: "sqlite", size: 10_000, days: 7 }, place, report);
  const copy = await copyStore(store);
  try {
    const [key = ""] = await addKeys(copy, 1);
    const rows: ResultRow[] = [];
    for (const [source, addresses] of Object.entries(SOURCES)) {
      const runs: Run[] = [];
      for (let round = 1; round <= RUNS; round++) {
        runs.push(await runOnce(copy, { key, addresses }));
        report(`${source}, run ${round}: ${JSON.stringify(runs.at(-1))}`);
      }
      rows.push(...rowsOf(source, runs));
    }
    return rows;
  } finally {
    await copy.remove();
  }
}

interface Run {
  before: Sample;
  during: Sample;
  after: Omit<Sample, "p99">;
  /** Good requests without a response, or with an error. */
  failedPercent: number;
  attack: AttackReport;
}

interface Sample {
  /** Of good clients, in ms. */
  p99: number;
  /** Resident memory, in bytes. */
  bytes: number;
  files: number;
}

async function runOnce(
  store: Store,
  { key, addresses }: { key: string; addresses: readonly string[] },
): Promise<Run> {
  // Only the key has generous limits; the attack meets those that everybody has.
  const ofKeys = LIMIT_NAMES.filter((name) => name.endsWith(".account")).map((name) => `${name}=1000000`);
  const server = await startSidereal(store, { SIDEREAL_LIMITS: ofKeys.join() });
  let watching: NodeJS.Timeout | undefined;
  try {
    const good = { requests: GOOD, headers: { Authorization: `Bearer ${key}` }, mayFail: true };
    const victim = await victimOf(server);
    const calm = await runLoad(server, good, { rate: RATE, seconds: CALM_SECONDS });
    const before = { p99: calm.all.p99, ...resourcesOf(server) };
    const attacking = attack({ victim, addresses, connections: BAD, seconds: ATTACK_SECONDS });
    await setTimeout(LEAD_MS);
    let peak = resourcesOf(server);
    watching = setInterval(() => {
      const { bytes, files } = resourcesOf(server);
      peak = { bytes: Math.max(peak.bytes, bytes), files: Math.max(peak.files, files) };
    }, 500);
    const seconds = ATTACK_SECONDS - LEAD_MS / 1_000 - 3;
    const attacked = await runLoad(server, good, { rate: RATE, seconds });
    const attackReport = await attacking;
    clearInterval(watching);
    await setTimeout(AFTER_MS);
    // Most of what a service gives back it gives back while it works.
    await runLoad(server, good, { rate: RATE, seconds: 5 });
    return {
      before,
      during: { p99: attacked.all.p99, ...peak },
      failedPercent: (100 * attacked.failed) / attacked.all.count,
      after: resourcesOf(server),
      attack: attackReport,
    };
  } finally {
    clearInterval(watching);
    await server.stop();
  }
}

/** What good clients request. */
const GOOD = [
  "/api/repos?sort=stars",
  "/api/stats/summary",
  "/api/home",
  "/api/repos?q=react",
  "/healthz",
].map((path) => ({ kind: path, path }));

async function victimOf({ url }: MeasuredServer): Promise<Victim> {
  const page = await (await fetch(url)).text();
  const [path = ""] = /\/assets\/[^"]*\.css/.exec(page) ?? [];
  assertHappened(path.length, "characters of the path of a free response");
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port), path };
}

function resourcesOf({ pid, residentBytes }: MeasuredServer): { bytes: number; files: number } {
  return { bytes: residentBytes() ?? Number.NaN, files: openFiles(pid) };
}

function rowsOf(source: string, runs: readonly Run[]): ResultRow[] {
  for (const { attack } of runs) assertHappened(attack.most, "bad connections at the same time", 200);
  const before = quantile(
    runs.map((run) => run.before.p99),
    0.5,
  );
  const name = (measure: string) => `${measure}, ${source}`;
  const row = (measure: string, unit: string, of: (run: Run) => number, atMost?: number): ResultRow => {
    const target = atMost === undefined ? {} : { target: { atMost } };
    return absoluteRow({ measure: name(measure), unit, ...target }, runs.map(of));
  };
  const most = Math.max(2 * before, before + 5);
  const rows = [
    row("p99 of good clients before", "ms", (run) => run.before.p99),
    row("p99 of good clients meanwhile", "ms", (run) => run.during.p99, most),
    row("most bad connections held", "", (run) => run.attack.most),
    row("refused", "", (run) => run.attack.refused),
    row("open files before", "", (run) => run.before.files),
    row("open files, most", "", (run) => run.during.files),
    row("open files left over", "", (run) => run.after.files - run.before.files, 5),
    row("memory before", "MB", (run) => run.before.bytes / MB),
    row("memory, most", "MB", (run) => run.during.bytes / MB),
    row("memory after", "MB", (run) => run.after.bytes / MB),
    row("memory left over", "MB", (run) => (run.after.bytes - run.before.bytes) / MB, LEFT_MB),
  ];
  for (const [kind, longest] of Object.entries(LONGEST_S)) {
    const all = runs.flatMap(({ attack }) => attack.kinds.filter((one) => one.kind === kind));
    assertHappened(all.length, `runs with a client that ${kind}`, RUNS);
    const medians = all.flatMap(({ medianMs }) => (medianMs === undefined ? [] : [medianMs / 1_000]));
    const median = medians.length === 0 ? "none was closed" : `median ${quantile(medians, 0.5).toFixed(1)} s`;
    rows.push(
      absoluteRow(
        {
          measure: name(`longest connection that ${kind}`),
          unit: "s",
          target: { atMost: longest },
          note: median,
        },
        all.map(({ longestMs }) => longestMs / 1_000),
      ),
    );
  }
  return rows;
}

const HOST = "127.0.0.1";
const PROXY = "127.0.0.9";
const PER_ADDRESS = 4;
/** Short, as Node.js counts them in real time. */
const TIMEOUTS = {
  // Longer than a slow client waits between two bytes.
  timeout: 1_500,
  headersTimeout: 100,
  requestTimeout: 150,
  connectionsCheckingInterval: 20,
  keepAliveTimeout: 50,
  keepAliveTimeoutBuffer: 10,
};
/** Real time after which a connection that is still open counts as never closed. */
const GIVE_UP_MS = 5_000;

/**
 * Opens bad connections of all kinds to a server in this process, and counts those that it closes; then opens more than an
 * address may have.
 */
async function closeBadConnections(): Promise<ResultRow[]> {
  const log = createLog("silent");
  const clock = new ManualClock(NOW);
  const config = loadConfig({ SIDEREAL_DATA_DIR: ":memory:", SIDEREAL_TRUSTED_PROXIES: PROXY });
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  const front = buildFront({ config, clock, log }, buildModules(database, { clock, log }));
  const { server, close } = createHttpServer((message, response) => front.handle(message, response), {
    baseUrl: config.baseUrl,
    isLimited: true,
    perAddress: PER_ADDRESS,
    callers: new Callers(config.trustedProxies),
    clock,
    log,
    timeouts: TIMEOUTS,
  });
  const accepted: Socket[] = [];
  server.on("connection", (socket) => accepted.push(socket));
  await once(server.listen(0, HOST), "listening");
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  try {
    // Not over the server: on a busy machine the first page can take longer than the short timeouts.
    const handle = front.handle.bind(front);
    const page = await (await inject(handle, new Request(config.baseUrl), HOST)).text();
    const [path = ""] = /\/assets\/[^"]*\.css/.exec(page) ?? [];
    assertHappened(path.length, "characters of the path of a free response");
    const rows: ResultRow[] = [];
    for (const kind of BAD_KINDS) {
      accepted.length = 0;
      const opened = Array.from({ length: PER_ADDRESS }, () =>
        openBad(kind, { host: HOST, port, path }, HOST),
      );
      clients.push(...opened);
      await until(() => accepted.length === PER_ADDRESS);
      assertHappened(accepted.length, `connections of a client that ${kind}`, PER_ADDRESS);
      await until(() => accepted.every(({ destroyed }) => destroyed));
      rows.push({
        measure: `closed connections of a client that ${kind}`,
        value: accepted.filter(({ destroyed }) => destroyed).length,
        unit: "",
        target: { atLeast: PER_ADDRESS },
      });
    }
    for (const [who, localAddress, target] of [
      ["an address", "127.0.0.2", { atMost: PER_ADDRESS }],
      ["a trusted proxy", PROXY, { atLeast: 3 * PER_ADDRESS }],
    ] as const) {
      accepted.length = 0;
      for (let i = 0; i < 3 * PER_ADDRESS; i++)
        clients.push(connect({ host: HOST, port, localAddress }).on("error", () => {}));
      await until(() => accepted.length === 3 * PER_ADDRESS);
      assertHappened(accepted.length, `connections of ${who}`, 3 * PER_ADDRESS);
      const value = accepted.filter(({ destroyed }) => !destroyed).length;
      rows.push({ measure: `connections of ${who}`, value, unit: "", target });
    }
    return rows;
  } finally {
    for (const client of clients) client.destroy();
    await close(0);
    await database.close();
  }
}

/** Turns the loop until something is so, or it takes too long. */
async function until(isDone: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!isDone() && performance.now() < giveUpAt) await setImmediate();
}
