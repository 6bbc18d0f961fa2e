import { setTimeout } from "node:timers/promises";
import { addKeys } from "../../bench/support/keys.js";
import { type MeasuredServer, startSidereal } from "../../bench/support/processes.js";
import { absoluteRow, type ResultRow } from "../../bench/support/results.js";
import { runLoad } from "../../bench/support/run-load.js";
import { quantile } from "../../bench/support/statistics.js";
import { copyStore, defaultFolder, prepareStore, type Store } from "../../bench/support/stores.js";
import { LIMIT_NAMES } from "../../src/config/limits.js";
import { type AttackReport, attack } from "./support/attack.js";
import type { BadKind, Victim } from "./support/bad-clients.js";
import { closeBadConnections } from "./support/bad-connections-here.js";
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
