import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { AppError } from "../lib/errors.js";

/** Pictures as PNG, by a thread that renders them. */

/** Pictures that may wait: each takes tens of milliseconds, and a place among the responses that are computed. */
const MAX_WAITING = 8;

/** A drawing, as the thread gets it. */
export interface Picture {
  svg: string;
  zoom: number;
}

/** Renders PNG on a separate thread, which starts on first use and after an error, and never keeps the process alive. */
export class PngRenderer {
  readonly #script: URL;
  #thread: Worker | undefined;
  /** The picture that the thread renders. */
  #current = Promise.withResolvers<Buffer>();
  /** Settled when all pictures so far are. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `script`: the rendering thread. */
  constructor(script = new URL("./png-thread.js", import.meta.url)) {
    this.#script = script;
  }

  /**
   * Renders a drawing of ours, one at a time; external references are not loaded. `zoom`: pixels of the PNG for each pixel of the
   * drawing. Throws UNAVAILABLE if too many wait.
   */
  async render(svg: string, zoom = 1): Promise<Buffer> {
    if (this.#waiting === MAX_WAITING)
      throw new AppError("UNAVAILABLE", "Too many pictures are being drawn; try again.");
    this.#waiting++;
    const png = this.#last.then(() => this.#draw({ svg, zoom }));
    this.#last = png.catch(() => {});
    return png.finally(() => this.#waiting--);
  }

  async #draw(picture: Picture): Promise<Buffer> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    this.#current = Promise.withResolvers();
    thread.ref();
    thread.postMessage(picture);
    return this.#current.promise.finally(() => thread.unref());
  }

  #start(): Worker {
    // For the thread, which frees the pixels of a picture by it.
    setFlagsFromString("--expose-gc");
    const thread = new Worker(this.#script, { resourceLimits: { maxOldGenerationSizeMb: 64 } });
    thread.on("message", ({ png, fault }: { png?: Uint8Array; fault?: string }) => {
      if (png === undefined)
        this.#current.reject(new Error(`the picture could not be rendered: ${fault ?? ""}`));
      else this.#current.resolve(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
    });
    // The thread exits after an error.
    const fail = (error: Error) => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#current.reject(error);
    };
    thread.on("error", fail);
    thread.on("exit", () => fail(new Error("the rendering thread has exited")));
    return thread;
  }
}
