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

interface Waiting {
  resolve(png: Buffer): void;
  reject(error: Error): void;
}

/** Pictures that may wait: each takes tens of milliseconds, and a place among the responses that are computed. */
const MAX_WAITING = 8;

/**
 * Renders PNG on a separate thread, one picture at a time. The thread starts on first use,
 * restarts after an error, and never keeps the process alive.
 */
export class PngRenderer {
  readonly #waiting = new Map<number, Waiting>();
  readonly #script: URL;
  #thread: Worker | undefined;
  #id = 0;

  /** `script`: the rendering thread. */
  constructor(script = new URL("./png-thread.js", import.meta.url)) {
    this.#script = script;
  }

  /** Renders a picture. A drawing must be ours: external references are not loaded. Throws UNAVAILABLE if too many wait. */
  async render(picture: Picture): Promise<Buffer> {
    if (this.#waiting.size >= MAX_WAITING)
      throw new AppError("UNAVAILABLE", "Too many pictures are being drawn; try again.");
    const thread = this.#started();
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      thread.ref();
      thread.postMessage({ id, picture });
    });
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    // For the thread, which frees the pixels of a picture by it.
    setFlagsFromString("--expose-gc");
    const thread = new Worker(this.#script, { resourceLimits: { maxOldGenerationSizeMb: 64 } });
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
