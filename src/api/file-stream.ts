import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../errors.js";
import type { BodyStream, StreamPart } from "../http/http.js";
import type { ByteRange } from "./byte-range.js";

/** Bytes read and sent at a time: memory of a download, twice. */
const PART_BYTES = 256 * 1024;
/** Each of these costs a unit; the request itself pays for the first. */
const UNIT_BYTES = 4 * 2 ** 20;

/**
 * A part of a file as a body. `enter` takes a slot when it begins, and what that returns is called once when it ends. A file that
 * is shorter than the range ends the connection.
 */
export class FileStream implements BodyStream {
  readonly #aborting = new AbortController();
  readonly #path: string;
  readonly #range: ByteRange;
  readonly #enter: () => () => void;
  #release: () => void = () => {};
  #file: FileHandle | undefined;
  #at: number;
  #isClosed = false;

  constructor(path: string, range: ByteRange, enter: () => () => void) {
    this.#path = path;
    this.#range = range;
    this.#enter = enter;
    this.#at = range.from;
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  async begin(): Promise<void> {
    this.#release = this.#enter();
    try {
      this.#file = await open(this.#path);
    } catch (cause) {
      this.close();
      const isGone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
      throw isGone ? new AppError("NOT_FOUND", "This file no longer exists.", { cause }) : cause;
    }
    // Closed meanwhile.
    if (this.#isClosed) await this.#file.close();
  }

  async next(): Promise<StreamPart | undefined> {
    const { from, until } = this.#range;
    const file = this.#file;
    if (file === undefined || this.#at >= until) return undefined;
    const bytes = new Uint8Array(Math.min(PART_BYTES, until - this.#at));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#at);
    if (bytesRead === 0) throw new Error(`${this.#path} is shorter than its manifest says`);
    const unitsAt = (at: number) => Math.floor((at - from) / UNIT_BYTES);
    const units = unitsAt(this.#at + bytesRead - 1) - unitsAt(Math.max(from, this.#at - 1));
    this.#at += bytesRead;
    return { bytes: bytes.subarray(0, bytesRead), units };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#release();
    void this.#file?.close().catch(() => {});
  }
}
