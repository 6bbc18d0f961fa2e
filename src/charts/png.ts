import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { AppError } from "../lib/errors.js";

/** Pictures as PNG: their content, and the thread that renders them. */

/** A picture to render: a card, which the thread draws with the fonts it has, or a finished drawing of ours. */
export type Picture =
  | { kind: "repository"; card: RepositoryCard }
  | { kind: "page"; card: PageCardInput }
  /** `zoom`: pixels of the PNG for each pixel of the drawing. */
  | { kind: "svg"; svg: string; zoom: number };

/** The size recommended for Open Graph images, and the left and right edges of what a card shows. */
export const CARD_SIZE = { width: 1200, height: 630 };
export const PAD = 64;
export const RIGHT = CARD_SIZE.width - PAD;
export const MAX_CARD_ROWS = 3;

/** The age of the data of a card, as of when it was drawn. */
export interface CardAge {
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  /** A short note for readers, shown instead of the date. */
  note?: string;
}

/** The content of the card of a repository. */
export interface RepositoryCard extends CardAge {
  forge: string;
  owner: string;
  name: string;
  description: string | null;
  language: string | null;
  /** Side by side; the first one is its stars. */
  numbers: readonly { value: string; name: string }[];
  rank: string | null;
  /** Its stars over a year as elements of SVG, and whether some of them are counts of stars still held. */
  year: { svg: string; hasRetained: boolean };
}

/** The content of the card of a page: its title, a description, and the beginning of its list. */
export interface PageCardInput extends CardAge {
  title: string;
  /** A sentence or two about the page. */
  lead: string;
  /** The first entries of its list; MAX_CARD_ROWS are shown. */
  rows: readonly PageCardRow[];
}

export interface PageCardRow {
  name: string;
  /** Below the name. */
  detail: string;
  /** At the right, such as "+1,234". */
  value: string;
  /** Below the value: "stars in 7 days". */
  unit: string;
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
