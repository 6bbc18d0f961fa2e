/**
 * Several threads that serve one port: this one, and workers beside it. Each is a complete service with its own database connections
 * and response cache; the operating system distributes connections among them. They share two blocks of memory, the allowances
 * and the count of revocations, which they change by single atomic operations. So no thread waits for another, and one that
 * ends unexpectedly is replaced while the others go on.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { Revocations } from "../../accounts/accounts.js";
import type { Config } from "../../config/config.js";
import { createTableMemory } from "../../http/http.js";
import { type AppContext, openModules, startListIndex } from "../../modules.js";
import { type Service, type Shared, type StopOptions, startService } from "../service.js";

/** Input of a thread. */
export interface ThreadData {
  config: Config;
  shared: Shared;
}

export interface Threads extends Pick<Service, "port" | "url" | "stop"> {
  /** What all threads share. */
  shared: Shared;
}

/** Time for workers to stop: slightly more than their requests get. */
const STOP_MS = 9_200;
/** Delay before a worker that ended unexpectedly is replaced. */
const REPLACE_MS = 1_000;

/**
 * Starts the configured number of threads; this one is the first, and picks the port. The database must be migrated. If a thread
 * fails to start, stops the others and throws.
 */
export async function startThreads(context: AppContext): Promise<Threads> {
  const { config } = context;
  await checkPort(config);
  const count = config.httpThreads;
  const part: AppContext = {
    ...context,
    config: {
      ...config,
      databasePool: Math.max(1, Math.ceil(config.databasePool / count)),
      cacheBytes: Math.floor(config.cacheBytes / count),
    },
  };
  const shared: Shared = { allowances: createTableMemory(), revocations: new Revocations().memory };
  const modules = await openModules(part, { withReplicas: true });
  const first = await startService(part, modules, shared);
  const { port, url } = first;
  const workers = new Workers(part, { config: { ...part.config, port, baseUrl: url }, shared });
  let stopIndex = async () => {};
  const stop = async (options: StopOptions = {}) => {
    await Promise.all([stopIndex(), first.stop(options), workers.stop(options)]);
  };
  try {
    await Promise.all(Array.from({ length: count - 1 }, () => workers.start()));
    stopIndex = startListIndex(context, modules);
  } catch (error) {
    await stop({ drains: false });
    throw error;
  }
  return { port, url, shared, stop };
}

class Workers {
  readonly #context: AppContext;
  readonly #data: ThreadData;
  readonly #running = new Set<Worker>();
  readonly #stopping = new AbortController();

  constructor(context: AppContext, data: ThreadData) {
    this.#context = context;
    this.#data = data;
  }

  /** Resolves when a new worker accepts requests; from then on it is replaced if it ends. */
  async start(): Promise<void> {
    const { log } = this.#context;
    const worker = new Worker(new URL("./serving-thread.js", import.meta.url), { workerData: this.#data });
    this.#running.add(worker);
    worker.once("exit", () => this.#running.delete(worker));
    const ended = once(worker, "exit").then(([code]) => {
      throw new Error(`A thread exited with ${code} before it was ready.`);
    });
    await Promise.race([once(worker, "message"), ended]);
    worker.on("error", (error) => log.fatal({ err: error }, "a thread has failed"));
    worker.once("exit", (code) => {
      if (this.#stopping.signal.aborted) return;
      log.error({ code }, "a serving thread exited unexpectedly and is replaced");
      void this.#replace();
    });
  }

  async stop(options: StopOptions): Promise<void> {
    this.#stopping.abort();
    const running = [...this.#running];
    const ended = running.map((worker) => once(worker, "exit"));
    for (const worker of running) worker.postMessage(options);
    const deadline = setTimeout(() => {
      for (const worker of running) void worker.terminate();
    }, STOP_MS + this.#data.config.drainMs);
    await Promise.allSettled(ended);
    clearTimeout(deadline);
  }

  async #replace(): Promise<void> {
    const { clock, log } = this.#context;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(REPLACE_MS, signal);
      if (signal.aborted) return;
      try {
        return await this.start();
      } catch (error) {
        log.error({ err: error }, "a serving thread could not be replaced; another try follows");
      }
    }
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
