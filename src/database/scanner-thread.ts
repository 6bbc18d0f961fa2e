/** Entry point of the thread of `scanner.ts`: runs statements on a connection that only reads. */
import { parentPort, workerData } from "node:worker_threads";
import { CompiledQuery } from "kysely";
import { DatabaseFault } from "./fault.js";
import type { ScannerData, ScanRequest, ScanResult } from "./scanner.js";
import { openSqlite } from "./sqlite.js";

/** Little: a page that drops out is mostly still in the system's cache. */
const CACHE_KIB = 8_192;

const parent = parentPort;
if (parent === null) throw new Error("this file is the entry of a thread");
const { path }: ScannerData = workerData;
const { db } = openSqlite(path, { synchronous: "NORMAL", cacheKib: CACHE_KIB });

async function run({ sql, parameters }: ScanRequest): Promise<ScanResult> {
  try {
    const { rows } = await db.executeQuery(CompiledQuery.raw(sql, [...parameters]));
    return { rows };
  } catch (error) {
    if (error instanceof DatabaseFault) return { kind: error.kind, error: error.cause };
    return { kind: undefined, error };
  }
}

let last: Promise<unknown> = Promise.resolve();
parent.on("message", (request: ScanRequest) => {
  // In the order of the requests, as their results say nothing else about them.
  last = last.then(async () => parent.postMessage(await run(request)));
});
