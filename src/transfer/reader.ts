import { on } from "node:events";
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

/** A message of the reading thread: a batch, and its other findings. */
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
  try {
    for await (const [message] of on(worker, "message", { close: ["exit"] })) {
      worker.postMessage("more");
      const { flat, ...found }: ReadMessage = message;
      yield { ...found, batch: restore(flat) };
    }
  } finally {
    await worker.terminate();
  }
}
