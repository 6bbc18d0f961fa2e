/**
 * Threads that serve one port. Each is a complete service with its own database connections; they share only the table of
 * allowances. The operating system distributes connections among them. If a thread exits unexpectedly, the service stops,
 * because the thread may have left shared memory in an inconsistent state, such as a held lock.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import type { ServiceShare } from "../app.js";
import type { Config } from "../config.js";
import { createTableMemory } from "../metering/metering.js";
import { type AppContext, startListIndex } from "../modules.js";

/** Input of a thread. */
export interface ThreadData {
  config: Config;
  share: ServiceShare;
}

/** Message of a thread once it accepts requests. */
export interface ThreadStarted {
  port: number;
  url: string;
}

export interface Threads {
  port: number;
  url: string;
  /** Resolves with the reason when a thread exits unexpectedly; otherwise pending forever. */
  failed: Promise<Error>;
  /** Finishes requests in flight, then stops all threads. */
  stop(): Promise<void>;
}

/** Time for threads to stop: slightly more than their requests get. */
const STOP_MS = 9_000;

/**
 * Starts the configured number of threads. The first starts alone: it picks the port and does the one-time setup. The database
 * must be migrated. If a thread fails to start, stops the others and throws.
 */
export async function startThreads(context: AppContext): Promise<Threads> {
  const { config, log } = context;
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
      throw new Error(`A thread exited with ${code} before it was ready.`);
    });
    const [started] = await Promise.race([once(worker, "message"), ended]);
    worker.on("error", (error) => log.fatal({ err: error }, "a thread has failed"));
    worker.once("exit", (code) => {
      if (!isStopping) fail(new Error(`A serving thread exited unexpectedly with ${code}.`));
    });
    return started;
  };
  let stopIndex = async () => {};
  const stop = async (): Promise<void> => {
    isStopping = true;
    await stopIndex();
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
    stopIndex = startListIndex(context);
    return { ...first, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Fails if the port is in use: with shared ports, two services of one user would split the connections. */
async function checkPort({ port, host }: Config): Promise<void> {
  if (port === 0) return;
  const probe = createServer().listen(port, host);
  await once(probe, "listening");
  probe.close();
  await once(probe, "close");
}
