import {
  type AccountEvents,
  type Accounts,
  type ApiKeys,
  type Bans,
  DailyQuotas,
  type Operators,
  readSecret,
  type Usage,
} from "./accounts/accounts.js";
import type { Config } from "./config/config.js";
import { type Database, DeletionClock, openDatabase } from "./database/database.js";
import { ChangeLog, Lists, LiveModel, Rankings, Search } from "./discovery/discovery.js";
import { ForgeTokens, TrackedForges } from "./forges/forges.js";
import type { GrowthOptions } from "./growth/growth.js";
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
  changes: ChangeLog;
  rankings: Rankings;
  search: Search;
  watchlists: Watchlists;
  trackRequests: TrackRequests;
  avatars: Avatars;
  forgeTokens: ForgeTokens;
  forges: TrackedForges;
  /** Decides whether something is old enough to delete. */
  deletionClock: DeletionClock;
  lists: Lists;
  /** The catalogue in memory, which lists, search and rankings are found in. */
  live: LiveModel;
  /** What this process shares with others; undefined: nothing. Closed with the database. */
  redis: SharedRedis | undefined;
}

/** The modules that belong to people, over the same database. Only what serves builds them. */
export interface Members {
  accounts: Accounts;
  keys: ApiKeys;
  usage: Usage;
  events: AccountEvents;
  operators: Operators;
  bans: Bans;
}

/** What the modules on a database need. `config`: absent: defaults, and the secret of the service is kept in the database. */
type ModulesContext = Pick<AppContext, "clock" | "log"> & Partial<Pick<AppContext, "config">>;

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
  const catalog = new Catalog(database, clock);
  const live = new LiveModel(database, catalog, { clock, log });
  const rankings = new Rankings(database, { clock, log, live });
  const quotas = new DailyQuotas({ config, database });
  const forgeTokens = new ForgeTokens({ database, clock, config, onChange: bumpRevision });
  const forges = new TrackedForges({ config, tokens: forgeTokens, clock });
  const watchlists = new Watchlists({ database, clock, log, quotas });
  const trackRequests = new TrackRequests({ database, catalog, clock, watchlists, quotas, forges });
  return {
    catalog,
    changes: new ChangeLog(database, catalog, live),
    rankings,
    search: new Search(live, catalog),
    lists: new Lists({ database, catalog, live, clock }),
    live,
    database,
    redis,
    watchlists,
    avatars: new Avatars(database, clock),
    forgeTokens,
    forges,
    deletionClock: new DeletionClock({ database, clock, log }),
    trackRequests,
  };
}

/**
 * Opens the configured database, and builds the modules on it. `upgrades`: an older store is migrated, otherwise refused. `copyIn`: the
 * folder of a copy of it to open instead.
 */
export async function openModules(
  { config: given, clock, log }: AppContext,
  { upgrades = false, copyIn }: { upgrades?: boolean; copyIn?: string } = {},
): Promise<Modules> {
  const alone = { databaseUrl: undefined, databaseReadUrl: undefined, redisUrl: undefined };
  const config = copyIn === undefined ? given : { ...given, ...alone, dataDir: copyIn };
  const { databaseUrl: url, databaseReadUrl: readUrl, dataDir, databasePool: pool } = config;
  const database = await openDatabase({ url, readUrl, dataDir, pool, log, upgrades });
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

/** Joins names and brings stored growth up to date, at a cost that follows what changed. The worker calls it in a loop, under its lease. */
export async function followChanges(modules: Modules, options: GrowthOptions = {}): Promise<void> {
  const { database, catalog, rankings } = modules;
  await catalog.joinContinuedNames(options.transact);
  const changed = await rankings.update(options);
  await packHistories(modules);
  if (changed > ANALYZED_FROM) await database.dialect.analyze(database.write);
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

/**
 * Brings stored growth up to date after an import. `onProgress` gets the number of repositories done. Returns the number of names that
 * were joined to those that continue them.
 */
export async function updateDerived(
  modules: Modules,
  onProgress: (repositories: number) => void = () => {},
): Promise<number> {
  const { database, catalog, rankings } = modules;
  // The planner does not know yet what an import has just written.
  await database.dialect.analyze(database.write);
  const joined = await catalog.joinContinuedNames();
  await rankings.update({ onProgress });
  await packHistories(modules);
  await database.dialect.analyze(database.write);
  return joined;
}
