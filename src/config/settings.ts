import { z } from "zod";
import { LOG_LEVELS } from "../lib/log.js";
import { limitList } from "./limits.js";
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

/** Who may request that repositories are tracked: nobody, accounts, or everybody. */
const TRACK_ACCESS = ["off", "accounts", "everyone"] as const;
export type TrackAccess = (typeof TRACK_ACCESS)[number];

/**
 * Every setting: its rule, its default and, for the tables of `docs/CONFIGURATION.md`, both in words (`standard`: if the default is not one
 * value) and its meaning.
 */
export const SETTINGS = {
  SIDEREAL_HOST: ownHost.default("127.0.0.1").meta({
    rule: "an IP address or the name of a host",
    meaning: "Address to listen on. `0.0.0.0` or `::` for all",
  }),
  SIDEREAL_PORT: whole(0, 65_535).default(3000).meta({
    rule: "0 to 65535",
    meaning: "Port to listen on. 0: any free port, which is printed on standard output",
  }),
  SIDEREAL_REUSE_PORT: flag.default(false).meta({
    rule: "`true` or `false`",
    meaning:
      "Several `serve` processes of a machine may open the same port, see [OPERATIONS.md](OPERATIONS.md#several-processes)",
  }),
  SIDEREAL_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .refine(
      (url) => /^https?:\/\/[^/?#]+(?:\/[\w.~-]+)*$/.test(url),
      "must not have a query, a fragment or escapes; its path may consist of letters, digits, . _ ~ and -",
    )
    .optional()
    .meta({
      rule: "an `http` or `https` URL without query; its path consists of letters, digits, `.`, `_`, `~` and `-`",
      meaning:
        "Public address, which may have a path, see [below](#base-url). A slash at the end is dropped. `<host>` is `localhost` if `SIDEREAL_HOST` is all addresses",
      standard: "`http://<host>:<port>`",
    }),
  SIDEREAL_ALLOWED_HOSTS: hostList.optional().meta({
    rule: "host names and addresses without ports, separated by commas, or `*`",
    meaning:
      "Hosts under which the service responds besides that of the base URL, see [private addresses](#private-addresses). `*`: under any",
    standard: "none, or any host for a public base URL",
  }),
  SIDEREAL_CORS: flag.optional().meta({
    rule: "`true` or `false`",
    meaning: "Whether pages of other sites may use the API, see [private addresses](#private-addresses)",
    standard: "`true` for a public base URL, else `false`",
  }),
  SIDEREAL_DATA_DIR: z.string().min(1).default("./data").meta({
    rule: "not empty",
    meaning:
      "Folder of the SQLite file; created, for its owner alone, if missing. `:memory:` keeps everything in the process; not allowed with providers, whose worker is another process",
  }),
  SIDEREAL_DATABASE_URL: postgresAddress.optional().meta({
    rule: "begins with `postgres://` or `postgresql://`",
    meaning:
      "PostgreSQL to use instead of SQLite. In the password, write `#` as `%23`, `/` as `%2F` and `?` as `%3F`. Secret",
  }),
  SIDEREAL_DATABASE_POOL: whole(1, 200).default(10).meta({
    rule: "1 to 200",
    meaning:
      "PostgreSQL only: maximum connections for reads. Half as many, at least two, are opened for writes in addition",
  }),
  SIDEREAL_DATABASE_READ_URL: postgresAddress.optional().meta({
    rule: "begins with `postgres://` or `postgresql://`",
    meaning:
      "A [replica](OPERATIONS.md#a-replica-for-slow-reads) of `SIDEREAL_DATABASE_URL` that series and exports are read from. Secret",
  }),
  SIDEREAL_DRAIN_SECONDS: whole(0, 300).default(0).meta({
    rule: "0 to 300",
    meaning:
      "How long `serve` keeps serving after the signal to stop, while `/readyz` responds 503, so that a balancer sends requests elsewhere ([stopping](OPERATIONS.md#signals))",
  }),
  SIDEREAL_LOG_LEVEL: z.enum(LOG_LEVELS).default("info").meta({
    rule: "`fatal`, `error`, `warn`, `info`, `debug`, `trace`, `silent`",
    meaning: "Least severe messages that are logged",
  }),
  SIDEREAL_SAMPLE: flag.default(true).meta({
    rule: "`true` or `false`",
    meaning:
      "Whether `start` without providers fills an empty catalogue with the [sample](OPERATIONS.md#the-sample). `false` also removes a sample that is there",
  }),
  SIDEREAL_CACHE_MB: whole(0, 65_536).default(64).meta({
    rule: "0 to 65536",
    meaning:
      "Maximum memory of the response cache, in MiB. 0 turns it off. Responses larger than a tenth of it are not cached",
  }),
  SIDEREAL_LIMITS: limitList.prefault("").meta({
    rule: "`false`, or limits as `name=number`, separated by commas",
    meaning:
      "Limits that differ from [their defaults](#limits), such as `default=300,search=60`. `false`: no limits; only if everybody who can reach the port is trusted",
  }),
  SIDEREAL_REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: "must be redis://host:port/database; rediss for TLS" })
    .optional()
    .meta({
      rule: "`redis://` or `rediss://`",
      meaning:
        "Redis or Valkey, through which several processes count together and announce revocations, see [Redis](#redis). Secret",
    }),
  SIDEREAL_TRUSTED_PROXIES: networkList.default([]).meta({
    rule: "addresses and networks (CIDR), separated by commas",
    meaning: "Proxies whose `X-Forwarded-For` is trusted, see below",
  }),
  SIDEREAL_PROVIDERS: z.string().default("").meta({
    rule: "names, separated by commas",
    meaning:
      "Forges to track: `github`, `gitlab`, `codeberg`, and names of your own, see [providers](#providers)",
  }),
  SIDEREAL_CONTACT: contactAddress.optional().meta({
    rule: "a mail address or a web address, in ASCII",
    meaning:
      "How to reach you: sent to forges with every request, and a link at the foot of every page and in `/.well-known/security.txt`. Without it a worker warns if it tracks a public forge",
  }),
  SIDEREAL_TRACK: z.enum(TRACK_ACCESS).optional().meta({
    rule: "`off`, `accounts` or `everyone`",
    meaning: "Who may request that repositories are tracked",
    standard: "`accounts` if people can sign in, else `off`",
  }),
  SIDEREAL_DUMPS_DIR: z.string().min(1).optional().meta({
    rule: "not empty",
    meaning:
      "Folder of [dumps](OPERATIONS.md#dumps) for everybody to download: the worker writes one a week, and keeps four. Without it there are none",
  }),
  SIDEREAL_METRICS_HOST: ownHost.default("127.0.0.1").meta({
    rule: "an IP address or the name of a host",
    meaning: "Address on which the metrics are served",
  }),
  SIDEREAL_METRICS_PORT: whole(0, 65_534).optional().meta({
    rule: "0 to 65534",
    meaning:
      "Port for the [metrics](OPERATIONS.md#metrics) of a service at `/metrics`; its worker has the next one. Without it they are not served. 0: any free port",
  }),
  SIDEREAL_API_KEY: z.string().max(200).optional().meta({
    rule: "at most 200 characters",
    meaning: "The API key that `sidereal mcp --url` sends, see [MCP.md](MCP.md#over-stdio). Secret",
  }),
  SIDEREAL_AUTH_SECRET: longSecret.optional().meta({
    rule: "at least 32 characters",
    meaning: "Signs session cookies, and hashes sign-in codes. Changing it signs everybody out. Secret",
    standard: "generated",
    section: "signing-in",
  }),
  SIDEREAL_OPERATORS: mailList.default([]).meta({
    rule: "mail addresses, separated by commas",
    meaning:
      "Accounts with these addresses see the page `/operator`, may enter tokens of forges there, and may request repositories without a quota",
    section: "operators",
  }),
  SIDEREAL_TOKEN_KEY: longSecret.optional().meta({
    rule: "at least 32 characters",
    meaning:
      "Key that encrypts tokens entered on a page. The service and the worker need the same one. Secret",
    standard: "see [operators](#operators)",
    section: "operators",
  }),
  SIDEREAL_AUTH_GITHUB_ID: z.string().optional().meta({
    rule: "requires the secret",
    meaning: "Client id of an OAuth app on GitHub, for signing in with GitHub",
    section: "signing-in",
  }),
  SIDEREAL_AUTH_GITHUB_SECRET: z
    .string()
    .optional()
    .meta({ rule: "requires the id", meaning: "Its client secret. Secret", section: "signing-in" }),
  SIDEREAL_AUTH_GOOGLE_ID: z.string().optional().meta({
    rule: "requires the secret",
    meaning: "Client id of an OAuth client at Google, for signing in with Google",
    section: "signing-in",
  }),
  SIDEREAL_AUTH_GOOGLE_SECRET: z
    .string()
    .optional()
    .meta({ rule: "requires the id", meaning: "Its client secret. Secret", section: "signing-in" }),
  SIDEREAL_SMTP_URL: mailServer.optional().meta({
    rule: "begins with `smtp://` or `smtps://`",
    meaning: "Mail server that sends sign-in links and codes, with user name and password if needed. Secret",
    section: "signing-in",
  }),
  SIDEREAL_MAIL_FROM: mailSender.optional().meta({
    rule: "an e-mail address, may have a name",
    meaning: "Sender of that mail, such as `Sidereal <sidereal@example.org>`. Required with a mail server",
    section: "signing-in",
  }),
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
