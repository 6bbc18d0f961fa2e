/**
 * What the most expensive requests cost: CPU time of the process, units of their bucket, and CPU time per unit. The response cache is
 * off, as a caller can always send what is not cached yet. `npm run -s build && node dist/bench/costs.js [--size 100000] [--only NAME]`.
 * The bounds of decision 10 follow from it: the sum over the buckets of limit × CPU per unit.
 */
import { parseArgs } from "node:util";
import { BUCKETS, type Bucket, DEFAULT_LIMITS } from "../src/config/limits.js";
import { chargeOf } from "./support/charges.js";
import { GENEROUS_LIMITS } from "./support/keys.js";
import { type MeasuredServer, startSidereal } from "./support/processes.js";
import { copyStore, defaultFolder, openStore, prepareStore } from "./support/stores.js";
import { prepareWorst, type WorstRequest, worstRequests } from "./support/worst.js";

interface Measured {
  name: string;
  status: number;
  bucket: Bucket;
  units: number;
  /** CPU time per request, in ms. */
  ms: number;
}

/** Requests that warm the code up, and that are measured: until they took so much time in all. */
const WARM_MS = 400;
const MEASURED_MS = 1_500;

async function measure(server: MeasuredServer, request: WorstRequest): Promise<Measured> {
  let [i, status] = [1, 0];
  const send = async () => {
    i++;
    const response = await fetch(server.url + request.path(i), {
      method: request.method ?? "GET",
      headers: { "Accept-Encoding": "br", ...request.headers?.(i) },
      ...(request.body === undefined ? {} : { body: request.body(i) }),
      redirect: "manual",
    });
    status = response.status;
    await response.arrayBuffer();
  };
  const during = async (ms: number) => {
    const [began, from] = [server.threadCpuMs() ?? Number.NaN, i];
    for (const end = performance.now() + ms; performance.now() < end; ) await send();
    return ((server.threadCpuMs() ?? Number.NaN) - began) / (i - from);
  };
  await during(WARM_MS);
  const ms = await during(MEASURED_MS);
  return { name: request.name, status, ...chargeOf(request, request.path(i)), ms };
}

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "100000" },
    folder: { type: "string", default: defaultFolder() },
    only: { type: "string", default: "" },
  },
});
const print = (line: string) => process.stdout.write(`${line}\n`);
const place = { folder: values.folder, postgresUrl: undefined };
const store = await copyStore(
  await prepareStore({ engine: "sqlite", size: Number(values.size), days: 7 }, place, print),
);
try {
  const modules = await openStore(store);
  const subject = await prepareWorst(modules).finally(() => modules.database.close());
  const server = await startSidereal(store, {
    ...GENEROUS_LIMITS,
    SIDEREAL_CACHE_MB: "0",
  });
  // The list index is built after the start.
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  try {
    print("Request | Status | Bucket | Units | CPU ms | CPU ms per unit");
    const rows: Measured[] = [];
    for (const request of worstRequests(subject).filter(({ name }) => name.includes(values.only))) {
      const row = await measure(server, request);
      rows.push(row);
      const { name, status, bucket, units, ms } = row;
      print(`${name} | ${status} | ${bucket} | ${units} | ${ms.toFixed(2)} | ${(ms / units).toFixed(2)}`);
    }
    const limits = DEFAULT_LIMITS;
    for (const kind of ["anonymous", "signed_in", "key"] as const) {
      let sum = 0;
      for (const bucket of BUCKETS) {
        const limit = limits[bucket][kind] ?? 0;
        const most = Math.max(
          0,
          ...rows.filter((row) => row.bucket === bucket && row.units > 0).map(({ ms, units }) => ms / units),
        );
        sum += limit * most;
        print(
          `${kind} ${bucket}: ${limit} × ${most.toFixed(2)} ms = ${((limit * most) / 1_000).toFixed(1)} s`,
        );
      }
      print(`${kind}: ${(sum / 1_000).toFixed(1)} s of CPU per minute`);
    }
  } finally {
    await server.stop();
  }
} finally {
  await store.remove();
}
