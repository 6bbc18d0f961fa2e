/** Connects the forges with the modules: the worker, and tracking of single repositories from the command line. */
import type { Clock } from "./clock.js";
import { AppError } from "./errors.js";
import { findForge, siteOf } from "./forges.js";
import { type AppContext, followChanges, type Modules, openModules } from "./modules.js";
import { type Opening, openProvider } from "./providers/providers.js";
import { type Plan, readPlan, refreshNow, serveMetrics, track, Worker } from "./tracking/tracking.js";
import { readVersion } from "./version.js";

/** A worker and its resources. */
export interface RunningWorker {
  /** Resolves when the worker has stopped. */
  done: Promise<void>;
  /** Aborts requests in flight and closes everything. */
  stop(): Promise<void>;
}

/** What providers are opened with. `User-Agent` names the version and whom a forge can write to. */
function openingOf({ config, clock }: AppContext): Opening {
  return { clock, userAgent: userAgentOf(readVersion(), config.contact), proxy: config.proxy };
}

/** The `User-Agent` of requests to forges; a web address has a plus sign before it, as those of crawlers. */
export function userAgentOf(version: string, contact = "self-hosted repository tracker"): string {
  return `Sidereal/${version} (${/^https?:\/\//.test(contact) ? "+" : ""}${contact})`;
}

/** The operators of a public forge block what they cannot write to. */
function warnWithoutContact({ config, log }: AppContext): void {
  const tracked = config.providers.map(({ name, url }) => ({ forge: findForge(name), url }));
  const isPublic = tracked.some(({ forge, url }) => forge !== undefined && siteOf(forge) === url);
  if (isPublic && config.contact === undefined)
    log.warn("public forges are tracked without SIDEREAL_CONTACT, so their operators cannot reach you");
}

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

/** Tracks the configured providers: until it is stopped, or what is due now. `dump` writes a dump if one is due. */
export async function startWorker(
  context: AppContext,
  modules: Modules,
  { isOnce, dump }: { isOnce: boolean; dump?: (() => Promise<void>) | undefined },
): Promise<RunningWorker> {
  const { config, clock, log } = context;
  warnWithoutContact(context);
  await modules.catalog.removeSample();
  const opened = config.providers.map((settings) => openProvider(settings, openingOf(context)));
  const worker = new Worker({
    modules,
    providers: opened.map(({ provider }) => provider),
    clock,
    log,
    derive: deriver(modules, clock),
    dump,
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
  const done = isOnce ? worker.runOnce() : worker.run();
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

/** What a worker would request now, provider by provider. */
export async function explainWork(context: AppContext, limit: number): Promise<Plan[]> {
  const { config, clock } = context;
  const modules = await openModules(context);
  const opened = config.providers.map((settings) => openProvider(settings, openingOf(context)));
  try {
    const plans: Plan[] = [];
    for (const { provider } of opened)
      plans.push(await readPlan({ modules, provider, now: clock.now(), limit }));
    return plans;
  } finally {
    await Promise.all(opened.map((one) => one.close()));
    await modules.database.close();
  }
}

/** Opens the modules and providers for tracking and refreshing single repositories. */
export async function openTracker(context: AppContext): Promise<Tracker> {
  const { config, clock } = context;
  const modules = await openModules(context);
  await modules.catalog.removeSample();
  const opened = new Map(
    config.providers.map((settings) => [settings.name, openProvider(settings, openingOf(context))]),
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
