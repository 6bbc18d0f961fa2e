import type { IncomingMessage } from "node:http";
import { AppError } from "../lib/errors.js";

/** 500 identifiers of 19 digits fit, with their quotes and a name. */
const MAX_JSON_BYTES = 16 * 1024;
/** More than any form of ours needs. */
const MAX_FORM_BYTES = 64 * 1024;

/** The parsed JSON body. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or INVALID_REQUEST. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const type = contentType(request);
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/.test(type)) {
    throw new AppError(
      "UNSUPPORTED_MEDIA_TYPE",
      "The body must be sent as Content-Type: application/json in UTF-8.",
    );
  }
  const text = await readText(request, MAX_JSON_BYTES);
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("INVALID_REQUEST", "The body is not valid JSON.");
  }
}

/** The fields of a form. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or INVALID_REQUEST. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/.test(contentType(request)))
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The body must be a form.");
  return new URLSearchParams(await readText(request, MAX_FORM_BYTES));
}

/** Whether the rest of a body is too long, or of unknown length, to be read only to keep the connection. */
export function hasLongBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  // Before its end is parsed, a request without a body is not complete either.
  return (
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > MAX_JSON_BYTES
  );
}

/**
 * Discards the rest of a body before a response that ends the connection. A connection that is closed while its client still
 * sends is reset, and with it the response is lost: proxies report 502 then (RFC 9112, 9.6). So only our side ends, until the
 * body does, or the time for a request is over.
 */
export function discardBody(request: IncomingMessage): void {
  const { socket } = request;
  // Node calls it after the last response of a connection.
  socket.destroySoon = () => void socket.end();
  request.once("end", () => socket.end(() => socket.destroy()));
  request.resume();
}

/** All values that were sent: Node keeps only the first. */
function contentType(request: IncomingMessage): string {
  return (request.headersDistinct["content-type"] ?? []).join(", ").toLowerCase();
}

/** The body as text. One that is too long is refused before any of it is parsed. */
async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The body must not have a Content-Encoding.", {
      headers: { "Accept-Encoding": "identity" },
    });
  }
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${maxBytes} bytes.`, {
      headers: { Connection: "close" },
    });
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.byteLength;
      if (length > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("INVALID_REQUEST", "The body ended too early.", { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new AppError("INVALID_REQUEST", "The body is not UTF-8.");
  }
}
