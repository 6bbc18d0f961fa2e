import { Worker } from "node:worker_threads";
import type { Observation } from "../repositories/repositories.js";
import { type FlatBatch, restore } from "./batch.js";
import type { Found, ReadTask } from "./gathering.js";

/** Memory limits of the reading thread, whatever is in a file. */
const READER_MEMORY_MB = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/** The input of the reading thread. */
export interface ReaderTask {
  paths: readonly string[];
  options: ReadTask;
}

/** A message of the reading thread: a batch, and what else it found. */
export interface ReadMessage extends Omit<Found, "batch"> {
  flat: FlatBatch;
}

/** A batch ready to be recorded. */
interface ReadBatch extends Omit<Found, "batch"> {
  batch: Observation[];
}

/** Reads files in another thread, so that reading and recording run in parallel. */
export async function* readInThread(paths: readonly string[], options: ReadTask): AsyncGenerator<ReadBatch> {
  const task: ReaderTask = { paths, options };
  const worker = new Worker(new URL("./reader-thread.js", import.meta.url), {
    workerData: task,
    resourceLimits: READER_MEMORY_MB,
  });
  const waiting: (ReadMessage | undefined)[] = [];
  let failure: unknown;
  let wake = () => {};
  worker.on("message", (message: ReadMessage) => {
    waiting.push(message);
    wake();
  });
  worker.on("error", (error) => {
    failure = error;
    wake();
  });
  worker.on("exit", () => {
    waiting.push(undefined);
    wake();
  });
  try {
    for (;;) {
      if (waiting.length === 0 && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) throw failure;
      if (waiting.length === 0) continue;
      const message = waiting.shift();
      if (message === undefined) return;
      worker.postMessage("more");
      const { flat, ...found } = message;
      yield { ...found, batch: restore(flat) };
    }
  } finally {
    await worker.terminate();
  }
}
