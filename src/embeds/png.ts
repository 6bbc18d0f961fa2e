import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { PageCardInput } from "./page-card.js";
import type { RepositoryCard } from "./repository-card.js";

/** What is rendered: a card, which the thread draws with the fonts it has, or a finished drawing of ours. */
export type Picture =
  | { kind: "repository"; card: RepositoryCard }
  | { kind: "page"; card: PageCardInput }
  /** `zoom`: pixels of the PNG for each pixel of the drawing. */
  | { kind: "svg"; svg: string; zoom: number };

interface Waiting {
  resolve(png: Buffer): void;
  reject(error: Error): void;
}

export interface PngRendererOptions {
  /** Replaces the rendering thread. */
  script?: URL;
  /** Folders with fonts for characters that the bundled font lacks; absent: those of the system. */
  fontFolders?: readonly string[];
}

/**
 * Renders PNG on a separate thread, one picture at a time. Callers bound how many wait. The thread starts on first use,
 * restarts after an error, and never keeps the process alive.
 */
export class PngRenderer {
  readonly #waiting = new Map<number, Waiting>();
  readonly #script: URL;
  readonly #fontFolders: readonly string[] | undefined;
  #thread: Worker | undefined;
  #id = 0;

  constructor({
    script = new URL("./png-thread.js", import.meta.url),
    fontFolders,
  }: PngRendererOptions = {}) {
    this.#script = script;
    this.#fontFolders = fontFolders;
  }

  /** Renders a picture. A drawing must be ours: external references are not loaded. */
  render(picture: Picture): Promise<Buffer> {
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
    const thread = new Worker(this.#script, {
      workerData: { fontFolders: this.#fontFolders },
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
