/**
 * Entry of the process that runs a cluster for the tests: a coordinator and two workers with Citus. It writes a line of JSON when
 * all accept connections, could not start or are not installed, and removes them when its standard input ends.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  dataParent,
  initialise,
  launchOnFreePort,
  NO_CITUS,
  newFolder,
  programsWithCitus,
  stop,
  UNSAFE_WRITES,
  unprivilegedUser,
} from "./postgres-node.js";

/** What the process writes: the ports, the coordinator's first; or why there are none. */
export type CitusReport = { ports: number[] } | { missing: string } | { problem: string };

const WORKERS = 2;

const SETTINGS = {
  ...UNSAFE_WRITES,
  shared_preload_libraries: "citus",
  wal_level: "logical",
  max_prepared_transactions: 300,
  // Each database has a process of Citus on each node.
  max_worker_processes: 200,
  shared_buffers: "64MB",
  "citus.shard_count": 4,
  "citus.node_conninfo": "sslmode=disable",
};

function report(line: CitusReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.stdout.on("error", () => {});
const nodes: ChildProcess[] = [];
let folder: string | undefined;
try {
  const programs = programsWithCitus();
  if (programs === undefined) report({ missing: NO_CITUS });
  else {
    folder = newFolder(dataParent());
    const identity = unprivilegedUser();
    const ports: number[] = [];
    for (let i = 0; i <= WORKERS; i++) {
      const place = { programs, data: join(folder, `node-${i}`), identity };
      initialise(place);
      const { port, server } = await launchOnFreePort(place, SETTINGS);
      nodes.push(server);
      ports.push(port);
    }
    report({ ports });
    await once(process.stdin.resume(), "end");
  }
} catch (error) {
  report({ problem: error instanceof Error ? error.message : String(error) });
} finally {
  for (const node of nodes) await stop(node);
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
