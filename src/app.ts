/** Builds modules and joins them into a service; what tracks is joined in tracker.ts. */
import type { Server } from "node:http";
import { Accounts, ApiKeys, readSecret } from "./accounts/accounts.js";
import {
  createApi,
  createFront,
  createHttpServer,
  type Front,
  type FrontOptions,
  listen,
  Meter,
  openApiDocument,
  type Source,
} from "./api/api.js";
import { Catalog } from "./catalog/catalog.js";
import type { Clock } from "./clock.js";
import type { Config } from "./config.js";
import { type Database, openDatabase } from "./database/database.js";
import { fillWithDemo } from "./demo/demo.js";
import type { Logger } from "./log.js";
import { openAllowances, type TableMemory, Usage } from "./metering/metering.js";
import { type Members, type Modules, updateDerived } from "./modules.js";
import { Rankings } from "./rankings/rankings.js";
import { Search } from "./search/search.js";
import { PersonalWatchlists, Watchlists } from "./watchlists/watchlists.js";
import { createWeb } from "./web/web.js";

export interface AppContext {
  config: Config;
  clock: Clock;
  log: Logger;
}

export function buildModules(database: Database, clock: Clock): Modules {
  const catalog = new Catalog(database, clock);
  return {
    database,
    catalog,
    rankings: new Rankings(database, clock),
    search: new Search(database, catalog),
    watchlists: new Watchlists(database, clock),
  };
}

/** What belongs to people, over the modules of the real catalogue; with what one that was built before knows already. */
export function buildMembers(
  { config, clock, log }: AppContext,
  modules: Modules,
  before?: Pick<Members, "keys" | "usage">,
): Members {
  const { database } = modules;
  const keys = before?.keys ?? new ApiKeys(database, clock);
  return {
    modules,
    keys,
    accounts: new Accounts({ database, keys, config, clock, log }),
    personalWatchlists: new PersonalWatchlists(database, clock),
    usage: before?.usage ?? new Usage({ database, clock, log }),
  };
}

/** The modules over the configured database, which is opened and migrated. */
export async function openModules({ config, clock, log }: AppContext): Promise<Modules> {
  const { databaseUrl: url, dataDir, databasePool: pool } = config;
  return buildModules(await openDatabase({ url, dataDir, pool, log }), clock);
}

/** History of the demonstration that an empty catalogue is answered with. */
const DEMO_DAYS = 60;
const DEMO_SEED = 1;
/** How often an empty catalogue is looked at, to see whether real repositories have come. */
const DEMO_CHECK_MS = 2_000;

/** A synthetic catalogue in memory. */
export async function openDemo(
  { clock, log }: AppContext,
  repositories: number,
  days = DEMO_DAYS,
  seed = DEMO_SEED,
  end = clock.now(),
): Promise<Modules> {
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  const modules = buildModules(database, clock);
  await fillWithDemo(modules.catalog, { repositories, days, seed, end });
  await updateDerived(modules);
  return modules;
}

/** What requests are answered from: the real catalogue, or the synthetic one as long as the real one is empty. */
class CatalogueSource {
  #current: Source;
  readonly #real: Modules;
  #timer: NodeJS.Timeout | undefined;

  private constructor(real: Modules, current: Source) {
    this.#real = real;
    this.#current = current;
  }

  static async open(
    context: AppContext,
    real: Modules,
    withDemo: boolean,
    demoEnd: number,
  ): Promise<CatalogueSource> {
    const synthetic = await real.catalog.isSynthetic();
    if (!withDemo || !(await real.catalog.isEmpty()))
      return new CatalogueSource(real, { modules: real, synthetic });
    const { demoRepositories } = context.config;
    const demo = await openDemo(context, demoRepositories, DEMO_DAYS, DEMO_SEED, demoEnd);
    const source = new CatalogueSource(real, { modules: demo, synthetic: true });
    context.log.warn(
      "the catalogue is empty: answering with a synthetic one, held in memory, until real repositories are there",
    );
    source.#timer = setInterval(() => {
      source
        .#leaveDemo(demo)
        .catch((error) => context.log.error({ err: error }, "the catalogue could not be looked at"));
    }, DEMO_CHECK_MS);
    source.#timer.unref();
    return source;
  }

  current = (): Source => this.#current;

  /** Differs whenever an answer may. */
  revision = async (): Promise<string> => {
    const { modules, synthetic } = this.#current;
    return `${synthetic} ${await modules.catalog.revision()}`;
  };

  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#current.modules !== this.#real) await this.#current.modules.database.close();
    await this.#real.database.close();
  }

  async #leaveDemo(demo: Modules): Promise<void> {
    if (this.#current.modules === this.#real || (await this.#real.catalog.isEmpty())) return;
    clearInterval(this.#timer);
    this.#current = { modules: this.#real, synthetic: await this.#real.catalog.isSynthetic() };
    // Requests that began on the demonstration end on it.
    setTimeout(() => void demo.database.close(), 2 * DEMO_CHECK_MS).unref();
  }
}

/** What the front asks where it has no answer of its own. */
type Handler = Pick<FrontOptions, "handle" | "errorPage">;

/** The whole service without a port and without what stands before the routes. */
function buildHandler(
  context: AppContext,
  source: () => Source,
  members: () => Members,
  meter: Meter,
): Handler {
  const pages = createWeb({
    source,
    members,
    clock: context.clock,
    baseUrl: context.config.baseUrl,
    tracked: context.config.providers.map(({ name }) => name),
    limits: context.config.limits,
    document: () => JSON.parse(JSON.stringify(openApiDocument(api, context.config.baseUrl))),
  });
  const api = createApi({ ...context, source, members, meter, pages });
  return { handle: (request, bindings) => api.fetch(request, bindings), errorPage: pages.error };
}

/** The whole service without a port, for tests. */
export function buildFront(
  context: AppContext,
  modules: Modules,
  members = buildMembers(context, modules),
): Front {
  const meter = new Meter(context);
  const handler = buildHandler(
    context,
    () => ({ modules, synthetic: false }),
    () => members,
    meter,
  );
  const findKey = (secret: string) => members.keys.find(secret);
  const findSession = (cookie: string) => members.accounts.findId(cookie);
  const readRevision = async () => String(await modules.catalog.revision());
  const { cacheBytes } = context.config;
  const { usage } = members;
  return createFront({
    ...context,
    ...handler,
    readRevision,
    findKey,
    findSession,
    meter,
    usage,
    cacheBytes,
  });
}

export interface Service {
  server: Server;
  /** Port it listens on. */
  port: number;
  /** Its public address. */
  url: string;
  /** Whether it began with the synthetic catalogue. */
  synthetic: boolean;
  /** Lets running requests end, then closes everything; nothing that hangs or fails keeps usage from being written. */
  stop(): Promise<void>;
}

/** Time that running requests get when the service stops. */
const STOP_MS = 8_000;
/** Time that each step after them gets. */
const STEP_MS = 5_000;

/** What the services have in common that answer at one port, each in a thread of this process. */
export interface ServiceShare {
  memory: TableMemory;
  /** The last day of the demonstration, which each makes for itself. */
  demoEnd: number;
}

/** Opens a port and answers from the given modules; with `withDemo`, from a demonstration as long as they are empty. */
export async function startService(
  context: AppContext,
  modules: Modules,
  withDemo: boolean,
  share?: ServiceShare,
): Promise<Service> {
  const { config, clock } = context;
  const source = await CatalogueSource.open(context, modules, withDemo, share?.demoEnd ?? clock.now());
  const allowances = await openAllowances({
    ...context,
    ...config,
    memory: share?.memory,
    readSecret: () => readSecret(config, modules.database),
  });
  const meter = new Meter({ ...context, allowances });
  let members = buildMembers(context, modules);
  const { usage } = members;
  const leaveOthers = share && members.keys.forgetting.joinThreads();
  let handler = buildHandler(context, source.current, () => members, meter);
  const server = createHttpServer({
    ...context,
    handle: (request, bindings) => handler.handle(request, bindings),
    errorPage: (error, request) => handler.errorPage(error, request),
    meter,
    usage,
    readRevision: source.revision,
    findKey: (secret) => members.keys.find(secret),
    findSession: (cookie) => members.accounts.findId(cookie),
    cacheBytes: config.cacheBytes,
  });
  try {
    await members.accounts.open();
    await listen(server, config, share !== undefined);
  } catch (error) {
    leaveOthers?.();
    await allowances?.close();
    await source.close();
    throw error;
  }
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : config.port;
  // Port 0 means any free one; links can only name it once it is known.
  const url = config.port === 0 ? config.baseUrl.replace(/:0$/, `:${port}`) : config.baseUrl;
  if (url !== config.baseUrl) {
    const known = { ...context, config: { ...config, baseUrl: url } };
    members = buildMembers(known, modules, members);
    handler = buildHandler(known, source.current, () => members, meter);
  }
  usage.start();
  return {
    server,
    port,
    url,
    synthetic: source.current().synthetic,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const deadline = setTimeout(() => server.closeAllConnections(), STOP_MS);
      // At once: running requests may use up the time that this process is given.
      void usage.flush();
      await closed;
      clearTimeout(deadline);
      await settledSoon(context, "usage", [usage.stop()]);
      const { accounts, keys, personalWatchlists } = members;
      const notes = [keys.settle(), personalWatchlists.visits.settle()];
      await settledSoon(context, "mail and notes", [accounts.close(), ...notes]);
      leaveOthers?.();
      await settledSoon(context, "databases", [allowances?.close(), source.close()]);
    },
  };
}

/** Waits until all have ended, but not for long. What fails or is left behind is told to the log, and nothing is thrown. */
async function settledSoon(
  { clock, log }: AppContext,
  step: string,
  ending: readonly (Promise<unknown> | undefined)[],
): Promise<void> {
  const patience = new AbortController();
  const late = clock.sleep(STEP_MS, patience.signal).then(() => undefined);
  const outcomes = await Promise.race([Promise.allSettled(ending), late]);
  patience.abort();
  if (outcomes === undefined) log.warn({ step }, "stopping does not wait any longer");
  for (const outcome of outcomes ?? [])
    if (outcome.status === "rejected") log.error({ err: outcome.reason, step }, "a step of stopping failed");
}
