/** Entry point of the thread that builds the list index once. It ends early when it receives a message. */
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import { openBackgroundReader } from "../../../database/database.js";
import { systemClock } from "../../../lib/clock.js";
import { createLog } from "../../../lib/log.js";
import { buildIndex } from "./build.js";
import { type BuilderData, channelName } from "./builder.js";
import type { IndexMessage } from "./list-index.js";

const parent = parentPort;
if (parent === null) throw new Error("this file is the entry of a thread");
const { location, maxBytes, logLevel }: BuilderData = workerData;
const stopping = new AbortController();
const { signal } = stopping;
parent.once("message", () => stopping.abort());

const channel = new BroadcastChannel(channelName(location));
const source = openBackgroundReader({ ...location, log: createLog(logLevel) });
try {
  const built = await buildIndex({
    source,
    maxBytes,
    clock: systemClock,
    send(message: IndexMessage) {
      signal.throwIfAborted();
      channel.postMessage(message);
    },
  });
  parent.postMessage(built);
} finally {
  channel.close();
  parent.close();
  await source.close();
}
