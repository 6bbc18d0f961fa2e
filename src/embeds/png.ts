import { Worker } from "node:worker_threads";
import { FONT_FAMILY, FONT_FILES } from "./font.js";

interface Waiting {
  resolve(png: Buffer): void;
  reject(error: Error): void;
}

/**
 * Renders SVG as PNG on a separate thread, one picture at a time. Callers bound how many wait. The thread starts on first use,
 * restarts after an error, and never keeps the process alive.
 */
export class PngRenderer {
  readonly #waiting = new Map<number, Waiting>();
  readonly #script: URL;
  #thread: Worker | undefined;
  #id = 0;

  /** `script` replaces the rendering thread. */
  constructor(script = new URL("./png-thread.js", import.meta.url)) {
    this.#script = script;
  }

  /** Renders an SVG in its own size. Only for drawings made here: external references are not loaded. */
  render(svg: string): Promise<Buffer> {
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
