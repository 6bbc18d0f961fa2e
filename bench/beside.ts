/** Reads, and changes of watchlists, while another process writes the catalogue and derives data at full speed. */
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { limits } from "../test/support/limits.js";
import { GENEROUS_LIMITS } from "./support/keys.js";
import { mixOf, resolveMix } from "./support/mix.js";
import {
  endChild,
  LOAD_CORE,
  type MeasuredServer,
  spawnPinned,
  startSidereal,
  waitForLine,
} from "./support/processes.js";
import { type BenchContext, type ResultRow, ratioRow } from "./support/results.js";
import { runLoad, steadyRate } from "./support/run-load.js";
import { interleave, quantile } from "./support/statistics.js";
import { copyStore, generatorOptions, type Store } from "./support/stores.js";

const WRITER = fileURLToPath(new URL("./support/writer-process.js", import.meta.url));
const SETTINGS = {
  ...GENEROUS_LIMITS,
  ...limits("write=1000000,watchlists=1000000"),
};
const CLIENTS = 8;
/** Requests before the first measured one. */
const WARM_UP = 500;

export async function measureBeside({ store, rounds, seconds, report }: BenchContext): Promise<ResultRow[]> {
  const copy = await copyStore(store);
  const server = await startSidereal(copy, SETTINGS);
  const waits: number[] = [];
  try {
    const mix = await resolveMix(server.url, mixOf(generatorOptions(store)));
    await runLoad(server, { requests: mix.slice(0, WARM_UP) }, { clients: CLIENTS, seconds });
    const peak = await runLoad(server, { requests: mix }, { clients: CLIENTS, seconds });
    const rate = steadyRate(peak.perSecond);
    const read = async () => (await runLoad(server, { requests: mix }, { rate, seconds })).all.p99;
    const values = await interleave(rounds, {
      beside: () =>
        whileWriting(
          copy,
          async () => (await Promise.all([read(), changeWatchlists(server, { seconds, waits })]))[0],
        ),
      alone: read,
    });
    report(`reads at ${rate} requests/s are compared with and without writes`);
    return [
      ratioRow(
        {
          measure: "mix, p99 latency at a constant rate, beside writes",
          unit: "ms",
          store,
          target: { atMost: 2 },
          note: `${rate} requests/s, cache on`,
        },
        values.beside,
        { name: "without writes", values: values.alone },
      ),
      {
        measure: "longest change of a watchlist beside writes",
        unit: "ms",
        size: store.size,
        engine: store.engine,
        value: quantile(waits, 1),
        target: { atMost: 100 },
        note: `of ${waits.length}; median ${quantile(waits, 0.5).toFixed(0)}`,
      },
    ];
  } finally {
    await server.stop();
    await copy.remove();
  }
}

/** Runs something while the writer writes. */
async function whileWriting<T>(store: Store, work: () => Promise<T>): Promise<T> {
  const [command, ...args] = ["nice", "-n", "10", process.execPath, WRITER, JSON.stringify(store)];
  const writer = spawnPinned(command ?? "", args, { core: LOAD_CORE, stdin: "pipe" });
  try {
    await waitForLine(writer, /^(writes)$/);
    return await work();
  } finally {
    writer.stdin?.end();
    await endChild(writer);
  }
}

/** Creates watchlists one after the other for so long, and notes how long each took in ms. */
async function changeWatchlists(
  server: MeasuredServer,
  { seconds, waits }: { seconds: number; waits: number[] },
): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const began = performance.now();
    const { statusCode, body } = await request(`${server.url}/api/watchlists`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: "bench" }),
    });
    await body.dump();
    if (statusCode >= 400) throw new Error(`a watchlist was refused with ${statusCode}`);
    waits.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
