import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Config } from "../config/config.js";
import { DatabaseFault, type FaultKind, type StoreLocation } from "../database/database.js";
import type { StreamPart } from "../http/http.js";
import type { PartSource, StreamedList } from "./list-stream.js";

/** Input of the thread. */
export interface StreamMakerData {
  location: StoreLocation;
  /** Where it reads: the same database, or a replica. */
  source: StoreLocation;
  logLevel: Config["logLevel"];
}

/** Messages to the thread. Each `next` gets one of those back, unless the list is closed before. */
export type StreamCommand =
  | { kind: "open"; id: number; list: StreamedList }
  | { kind: "next"; id: number }
  | { kind: "close"; id: number }
  | { kind: "stop" };

export type StreamMessage =
  | { kind: "part"; id: number; part: StreamPart | undefined }
  /** `fault`: if the database is the reason. */
  | { kind: "failure"; id: number; fault: FaultKind | undefined; message: string };

/** Memory limits of the thread. */
const MEMORY_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };
/** How long the thread may take to end by itself. */
const STOP_MS = 500;

interface Waiting {
  resolve(part: StreamPart | undefined): void;
  reject(error: Error): void;
}

/** The thread that makes streamed lists. If it fails, all of them do. It never keeps the process alive while nothing waits for it. */
export class StreamMaker {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #end: Error | undefined;

  constructor(data: StreamMakerData) {
    const worker = new Worker(new URL("./stream-maker-thread.js", import.meta.url), {
      workerData: data,
      resourceLimits: MEMORY_MB,
    });
    worker.unref();
    worker.on("message", (message: StreamMessage) => this.#receive(message));
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => this.#fail(new Error("the thread of streamed lists has ended")));
    this.#worker = worker;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Begins a list. */
  open(list: StreamedList): PartSource {
    const id = ++this.#lastId;
    this.#post({ kind: "open", id, list });
    return {
      next: () =>
        new Promise((resolve, reject) => {
          if (this.#end !== undefined) return reject(this.#end);
          this.#waiting.set(id, { resolve, reject });
          this.#worker.ref();
          this.#post({ kind: "next", id });
        }),
      close: () => {
        this.#settle(id)?.reject(new Error("the list was closed"));
        this.#post({ kind: "close", id });
      },
    };
  }

  /** Ends the thread. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#worker, "exit");
    this.#post({ kind: "stop" });
    const deadline = setTimeout(() => void this.#worker.terminate(), STOP_MS);
    await ended.catch(() => {});
    clearTimeout(deadline);
  }

  #post(command: StreamCommand): void {
    this.#worker.postMessage(command);
  }

  #receive(message: StreamMessage): void {
    const waiting = this.#settle(message.id);
    if (message.kind === "part") waiting?.resolve(message.part);
    else waiting?.reject(errorOf(message));
  }

  /** Whoever waits for a part of a list, who then waits no longer. */
  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    return waiting;
  }

  #fail(error: Error): void {
    this.#end ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function errorOf({ fault, message }: Extract<StreamMessage, { kind: "failure" }>): Error {
  const cause = new Error(message);
  return fault === undefined ? cause : new DatabaseFault(fault, cause);
}
