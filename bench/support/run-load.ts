import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { LoadReport, LoadRequest } from "./load.js";
import { endChild, LOAD_CORE, type MeasuredServer, spawnPinned } from "./processes.js";

const PROCESS = fileURLToPath(new URL("./load-process.js", import.meta.url));

/** What the load process does: either a constant rate (requests per second), or a number of clients as fast as possible. */
export type LoadJob = {
  /** Addresses of servers, which get the requests alternately. */
  urls: readonly string[];
  requests: readonly LoadRequest[];
  seconds: number;
  headers: Readonly<Record<string, string>>;
} & LoadMode;

/** `connections`: most of them at the same time; those that are needed beyond wait for one. */
export type LoadMode = { rate: number; connections?: number } | { clients: number };

/** What the load process writes. */
export interface SentReport extends LoadReport {
  /** Requests sent before the measurement. */
  sentBefore: number;
}

export interface ServerLoadReport extends LoadReport {
  /** CPU time of the server's process and its children per response, in ms; undefined where the system does not tell. */
  cpuMs: number | undefined;
}

export interface LoadOptions {
  requests: readonly LoadRequest[];
  headers?: Readonly<Record<string, string>>;
  mayFail?: boolean;
  /** Servers that get requests too, the same number each. Nothing is pinned to a core then, also with none of them. */
  others?: readonly MeasuredServer[];
}

/** Requests per second that the sender can send in time. */
const MOST_RATE = 2_000;

/** The constant rate at which a server is measured: 30 % of its responses per second at peak. */
export const steadyRate = (peak: number): number => Math.min(MOST_RATE, Math.max(1, Math.floor(peak * 0.3)));

/** Sends load to a server from a process on its own core. Throws if nothing was sent, or a request failed that `mayFail` does not allow. */
export async function runLoad(
  server: MeasuredServer,
  { requests, headers = {}, mayFail = false, others }: LoadOptions,
  mode: LoadMode & { seconds: number },
): Promise<ServerLoadReport> {
  const servers = [server, ...(others ?? [])];
  const job: LoadJob = { urls: servers.map(({ url }) => url), requests, headers, ...mode };
  const cpuSeconds = () => servers.reduce((sum, one) => sum + (one.cpuSeconds() ?? Number.NaN), 0);
  const before = cpuSeconds();
  const core = others === undefined ? LOAD_CORE : undefined;
  const child = spawnPinned(process.execPath, [PROCESS], { core, stdin: "pipe" });
  try {
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error("the load process has no pipes");
    const ended = once(child, "exit");
    stdin.end(JSON.stringify(job));
    const [output, [code]] = await Promise.all([text(stdout), ended]);
    if (code !== 0) throw new Error(`the load process ended with ${code}`);
    const report: SentReport = JSON.parse(output);
    if (report.failed > 0 && !mayFail)
      throw new Error(
        `${report.failed} of ${report.all.count} requests failed: ${report.failures.join("; ")}`,
      );
    const used = cpuSeconds() - before;
    const sent = report.sentBefore + report.all.count;
    const cpuMs = Number.isNaN(used) ? undefined : (used * 1_000) / sent;
    return { ...report, cpuMs };
  } finally {
    await endChild(child);
  }
}
