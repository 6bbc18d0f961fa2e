/** Shared by all commands: the services of the host, exit codes, reports and progress. */
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { SingleBar } from "cli-progress";
import type { Config } from "../config/config.js";
import { hasStore } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { Modules } from "../modules.js";
import type { Pass } from "../publish/publish.js";
import type { Plan } from "../tracking/tracking.js";

/** Services for commands, provided by `run.ts`. */
export interface Host {
  /** Read on first use. Throws a ConfigError. */
  readonly config: Config;
  clock: Clock;
  /** The folder of the user for what may be lost. */
  cacheFolder: string;
  /** Gives answers, from a person at a terminal or not. */
  stdin: Readable & { isTTY?: boolean };
  /** Receives reports, and exports without a file. */
  stdout: Writable;
  /** Receives problems. */
  stderr: Writable;
  /** `upgrades`: an older store is migrated, otherwise refused. `copyIn`: the folder of a copy to open instead. */
  openModules(options?: { upgrades?: boolean; copyIn?: string }): Promise<Modules>;
  /** Serves until the process receives a signal to stop. */
  serve(): Promise<void>;
  /** Serves, and tracks the configured providers in a child process, until the process receives a signal to stop. */
  start(withSample: boolean): Promise<void>;
  /** Tracks the configured providers until the process receives a signal to stop. */
  work(): Promise<void>;
  /** Does the work that is due now at the configured providers, then ends. */
  workOnce(): Promise<void>;
  /** The requests that a worker would send now, with at most `limit` repositories per lane. Requests and changes nothing. */
  explain(limit: number): Promise<Plan[]>;
  openTracker(): Promise<Tracker>;
  /** Opens a store of its own, for a command that needs no other. */
  openPass(): Promise<Pass>;
  /** Serves tools for language models over the local store, or `url`, until the input ends. Returns why it cannot, if so. */
  mcp(url: string | undefined): Promise<string | undefined>;
}

/** Tracks and refreshes single repositories. */
export interface Tracker {
  /** `queued`: the active worker has not looked it up yet. Throws UpstreamFailure, and AppError while the queue is full. */
  track(
    provider: string,
    fullName: string,
  ): Promise<{ result: "tracked" | "known" | "queued"; repositoryId: number | null } | { failure: string }>;
  /** `unknown`: not tracked. `queued`: the active worker has not refreshed it yet. Throws UpstreamFailure. */
  refresh(
    provider: string,
    fullName: string,
  ): Promise<"found" | "unchanged" | "unknown" | "queued" | { failure: string }>;
  close(): Promise<void>;
}

/**
 * Exit codes, as documented: success; failed; invalid arguments; done, but some lines were refused. Of `check`: damage was found,
 * and all of it repaired; there is damage. Of `publish`: nothing could be read. Of `migrate --check`: a migration is needed.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  repaired: 4,
  unread: 4,
  pending: 4,
  damaged: 5,
} as const;

/** Ends a command with a message on standard error. */
export class CommandFault extends Error {
  readonly code: number;

  constructor(message: string, code: number = EXIT.usage) {
    super(message);
    this.code = code;
  }
}

/** Throws if the store of the settings does not exist: a command that only reads must not make an empty one in a wrong folder. */
export function requireStore({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || dataDir === ":memory:" || hasStore(dataDir)) return;
  throw new CommandFault(
    `There is no store in ${resolve(dataDir)}. Run this where the service runs, or set SIDEREAL_DATA_DIR or SIDEREAL_DATABASE_URL.`,
    EXIT.failed,
  );
}

/** Opens the modules for some work, and closes them after it. */
export async function withModules<T>(
  host: Host,
  work: (modules: Modules) => Promise<T>,
  options?: Parameters<Host["openModules"]>[0],
): Promise<T> {
  const modules = await host.openModules(options);
  try {
    return await work(modules);
  } finally {
    await modules.database.close();
  }
}

/** Progress of a long command: a bar with rate and time left at a terminal, nothing elsewhere. */
interface Progress {
  update(done: number, facts?: Record<string, string>): void;
  stop(): void;
}

/** A bar on standard error. `format` may use {bar}, {percentage}, {eta_formatted} and the facts given to `update`. */
export function showProgress(total: number, format: string): Progress {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format,
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 50,
  });
  bar.start(Math.max(1, total), 0, { rate: "–", file: "" });
  return {
    update: (done, facts) => bar.update(Math.min(done, total), facts),
    stop: () => bar.stop(),
  };
}

/** A report: a sentence for people, or a JSON object for machines. */
export function reportOf(json: boolean, facts: object, sentence: string): string {
  return `${json ? JSON.stringify(facts) : sentence}\n`;
}
