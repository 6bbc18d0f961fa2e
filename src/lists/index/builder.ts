import { BroadcastChannel, Worker } from "node:worker_threads";
import type { LOG_LEVELS, Logger } from "../../log.js";
import type { IndexMessage, ListIndex } from "./list-index.js";

/** Where the database is; see `DatabaseOptions`. */
export interface Location {
  url: string | undefined;
  dataDir: string;
}

/** Input of the thread. */
export interface BuilderData {
  location: Location;
  maxBytes: number;
  logLevel: (typeof LOG_LEVELS)[number];
}

/** Messages between the thread that builds the index and those that read it. */
export type ChannelMessage = IndexMessage | { kind: "joined" };

/** The channel of all threads of this process that use the database. */
export function channelName({ url, dataDir }: Location): string {
  return `sidereal list index of ${url ?? dataDir}`;
}

/** Memory limits of the thread, besides the index. */
const MEMORY_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };
/** When the thread starts. */
const START_MS = 1_000;
/** Time that the thread gets to end by itself. */
const STOP_MS = 500;

/**
 * Builds the index of a migrated database in a thread, for all threads of this process: soon, and again after each change, in
 * at most a twentieth of the time. Returns the function that stops it. If the thread fails, lists are read with SQL.
 */
export function startIndexBuilder(data: BuilderData, log: Logger): () => Promise<void> {
  let stop = async () => {};
  // The first responses come before it.
  const begin = setTimeout(() => {
    stop = startThread(data, log);
  }, START_MS);
  begin.unref();
  return () => {
    clearTimeout(begin);
    return stop();
  };
}

function startThread(workerData: BuilderData, log: Logger): () => Promise<void> {
  const worker = new Worker(new URL("./thread.js", import.meta.url), {
    workerData,
    resourceLimits: MEMORY_MB,
  });
  worker.on("error", (error) => log.error({ err: error }, "the list index is not built any more"));
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  return async () => {
    worker.postMessage("stop");
    const deadline = setTimeout(() => void worker.terminate(), STOP_MS);
    await ended;
    clearTimeout(deadline);
  };
}

/** Keeps an index up to date with what that thread builds. Returns the function that ends this. */
export function followIndex(index: ListIndex, location: Location): () => void {
  const channel = new BroadcastChannel(channelName(location));
  channel.onmessage = ({ data }: { data: ChannelMessage }) => {
    if (data.kind !== "joined") index.accept(data);
  };
  channel.unref();
  const joined: ChannelMessage = { kind: "joined" };
  channel.postMessage(joined);
  return () => channel.close();
}
