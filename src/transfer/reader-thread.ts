/** Entry point of the thread that reads files for an import. It reads on when it receives a message. */
import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../lib/clock.js";
import { flatten } from "./batch.js";
import { readFiles } from "./read-files.js";
import type { ReaderTask, ReadMessage } from "./reader.js";

/** Batches read ahead while one is recorded. */
const READ_AHEAD = 1;

const port = parentPort;
if (port === null) throw new Error("this file is the entry of a thread");
const { paths, options }: ReaderTask = workerData;
let ahead = 0;
port.on("message", () => {
  ahead--;
});
for await (const { batch, ...found } of readFiles(paths, options, systemClock)) {
  const message: ReadMessage = { ...found, flat: flatten(batch) };
  port.postMessage(message, [message.flat.numbers.buffer]);
  ahead++;
  while (ahead > READ_AHEAD) await once(port, "message");
}
port.close();
