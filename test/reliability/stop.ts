import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { addKeys, GENEROUS_LIMITS } from "../../bench/support/keys.js";
import type { ResultRow } from "../../bench/support/results.js";
import {
  copyStore,
  type EngineName,
  openStore,
  STORE_END,
  type Store,
  type StoreCopy,
} from "../../bench/support/stores.js";
import { Random } from "../../bench/synthetic/random.js";
import { fillWithSynthetic } from "../../bench/synthetic/synthetic.js";
import { updateDerived } from "../../src/modules.js";
import { createTestDatabase, startPostgres } from "../support/postgres.js";
import { assertHappened, type Harness, type HarnessContext, rowMaker } from "./support/harness.js";
import { runAndStop, type Starting, type StopJob, type StoppedRun } from "./support/stopped-run.js";

/** Tracking of a forge at a closed port: the worker runs, and learns nothing. */
const TRACKING = { SIDEREAL_GITHUB_URL: "http://127.0.0.1:9", SIDEREAL_GITHUB_PRIVATE: "true" };

type Service = Pick<StopJob, "command" | "settings"> & {
  name: string;
  isEmpty?: boolean;
  /** In a long run, the signal comes after a random time up to this; twice as long as a start takes on a busy machine. */
  latestMs: number;
};

const SERVICES: readonly Service[] = [
  { name: "serve", command: "serve", settings: {}, latestMs: 4_000 },
  { name: "start with a worker", command: "start", settings: TRACKING, latestMs: 5_000 },
  { name: "start with the sample", command: "start", settings: {}, isEmpty: true, latestMs: 10_000 },
];

const RUNS = 24;
/** Time in which Node.js itself starts, twice, and no program can listen for a signal. */
const BOOT_MS = 1_000;

export const stop: Harness = {
  name: "stop",
  hasEngines: true,
  proves:
    "A service that is told to stop at any moment ends in time with exit code 0, leaves no process, and drops no request.",
  run: (context) => (context.scale === "short" ? stopAtFixedMoments() : stopAtAnyMoment(context)),
};

/** A filled store and one without repositories, each with a key, to be copied. */
async function prepare(repositories: number, engine: EngineName) {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-stop-"));
  const server = engine === "postgres" ? await startPostgres() : undefined;
  const make = async (size: number) => {
    const dataDir = join(folder, String(size));
    mkdirSync(dataDir);
    const url = server && (await createTestDatabase(server.port));
    const store: Store = { engine, size, days: 3, url, dataDir };
    const modules = await openStore(store);
    if (size > 0) {
      await fillWithSynthetic(modules.catalog, { repositories, days: 3, seed: 1, end: STORE_END });
      await updateDerived(modules);
    }
    await modules.database.close();
    const [key = ""] = await addKeys(store, 1);
    return { store, key };
  };
  const stores = { filled: await make(repositories), empty: await make(0) };
  return {
    /** A copy of one of the stores, and its key. */
    async copy(name: "filled" | "empty"): Promise<StoreCopy & { key: string }> {
      const { store, key } = stores[name];
      return { ...(await copyStore(store)), key };
    },
    async remove(): Promise<void> {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const LIMITS = { ...GENEROUS_LIMITS, SIDEREAL_LOG_LEVEL: "info" };

async function stopAtFixedMoments(): Promise<ResultRow[]> {
  const stores = await prepare(100, "sqlite");
  const run = async (service: Service, moment: StopJob["moment"]) => {
    const { key, ...store } = await stores.copy(service.isEmpty ? "empty" : "filled");
    const { command, settings } = service;
    return runAndStop({ command, store, key, settings: { ...LIMITS, ...settings }, moment });
  };
  const [serve, startWithWorker, startWithSample] = SERVICES;
  if (!serve || !startWithWorker || !startWithSample) throw new Error("a service is missing");
  try {
    const rows: ResultRow[] = [];
    const { key, ...locked } = await stores.copy("filled");
    const lock = new DatabaseSync(join(locked.dataDir, "sidereal.db"));
    // A migration is due, and waits.
    lock.exec("delete from schema_version where version > 1; begin immediate");
    const waiting = runAndStop({
      ...serve,
      store: locked,
      key,
      settings: LIMITS,
      moment: ({ pid }) => until(() => hasOpen(pid, "sidereal.db")),
    });
    rows.push(...rowsOf("while the store is opened", await waiting.finally(() => lock.close()), false));
    const sampled = await run(startWithSample, async ({ pid }) => {
      await until(() => bytesWritten(pid) > 1_000_000);
    });
    rows.push(...rowsOf("while the sample is imported", sampled, false));
    const busy = (tracking: boolean) => async (starting: Starting) => {
      if (tracking) await starting.output(/"msg":"tracking"/);
      await starting.responses(100);
    };
    rows.push(...rowsOf("under load", await run(serve, busy(false)), true));
    rows.push(...rowsOf("under load, with a worker", await run(startWithWorker, busy(true)), true));
    return rows;
  } finally {
    await stores.remove();
  }
}

/** Looks until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(5);
}

/** Whether a process has a file of this name open. */
function hasOpen(pid: number, name: string): boolean {
  if (!existsSync(`/proc/${pid}/fd`)) return true;
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith(`/${name}`);
    } catch {
      return false;
    }
  });
}

/** Size of the write-ahead log that a process has open; endless once the process has ended. */
function bytesWritten(pid: number): number {
  if (!existsSync(`/proc/${pid}/fd`)) return Number.POSITIVE_INFINITY;
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
      if (path.endsWith("-wal")) return statSync(path).size;
    } catch {
      // It was closed meanwhile.
    }
  }
  return 0;
}

/** The rows of one run. Throws where the port was open although it should not have been, or the other way round. */
function rowsOf(moment: string, run: StoppedRun, isServing: boolean): ResultRow[] {
  assertHappened(
    Number(run.wasOpen === isServing),
    `runs of "${moment}" with the port as expected: ${run.output}`,
  );
  if (isServing) assertHappened(run.received.complete, `responses received ${moment}`);
  const { received, counted } = run;
  const row = (measure: string, value: number): ResultRow => ({
    measure: `${measure}, ${moment}`,
    value,
    unit: "",
    target: { atMost: 0 },
  });
  const ended = [
    row("exit codes other than 0", Number(run.code !== 0)),
    row("processes left over", run.leftOver),
  ];
  if (!isServing) return ended;
  return [
    ...ended,
    row("requests counted without a response, or the other way round", Math.abs(counted - received.complete)),
    row("responses that ended early", received.cut),
    row(`unexpected responses ${received.unexpected}`.trimEnd(), received.unexpected.length),
  ];
}

interface Timed extends StoppedRun {
  delayMs: number;
}

async function stopAtAnyMoment({ report, engine = "sqlite" }: HarnessContext): Promise<ResultRow[]> {
  const stores = await prepare(5_000, engine);
  const random = new Random(1);
  try {
    const rows: ResultRow[] = [];
    for (const { name, command, settings, isEmpty, latestMs } of SERVICES) {
      const runs: Timed[] = [];
      while (runs.length < RUNS) {
        const { key, ...store } = await stores.copy(isEmpty ? "empty" : "filled");
        const delayMs = random.next() * latestMs;
        const moment = () => setTimeout(delayMs);
        const job = { command, store, key, settings: { ...LIMITS, ...settings }, moment };
        runs.push({ ...(await runAndStop(job)), delayMs });
        await store.remove();
        report(`${name}: ${JSON.stringify({ ...runs.at(-1), output: undefined })}`);
      }
      rows.push(...rowsOfMany(name, runs).map((row) => ({ ...row, engine })));
    }
    return rows;
  } finally {
    await stores.remove();
  }
}

function rowsOfMany(name: string, runs: readonly Timed[]): ResultRow[] {
  const row = rowMaker({}, (measure) => `${name}: ${measure}`);
  const none = { atMost: 0 };
  const sum = (of: (run: Timed) => number) => runs.reduce((total, run) => total + of(run), 0);
  const total = (measure: string, of: (run: Timed) => number, target?: ResultRow["target"]) =>
    row(measure, sum(of), "", target);
  // The system ends a process that does not listen yet.
  const isUnborn = ({ signal, output }: Timed) => signal === "SIGTERM" && output === "";
  const unborn = runs.filter(isUnborn);
  const dropped = sum(({ counted, received }) => Math.max(0, counted - received.complete));
  const uncounted = sum(({ counted, received }) => Math.max(0, received.complete - counted));
  assertHappened(
    sum(({ received }) => received.complete),
    "responses received",
  );
  return [
    row("runs", runs.length, ""),
    total("runs in which the port was open", ({ wasOpen }) => Number(wasOpen)),
    row("runs that the signal ended before the program ran", unborn.length, ""),
    row("latest of these", Math.max(0, ...unborn.map(({ delayMs }) => delayMs)), "ms", { atMost: BOOT_MS }),
    total("other exit codes than 0", (run) => Number(!isUnborn(run) && run.code !== 0), none),
    row("longest stop", Math.max(...runs.map(({ stopMs }) => stopMs)), "ms", { atMost: 10_000 }),
    total("processes left over", ({ leftOver }) => leftOver, none),
    total("responses received", ({ received }) => received.complete),
    row("requests served whose response did not arrive", dropped, "", none),
    row("responses whose request was not counted", uncounted, "", none),
    total("responses that ended early", ({ received }) => received.cut, none),
    total("responses other than 200", ({ received }) => received.unexpected.length, none),
    total("requests lost on connections that were kept", ({ received }) => received.lost, none),
    total("connections refused or reset before the first response", ({ received }) => received.refused),
  ];
}
