import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { LoadReport, LoadRequest } from "./load.js";
import { endChild, LOAD_CORE, type MeasuredServer, spawnPinned } from "./processes.js";

const PROCESS = fileURLToPath(new URL("./load-process.js", import.meta.url));

/** What the load process does: either a constant rate (requests per second), or a number of clients as fast as possible. */
export type LoadJob = {
  url: string;
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

/** Sends load to a server from a process on its own core. Throws if nothing was sent, or a request failed that `mayFail` does not allow. */
export async function runLoad(
  server: MeasuredServer,
  {
    requests,
    headers = {},
    mayFail = false,
  }: { requests: readonly LoadRequest[]; headers?: Readonly<Record<string, string>>; mayFail?: boolean },
  mode: LoadMode & { seconds: number },
): Promise<ServerLoadReport> {
  const job: LoadJob = { url: server.url, requests, headers, ...mode };
  const before = server.cpuSeconds();
  const child = spawnPinned(process.execPath, [PROCESS], { core: LOAD_CORE, stdin: "pipe" });
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
    const after = server.cpuSeconds();
    const sent = report.sentBefore + report.all.count;
    const cpuMs = before === undefined || after === undefined ? undefined : ((after - before) * 1_000) / sent;
    return { ...report, cpuMs };
  } finally {
    await endChild(child);
  }
}
