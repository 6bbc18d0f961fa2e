/** A connection on which requests are sent one after another, and their responses are read byte by byte. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { isBodiless, type RawHead, readHead } from "./response.js";

export interface RawResponse extends RawHead {
  body: Buffer;
}

/** A connection that breaks the protocol, or ends where a response was due. */
export class BrokenResponse extends Error {
  override readonly name = "BrokenResponse";
}

interface Waiting {
  method: string;
  resolve: (response: RawResponse) => void;
  reject: (error: BrokenResponse) => void;
}

/** Opens a new connection whenever the server has closed the one before. One request at a time. */
export class Connection {
  readonly #port: number;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | undefined;
  #unexpected: string | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** The response to a request. Throws BrokenResponse if there is none, or if the bytes after the last one were not asked for. */
  async send(bytes: Buffer, method: string): Promise<RawResponse> {
    if (this.#unexpected !== undefined) {
      const text = this.#unexpected;
      this.close();
      throw new BrokenResponse(`bytes followed the response before this request: ${text}`);
    }
    const isReused = this.#socket !== undefined;
    try {
      return await this.#sendOnce(bytes, method);
    } catch (error) {
      // A server may close an idle connection just when it is used again.
      if (!isReused || !(error instanceof BrokenResponse) || error.message !== NOTHING) throw error;
      return this.#sendOnce(bytes, method);
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#received = Buffer.alloc(0);
    this.#unexpected = undefined;
  }

  async #sendOnce(bytes: Buffer, method: string): Promise<RawResponse> {
    const socket = this.#socket ?? (await this.#open());
    const responded = new Promise<RawResponse>((resolve, reject) => {
      this.#waiting = { method, resolve, reject };
    });
    socket.write(bytes);
    const response = await responded;
    if (response.headers.get("connection") === "close") {
      this.#socket = undefined;
      socket.destroy();
    }
    return response;
  }

  async #open(): Promise<Socket> {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    this.#received = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("close", () => this.#closed(socket));
    await once(socket, "connect");
    return socket;
  }

  #closed(socket: Socket): void {
    if (this.#socket === socket) this.#socket = undefined;
    const waiting = this.#waiting;
    if (waiting === undefined || this.#socket !== undefined) return;
    this.#waiting = undefined;
    const { length } = this.#received;
    waiting.reject(
      new BrokenResponse(length === 0 ? NOTHING : `the connection closed after ${length} bytes`),
    );
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#unexpected = JSON.stringify(this.#received.toString("latin1").slice(0, 200));
      return;
    }
    try {
      const taken = takeResponse(this.#received, waiting.method);
      if (taken === undefined) return;
      this.#waiting = undefined;
      this.#received = taken.rest;
      // What follows the last response of a connection is nobody's.
      const isLast = taken.response.headers.get("connection") === "close";
      if (taken.rest.length > 0 && !isLast)
        this.#unexpected = JSON.stringify(taken.rest.toString("latin1").slice(0, 200));
      waiting.resolve(taken.response);
    } catch (error) {
      this.#waiting = undefined;
      this.close();
      waiting.reject(new BrokenResponse(error instanceof Error ? error.message : String(error)));
    }
  }
}

const NOTHING = "the connection closed without a response";

/** The first response in some bytes, and what follows it; undefined as long as it is not complete. Skips interim responses. */
export function takeResponse(
  bytes: Buffer,
  method: string,
): { response: RawResponse; rest: Buffer } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = readHead(bytes.subarray(0, end).toString("latin1"));
  const rest = bytes.subarray(end + 4);
  if (head.status < 200) return takeResponse(rest, method);
  if (isBodiless(head.status, method)) return { response: { ...head, body: Buffer.alloc(0) }, rest };
  if (head.headers.get("transfer-encoding") === "chunked") {
    const taken = takeChunks(rest);
    return taken && { response: { ...head, body: taken.body }, rest: taken.rest };
  }
  const length = Number(head.headers.get("content-length") ?? Number.NaN);
  if (!Number.isSafeInteger(length)) throw new BrokenResponse("a response with a body has no length");
  if (rest.length < length) return undefined;
  return { response: { ...head, body: rest.subarray(0, length) }, rest: rest.subarray(length) };
}

function takeChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const parts: Buffer[] = [];
  let rest = bytes;
  for (;;) {
    const line = rest.indexOf("\r\n");
    if (line === -1) return undefined;
    const length = Number.parseInt(rest.subarray(0, line).toString("latin1"), 16);
    if (!(length >= 0)) throw new BrokenResponse("a chunk has no length");
    const end = line + 2 + length;
    if (rest.length < end + 2) return undefined;
    parts.push(rest.subarray(line + 2, end));
    rest = rest.subarray(end + 2);
    if (length === 0) return { body: Buffer.concat(parts), rest };
  }
}
