/** Connects the forges with the modules: the worker, and tracking of single repositories from the command line. */
import type { Clock } from "./clock.js";
import { AppError } from "./errors.js";
import { type AppContext, followChanges, type Modules, openModules } from "./modules.js";
import { openProvider } from "./providers/providers.js";
import { refreshNow, serveMetrics, track, Worker } from "./tracking/tracking.js";

/** A worker and its resources. */
export interface RunningWorker {
  /** Resolves when the worker has stopped. */
  done: Promise<void>;
  /** Aborts requests in flight and closes everything. */
  stop(): Promise<void>;
}

/** Sent to forges as `User-Agent`. */
const USER_AGENT = "sidereal (self-hosted repository tracker)";

/** Minimum pause between reorderings of the search index, and the share of time they may take. */
const ORDER_EVERY_MS = 600_000;
const ORDER_SHARE = 0.01;

/** Returns a function that updates everything derived from changed repositories. */
function deriver(modules: Modules, clock: Clock): () => Promise<void> {
  let orderedAt = Number.NEGATIVE_INFINITY;
  let rest = 0;
  return async () => {
    const began = clock.monotonic();
    const isOrderDue = began - orderedAt >= rest;
    await followChanges(modules, isOrderDue);
    if (!isOrderDue) return;
    orderedAt = clock.monotonic();
    rest = Math.max(ORDER_EVERY_MS, (orderedAt - began) / ORDER_SHARE);
  };
}

/** Tracks the configured providers. */
export async function startWorker(
  { config, clock, log }: AppContext,
  modules: Modules,
): Promise<RunningWorker> {
  await modules.catalog.removeSample();
  const opened = config.providers.map((settings) => openProvider(settings, clock, USER_AGENT));
  const worker = new Worker({
    modules,
    providers: opened.map(({ provider }) => provider),
    clock,
    log,
    derive: deriver(modules, clock),
  });
  const { metricsPort: port, metricsHost: host } = config;
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
    await modules.database.close();
  };
  const metrics =
    port === undefined
      ? undefined
      : await serveMetrics({ database: modules.database, clock }, worker.reporters, { host, port }).catch(
          async (error: unknown) => {
            await close();
            throw error;
          },
        );
  if (metrics !== undefined) log.info({ host, port: metrics.port }, "metrics are served at /metrics");
  const done = worker.run();
  return {
    done,
    async stop() {
      worker.stop();
      await done;
      await metrics?.close();
      await close();
    },
  };
}

/** Opens the modules and providers for tracking and refreshing single repositories. */
export async function openTracker(context: AppContext): Promise<Tracker> {
  const { config, clock } = context;
  const modules = await openModules(context);
  await modules.catalog.removeSample();
  const opened = new Map(
    config.providers.map((settings) => [settings.name, openProvider(settings, clock, USER_AGENT)]),
  );
  const { signal } = new AbortController();
  const providerOf = (name: string) => {
    const found = opened.get(name);
    if (found === undefined) throw new AppError("NOT_FOUND", `The provider ${name} is not configured.`);
    return found.provider;
  };
  return {
    track: (provider, fullName) =>
      track({ modules, provider: providerOf(provider), clock, signal }, fullName),
    async refresh(provider, fullName) {
      const found = await modules.catalog.findByName(provider, fullName);
      if (found === undefined) return "unknown";
      return refreshNow({ modules, provider: providerOf(provider), clock, signal }, found.repository.id);
    },
    async close() {
      await followChanges(modules, false);
      await Promise.all([...opened.values()].map((one) => one.close()));
      await modules.database.close();
    },
  };
}

export interface Tracker {
  track(provider: string, fullName: string): Promise<{ repositoryId: number; isNew: boolean }>;
  /** `unknown`: not tracked. Both throw UpstreamFailure. */
  refresh(provider: string, fullName: string): Promise<"found" | "unchanged" | "unknown">;
  close(): Promise<void>;
}
