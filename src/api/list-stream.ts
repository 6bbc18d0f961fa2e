import type { BodyStream, StreamPart } from "../http/http.js";

/** Where the parts of a list come from: this thread, or another one. */
export interface PartSource {
  /** The next part; undefined at the end. One at a time. */
  next(): Promise<StreamPart | undefined>;
  close(): void;
}

/** A list as a body. The next part is made while one is sent, never more. */
export class ListStream implements BodyStream {
  readonly #source: PartSource;
  readonly #onClose: () => void;
  readonly #ending = new AbortController();
  /** Rejects when the stream is ended. */
  readonly #ended: Promise<never>;
  #ahead: Promise<StreamPart | undefined> | undefined;
  #isClosed = false;

  constructor(source: PartSource, onClose: () => void) {
    this.#source = source;
    this.#onClose = onClose;
    this.#ended = new Promise((_, reject) => {
      this.signal.addEventListener("abort", () => reject(this.signal.reason), { once: true });
    });
    this.#ended.catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  async begin(): Promise<void> {
    try {
      if (this.#ahead === undefined) this.#readAhead();
      await this.#taken();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async next(): Promise<StreamPart | undefined> {
    this.signal.throwIfAborted();
    if (this.#ahead === undefined) this.#readAhead();
    const part = await this.#taken();
    if (part !== undefined) this.#readAhead();
    return part;
  }

  /** Ends the stream early: whoever waits for a part gets this error. */
  end(reason: Error): void {
    this.#ending.abort(reason);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#source.close();
    this.#onClose();
  }

  #readAhead(): void {
    this.#ahead = this.#source.next();
    // It may fail before anybody waits for it.
    this.#ahead.catch(() => {});
  }

  #taken(): Promise<StreamPart | undefined> {
    return Promise.race([this.#ahead, this.#ended]);
  }
}
