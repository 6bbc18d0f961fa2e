/** Entry point of the thread of `scanner.ts`: runs statements on a connection that only reads. */
import { parentPort, workerData } from "node:worker_threads";
import { CompiledQuery } from "kysely";
import { DatabaseFault } from "./fault.js";
import type { ScanResult } from "./scanner.js";
import { openSqlite } from "./sqlite.js";

/** Little: a page that drops out is mostly still in the system's cache. */
const CACHE_KIB = 8_192;

const { db } = openSqlite(workerData, { synchronous: "NORMAL", cacheKib: CACHE_KIB });

async function run(text: string, parameters: unknown[]): Promise<ScanResult> {
  try {
    return { rows: (await db.executeQuery(CompiledQuery.raw(text, parameters))).rows };
  } catch (error) {
    if (error instanceof DatabaseFault) return { kind: error.kind, error: error.cause };
    return { kind: undefined, error };
  }
}

let last: Promise<unknown> = Promise.resolve();
parentPort?.on("message", ([text, parameters]: [string, unknown[]]) => {
  // One after the other, as their results say nothing else about them.
  last = last.then(async () => parentPort?.postMessage(await run(text, parameters)));
});
