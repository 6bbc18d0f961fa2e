/** Why a command failed, as one sentence for the operator: the failure, in the words of the system, and its remedy. */
import { resolve, sep } from "node:path";
import { z } from "zod";
import { type Config, METRICS_PORTS } from "../config/config.js";
import { DatabaseFault, type FaultKind, StoreRefused } from "../database/database.js";

interface Failure {
  sentence: string;
  /** Whether it may pass without the operator: a service then waits before it starts. */
  mayPass: boolean;
}

/** An error of the system. `code`: its name, or PostgreSQL's SQLSTATE. `errcode`: SQLite's result code. */
const Cause = z.object({
  message: z.string(),
  code: z.string().catch(""),
  errcode: z.number().catch(0),
  syscall: z.string().catch(""),
  path: z.string().catch(""),
  port: z.number().catch(0),
});
type Cause = z.infer<typeof Cause>;

/** The failure, its remedy, and whether it may pass. */
type Words = readonly [what: string, advice: string, mayPass?: boolean];

/** Undefined for a fault of the program itself, which only its stack explains. */
export function failureOf(error: unknown, config: Config): Failure | undefined {
  if (error instanceof StoreRefused) return { sentence: error.message, mayPass: false };
  if (!(error instanceof Error)) return undefined;
  if (error.cause instanceof StoreRefused) return { sentence: error.cause.message, mayPass: false };
  const { databaseUrl, dataDir } = config;
  const fault = error instanceof DatabaseFault ? error.kind : undefined;
  const cause = Cause.parse(fault !== undefined && error.cause instanceof Error ? error.cause : error);
  const words =
    (fault === undefined ? ofSystem(cause, config) : undefined) ??
    (databaseUrl === undefined ? ofSqlite(cause, fault, dataDir) : ofPostgres(cause, fault, databaseUrl)) ??
    (cause.path === "" ? undefined : ["A file cannot be used", "correct its path or its rights"]);
  if (words === undefined) return undefined;
  const [what, advice, mayPass = false] = words;
  return { sentence: `${what} (${error.message}): ${advice}.`, mayPass };
}

function ofSystem({ code, syscall, port }: Cause, config: Config): Words | undefined {
  const { metricsPort = Number.POSITIVE_INFINITY } = config;
  const isOfMetrics = port >= metricsPort && port < metricsPort + METRICS_PORTS && port !== config.port;
  const prefix = isOfMetrics ? "SIDEREAL_METRICS" : "SIDEREAL";
  if (code === "EADDRINUSE")
    return [`Another program uses port ${port}`, `stop it, or set ${prefix}_PORT to another port`];
  if (code === "EACCES" && syscall === "listen")
    return [`This user may not open port ${port}`, `set ${prefix}_PORT to 1024 or more`];
  if (code === "EADDRNOTAVAIL" || syscall === "getaddrinfo")
    return ["This machine has no such address to listen on", `correct ${prefix}_HOST`];
  if (code === "EISDIR") return ["A folder is named where a file is needed", "name a file"];
  if (code === "ENOSPC" || code === "EDQUOT") return ["The disk is full", "free space on it"];
  return undefined;
}

/** Primary result codes of SQLite (sqlite.org/rescode.html): SQLITE_CORRUPT and SQLITE_NOTADB; SQLITE_IOERR. */
const DAMAGED: readonly number[] = [11, 26];
const IO_ERROR = 10;

function ofSqlite(
  { errcode, path }: Cause,
  fault: FaultKind | undefined,
  dataDir: string,
): Words | undefined {
  const folder = resolve(dataDir);
  if (fault === "full") return [`The disk of ${folder} is full`, "free space on it"];
  if (fault === "busy") return [`Another process locks the database in ${folder}`, "end it, then try again"];
  const result = errcode & 0xff;
  if (result === IO_ERROR) return [`The disk of ${folder} fails`, 'check it, then run "sidereal check"'];
  if (DAMAGED.includes(result))
    return [`The database in ${folder} is damaged`, 'run "sidereal check", or restore a backup'];
  if (fault === "unavailable" || (path !== "" && (resolve(path) + sep).startsWith(folder + sep)))
    return [
      `The data folder ${folder} cannot be used`,
      "let this user write there, or set SIDEREAL_DATA_DIR to another folder",
    ];
  return undefined;
}

function ofPostgres(
  { code, syscall, message }: Cause,
  fault: FaultKind | undefined,
  url: string,
): Words | undefined {
  const address = URL.parse(url);
  const server = `The database server at ${address?.host || address?.searchParams.get("host") || "localhost"}`;
  const setting = "SIDEREAL_DATABASE_URL";
  // A missing password has no code.
  if (code.startsWith("28") || message.startsWith("SASL"))
    return [`${server} refuses the user`, `correct the user and the password in ${setting}`];
  if (code === "3D000") return [`${server} has no such database`, `create it, or correct ${setting}`];
  if (code === "42501") return [`${server} denies a right`, `let the user in ${setting} create tables`];
  if (fault === undefined) return undefined;
  if (fault === "full") return [`${server} has a full disk`, "free space on it"];
  if (syscall === "open") return [`A file that ${setting} names cannot be read`, "correct its path"];
  if (/CERT|SSL|TLS|UNABLE_TO/.test(code + message))
    return [`${server} cannot be reached over TLS`, `correct sslmode and sslrootcert in ${setting}`];
  if (fault === "busy")
    return [`${server} is busy`, "try again later, or let it take more connections", true];
  return [`${server} cannot be reached`, `start it, or correct ${setting}`, true];
}
