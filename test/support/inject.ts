import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";

/** What a handler writes to a connection, kept as bytes. */
class Recorder extends Duplex {
  readonly chunks: Buffer[] = [];

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(Buffer.from(chunk));
    done();
  }
}

/**
 * Sends a request to a handler of Node's server without a port, and reads its response. Headers, path and body reach the handler
 * exactly as they are here; `peer` is the address of the connection.
 */
export async function inject(handler: RequestListener, request: Request, peer: string): Promise<Response> {
  const url = new URL(request.url);
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: peer });
  const message = new IncomingMessage(socket);
  message.method = request.method;
  message.url = url.pathname + url.search;
  message.httpVersion = "1.1";
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  const host = request.headers.has("host") ? [] : ["host", "localhost"];
  const lines = [...host, ...[...request.headers].flat()];
  (message as unknown as HeaderLines)._addHeaderLines(lines, lines.length);
  void sendBody(request, message);
  const response = new ServerResponse(message);
  const recorder = new Recorder();
  const finished = new Promise((resolve) => response.once("finish", resolve));
  response.assignSocket(recorder as unknown as Socket);
  // Node's server passes this on.
  recorder.on("drain", () => response.emit("drain"));
  handler(message, response as ServerResponse<IncomingMessage> & { req: IncomingMessage });
  await finished;
  return parse(Buffer.concat(recorder.chunks));
}

/** How Node's parser hands headers over. */
interface HeaderLines {
  _addHeaderLines(lines: string[], count: number): void;
}

/** Passes the body on, or breaks the connection where its sender does. */
async function sendBody(request: Request, message: IncomingMessage): Promise<void> {
  try {
    for await (const chunk of request.body ?? []) message.push(chunk);
    message.push(null);
    message.complete = true;
  } catch (error) {
    message.destroy(error instanceof Error ? error : undefined);
  }
}

function parse(bytes: Buffer): Response {
  const end = bytes.indexOf("\r\n\r\n");
  const [line = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(line.split(" ")[1]);
  const headers = new Headers();
  for (const header of lines) {
    const colon = header.indexOf(":");
    const name = header.slice(0, colon);
    // These describe the connection, not the response.
    if (!/^(connection|keep-alive)$/i.test(name)) headers.append(name, header.slice(colon + 1).trim());
  }
  const isChunked = headers.get("transfer-encoding") === "chunked";
  headers.delete("transfer-encoding");
  const body = isChunked ? unchunked(bytes.subarray(end + 4)) : bytes.subarray(end + 4);
  const hasBody = status !== 204 && status !== 304 && body.length > 0;
  return new Response(hasBody ? new Uint8Array(body) : null, { status, headers });
}

/** The bytes in chunks (RFC 9112, 7.1), up to the empty one. */
export function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}
