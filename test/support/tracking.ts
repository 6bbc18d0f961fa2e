import { Writable } from "node:stream";
import type { TestContext } from "node:test";
import pino from "pino";
import { buildFront } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { ForgeKind } from "../../src/config/known-forges.js";
import type { Database } from "../../src/database/database.js";
import { type AvatarSource, openAvatars } from "../../src/forges/avatars.js";
import type { Provider } from "../../src/forges/contract.js";
import type { OpenProvider } from "../../src/forges/forges.js";
import { CREATE } from "../../src/forges/open-provider.js";
import { createTransport } from "../../src/forges/transport.js";
import { type Clock, DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { type AppContext, buildModules, followChanges, type Modules } from "../../src/modules.js";
import { Stretch } from "../../src/tracking/cadence.js";
import type { Lane } from "../../src/tracking/lane.js";
import { WorkerLease } from "../../src/tracking/lease.js";
import { Reporter } from "../../src/tracking/report.js";
import { Worker } from "../../src/tracking/worker.js";
import { type CatalogueOptions, type Forge, ForgeCatalogue, startForge } from "./forge/forge.js";
import { QUIET } from "./forge/world.js";
import { inject } from "./inject.js";
import { ManualClock } from "./manual-clock.js";
import { GENEROUS } from "./world.js";

const MINUTE_MS = 60_000;
/** Start time of the forges; tracking starts some days later. */
export const FORGE_START = Date.UTC(2026, 0, 10);

export interface TrackedForge {
  kind: ForgeKind;
  /** Provider name. */
  name: string;
  repositories: number;
  tokens?: readonly string[];
  minStars?: number;
  newPerDay?: number;
  /** Only what somebody asks for is tracked. */
  onDemand?: true;
  /** Its catalogue; default: with events at their usual rates. `"quiet"`: without events. */
  catalogue?: Partial<CatalogueOptions> | "quiet";
  /** GitHub: whether star histories are offered; default true. */
  hasHistory?: boolean;
  /** Maximum age of its lists, in ms; default 0. */
  listingAgeMs?: number;
  /** Maximum time of a response, in ms of real time. */
  responseMs?: number;
  /** Whether the worker fetches avatars; in tests a response may take at most this long, in ms of real time. */
  avatarMs?: number;
  /** Wraps the provider that the worker uses. */
  wrap?: (provider: Provider) => Provider;
}

export interface TrackingOptions {
  startAfterDays?: number;
  deriveEveryMs?: number;
  /** How often a worker looks for what a test made due; default: every 10 minutes, as tests simulate days. */
  idleMs?: number;
  /** How often a worker looks for requests to track; default: every hour, as tests simulate days. */
  requestsEveryMs?: number;
}

/** Fake forges, a catalogue, and workers between them, on a simulated clock. */
export interface TrackingWorld {
  clock: ManualClock;
  modules: Modules;
  /** The lease of the worker. It is held and never renewed, as nothing else takes it. */
  lease: WorkerLease;
  opened: OpenProvider[];
  /** The last started worker. */
  worker: Worker;
  /** All log lines of workers, as JSON. */
  logged: readonly string[];
  forges: ReadonlyMap<string, Forge>;
  forge(name: string): Forge;
  /** Sends a GET to the API on the same database. */
  get(path: string): Promise<{ status: number; body: Body }>;
  /** Lets the workers run for a period of simulated time. */
  pass(ms: number): Promise<void>;
  /** Starts another worker, over the same database unless another one is given. */
  addWorker(other?: { modules: Modules; lease: WorkerLease }): Promise<void>;
  /** Ends the last worker as a crash does: nothing that it waits for comes any more. */
  kill(): void;
  /** Stops all workers. */
  stop(): Promise<void>;
  /** Stops the workers and starts a new one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is proved elsewhere.
type Body = any;

const CHANCE_STEP = 0.618033988749895;

/** The same, closed after the test. */
export async function openTrackingWorld(
  t: Pick<TestContext, "after">,
  ...options: Parameters<typeof createTrackingWorld>
): Promise<TrackingWorld> {
  const world = await createTrackingWorld(...options);
  t.after(() => world.close());
  return world;
}

/** Starts forges and one worker. */
export async function createTrackingWorld(
  database: Database,
  tracked: readonly TrackedForge[],
  options: TrackingOptions = {},
): Promise<TrackingWorld> {
  const clock = new ManualClock(FORGE_START + (options.startAfterDays ?? 10) * DAY_MS);
  const modules = buildModules(database, { clock, log: createLog("silent") });
  const forges = new Map<string, Forge>();
  for (const [i, one] of tracked.entries()) forges.set(one.name, await startTracked(one, i + 1, clock));
  const forge = (name: string): Forge => {
    const found = forges.get(name);
    if (found === undefined) throw new Error(`there is no forge ${name}`);
    return found;
  };
  const opened: OpenProvider[] = [];
  const closings: (() => Promise<void>)[] = [];
  const logged: string[] = [];
  const log = pino(
    { level: "debug" },
    new Writable({
      write(line, _encoding, done) {
        logged.push(String(line));
        done();
      },
    }),
  );
  let chance = 0;
  const lease = await heldLease(database, clock);
  let workers: {
    worker: Worker;
    running: Promise<void>;
    life: AbortController;
    stopping: AbortController;
  }[] = [];
  const begin = (over: { modules: Modules; lease: WorkerLease }) => {
    const life = new AbortController();
    const stopping = new AbortController();
    const ownClock = mortalClock(clock, life.signal);
    const own = tracked.map((one) => openTracked(one, forge(one.name), ownClock));
    opened.push(...own);
    const sources = new Map(tracked.flatMap((one, i) => avatarsOf(one, own[i]?.provider, ownClock)));
    closings.push(...[...sources.values()].map((source) => () => source.close()));
    const worker = new Worker({
      ...over,
      signal: stopping.signal,
      providers: own.map(({ provider }, i) => tracked[i]?.wrap?.(provider) ?? provider),
      ...(sources.size > 0 && { avatars: sources }),
      clock: ownClock,
      log,
      chance: () => {
        chance = (chance + CHANCE_STEP) % 1;
        return chance;
      },
      derive: () => followChanges(over.modules),
      idleMs: options.idleMs ?? 10 * MINUTE_MS,
      // Each takes a transaction, and tests simulate days.
      deriveEveryMs: options.deriveEveryMs ?? HOUR_MS,
      reportEveryMs: HOUR_MS,
      requestsEveryMs: options.requestsEveryMs ?? HOUR_MS,
    });
    workers.push({ worker, running: worker.run(), life, stopping });
    return worker;
  };
  let current = begin({ modules, lease });
  const atRest = () => clock.whenSleeping(() => workers.reduce((sum, { worker }) => sum + worker.loops, 0));
  const config = loadConfig({ SIDEREAL_CACHE_MB: "0", ...GENEROUS });
  const context: AppContext = { config, clock, log: createLog("silent") };
  const front = buildFront(context, modules);
  const stop = async () => {
    for (const { stopping } of workers) stopping.abort();
    await Promise.all(workers.map(({ running }) => running));
    workers = [];
    clock.recount();
  };
  return {
    clock,
    modules,
    lease,
    opened,
    logged,
    forges,
    forge,
    stop,
    get worker() {
      return current;
    },
    async get(path) {
      const request = new Request(new URL(path, "http://localhost"));
      const response = await inject(
        (message, reply) => void front.handle(message, reply),
        request,
        "192.0.2.1",
      );
      return { status: response.status, body: await response.json() };
    },
    async pass(ms) {
      const end = clock.now() + ms;
      while (clock.now() < end) {
        await atRest();
        const wake = clock.untilNextWake ?? Number.POSITIVE_INFINITY;
        clock.advance(Math.max(1, Math.min(wake, end - clock.now())));
      }
      await atRest();
    },
    async addWorker(over = { modules, lease }) {
      current = begin(over);
      await atRest();
    },
    kill() {
      workers.pop()?.life.abort();
      clock.recount();
    },
    async restart() {
      await stop();
      current = begin({ modules, lease });
    },
    async close() {
      await stop();
      for (const { close } of opened) await close();
      for (const close of closings) await close();
      for (const one of forges.values()) await one.close();
      await database.close();
    },
  };
}

/** The same database, whose server's clock shows the time of another clock. */
export function onClock(database: Database, clock: Clock): Database {
  return {
    ...database,
    dialect: { ...database.dialect, serverTime: async () => ({ ms: clock.now(), isRemote: false }) },
  };
}

/** What a lane of the world's worker works with. */
export function laneOf(
  { modules, lease, clock }: Pick<TrackingWorld, "modules" | "lease" | "clock">,
  provider: Provider,
): Lane {
  const reporter = new Reporter(clock.now());
  const { signal } = new AbortController();
  const own = { stretch: new Stretch(), failedHistories: new Set<string>() };
  const log = createLog("silent");
  return { modules, lease, clock, log, provider, reporter, ...own, chance: () => 0.5, signal };
}

/** The lease of the active worker, held. */
export async function heldLease(database: Database, clock: Clock): Promise<WorkerLease> {
  const lease = new WorkerLease(database, { clock, log: createLog("silent") });
  if (!(await lease.take())) throw new Error("something else holds the lease");
  return lease;
}

/** A clock on which nothing happens any more after a death: no sleep ends, and none is pending. */
function mortalClock(clock: ManualClock, death: AbortSignal): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep(ms, signal) {
      const ending = new AbortController();
      const end = () => ending.abort();
      for (const one of [signal, death]) one?.addEventListener("abort", end, { once: true });
      if (signal?.aborted || death.aborted) end();
      return new Promise((resolve) => {
        void clock.sleep(ms, ending.signal).then(() => {
          for (const one of [signal, death]) one?.removeEventListener("abort", end);
          if (!death.aborted) resolve();
        });
      });
    },
  };
}

/** A catalogue without events. */
export function quietCatalogue(kind: ForgeKind, repositories: number, seed = 1): ForgeCatalogue {
  return new ForgeCatalogue({
    seed,
    repositories,
    start: FORGE_START,
    rates: QUIET,
    isNested: kind === "gitlab",
  });
}

async function startTracked(
  { kind, repositories, catalogue = {}, hasHistory = true, listingAgeMs = 0 }: TrackedForge,
  seed: number,
  clock: ManualClock,
): Promise<Forge> {
  const made =
    catalogue === "quiet"
      ? quietCatalogue(kind, repositories, seed)
      : new ForgeCatalogue({
          seed,
          repositories,
          start: clock.now(),
          isNested: kind === "gitlab",
          ...catalogue,
        });
  const forge = await startForge({ kind, clock, catalogue: made });
  // Only some tests need old lists.
  forge.switches.listingAgeMs = listingAgeMs;
  forge.switches.hasHistory = hasHistory;
  return forge;
}

function openTracked(
  { kind, name, tokens = ["first-token"], minStars = 0, newPerDay, responseMs, onDemand }: TrackedForge,
  { url }: Forge,
  clock: Clock,
): OpenProvider {
  const { fetch, close } = createTransport({
    origins: [url],
    mayBePrivate: true,
    userAgent: "sidereal-test",
    ...(responseMs !== undefined && { responseMs, silenceMs: responseMs }),
  });
  const limit = { ...(newPerDay !== undefined && { newPerDay }), ...(onDemand && { onDemand }) };
  const settings = { name, kind, url, tokens, requestsPerHour: null, minStars, ...limit, mayBePrivate: true };
  return { provider: CREATE[kind](settings, { fetch, clock }), close };
}

function avatarsOf(
  { name, avatarMs }: TrackedForge,
  provider: Provider | undefined,
  clock: Clock,
): [string, AvatarSource][] {
  if (avatarMs === undefined || provider === undefined) return [];
  const transport = { responseMs: avatarMs, silenceMs: avatarMs };
  const options = { clock, userAgent: "sidereal-test", proxy: undefined, transport };
  return [[name, openAvatars(provider.settings, options)]];
}
