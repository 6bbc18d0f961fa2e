import type { ListSpec } from "../discovery/discovery.js";
import { type BodyStream, type StreamPart, unlessAborted } from "../http/http.js";

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
  #ahead: Promise<StreamPart | undefined> | undefined;
  #isClosed = false;

  constructor(source: PartSource, onClose: () => void) {
    this.#source = source;
    this.#onClose = onClose;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  async begin(): Promise<void> {
    try {
      await this.#taken();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async next(): Promise<StreamPart | undefined> {
    this.signal.throwIfAborted();
    const part = await this.#taken();
    if (part !== undefined) this.#ahead = this.#readAhead();
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

  #readAhead(): Promise<StreamPart | undefined> {
    const part = this.#source.next();
    // It may fail before anybody waits for it.
    part.catch(() => {});
    return part;
  }

  /** The part that was made ahead. Throws the reason if the stream is ended before. */
  async #taken(): Promise<StreamPart | undefined> {
    this.#ahead ??= this.#readAhead();
    const part = await unlessAborted(this.#ahead, this.signal);
    this.signal.throwIfAborted();
    return part;
  }
}

/** What rows are written as. */
export type StreamFormat = "ndjson" | "csv";

/** A whole list, as plain data. */
export interface StreamedList {
  /** The page is ignored. */
  spec: Omit<ListSpec, "page">;
  format: StreamFormat;
  /** The names of the fields of each row; absent: all. */
  fields?: readonly string[] | undefined;
  /** The time of the request, which decides how old the data is in all its rows. */
  now: number;
}

/** Opens whole lists as bodies that are made while they are sent. */
export interface ListStreams {
  /** Throws UNAVAILABLE while the service stops. */
  open(list: StreamedList): BodyStream;
}
