/** Connects the forges with the modules: the worker, and tracking of single repositories from the command line. */

import { findForge, proxyOf, siteOf } from "../config/config.js";
import {
  FAULT_WORDS,
  type Opening,
  type OpenProvider,
  openAvatars,
  openProvider,
  type Provider,
} from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { readVersion, userAgentOf } from "../lib/version.js";
import { type AppContext, followChanges, type Modules, openModules } from "../modules.js";
import {
  type Metrics,
  type Plan,
  type Reporter,
  readPlan,
  refreshNow,
  serveMetrics,
  track,
  Worker,
} from "../tracking/tracking.js";

/** A worker and its resources. */
export interface RunningWorker {
  /** Resolves when the worker has stopped. */
  done: Promise<void>;
  /** Aborts requests in flight and closes everything. */
  stop(): Promise<void>;
}

/** What providers are opened with. `User-Agent` names the version and whom a forge can write to. Throws as `proxyOf` does. */
function openingOf({ config, clock }: AppContext, { forgeStates: shared, deletionClock }: Modules): Opening {
  const userAgent = userAgentOf(readVersion(), config.contact);
  const onDate = (name: string, time: number) => deletionClock.noteForge(name, time);
  return { clock, userAgent, proxy: proxyOf(config), shared, onDate };
}

/** The operators of a public forge block what they cannot write to. */
function warnWithoutContact({ config, log }: AppContext, providers: readonly Provider[]): void {
  const isPublic = providers.some(({ settings }) => {
    const forge = findForge(settings.name);
    return forge !== undefined && siteOf(forge) === settings.url;
  });
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

/** How often a worker looks for tokens that were entered or removed. Reads a table of a few rows. */
const TOKENS_EVERY_MS = 2_000;

/** Opens the forges that are tracked now, with the tokens that were entered. */
async function openForges(context: AppContext, modules: Modules): Promise<OpenProvider[]> {
  const forges = await modules.forges.read();
  const opened = forges.map((settings) => openProvider(settings, openingOf(context, modules)));
  await useEntered(context, modules, opened);
  return opened;
}

/** Gives each provider the tokens that were entered. Those that cannot be used concern no other token. */
async function useEntered(
  { log }: AppContext,
  { forgeTokens }: Modules,
  opened: readonly OpenProvider[],
): Promise<void> {
  const { tokens, faults } = await forgeTokens.open();
  for (const { provider } of opened) provider.useEntered(tokens.get(provider.name) ?? []);
  for (const [fault, count] of faults) log.warn({ tokens: count, fault }, FAULT_WORDS[fault]);
}

/** A worker over the forges that are tracked now. */
interface Run {
  worker: Worker;
  opened: readonly OpenProvider[];
  /** All connections. */
  closing: readonly { close(): Promise<void> }[];
  done: Promise<void>;
  /** Aborted when the worker has ended, or is to end. */
  ending: AbortController;
}

/**
 * Tracks the forges of the settings, and those for which a token was entered: until it is stopped, or what is due now. Tokens that
 * are entered or removed meanwhile take effect within seconds. `dump` writes a dump if one is due.
 */
export async function startWorker(
  context: AppContext,
  modules: Modules,
  { isOnce, dump }: { isOnce: boolean; dump?: (() => Promise<void>) | undefined },
): Promise<RunningWorker> {
  const { config, clock, log } = context;
  await modules.catalog.removeSample();
  const derive = deriver(modules, clock);
  const reporters = new Map<string, Reporter>();
  const stopping = new AbortController();
  const begin = async (): Promise<Run> => {
    const opened = await openForges(context, modules);
    const providers = opened.map(({ provider }) => provider);
    warnWithoutContact(context, providers);
    log.info({ providers: providers.map(({ name }) => name) }, "tracking");
    const opening = openingOf(context, modules);
    const avatars = new Map(providers.map(({ settings }) => [settings.name, openAvatars(settings, opening)]));
    const worker = new Worker({
      modules,
      providers,
      avatars,
      clock,
      log,
      derive,
      dump,
    });
    reporters.clear();
    for (const [name, reporter] of worker.reporters) reporters.set(name, reporter);
    const ending = new AbortController();
    const done = (isOnce ? worker.runOnce() : worker.run()).finally(() => ending.abort());
    const closing = [...opened, ...avatars.values()];
    return { worker, opened, closing, done, ending };
  };
  const end = async ({ worker, closing, done, ending }: Run) => {
    worker.stop();
    ending.abort();
    await done;
    await Promise.all(closing.map((one) => one.close()));
  };
  let version = await modules.forgeTokens.version();
  let run = await begin();
  /** Resolves when the worker has ended by itself, or was stopped. */
  const follow = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(TOKENS_EVERY_MS, run.ending.signal);
      if (run.ending.signal.aborted) return run.done;
      try {
        const present = await modules.forgeTokens.version();
        if (present === version) continue;
        const names = (await modules.forges.read()).map(({ name }) => name);
        const isSame = names.join() === run.opened.map(({ provider }) => provider.name).join();
        if (isSame) {
          await useEntered(context, modules, run.opened);
          // After a failure the tokens are read again.
          version = present;
          // A lane may wait for an hour for the quota of what there was before.
          run.worker.wake();
          log.info("the tokens that were entered have changed");
          continue;
        }
        version = present;
      } catch (error) {
        log.warn({ err: error }, "tokens that were entered could not be read; the worker tries again");
        continue;
      }
      await end(run);
      if (stopping.signal.aborted) return;
      run = await begin();
      // Somebody who stopped it meanwhile knew the previous run alone.
      if (stopping.signal.aborted) return end(run);
    }
  };
  const done = follow();
  const { metricsPort: port, metricsHost: host } = config;
  let metrics: Metrics | undefined;
  const stop = async () => {
    stopping.abort();
    await end(run);
    await done;
    await metrics?.close();
    await modules.database.close();
  };
  if (port !== undefined) {
    try {
      metrics = await serveMetrics({ database: modules.database, clock }, reporters, { host, port });
    } catch (error) {
      await stop();
      throw error;
    }
    log.info({ host, port: metrics.port }, "metrics are served at /metrics");
  }
  return { done, stop };
}

/** What a worker would request now, provider by provider. */
export async function explainWork(context: AppContext, limit: number): Promise<Plan[]> {
  const { clock } = context;
  const modules = await openModules(context);
  const opened = await openForges(context, modules);
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
  const { clock } = context;
  const modules = await openModules(context);
  await modules.catalog.removeSample();
  const opened = new Map((await openForges(context, modules)).map((one) => [one.provider.name, one]));
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
