/** Connects the forges with the modules: the worker, and tracking of single repositories from the command line. */

import type { Tracker } from "../cli/cli.js";
import { findForge, proxyOf, siteOf } from "../config/config.js";
import {
  type EnteredTokens,
  FAULT_WORDS,
  type Opening,
  type OpenProvider,
  openAvatars,
  openProvider,
  type Provider,
} from "../forges/forges.js";
import { AppError } from "../lib/errors.js";
import type { Metrics, MetricsServer } from "../lib/metrics.js";
import { readVersion, userAgentOf } from "../lib/version.js";
import { type AppContext, followChanges, type Modules, openModules } from "../modules.js";
import {
  addTracking,
  makeDue,
  type Plan,
  type Reporter,
  readPlan,
  refreshNow,
  reportQuota,
  type TrackingContext,
  track,
  Worker,
  WorkerLease,
} from "../tracking/tracking.js";
import { openMetrics } from "./metrics.js";

interface RunningWorker {
  /** Resolves when the worker has stopped. */
  done: Promise<void>;
  /** Aborts requests in flight and closes everything. */
  stop(): Promise<void>;
}

/** The options of providers. `User-Agent` names the version and a contact for the forge. Throws as `proxyOf` does. */
function openingOf({ config, clock, log }: AppContext, { deletionClock }: Modules): Opening {
  const userAgent = userAgentOf(readVersion(), config.contact);
  const onDate = (name: string, time: number) => deletionClock.noteForge(name, time);
  return { clock, userAgent, proxy: proxyOf(config), onDate, log };
}

/** The operators of a public forge block clients that send many requests without a contact. */
function warnWithoutContact({ config, log }: AppContext, providers: readonly Provider[]): void {
  const isPublic = providers.some(({ settings }) => {
    const forge = findForge(settings.name);
    return forge !== undefined && settings.onDemand !== true && siteOf(forge) === settings.url;
  });
  if (isPublic && config.contact === undefined)
    log.warn("public forges are tracked without SIDEREAL_CONTACT, so their operators cannot reach you");
}

/** How often a worker looks for tokens that were entered or removed. Reads a table of a few rows. */
const TOKENS_EVERY_MS = 2_000;

/** Opens the forges that are tracked now, with the tokens that were entered. */
async function openForges(
  context: AppContext,
  modules: Modules,
  waits: Pick<Opening, "responseMs"> = {},
): Promise<OpenProvider[]> {
  const forges = await modules.forges.read();
  const opening = { ...openingOf(context, modules), ...waits };
  const opened = forges.map((settings) => openProvider(settings, opening));
  useEntered(context, await modules.forgeTokens.open(), opened);
  return opened;
}

/** Gives each provider the tokens that were entered. Those that cannot be used concern no other token. */
function useEntered(
  { log }: AppContext,
  { tokens, faults }: EnteredTokens,
  opened: readonly OpenProvider[],
): void {
  for (const { provider } of opened) provider.useEntered(tokens.get(provider.name) ?? []);
  for (const [fault, count] of faults) log.warn({ tokens: count, fault }, FAULT_WORDS[fault]);
}

/**
 * Tracks the forges of the settings, and those for which a token was entered, while this process holds the lease of the active worker:
 * until it is stopped, or once for everything due now. `dump` writes a dump if one is due.
 */
export async function startWorker(
  context: AppContext,
  modules: Modules,
  { isOnce, dump }: WorkerOptions,
): Promise<RunningWorker> {
  const { clock, log } = context;
  const { database } = modules;
  const reporters = new Map<string, Reporter>();
  const stopping = new AbortController();
  const lease = new WorkerLease(database, { clock, log });
  const work = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await trackOpened(context, modules, { isOnce, dump, lease, reporters, signal });
      if (isOnce) return;
    }
  };
  const runOnce = async () => {
    if (await lease.take()) await lease.hold(stopping.signal, work);
    else log.info("another process is the active worker");
  };
  const done = isOnce ? runOnce() : lease.whileHeld(stopping.signal, work);
  let metrics: MetricsServer | undefined;
  const stop = async () => {
    stopping.abort();
    await done;
    await metrics?.close();
    await database.close();
  };
  try {
    const addOwn = (own: Metrics) => addTracking(own, { database, clock }, reporters);
    metrics = await openMetrics(context, modules, { kind: "worker", addOwn });
  } catch (error) {
    await stop();
    throw error;
  }
  return { done, stop };
}

interface WorkerOptions {
  isOnce: boolean;
  dump?: (() => Promise<void>) | undefined;
}

interface Turn extends WorkerOptions {
  lease: WorkerLease;
  /** Gets those of the worker. */
  reporters: Map<string, Reporter>;
  signal: AbortSignal;
}

/** Tracks the forges that are known now, until others are, the signal, or once. */
async function trackOpened(
  context: AppContext,
  modules: Modules,
  { isOnce, dump, lease, reporters, signal }: Turn,
): Promise<void> {
  const { clock, log } = context;
  const opened = await openForges(context, modules);
  // Tracking on demand removes the sample with the first repository.
  if (opened.some(({ provider }) => provider.settings.onDemand !== true))
    await modules.catalog.removeSample();
  const providers = opened.map(({ provider }) => provider);
  warnWithoutContact(context, providers);
  log.info({ providers: providers.map(({ name }) => name) }, "tracking");
  const opening = openingOf(context, modules);
  const avatars = new Map(providers.map(({ settings }) => [settings.name, openAvatars(settings, opening)]));
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  const worker = new Worker({
    modules,
    lease,
    signal: ended,
    providers,
    avatars,
    clock,
    log,
    derive: () => followChanges(modules, { transact: (work) => lease.write(work) }),
    dump,
  });
  reporters.clear();
  for (const [name, reporter] of worker.reporters) reporters.set(name, reporter);
  const changed = followTokens(context, modules, { opened, worker, signal: ended }).then(() =>
    ending.abort(),
  );
  try {
    await (isOnce ? worker.runOnce() : worker.run());
  } finally {
    ending.abort();
    await changed;
    await Promise.all([...opened, ...avatars.values()].map((one) => one.close()));
  }
}

/**
 * Gives the worker tokens that are entered or removed, within seconds. Resolves once other forges are tracked than those that are open,
 * or at the signal.
 */
async function followTokens(
  context: AppContext,
  modules: Modules,
  { opened, worker, signal }: { opened: readonly OpenProvider[]; worker: Worker; signal: AbortSignal },
): Promise<void> {
  const { clock, log } = context;
  const tracked = opened.map(({ provider }) => provider.name).join();
  const textOf = ({ tokens, faults }: EnteredTokens) => JSON.stringify([[...tokens], [...faults]]);
  let known = textOf(await modules.forgeTokens.open());
  for (;;) {
    await clock.sleep(TOKENS_EVERY_MS, signal);
    if (signal.aborted) return;
    try {
      const entered = await modules.forgeTokens.open();
      if (textOf(entered) === known) continue;
      if ((await modules.forges.read()).map(({ name }) => name).join() !== tracked) return;
      useEntered(context, entered, opened);
      known = textOf(entered);
      // A lane may wait for an hour for the quota of its earlier tokens.
      worker.wake();
      log.info("entered tokens have changed");
    } catch (error) {
      log.warn({ err: error }, "entered tokens could not be read; retrying");
    }
  }
}

/** The requests that a worker would send now, provider by provider. */
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

/** How long a command waits for a forge, or for the active worker, and how often it looks there. */
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 500;

/** The forges that are tracked, for requests of this process. `close` releases the lease, which was taken, and closes the modules. */
export async function openUnderLease(
  context: AppContext,
  modules: Modules,
  lease: WorkerLease,
): Promise<{ contextOf: (provider: string) => TrackingContext; close: () => Promise<void> }> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const holding = lease.hold(
    signal,
    (ended) => new Promise((resolve) => ended.addEventListener("abort", () => resolve(), { once: true })),
  );
  const { clock, log } = context;
  const forges = await openForges(context, modules, { responseMs: PATIENCE_MS });
  const opened = new Map(forges.map((one) => [one.provider.name, one]));
  return {
    contextOf(name) {
      const found = opened.get(name);
      if (found === undefined) throw new AppError("NOT_FOUND", `The provider ${name} is not configured.`);
      return { modules, lease, provider: found.provider, clock, log, signal };
    },
    async close() {
      for (const { provider } of forges) await reportQuota(modules.database, { lease, provider, clock });
      stopping.abort();
      await holding;
      await Promise.all([...opened.values()].map((one) => one.close()));
      await modules.database.close();
    },
  };
}

/** Opens a tracker that takes the lease of the active worker, or leaves the work to the process that holds it. */
export async function openTracker(context: AppContext): Promise<Tracker> {
  const modules = await openModules(context);
  const lease = new WorkerLease(modules.database, context);
  if (!(await lease.take())) return queueTracker(context, modules);
  const { contextOf, close } = await openUnderLease(context, modules, lease);
  return {
    async track(provider, fullName) {
      const { repositoryId, isNew } = await track(contextOf(provider), fullName);
      return { repositoryId, result: isNew ? "tracked" : "known" };
    },
    async refresh(provider, fullName) {
      const found = await modules.catalog.findByName(provider, fullName);
      return found === undefined ? "unknown" : refreshNow(contextOf(provider), found.repository.id);
    },
    async close() {
      await followChanges(modules);
      await close();
    },
  };
}

/** Queues for the active worker, and waits a while for it. */
function queueTracker({ clock }: AppContext, modules: Modules): Tracker {
  /** The result of `read` once that is not undefined; undefined after PATIENCE_MS. */
  const soon = async <T>(read: () => Promise<T | undefined>): Promise<T | undefined> => {
    for (const until = clock.monotonic() + PATIENCE_MS; clock.monotonic() < until; ) {
      const found = await read();
      if (found !== undefined) return found;
      await clock.sleep(LOOK_EVERY_MS);
    }
    return undefined;
  };
  return {
    async track(provider, fullName) {
      const { trackRequests } = modules;
      const known = await trackRequests.known({ provider, fullName });
      const { id } = await trackRequests.open({ provider, fullName });
      const ended = await soon(async () => {
        const request = await trackRequests.find(id);
        return request?.state === "WAITING" ? undefined : request;
      });
      if (ended?.failure) return { failure: ended.failure.message };
      const repositoryId = ended?.repositoryId ?? null;
      return {
        repositoryId,
        result: repositoryId === null ? "queued" : known === undefined ? "tracked" : "known",
      };
    },
    async refresh(provider, fullName) {
      const found = await modules.catalog.findByName(provider, fullName);
      if (found === undefined) return "unknown";
      const { id } = found.repository;
      const failures = await soon(await makeDue(modules.database, id, clock.now()));
      if (failures === undefined) return "queued";
      return failures === 0 ? "found" : { failure: "the worker could not refresh it; see status" };
    },
    close: () => modules.database.close(),
  };
}
