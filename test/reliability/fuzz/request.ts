/** A request of the fuzzer, as the bytes that are sent. A string stands for its Latin-1 wherever it is not a body. */
export interface FuzzRequest {
  /** Of which operation it was made. */
  operation: string;
  method: string;
  target: string;
  headers: readonly (readonly [string, string])[];
  body: Buffer | undefined;
  /** Whether the body is sent in chunks. */
  isChunked: boolean;
}

/** The bytes of a request. */
export function bytesOf({ method, target, headers, body, isChunked }: FuzzRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== undefined)
    lines.push(isChunked ? "Transfer-Encoding: chunked\r\n" : `Content-Length: ${body.byteLength}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  if (body === undefined) return head;
  return Buffer.concat([head, ...(isChunked ? chunksOf(body) : [body])]);
}

const CHUNK_BYTES = 1_000;

function chunksOf(body: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.byteLength; at += CHUNK_BYTES) {
    const part = body.subarray(at, at + CHUNK_BYTES);
    chunks.push(Buffer.from(`${part.byteLength.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return [...chunks, Buffer.from("0\r\n\r\n")];
}

/** The request as one line that can be copied into a test: its bytes, as a string in Latin-1. */
export function shown(request: FuzzRequest): string {
  const text = bytesOf(request).toString("latin1");
  return JSON.stringify(text.length > 6_000 ? `${text.slice(0, 6_000)}… (${text.length} bytes)` : text);
}
