import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { Observation } from "../catalog/catalog.js";
import { type Found, type ReadOptions, readFiles } from "./read-files.js";
import { SnapshotBlock, snapshotCount } from "./snapshot-block.js";

/** Batches read ahead while one is recorded. */
const READ_AHEAD = 1;
/** Memory limits of the reading thread, whatever is in a file. */
const READER_MEMORY_MB = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

interface ReaderTask {
  paths: readonly string[];
  options: ReadOptions;
}

/** A batch in transit between threads: its numbers are one block, which is transferred without copying. */
interface Packed extends Omit<Found, "batch"> {
  observations: Omit<Observation, "snapshots">[];
  /** How many snapshots belong to each observation. */
  counts: number[];
  numbers: Float64Array<ArrayBuffer>;
}

/** A batch ready to be recorded. */
export interface ReadBatch extends Omit<Found, "batch"> {
  batch: Observation[];
}

/** Reads files in another thread, so that reading and recording run in parallel. */
export async function* readInThread(
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<ReadBatch> {
  const task: ReaderTask = { paths, options };
  const worker = new Worker(new URL(import.meta.url), { workerData: task, resourceLimits: READER_MEMORY_MB });
  const waiting: (Packed | undefined)[] = [];
  let failure: unknown;
  let wake = () => {};
  worker.on("message", (message: Packed) => {
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
      const packed = waiting.shift();
      if (packed === undefined) return;
      worker.postMessage("more");
      yield unpack(packed);
    }
  } finally {
    await worker.terminate();
  }
}

function pack({ batch, ...rest }: Found): Packed {
  const numbers = new Float64Array(batch.reduce((sum, gathered) => sum + gathered.numbers.length, 0));
  let at = 0;
  for (const gathered of batch) {
    numbers.set(gathered.numbers, at);
    at += gathered.numbers.length;
  }
  return {
    ...rest,
    observations: batch.map(({ numbers, ...observation }) => observation),
    counts: batch.map(({ numbers }) => snapshotCount(numbers)),
    numbers,
  };
}

function unpack({ observations, counts, numbers, ...rest }: Packed): ReadBatch {
  let first = 0;
  const batch = observations.map((observation, i): Observation => {
    const count = counts[i] ?? 0;
    first += count;
    return { ...observation, snapshots: new SnapshotBlock(numbers, first - count, count) };
  });
  return { ...rest, batch };
}

async function runThread({ paths, options }: ReaderTask): Promise<void> {
  const port = parentPort;
  if (port === null) return;
  let ahead = 0;
  port.on("message", () => {
    ahead--;
  });
  for await (const found of readFiles(paths, options)) {
    const packed = pack(found);
    port.postMessage(packed, [packed.numbers.buffer]);
    ahead++;
    while (ahead > READ_AHEAD) await once(port, "message");
  }
  port.close();
}

if (!isMainThread && workerData !== null && "paths" in workerData) await runThread(workerData);
