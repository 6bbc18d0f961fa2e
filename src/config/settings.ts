import { z } from "zod";
import { LOG_LEVELS } from "../lib/log.js";
import {
  contactAddress,
  flag,
  hostList,
  longSecret,
  mailList,
  mailSender,
  mailServer,
  networkList,
  ownHost,
  postgresAddress,
  whole,
} from "./rules.js";

/** Who may request repositories to be tracked: nobody, accounts, or everybody. */
export const TRACK_ACCESS = ["off", "accounts", "everyone"] as const;
export type TrackAccess = (typeof TRACK_ACCESS)[number];

/** Every setting, its rule and its default. `docs/CONFIGURATION.md` describes the same list; a test compares the two. */
export const SETTINGS = {
  SIDEREAL_HOST: ownHost.default("127.0.0.1"),
  SIDEREAL_PORT: whole(0, 65_535).default(3000),
  SIDEREAL_REUSE_PORT: flag.default(false),
  SIDEREAL_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .refine(
      (url) => /^https?:\/\/[^/?#]+(?:\/[\w.~-]+)*$/.test(url),
      "must not have a query, a fragment or escapes; its path may consist of letters, digits, . _ ~ and -",
    )
    .optional(),
  SIDEREAL_ALLOWED_HOSTS: hostList.optional(),
  SIDEREAL_CORS: flag.optional(),
  SIDEREAL_DATA_DIR: z.string().min(1).default("./data"),
  SIDEREAL_DATABASE_URL: postgresAddress.optional(),
  SIDEREAL_DATABASE_POOL: whole(1, 200).default(10),
  SIDEREAL_DATABASE_READ_URL: postgresAddress.optional(),
  SIDEREAL_DRAIN_SECONDS: whole(0, 300).default(0),
  SIDEREAL_LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  SIDEREAL_SAMPLE: flag.default(true),
  SIDEREAL_CACHE_MB: whole(0, 65_536).default(64),
  SIDEREAL_LIST_INDEX_MB: whole(0, 65_536).default(128),
  SIDEREAL_LIMITS: flag.default(true),
  SIDEREAL_WATCHLISTS_PER_DAY: whole(1, 1_000_000).default(100),
  SIDEREAL_WATCHLIST_ITEMS_PER_DAY: whole(1, 100_000_000).default(10_000),
  SIDEREAL_MAIL_PER_HOUR: whole(1, 1_000_000).default(1_000),
  SIDEREAL_REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: "must be redis://host:port/database; rediss for TLS" })
    .optional(),
  SIDEREAL_TRUSTED_PROXIES: networkList.default([]),
  SIDEREAL_PROVIDERS: z.string().default(""),
  SIDEREAL_CONTACT: contactAddress.optional(),
  SIDEREAL_TRACK: z.enum(TRACK_ACCESS).optional(),
  SIDEREAL_TRACK_PER_DAY: whole(1, 1_000_000).default(20),
  SIDEREAL_DUMPS_DIR: z.string().min(1).optional(),
  SIDEREAL_DUMPS_DAYS: whole(1, 366).default(7),
  SIDEREAL_DUMPS_KEPT: whole(1, 100).default(4),
  SIDEREAL_METRICS_HOST: ownHost.default("127.0.0.1"),
  SIDEREAL_METRICS_PORT: whole(0, 65_535).optional(),
  SIDEREAL_API_KEY: z.string().max(200).optional(),
  SIDEREAL_AUTH_SECRET: longSecret.optional(),
  SIDEREAL_OPERATORS: mailList.default([]),
  SIDEREAL_TOKEN_KEY: longSecret.optional(),
  SIDEREAL_AUTH_GITHUB_ID: z.string().optional(),
  SIDEREAL_AUTH_GITHUB_SECRET: z.string().optional(),
  SIDEREAL_AUTH_GOOGLE_ID: z.string().optional(),
  SIDEREAL_AUTH_GOOGLE_SECRET: z.string().optional(),
  SIDEREAL_SMTP_URL: mailServer.optional(),
  SIDEREAL_MAIL_FROM: mailSender.optional(),
};

export type Settings = z.infer<z.ZodObject<typeof SETTINGS>>;

/** Settings that may contain a secret. They can be read from a file named by the setting with the suffix `_FILE`. */
export const SECRETS = [
  "SIDEREAL_DATABASE_URL",
  "SIDEREAL_DATABASE_READ_URL",
  "SIDEREAL_REDIS_URL",
  "SIDEREAL_API_KEY",
  "SIDEREAL_AUTH_SECRET",
  "SIDEREAL_TOKEN_KEY",
  "SIDEREAL_AUTH_GITHUB_SECRET",
  "SIDEREAL_AUTH_GOOGLE_SECRET",
  "SIDEREAL_SMTP_URL",
] as const;

/** Settings that must be set together. */
export const PAIRS = [
  ["SIDEREAL_AUTH_GITHUB_ID", "SIDEREAL_AUTH_GITHUB_SECRET"],
  ["SIDEREAL_AUTH_GOOGLE_ID", "SIDEREAL_AUTH_GOOGLE_SECRET"],
  ["SIDEREAL_SMTP_URL", "SIDEREAL_MAIL_FROM"],
] as const;
