/**
 * The configuration: the environment and a `.env` file become one validated object. Each problem names its setting. What a setting means
 * to the work is up to the modules that take it; secrets are in no message.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";
import { errorCode } from "../lib/errors.js";
import { canonicalHost, isPrivateHost } from "../lib/host-names.js";
import { nearestName } from "../lib/nearest-name.js";
import { problemsOf } from "../lib/validation.js";
import { readJob } from "./job.js";
import { limitsOf } from "./limits.js";
import {
  ConfigError,
  isProviderSetting,
  providerNames,
  providerSettings,
  readProviders,
  readProxy,
} from "./providers.js";
import { PAIRS, SECRETS, SETTINGS, type Settings } from "./settings.js";

export type { Job } from "./job.js";
export {
  defaultUrl,
  type ForgeKind,
  type ForgePace,
  findForge,
  forgeName,
  isToken,
  newPerDayOf,
  openIssuesRule,
  type ProviderSettings,
  type ProxySettings,
  PUBLIC_FORGES,
  paceOf,
  parseTokens,
  providerOfHost,
  repositoryUrl,
  siteOf,
  TOKEN_EFFECTS,
  type TokenSource,
  tokenBarrier,
} from "./known-forges.js";
export { BUCKETS, type Bucket, CALLER_KINDS, type CallerKind, isByAddress, type Limits } from "./limits.js";
export { ConfigError, proxyOf } from "./providers.js";
export type { TrackAccess } from "./settings.js";

/** Days between two dumps, and dumps that are kept. */
const DUMP_EVERY_DAYS = 7;
const DUMPS_KEPT = 4;

/** Ports for metrics, from the configured one on. */
export const METRICS_PORTS = 16;

/** The settings of a process; see `loadConfig`. */
export type Config = ReturnType<typeof loadConfig>;

/** Names of all settings except those of providers, for the documentation test and for messages. */
export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS);

/**
 * The environment, with defaults from a `.env` file in `directory`. `homeFolder`: the folder of the data if `directory` has neither
 * that file nor data; absent: in `directory` always.
 */
export function readEnvironment(
  directory: string,
  env: NodeJS.ProcessEnv,
  homeFolder?: string,
): NodeJS.ProcessEnv {
  let text: string;
  try {
    text = readFileSync(join(directory, ".env"), "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT")
      return homeFolder === undefined || existsSync(join(directory, "data"))
        ? env
        : { SIDEREAL_DATA_DIR: homeFolder, ...env };
    throw new ConfigError([".env: the file cannot be read"]);
  }
  return { ...parseEnv(text), ...env };
}

/** Parses the environment. Throws a ConfigError that lists unknown, invalid and unsafe settings. */
export function loadConfig(env: NodeJS.ProcessEnv) {
  const problems: string[] = [];
  const names = providerNames(env.SIDEREAL_PROVIDERS ?? "");
  const given = readGiven(env, names, problems);
  const parsed = z.object(SETTINGS).safeParse(given);
  if (!parsed.success) {
    for (const { parameter, message } of problemsOf(parsed.error, "settings"))
      problems.push(`${parameter}: ${message}`);
  }
  for (const [a, b] of PAIRS) {
    for (const [one, other] of [[a, b] as const, [b, a] as const])
      if (one in given && !(other in given)) problems.push(`${other}: must be set, because ${one} is`);
  }
  if (given.SIDEREAL_DATABASE_READ_URL && !given.SIDEREAL_DATABASE_URL)
    problems.push(
      "SIDEREAL_DATABASE_READ_URL: only PostgreSQL has replicas; SIDEREAL_DATABASE_URL must be set",
    );
  const providers = readProviders(env, names, problems);
  if (given.SIDEREAL_DATA_DIR === ":memory:" && !given.SIDEREAL_DATABASE_URL && providers.length > 0)
    problems.push(
      "SIDEREAL_DATA_DIR: a database in memory cannot be shared with the worker process; use a folder, or configure no provider",
    );
  const reach = readReach(env, providers.length > 0, problems);
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return {
    ...processOf(parsed.data),
    ...callersOf(parsed.data),
    /** The forges to track; may be empty. */
    providers,
    job: readJob(env),
    ...reach,
  };
}

/** The settings of the environment and of the files that it names, without those of providers. */
function readGiven(
  env: NodeJS.ProcessEnv,
  names: ReturnType<typeof providerNames>,
  problems: string[],
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith("SIDEREAL_") || value === undefined || value === "") continue;
    if (isProviderSetting(name, names)) continue;
    const secret = SECRETS.find((candidate) => name === `${candidate}_FILE`);
    if (secret !== undefined) {
      if (env[secret]) problems.push(`${name}: ${secret} is given too; one of them must go`);
      try {
        given[secret] = readFileSync(value, "utf8").trim();
      } catch {
        problems.push(`${name}: the file cannot be read`);
      }
    } else if (name in SETTINGS) {
      given[name] = value;
    } else {
      const known = [...SETTING_NAMES, ...SECRETS.map((one) => `${one}_FILE`), ...providerSettings(names)];
      problems.push(`${name}: no such setting${hintFor(name, known)}`);
    }
  }
  return given;
}

/** How forges are reached. */
function readReach(env: NodeJS.ProcessEnv, hasProviders: boolean, problems: string[]) {
  // Without forges it is only needed once a token is entered, and must not keep the service from starting.
  const found: string[] = [];
  const proxy = readProxy(env, found);
  if (hasProviders) problems.push(...found);
  const proxyProblem = found.length > 0 ? found.join("; ") : undefined;
  return {
    /** Undefined: forges are reached directly. */
    proxy: proxyProblem === undefined ? proxy : undefined,
    /** Why the proxy settings cannot be used; then no forge is contacted. Only without providers: otherwise nothing starts. */
    proxyProblem,
  };
}

/** Where the process listens, what it stores and where, and how it is watched. */
function processOf(settings: Settings) {
  const limits = settings.SIDEREAL_LIMITS;
  const baseUrl =
    settings.SIDEREAL_BASE_URL ?? `http://${hostInUrl(settings.SIDEREAL_HOST)}:${settings.SIDEREAL_PORT}`;
  return {
    host: settings.SIDEREAL_HOST,
    port: settings.SIDEREAL_PORT,
    /** Whether several processes may open the port. */
    reusePort: settings.SIDEREAL_REUSE_PORT,
    /** Public address without a trailing slash. Links in responses use it, never the address of a request. */
    baseUrl,
    ...readOpenness(baseUrl, settings),
    dataDir: settings.SIDEREAL_DATA_DIR,
    /** PostgreSQL address; absent means SQLite in `dataDir`. */
    databaseUrl: settings.SIDEREAL_DATABASE_URL,
    databasePool: settings.SIDEREAL_DATABASE_POOL,
    /** A replica that series and exports are read from; undefined without one. */
    databaseReadUrl: settings.SIDEREAL_DATABASE_READ_URL,
    /** How long the service keeps responding after the signal to stop, while `/readyz` reports that it is stopping. */
    drainMs: settings.SIDEREAL_DRAIN_SECONDS * 1_000,
    logLevel: settings.SIDEREAL_LOG_LEVEL,
    /** Whether `start` imports the bundled sample into an empty catalogue if no provider is configured. */
    sample: settings.SIDEREAL_SAMPLE,
    /** Bound of the front cache; 0 turns it off. */
    cacheBytes: settings.SIDEREAL_CACHE_MB * 1024 * 1024,
    /** Undefined: no rate limits. */
    limits: limits && limitsOf(limits),
    /** The number of repositories that one caller may add to watchlists without an owner in a day; undefined: no limit. */
    watchlistQuota: limits && { lists: limits.watchlists, items: limits["watchlist-items"] },
    /** Most mails in an hour; undefined: any number. */
    mailPerHour: limits?.mails,
    /** Redis or Valkey, which several processes share. */
    redisUrl: settings.SIDEREAL_REDIS_URL,
    /** Networks whose `X-Forwarded-For` is trusted. */
    trustedProxies: settings.SIDEREAL_TRUSTED_PROXIES,
    /** Mail or web address of the operator, sent to forges with every request. */
    contact: settings.SIDEREAL_CONTACT,
    /** The folder of dumps, how often the worker writes one, and how many are kept; undefined: there are no dumps. */
    dumps:
      settings.SIDEREAL_DUMPS_DIR === undefined
        ? undefined
        : { folder: settings.SIDEREAL_DUMPS_DIR, everyDays: DUMP_EVERY_DAYS, kept: DUMPS_KEPT },
    /** Address of the metrics; not served without a port. */
    metricsHost: settings.SIDEREAL_METRICS_HOST,
    metricsPort: settings.SIDEREAL_METRICS_PORT,
    /** For requests to another service. */
    apiKey: settings.SIDEREAL_API_KEY,
  };
}

/** Who may do what, and how people sign in. */
function callersOf(settings: Settings) {
  const limits = settings.SIDEREAL_LIMITS;
  return {
    /** Who may request that repositories are tracked, and how many in a day; undefined: any number. */
    onDemand: {
      access: settings.SIDEREAL_TRACK ?? (hasAccounts(settings) ? "accounts" : "off"),
      perDay: limits?.tracked,
    },
    /** Secret that signs cookies; undefined: generated and stored. */
    authSecret: settings.SIDEREAL_AUTH_SECRET,
    /** Mail addresses of the accounts that operate the service, in small letters. */
    operators: settings.SIDEREAL_OPERATORS,
    /** The key that encrypts tokens entered on a page; undefined: see `forge-tokens`. */
    tokenKey: settings.SIDEREAL_TOKEN_KEY,
    github: oauthClient(settings.SIDEREAL_AUTH_GITHUB_ID, settings.SIDEREAL_AUTH_GITHUB_SECRET),
    google: oauthClient(settings.SIDEREAL_AUTH_GOOGLE_ID, settings.SIDEREAL_AUTH_GOOGLE_SECRET),
    /** SMTP server and sender of mail. */
    mail:
      settings.SIDEREAL_SMTP_URL === undefined || settings.SIDEREAL_MAIL_FROM === undefined
        ? undefined
        : { smtpUrl: settings.SIDEREAL_SMTP_URL, from: settings.SIDEREAL_MAIL_FROM },
  };
}

/** The host in URLs of a service that listens on `host`. A browser cannot open the address that means all addresses of a machine. */
function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** The hosts and sites that may use the service. With a private address, others are refused by default. */
function readOpenness(
  baseUrl: string,
  { SIDEREAL_ALLOWED_HOSTS: listed, SIDEREAL_CORS: cors }: Settings,
): { allowedHosts: readonly string[] | undefined; cors: boolean } {
  const host = canonicalHost(new URL(baseUrl).host) ?? "";
  const isPrivate = isPrivateHost(host);
  const isChecked = listed === undefined ? isPrivate : !listed.includes("*");
  return { allowedHosts: isChecked ? [host, ...(listed ?? [])] : undefined, cors: cors ?? !isPrivate };
}

function hintFor(name: string, known: readonly string[]): string {
  const plain = (setting: string) => setting.slice("SIDEREAL_".length);
  const nearest = nearestName(plain(name), known.map(plain));
  if (nearest !== undefined) return `; did you mean SIDEREAL_${nearest}?`;
  return "; docs/CONFIGURATION.md lists all, and those of a forge need its name in SIDEREAL_PROVIDERS";
}

function hasAccounts(settings: Settings): boolean {
  const { SIDEREAL_SMTP_URL, SIDEREAL_AUTH_GITHUB_ID, SIDEREAL_AUTH_GOOGLE_ID } = settings;
  return [SIDEREAL_SMTP_URL, SIDEREAL_AUTH_GITHUB_ID, SIDEREAL_AUTH_GOOGLE_ID].some(
    (one) => one !== undefined,
  );
}

function oauthClient(clientId: string | undefined, clientSecret: string | undefined) {
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
}
