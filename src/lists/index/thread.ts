/** Entry point of the thread that builds the list index, and builds it again after changes, until it receives a message. */
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../clock.js";
import { openBackgroundReader } from "../../database/database.js";
import { createLog } from "../../log.js";
import { buildIndex, readRevision } from "./build.js";
import { type BuilderData, type ChannelMessage, channelName } from "./builder.js";
import type { IndexMessage } from "./list-index.js";

/** At most this part of the time is spent building: one in …. */
const SHARE = 20;
/** How often the revision is read. */
const CHECK_MS = 2_000;
/** How long to wait after a failure of the database. */
const RETRY_MS = 30_000;

const parent = parentPort;
if (parent === null) throw new Error("this file is the entry of a thread");
const { location, maxBytes, logLevel }: BuilderData = workerData;
const log = createLog(logLevel);
const clock = systemClock;
const stopping = new AbortController();
const { signal } = stopping;
parent.once("message", () => stopping.abort());

/** The messages that make up the present index, for serving threads that join later. */
const present = new Map<string, IndexMessage>();
const channel = new BroadcastChannel(channelName(location));
channel.onmessage = ({ data }: { data: ChannelMessage }) => {
  if (data.kind === "joined") for (const message of present.values()) channel.postMessage(message);
};

function send(message: IndexMessage): void {
  signal.throwIfAborted();
  if (message.kind === "none") present.clear();
  const { kind } = message;
  const key =
    kind === "part" ? `${message.part.kind} ${"name" in message.part ? message.part.name : ""}` : kind;
  // The end of an index comes after its parts.
  present.delete(key);
  present.set(key, message);
  channel.postMessage(message);
}

const source = openBackgroundReader({ ...location, log });
let built: number | undefined;
let logged = "";
while (!signal.aborted) {
  const beganAt = clock.monotonic();
  let restMs = CHECK_MS;
  try {
    if ((await readRevision(source)) !== built) {
      const { revision, repositories, bytes, left, problem } = await buildIndex({
        source,
        maxBytes,
        clock,
        send,
      });
      built = revision;
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
channel.close();
parent.close();
await source.close();
