import { type FileHandle, open } from "node:fs/promises";
import { type BodyStream, type HttpRequest, InFlight, type StreamPart } from "../http/http.js";
import { AppError } from "../lib/errors.js";

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

/** Part of a file: the first byte and the one after the last. */
export interface ByteRange {
  from: number;
  until: number;
}

/** No single range needs more characters. */
const MAX_LENGTH = 64;

/**
 * The range that a Range header selects of a file (RFC 9110, 14.2): undefined for all of it, also for several ranges and for what
 * is malformed, which may be ignored; "unsatisfiable" if the file has no byte of it.
 */
export function byteRange(
  header: string | undefined,
  bytes: number,
): ByteRange | "unsatisfiable" | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(header) ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? "unsatisfiable" : { from: bytes - length, until: bytes };
  }
  const [from, until] = [Number(first), last === "" ? bytes : Math.min(Number(last) + 1, bytes)];
  if (last !== "" && Number(last) < from) return undefined;
  return from >= bytes ? "unsatisfiable" : { from, until };
}

/** Downloads in flight of one address or account, of the wider IPv6 network of an address, and of this process or thread. */
const MAX_OF_CALLER = 8;
const MAX_OF_NETWORK = 32;
const MAX_OF_PROCESS = 64;

const RETRY = { headers: { "Retry-After": "5" } };

/** Bounds the files that are sent at the same time, each of which holds an open file and some memory as long as its client takes. */
export class DownloadSlots {
  readonly #inFlight = new InFlight();
  readonly #isCallerBounded: boolean;

  /** `isCallerBounded` is false where callers have no limits. */
  constructor(isCallerBounded: boolean) {
    this.#isCallerBounded = isCallerBounded;
  }

  /** Takes a slot. Returns what releases it, to be called once. Throws RATE_LIMITED or UNAVAILABLE. */
  enter({ kind, name, network, account = name }: HttpRequest["caller"]): () => void {
    const limits: [holder: string, most: number][] = [
      [`${kind} ${account}`, MAX_OF_CALLER],
      ...(network === undefined ? [] : [[`network ${network}`, MAX_OF_NETWORK] as [string, number]]),
    ];
    const taken: (() => void)[] = [];
    const release = () => {
      for (const give of taken.splice(0)) give();
    };
    for (const [holder, most] of [...(this.#isCallerBounded ? limits : []), ALL]) {
      const give = this.#inFlight.take(holder, most);
      if (give === undefined) {
        release();
        throw holder === ALL[0] ? TOO_MANY : overLimit(most);
      }
      taken.push(give);
    }
    return release;
  }
}

const ALL: [holder: string, most: number] = ["all", MAX_OF_PROCESS];

const TOO_MANY = new AppError("UNAVAILABLE", "Too many files are being downloaded; try again later.", RETRY);

function overLimit(most: number): AppError {
  return new AppError("RATE_LIMITED", `Too many downloads: at most ${most} at a time.`, RETRY);
}
