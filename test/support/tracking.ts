import { buildModules } from "../../src/app.js";
import { DAY_MS, ManualClock } from "../../src/clock.js";
import type { Database } from "../../src/database/database.js";
import { createLog } from "../../src/log.js";
import { followChanges, type Modules } from "../../src/modules.js";
import {
  type OpenProvider,
  openProvider,
  type Provider,
  type ProviderKind,
} from "../../src/providers/providers.js";
import { Worker } from "../../src/tracking/tracking.js";
import { type Forge, ForgeCatalogue, startForge } from "./forge/forge.js";

/** The forges of a simulated world begin at this time; tracking begins some days later. */
export const FORGE_START = Date.UTC(2026, 0, 10);

export interface TrackedForge {
  kind: ProviderKind;
  /** As the provider is called here. */
  name: string;
  repositories: number;
  tokens?: readonly string[];
  minStars?: number;
  /** GitHub: whether stars of past days are offered; they are where absent. */
  hasHistory?: boolean;
}

export interface TrackingOptions {
  startAfterDays?: number;
  /** How long the script of the forges goes on; 30 where absent. */
  scriptDays?: number;
  /** A minute where absent. */
  deriveEveryMs?: number;
  /** Puts something between the worker and a provider. */
  watch?: (provider: Provider) => Provider;
}

/** Forges on this machine, a catalogue, and a worker between them, in a time of their own. */
export interface TrackingWorld {
  clock: ManualClock;
  modules: Modules;
  forges: ReadonlyMap<string, Forge>;
  opened: OpenProvider[];
  worker: Worker;
  /** Lets the worker work until so much time has passed. */
  pass(ms: number): Promise<void>;
  /** Stops the worker and begins with another one, as after a restart. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const CHANCE_STEP = 0.618033988749895;

export async function createTrackingWorld(
  database: Database,
  tracked: readonly TrackedForge[],
  options: TrackingOptions = {},
): Promise<TrackingWorld> {
  const clock = new ManualClock(FORGE_START + (options.startAfterDays ?? 10) * DAY_MS);
  const modules = buildModules(database, clock);
  const forges = new Map<string, Forge>();
  const opened: OpenProvider[] = [];
  const { scriptDays = 30, watch = (provider) => provider } = options;
  for (const [i, one] of tracked.entries()) {
    const { kind, name, repositories, tokens = ["first-token"], minStars = 0, hasHistory = true } = one;
    const catalogue = new ForgeCatalogue({
      seed: i + 1,
      repositories,
      start: clock.now(),
      days: scriptDays,
      isNested: kind === "gitlab",
    });
    const forge = await startForge({ kind, clock, catalogue });
    forge.switches.hasHistory = hasHistory;
    forges.set(name, forge);
    const settings = {
      name,
      kind,
      url: forge.url,
      tokens,
      requestsPerHour: null,
      minStars,
      mayBePrivate: true,
    };
    opened.push(openProvider(settings, clock, "sidereal-test"));
  }
  let chance = 0;
  const begin = () => {
    const worker = new Worker({
      modules,
      providers: opened.map(({ provider }) => watch(provider)),
      clock,
      log: createLog((process.env.SIDEREAL_TEST_LOG ?? "silent") as "silent"),
      chance: () => {
        chance = (chance + CHANCE_STEP) % 1;
        return chance;
      },
      derive: () => followChanges(modules, false),
      deriveEveryMs: options.deriveEveryMs ?? 60_000,
    });
    return { worker, running: worker.run() };
  };
  let current = begin();
  return {
    clock,
    modules,
    forges,
    opened,
    get worker() {
      return current.worker;
    },
    async pass(ms) {
      const end = clock.now() + ms;
      while (clock.now() < end) {
        while (clock.sleeping < current.worker.lanes) await new Promise((resolve) => setImmediate(resolve));
        const wake = clock.untilNextWake ?? 0;
        clock.advance(Math.max(1, Math.min(wake, end - clock.now())));
      }
      while (clock.sleeping < current.worker.lanes) await new Promise((resolve) => setImmediate(resolve));
    },
    async restart() {
      current.worker.stop();
      await current.running;
      current = begin();
    },
    async close() {
      current.worker.stop();
      await current.running;
      for (const { close } of opened) await close();
      for (const forge of forges.values()) await forge.close();
      await database.close();
    },
  };
}
