import { once } from "node:events";
import { BroadcastChannel, Worker } from "node:worker_threads";
import type { Clock } from "../../../lib/clock.js";
import type { LOG_LEVELS, Logger } from "../../../lib/log.js";
import type { Built } from "./build.js";
import type { IndexMessage, ListIndex } from "./list-index.js";

/** Where the database is; see `DatabaseOptions`. */
interface Location {
  url: string | undefined;
  dataDir: string;
}

/** Input of the thread. */
export interface BuilderData {
  location: Location;
  maxBytes: number;
  logLevel: (typeof LOG_LEVELS)[number];
}

interface BuilderOptions extends BuilderData {
  clock: Clock;
  log: Logger;
  /** The revision of the catalogue, or one from shortly before. */
  readRevision: () => Promise<number>;
}

/** Messages between the thread that builds the index and those that read it. */
type ChannelMessage = IndexMessage | { kind: "joined" };

/** The channel of all threads of this process that use the database. */
export function channelName({ url, dataDir }: Location): string {
  return `sidereal list index of ${url ?? dataDir}`;
}

/** Memory limits of the thread, besides the index. */
const MEMORY_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };
/** Delay of the first build, so that it does not slow down the first responses. */
const START_MS = 1_000;
/** Building takes at most this share of the time: one in …. */
const SHARE = 20;
/** How often the revision is read. */
const CHECK_MS = 2_000;
/** How long to wait after a failure of the database. */
const RETRY_MS = 30_000;
/** How long the thread may take to end by itself. */
const STOP_MS = 500;

/**
 * Builds the index of a migrated database for all threads of this process: shortly after the start and then after changes, for at
 * most a twentieth of the time. Each build has a thread of its own, which returns its memory to the system when it ends. Returns
 * the function that stops it. A failed build is retried, and lists are read with SQL once the index is too old.
 */
export function startIndexBuilder(options: BuilderOptions): () => Promise<void> {
  const stopping = new AbortController();
  const leave = keepIndex(options.location);
  const ended = buildRepeatedly(options, stopping.signal).finally(leave);
  return () => {
    stopping.abort();
    return ended;
  };
}

/** Keeps the messages that make up the present index, for threads that join later. Returns the function that ends this. */
function keepIndex(location: Location): () => void {
  const present = new Map<string, IndexMessage>();
  const channel = new BroadcastChannel(channelName(location));
  channel.onmessage = ({ data }: { data: ChannelMessage }) => {
    if (data.kind === "joined") {
      for (const message of present.values()) channel.postMessage(message);
      return;
    }
    if (data.kind === "none") present.clear();
    const key =
      data.kind === "part" ? `${data.part.kind} ${"name" in data.part ? data.part.name : ""}` : data.kind;
    // The end of an index comes after its parts.
    present.delete(key);
    present.set(key, data);
  };
  channel.unref();
  return () => channel.close();
}

async function buildRepeatedly(options: BuilderOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, readRevision } = options;
  let builtRevision: number | undefined;
  let logged = "";
  await clock.sleep(START_MS, signal);
  while (!signal.aborted) {
    const beganAt = clock.monotonic();
    let restMs = CHECK_MS;
    try {
      if ((await readRevision()) !== builtRevision) {
        const { revision, repositories, bytes, left, problem } = await buildInThread(options, signal);
        builtRevision = revision;
        const seconds = (clock.monotonic() - beganAt) / 1_000;
        restMs = Math.max(CHECK_MS, (SHARE - 1) * 1_000 * seconds);
        const text = problem === undefined ? "the list index is built" : `there is no list index: ${problem}`;
        const news = `${text} ${left}`;
        log[news === logged ? "debug" : "info"]({ repositories, bytes, seconds, leftOut: left }, text);
        logged = news;
      }
    } catch (error) {
      if (signal.aborted) break;
      restMs = RETRY_MS;
      log.warn({ err: error }, "the list index cannot be built now");
    }
    await clock.sleep(restMs, signal);
  }
}

/** Builds once, in a thread. Throws what the thread throws, and if it ends before it has built the index. */
async function buildInThread(
  { location, maxBytes, logLevel }: BuilderData,
  signal: AbortSignal,
): Promise<Built> {
  const workerData: BuilderData = { location, maxBytes, logLevel };
  const worker = new Worker(new URL("./builder-thread.js", import.meta.url), {
    workerData,
    resourceLimits: MEMORY_MB,
  });
  let built: Built | undefined;
  worker.on("message", (message: Built) => {
    built = message;
  });
  let deadline: NodeJS.Timeout | undefined;
  const stop = () => {
    worker.postMessage("stop");
    deadline = setTimeout(() => void worker.terminate(), STOP_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    // Throws the error of the thread, if there is one.
    await once(worker, "exit");
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(deadline);
  }
  if (built === undefined) throw new Error("the thread that builds the list index has ended early");
  return built;
}

/** Keeps an index up to date with what those threads build. Returns the function that ends this. */
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
