import {
  type AccountEvents,
  type Accounts,
  type ApiKeys,
  DailyQuotas,
  type Operators,
  readSecret,
  type Usage,
} from "./accounts/accounts.js";
import type { Config } from "./config/config.js";
import { type Database, DeletionClock, openDatabase } from "./database/database.js";
import { ListIndex, Lists, Rankings, Search, startIndexBuilder } from "./discovery/discovery.js";
import { ForgeTokens, TrackedForges } from "./forges/forges.js";
import { openRedis, type SharedRedis } from "./http/http.js";
import type { Clock } from "./lib/clock.js";
import type { Logger } from "./lib/log.js";
import { bumpRevision, Catalog } from "./repositories/repositories.js";
import { Avatars, TrackRequests } from "./tracking/tracking.js";
import { Watchlists } from "./watchlists/watchlists.js";

/** What the parts of one process share. */
export interface AppContext {
  config: Config;
  clock: Clock;
  log: Logger;
}

/** The modules on one database, used by the API, the pages, the command line and the worker. */
export interface Modules {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
  search: Search;
  watchlists: Watchlists;
  trackRequests: TrackRequests;
  avatars: Avatars;
  /** Tokens that operators have entered. */
  forgeTokens: ForgeTokens;
  /** The forges that are tracked. */
  forges: TrackedForges;
  /** Decides whether something is old enough to delete. */
  deletionClock: DeletionClock;
  lists: Lists;
  /** What `lists` selects from; empty until something fills it. */
  listIndex: ListIndex;
  /** What this process shares with others; undefined: nothing. Closed with the database. */
  redis: SharedRedis | undefined;
}

/** The modules that belong to people, over the same database. Built in `app.ts`, as only what serves needs them. */
export interface Members {
  accounts: Accounts;
  keys: ApiKeys;
  usage: Usage;
  events: AccountEvents;
  operators: Operators;
}

/** What the modules on a database need. `config`: absent: defaults, and the secret of the service is kept in the database. */
export type ModulesContext = Pick<AppContext, "clock" | "log"> & Partial<Pick<AppContext, "config">>;

const WITHOUT_CONFIG = {
  authSecret: undefined,
  tokenKey: undefined,
  databaseUrl: undefined,
  dataDir: ":memory:",
  providers: [],
  proxyProblem: undefined,
} as const;

export function buildModules(database: Database, context: ModulesContext, redis?: SharedRedis): Modules {
  const { clock, log, config = WITHOUT_CONFIG } = context;
  const listIndex = new ListIndex(clock);
  const catalog = new Catalog(database, clock);
  const rankings = new Rankings(database, clock, log);
  const search = new Search(database, catalog, clock);
  const quotas = new DailyQuotas({ config, database });
  const forgeTokens = new ForgeTokens({ database, clock, config, onChange: bumpRevision });
  const watchlists = new Watchlists({ database, clock, log, quotas });
  return {
    catalog,
    rankings,
    search,
    lists: new Lists({ database, catalog, rankings, search, clock, index: listIndex }),
    listIndex,
    database,
    redis,
    watchlists,
    avatars: new Avatars(database, clock),
    forgeTokens,
    forges: new TrackedForges({ configured: config.providers, tokens: forgeTokens, clock }),
    deletionClock: new DeletionClock({ database, clock, log }),
    trackRequests: new TrackRequests({ database, catalog, clock, watchlists, quotas }),
  };
}

/** Opens and migrates the configured database, and builds the modules on it. */
export async function openModules({ config, clock, log }: AppContext): Promise<Modules> {
  const { databaseUrl: url, databaseReadUrl: readUrl, dataDir, databasePool: pool } = config;
  const database = await openDatabase({ url, readUrl, dataDir, pool, log });
  const context = { config, clock, log };
  if (config.redisUrl === undefined) return buildModules(database, context);
  const secret = await readSecret({ config, database });
  const redis = await openRedis({ url: config.redisUrl, secret, clock, log });
  const close = async () => {
    redis.close();
    await database.close();
  };
  return buildModules({ ...database, close }, context, redis);
}

/**
 * Starts building the list index; a database in memory has none.
 * Returns the function that stops it.
 */
export function startListIndex({ config, clock, log }: AppContext, modules: Modules): () => Promise<void> {
  const { listIndexBytes: maxBytes, logLevel, databaseUrl: url, dataDir } = config;
  if (maxBytes === 0 || (url === undefined && dataDir === ":memory:")) return async () => {};
  return startIndexBuilder({
    location: { url, dataDir },
    maxBytes,
    logLevel,
    clock,
    log,
    readRevision: () => modules.catalog.recentRevision(),
  });
}

/** Steps of `updateDerived`, reported to `onProgress`. */
export type UpdateStep = "growth" | "search";

/**
 * Updates derived data incrementally, at a cost proportional to what changed; the worker calls it in a loop. Reordering the
 * search index takes time proportional to the catalog, so it is only done when `isOrderDue`.
 */
export async function followChanges(modules: Modules, isOrderDue: boolean): Promise<void> {
  const { database, rankings, search } = modules;
  const changed = await rankings.update();
  const worded = await search.update();
  if (isOrderDue) await search.reorder();
  await packHistories(modules);
  if (changed + worded > ANALYZED_FROM) await database.dialect.analyze(database.write);
}

/** Number of changes after which the planner's statistics are refreshed. */
const ANALYZED_FROM = 50_000;

/** Moves snapshots and past ranks that have become many into blocks. */
async function packHistories({ catalog, rankings }: Modules): Promise<void> {
  await catalog.pack(PACKED_PER_UPDATE);
  await rankings.pack(PACKED_PER_UPDATE);
}

/** Most repositories whose histories are packed in one update: there are many more only after an upgrade. */
const PACKED_PER_UPDATE = 50_000;

/** Updates all data derived from the catalog: growth, facets and counters, then the search index. */
export async function updateDerived(
  modules: Modules,
  onProgress: (step: UpdateStep, repositories: number) => void = () => {},
): Promise<void> {
  const { database, rankings, search } = modules;
  // The planner does not know yet what an import has just written.
  await database.dialect.analyze(database.write);
  await rankings.update({ all: true, onProgress: (done) => onProgress("growth", done) });
  await search.update((done) => onProgress("search", done));
  await search.reorder();
  await packHistories(modules);
  await database.dialect.analyze(database.write);
}
