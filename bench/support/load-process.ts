/** Entry of the process that sends load: reads one LoadJob from standard input, writes one LoadReport to standard output. */
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Pool } from "undici";
import { type LoadClock, type LoadReport, type Send, sendAtPeak, sendAtRate } from "./load.js";
import type { LoadJob, SentReport } from "./run-load.js";

/** Timers are only exact to a millisecond or two, so the last of them is spent asking for the time. */
const SPIN_MS = 2;
const CONNECTIONS = 128;
const NO_HEADERS = {};
/** Time before the measurement in which the sender connects and compiles its code: that would count as latency. */
const WARM_UP_SECONDS = 1;

const clock: LoadClock = {
  now: () => performance.now(),
  async reach(ms) {
    const rest = ms - performance.now();
    if (rest > SPIN_MS) await setTimeout(rest - SPIN_MS);
    while (performance.now() < ms) await setImmediate();
  },
};

const job: LoadJob = JSON.parse(await text(process.stdin));
const connections = "rate" in job ? (job.connections ?? CONNECTIONS) : job.clients;
const pools = job.urls.map((url) => new Pool(url, { connections, pipelining: 1 }));
let sent = 0;
const send: Send = ({ path, headers = NO_HEADERS }) =>
  new Promise((resolve, reject) => {
    let status = 0;
    pools[sent++ % pools.length]?.dispatch(
      { path, method: "GET", headers: { ...job.headers, ...headers } },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData() {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
const sendFor = (seconds: number): Promise<LoadReport> => {
  const load = { requests: job.requests, seconds, send, clock };
  return "rate" in job ? sendAtRate(load, job.rate) : sendAtPeak(load, job.clients);
};
const warm = await sendFor(WARM_UP_SECONDS);
const report: SentReport = { ...(await sendFor(job.seconds)), sentBefore: warm.all.count };
await Promise.all(pools.map((pool) => pool.close()));
process.stdout.write(JSON.stringify(report));
