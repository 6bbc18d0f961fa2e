import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { ErrorCode } from "../lib/errors.js";

/** A response as a handler returns it: plain data, turned into bytes and sent by the front. */
export interface Reply {
  status: number;
  /** The status that is sent instead of the one that is counted: 200 for the picture of an error. */
  sentAs?: 200;
  /** A Location that begins with a slash is below the base URL. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  body: string | Uint8Array | null;
  /** Instead of the body, one that is read while it is sent. Such a response is never stored, and has no ETag. */
  stream?: Readable;
  /** The code of an error; absent for all other responses. */
  errorCode?: ErrorCode;
  /**
   * What the response cost, where that follows from what was found; otherwise the units of its request. They may be more than the
   * caller has left: then it waits longer before its next request.
   */
  units?: number;
}

interface ReplyOptions {
  status?: number;
  headers?: Reply["headers"];
}

export function json(body: unknown, options: ReplyOptions = {}): Reply {
  return jsonText(JSON.stringify(body), options);
}

export function jsonText(body: string, options: ReplyOptions = {}): Reply {
  return content("application/json; charset=utf-8", body, options);
}

/** A response of any other type. */
export function content(
  type: string,
  body: NonNullable<Reply["body"]>,
  { status = 200, headers = {} }: ReplyOptions = {},
): Reply {
  return { status, headers: { "Content-Type": type, ...headers }, body };
}

/** A PNG. Its ETag is strong, so that the picture is not compressed again. */
export function pngReply(png: Uint8Array, headers: Reply["headers"] = {}): Reply {
  const tag = createHash("sha256").update(png).digest("base64url").slice(0, 22);
  return content("image/png", png, {
    headers: { ...headers, Vary: "Accept-Encoding", ETag: `"${tag}"` },
  });
}

/** A response whose body is read while it is sent: bytes, or batches of them. */
export function streamed(type: string, stream: Readable, headers: Reply["headers"] = {}): Reply {
  return { ...content(type, "", { headers }), stream };
}

export function noContent(headers: Reply["headers"] = {}): Reply {
  return { status: 204, headers, body: null };
}

/** A redirect; a location that begins with a slash is below the base URL. */
export function redirect(location: string, status: 301 | 302 | 303, headers: Reply["headers"] = {}): Reply {
  return { status, headers: { Location: location, ...headers }, body: null };
}

/**
 * The bytes of a body, in UTF-8 and in memory of their own: Node.js puts small buffers into blocks of 64 KiB, and a response that is
 * kept would keep such a block.
 */
export function bytesOf(body: Reply["body"]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(body ?? ""));
  if (typeof body === "string") bytes.write(body);
  else if (body !== null) bytes.set(body);
  return bytes;
}
