/**
 * Threads that answer at one port. Each is a whole service with its own connections to the database; they share the table of
 * allowances and nothing else. The machine gives each connection to one of them. A thread that ends by itself ends the
 * service: what it held, such as a place in the table, may be in any state.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import type { AppContext, ServiceShare } from "../app.js";
import type { Config } from "../config.js";
import { createTableMemory } from "../metering/metering.js";

/** What a thread is given. */
export interface ThreadData {
  config: Config;
  share: ServiceShare;
}

/** What a thread says once it answers. */
export interface ThreadStarted {
  port: number;
  url: string;
}

export interface Threads {
  port: number;
  url: string;
  /** Ends, with the reason, when a thread has ended by itself; never otherwise. */
  failed: Promise<Error>;
  /** Lets running requests end, then ends all threads. */
  stop(): Promise<void>;
}

/** Time that threads get to end by themselves: a little more than the requests in them. */
const STOP_MS = 9_000;

/**
 * Starts as many threads as are configured, one after the other where that matters: the first one finds the port and makes
 * what is made once. The database must be migrated. Throws when a thread cannot start; then none is left.
 */
export async function startThreads({ config, log }: AppContext): Promise<Threads> {
  await checkPort(config);
  const share: ServiceShare = { memory: createTableMemory() };
  const count = config.httpThreads;
  const parts = {
    databasePool: Math.max(1, Math.ceil(config.databasePool / count)),
    cacheBytes: Math.floor(config.cacheBytes / count),
  };
  const running: Worker[] = [];
  let isStopping = false;
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const start = async (own: Partial<Config>): Promise<ThreadStarted> => {
    const workerData: ThreadData = { config: { ...config, ...parts, ...own }, share };
    const worker = new Worker(new URL("./thread.js", import.meta.url), { workerData });
    running.push(worker);
    const ended = once(worker, "exit").then(([code]) => {
      throw new Error(`A thread ended with ${code} before it answered.`);
    });
    const [started] = await Promise.race([once(worker, "message"), ended]);
    worker.on("error", (error) => log.fatal({ err: error }, "a thread has failed"));
    worker.once("exit", (code) => {
      if (!isStopping) fail(new Error(`A thread that answers requests ended by itself, with ${code}.`));
    });
    return started;
  };
  const stop = async (): Promise<void> => {
    isStopping = true;
    const ended = running.map((worker) => (worker.threadId === -1 ? undefined : once(worker, "exit")));
    for (const worker of running) worker.postMessage("stop");
    const deadline = setTimeout(() => {
      for (const worker of running) void worker.terminate();
    }, STOP_MS);
    await Promise.allSettled(ended);
    clearTimeout(deadline);
  };
  try {
    const first = await start({});
    const { port, url } = first;
    await Promise.all(Array.from({ length: count - 1 }, () => start({ port, baseUrl: url })));
    return { ...first, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Fails where the port is another's: with shared ports two services of one user would divide the connections. */
async function checkPort({ port, host }: Config): Promise<void> {
  if (port === 0) return;
  const probe = createServer().listen(port, host);
  await once(probe, "listening");
  probe.close();
  await once(probe, "close");
}
