import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { AppError } from "../lib/errors.js";

/** Pictures as PNG: their content, and the thread that renders them. */

/** A picture to render: a card, whose texts the thread fits with the fonts it has, or a finished drawing of ours. */
export type Picture =
  | { kind: "card"; card: Card }
  /** `zoom`: pixels of the PNG for each pixel of the drawing. */
  | { kind: "svg"; svg: string; zoom: number };

/** The size recommended for Open Graph images. */
export const CARD_SIZE = { width: 1200, height: 630 };

export interface Card {
  /** Elements of SVG. */
  shapes: string;
  texts: readonly CardText[];
}

/** A text of a card, as it is cut and drawn with the fonts of the thread. */
export interface CardText {
  text: string;
  /** Shown if nothing of the text can be drawn. */
  instead?: string;
  x: number;
  y: number;
  /** The most that it may be wide. */
  width: number;
  size: number;
  /** The size down to which it shrinks to be whole. */
  leastSize?: number;
  fill: string;
  isBold?: boolean;
  anchor?: "end";
  /** Lines of prose at most, which is left out if hardly any of it can be drawn. Absent: one line, which is always there. */
  lines?: number;
  /** Whether it is a full name, which loses its owner before its end. */
  isName?: boolean;
}

/** Pictures that may wait: each takes tens of milliseconds, and a place among the responses that are computed. */
const MAX_WAITING = 8;

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

  /** Renders a picture, one at a time. A drawing must be ours: external references are not loaded. Throws UNAVAILABLE if too many wait. */
  async render(picture: Picture): Promise<Buffer> {
    if (this.#waiting === MAX_WAITING)
      throw new AppError("UNAVAILABLE", "Too many pictures are being drawn; try again.");
    this.#waiting++;
    const png = this.#last.then(() => this.#draw(picture));
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
