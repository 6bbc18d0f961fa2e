import { Worker } from "node:worker_threads";
import { AppError } from "../errors.js";
import { FONT_FAMILY, FONT_FILES } from "./font.js";

/** Drawings that may wait; a thread makes dozens in a second. */
const MAX_WAITING = 24;

interface Waiting {
  resolve(png: Buffer): void;
  reject(error: Error): void;
}

/**
 * Turns drawings into PNG on a thread of its own, one after the other. Asked for more than can wait it throws UNAVAILABLE,
 * so that pictures cannot take all the time and memory of a process. The thread is started when first needed, again after
 * a fault, and never keeps the process alive.
 */
export class PngRenderer {
  readonly #waiting = new Map<number, Waiting>();
  readonly #maxWaiting: number;
  #thread: Worker | undefined;
  #id = 0;

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  /** The drawing in its own size. It must be one of ours: nothing it could refer to is loaded. */
  render(svg: string): Promise<Buffer> {
    if (this.#waiting.size >= this.#maxWaiting)
      return Promise.reject(new AppError("UNAVAILABLE", "Too many pictures are being made; try again."));
    const thread = this.#started();
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      thread.ref();
      thread.postMessage({ id, svg });
    });
  }

  /** Ends the thread; what waits fails. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(new URL("./png-thread.js", import.meta.url), {
      workerData: { fontFiles: FONT_FILES, fontFamily: FONT_FAMILY },
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    });
    thread.unref();
    thread.on("message", ({ id, png, fault }: { id: number; png?: Uint8Array; fault?: string }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) thread.unref();
      if (png === undefined) waiting?.reject(new Error(`the picture could not be drawn: ${fault ?? ""}`));
      else waiting?.resolve(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
    });
    // An error is followed by the end of the thread.
    thread.on("error", (error) => this.#fail(thread, error));
    thread.on("exit", () => this.#fail(thread, new Error("the thread of pictures has ended")));
    this.#thread = thread;
    return thread;
  }

  #fail(thread: Worker, error: Error): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
