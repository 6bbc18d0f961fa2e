/** Assembles the service. The modules are built in modules.ts, and tracking is assembled in tracker.ts. */
import {
  AccountEvents,
  Accounts,
  ApiKeys,
  Bans,
  createOperatorUrl,
  Operators,
  pruneUsage,
  Revocations,
  Usage,
} from "../accounts/accounts.js";
import { apiRoutes, errorPicture, hintFor } from "../api/api.js";
import { PngRenderer } from "../charts/charts.js";
import { checkToken } from "../forges/forges.js";
import {
  Admission,
  type CachedRevision,
  Callers,
  createHttpServer,
  Front,
  type HttpServer,
  listen,
  noteProxy,
  ResponseCache,
  UnnamedProxy,
} from "../http/http.js";
import { BackgroundWrites } from "../lib/background-writes.js";
import { type Clock, HOUR_MS } from "../lib/clock.js";
import type { MetricsServer } from "../lib/metrics.js";
import { mcpRoute } from "../mcp/mcp.js";
import type { AppContext, Members, Modules } from "../modules.js";
import { forgetRemoved, pruneImportLists } from "../repositories/repositories.js";
import { createWeb, type FileSite, markStale, type Web } from "../web/web.js";
import { addServing, openMetrics } from "./metrics.js";

export function buildMembers(
  { config, clock, log }: AppContext,
  { database }: Modules,
  revocations = new Revocations(),
): Members {
  const bans = new Bans({ database, config, clock, revocations });
  const context = { database, config, clock, log, revocations, writes: new BackgroundWrites(log), bans };
  const events = new AccountEvents(context);
  return {
    keys: new ApiKeys(context),
    accounts: new Accounts(context, events),
    usage: new Usage(context),
    events,
    operators: new Operators(context),
    bans,
  };
}

/** Changes whenever a response may: with the data, with the state of the catalogue in memory, and with the hour, for ages. */
async function revisionOf({ catalog, live }: Modules, clock: Clock): Promise<CachedRevision> {
  const { sequence, replacedIn } = await catalog.revision();
  // It follows the revision just read, so this reads none.
  await live.ifLoaded();
  const revision = `${Math.floor(clock.now() / HOUR_MS)} ${sequence} ${live.version}`;
  return { revision, replacedIn };
}

interface FrontParts {
  modules: Modules;
  members: Members;
  admission: Admission;
  /** That of the front over these routes. */
  cache?: ResponseCache;
  /** The site whose files the pages become. */
  files?: FileSite | undefined;
}

/** All routes of the API and of the pages over these modules, and the page of an error. */
export function buildRoutes(
  { config, clock, log }: AppContext,
  { modules, members, admission, cache, files }: FrontParts,
): Web {
  const { baseUrl } = config;
  const pictures = new PngRenderer();
  const web = createWeb({
    modules,
    pictures,
    members,
    clock,
    baseUrl,
    contact: config.contact?.replace(/^(?!https?:)/, "mailto:"),
    tracking: config.onDemand,
    cache,
    storage: { databaseUrl: config.databaseUrl, dataDir: config.dataDir, dumps: config.dumps },
    checkToken: (settings, token) => checkToken({ clock, config, log }, settings, token),
    limits: config.limits,
    watchlistQuota: config.watchlistQuota,
    files,
  });
  const routes = apiRoutes({ modules, members, config, clock, admission, pictures });
  return { ...web, routes: [...routes, mcpRoute({ modules, config, clock }, log), ...web.routes] };
}

/** The consequences of a proxy that the settings do not name. */
const UNNAMED = "SIDEREAL_TRUSTED_PROXIES does not name it: all its clients share one limit";

function joinFront(context: AppContext, parts: FrontParts): Front {
  const { config, clock, log } = context;
  const { modules, members, admission } = parts;
  const { baseUrl, allowedHosts, cors, cacheBytes } = config;
  const { accounts, keys, usage, events, bans } = members;
  const readRevision = () => revisionOf(modules, clock);
  const cache = new ResponseCache({ maxBytes: cacheBytes, clock, readRevision, markPage: markStale, log });
  const { routes, errorPage } = buildRoutes(context, { ...parts, cache });
  const proxy = new UnnamedProxy(config.trustedProxies.length === 0, (sign) => {
    log.warn(sign, `a proxy is in front, and ${UNNAMED}`);
    // It is in the log in any case.
    void noteProxy(modules.database, sign, clock.now()).catch(() => {});
  });
  return new Front({
    routes,
    hintFor,
    baseUrl,
    renderers: { page: errorPage, picture: errorPicture },
    identities: {
      baseUrl,
      isOpen: cors,
      allowedHosts,
      callers: new Callers(config.trustedProxies),
      keys,
      accounts,
      admission,
      bans,
      recordSecurity: (request) => events.logRefused(request),
      log,
    },
    cache,
    proxy,
    recordUsage: (request) => usage.record(request),
    clock,
  });
}

/** The whole service without a port, for tests. */
export function buildFront(
  context: AppContext,
  modules: Modules,
  members = buildMembers(context, modules),
): Front {
  const admission = new Admission({ ...context, readers: modules.database.maxReaders });
  return joinFront(context, { modules, members, admission });
}

export interface Service {
  port: number;
  /** Its public address. */
  url: string;
  /** A new address that makes the browser that opens it an operator; undefined if only accounts are operators. */
  operatorUrl(): Promise<string | undefined>;
  /** Drains as configured, lets running requests end, then closes everything; nothing that hangs or fails keeps usage from being written. */
  stop(): Promise<void>;
}

/** Time that running requests get when the service stops. */
const STOP_MS = 7_000;
/** Time that each step after them gets, and the time after which no step is waited for. */
const STEP_MS = 5_000;
const STEPS_UNTIL_MS = 8_500;
/** The time that a step gets even then. */
const LEAST_MS = 200;

/** Delay before loading the libraries of sign-in, so that the first responses do not wait for it. */
const LOAD_MS = 1_000;

/** Opens a port and serves the given modules. */
export async function startService(context: AppContext, modules: Modules): Promise<Service> {
  const { config, clock, log } = context;
  // The service itself speaks no TLS.
  if (config.baseUrl.startsWith("https:") && config.trustedProxies.length === 0)
    log.warn(`SIDEREAL_BASE_URL begins with https, so a proxy is in front, but ${UNNAMED}`);
  const { database, redis } = modules;
  const allowances =
    redis === undefined || config.limits === undefined ? undefined : redis.limiter(config.limits);
  const admission = new Admission({ ...context, allowances, readers: database.maxReaders });
  const revocations = new Revocations(async () => redis?.announceRevocation());
  const http = createHttpServer((request, response) => front.handle(request, response), {
    baseUrl: config.baseUrl,
    isLimited: config.limits !== undefined,
    callers: new Callers(config.trustedProxies),
    clock,
    log,
  });
  const closeAll = async (error: unknown) => {
    await http.close(0);
    await database.close();
    throw error;
  };
  const port = await listen(http.server, config).catch(closeAll);
  // Port 0 means any free one; links can only name it once it is known.
  const url = config.port === 0 ? config.baseUrl.replace(/:0$/, `:${port}`) : config.baseUrl;
  const known = { ...context, config: { ...config, baseUrl: url } };
  // Both are there before the first request, as nothing in between waits.
  const members = buildMembers(known, modules, revocations);
  const front = joinFront(known, { modules, members, admission });
  const { accounts, bans, usage } = members;
  const serving = { isLoaded: () => modules.live.isLoaded, front, admission, server: http };
  const metrics = await accounts
    .open()
    .then(() => bans.load())
    .then(() => openMetrics(known, modules, { kind: "service", addOwn: (own) => addServing(own, serving) }))
    .catch(closeAll);
  usage.start();
  const stopping = new AbortController();
  const { signal } = stopping;
  redis?.onRevocation(() => {
    revocations.note();
    void bans.load().catch(() => {});
  });
  const following = Promise.all([modules.live.follow(clock, signal), bans.follow(log, signal)]);
  void clock.sleep(LOAD_MS, signal).then(async () => {
    if (!signal.aborted) await accounts.load();
  });
  const removing = removeExpired(context, { modules, members }, signal);
  return {
    port,
    url,
    operatorUrl: () => createOperatorUrl(database, { ...config, baseUrl: url }, clock.now()),
    async stop() {
      admission.isDraining = true;
      if (config.drainMs > 0) await clock.sleep(config.drainMs);
      stopping.abort();
      await stopServing(context, { modules, members, front, http, metrics, following, removing });
    },
  };
}

interface Running {
  modules: Modules;
  members: Members;
  front: Front;
  http: HttpServer;
  metrics: MetricsServer | undefined;
  /** Settles when the catalogue and the bans in memory follow the store no longer. */
  following: Promise<unknown>;
  /** Settles when nothing that has expired is being deleted. */
  removing: Promise<void>;
}

/** Lets running requests end, then closes everything. */
async function stopServing(context: AppContext, running: Running): Promise<void> {
  const { modules, members, front, http, metrics, following, removing } = running;
  const { accounts, events, usage } = members;
  const stepsUntil = context.clock.monotonic() + STEPS_UNTIL_MS;
  const finish = (step: string, ending: readonly (Promise<unknown> | undefined)[]) =>
    settledSoon(context, { step, until: stepsUntil }, ending);
  const closed = http.close(STOP_MS);
  // Flush now: requests in flight may use up the time this process has to stop.
  void usage.flush();
  await closed;
  // Work for callers that have disconnected still reads the database.
  const settled = finish("requests", [front.settled()]);
  await finish("usage", [usage.stop()]);
  const notes = [accounts.close(), events.close(), modules.watchlists.flush()];
  await finish("mail and notes", notes);
  await settled;
  await finish("metrics", [metrics?.close()]);
  await finish("databases", [Promise.all([following, removing]).then(() => modules.database.close())]);
}

/** Time between two deletions of expired rows. */
const EXPIRY_EVERY_MS = HOUR_MS;

/** Deletes expired rows now and then. Every process that serves does, so that it happens without a worker too. */
async function removeExpired(
  { clock, log }: AppContext,
  {
    modules: { database, deletionClock, watchlists },
    members: { accounts, keys, events, bans },
  }: { modules: Modules; members: Members },
  signal: AbortSignal,
): Promise<void> {
  const tasks: Readonly<Record<string, (now: number) => Promise<number>>> = {
    "watchlists that nobody opened for a year": (now) => watchlists.removeExpired(now, signal),
    "ended sessions": () => accounts.removeExpired(),
    "old revoked API keys": (now) => keys.removeRevoked(now),
    "bans that have ended": (now) => bans.removeEnded(now),
    "old events of accounts": (now) => events.prune(now, signal),
    "notes of repositories that were deleted 400 days ago": (now) => forgetRemoved(database, now),
    "lists of imports that are too old to be undone": (now) => pruneImportLists(database, now),
    "old usage of API keys": (now) => pruneUsage(database, now, signal),
  };
  while (!signal.aborted) {
    await clock.sleep(EXPIRY_EVERY_MS, signal);
    // Without the database each task fails, and says so.
    const now = signal.aborted ? 0 : await deletionClock.now().catch(() => 0);
    for (const [rows, remove] of Object.entries(tasks)) {
      if (signal.aborted) return;
      try {
        const removed = await remove(now);
        if (removed > 0) log.info({ removed }, `deleted ${rows}`);
      } catch (error) {
        log.error({ err: error }, `${rows} could not be deleted`);
      }
    }
  }
}

/** Waits briefly until all have settled. Logs failures and timeouts; never throws. */
async function settledSoon(
  { clock, log }: AppContext,
  { step, until }: { step: string; until: number },
  ending: readonly (Promise<unknown> | undefined)[],
): Promise<void> {
  const patience = new AbortController();
  const ms = Math.max(LEAST_MS, Math.min(STEP_MS, until - clock.monotonic()));
  const late = clock.sleep(ms, patience.signal).then(() => undefined);
  const outcomes = await Promise.race([Promise.allSettled(ending), late]);
  patience.abort();
  if (outcomes === undefined) log.warn({ step }, "shutdown deadline reached; exiting");
  for (const outcome of outcomes ?? [])
    if (outcome.status === "rejected") log.error({ err: outcome.reason, step }, "a shutdown step failed");
}
