import { Worker } from "node:worker_threads";
import { AppError } from "../errors.js";
import { FONT_FAMILY, FONT_FILES } from "./font.js";

/** Maximum length of the queue; the thread renders dozens of pictures per second. */
const MAX_WAITING = 24;

interface Waiting {
  resolve(png: Buffer): void;
  reject(error: Error): void;
}

/**
 * Renders SVG as PNG on a separate thread, one picture at a time. Throws UNAVAILABLE when the queue is full, which bounds the
 * time and memory spent on pictures. The thread starts on first use, restarts after an error, and never keeps the process
 * alive.
 */
export class PngRenderer {
  readonly #waiting = new Map<number, Waiting>();
  readonly #maxWaiting: number;
  readonly #script: URL;
  #thread: Worker | undefined;
  #id = 0;

  /** `script` replaces the rendering thread. */
  constructor(maxWaiting = MAX_WAITING, script = new URL("./png-thread.js", import.meta.url)) {
    this.#maxWaiting = maxWaiting;
    this.#script = script;
  }

  /** Renders an SVG in its own size. Only for drawings made here: external references are not loaded. */
  render(svg: string): Promise<Buffer> {
    if (this.#waiting.size >= this.#maxWaiting)
      return Promise.reject(new AppError("UNAVAILABLE", "Too many pictures are being rendered; try again."));
    const thread = this.#started();
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      thread.ref();
      thread.postMessage({ id, svg });
    });
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(this.#script, {
      workerData: { fontFiles: FONT_FILES, fontFamily: FONT_FAMILY },
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    });
    thread.unref();
    thread.on("message", ({ id, png, fault }: { id: number; png?: Uint8Array; fault?: string }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) thread.unref();
      if (png === undefined) waiting?.reject(new Error(`the picture could not be rendered: ${fault ?? ""}`));
      else waiting?.resolve(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
    });
    // The thread exits after an error.
    thread.on("error", (error) => this.#fail(thread, error));
    thread.on("exit", () => this.#fail(thread, new Error("the rendering thread has exited")));
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
