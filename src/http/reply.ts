import type { ErrorCode } from "../errors.js";

/** A part of a body. Handlers that send the same text in many responses keep it as bytes. */
export type BodyPart = string | Uint8Array;

/** A response as a handler returns it: plain data, turned into bytes and sent by the front. */
export interface Reply {
  status: number;
  /** A Location that begins with a slash is below the base URL. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  body: string | Uint8Array | readonly BodyPart[] | null;
  /** The code of an error; absent for all other responses. */
  errorCode?: ErrorCode;
  /**
   * What the response cost, where that follows from what was found; otherwise the units of its request. The request has paid the
   * most that it can cost before, and gets the rest back.
   */
  units?: number;
}

export interface ReplyOptions {
  status?: number;
  headers?: Reply["headers"];
}

/** A JSON response. */
export function json(body: unknown, options: ReplyOptions = {}): Reply {
  return jsonText(JSON.stringify(body), options);
}

/** A JSON response from its text. */
export function jsonText(body: string | readonly BodyPart[], options: ReplyOptions = {}): Reply {
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

/** 204. */
export function noContent(headers: Reply["headers"] = {}): Reply {
  return { status: 204, headers, body: null };
}

/** A redirect; a location that begins with a slash is below the base URL. */
export function redirect(location: string, status: 301 | 302 | 303, headers: Reply["headers"] = {}): Reply {
  return { status, headers: { Location: location, ...headers }, body: null };
}

/** The bytes of a body, in UTF-8. */
export function bytesOf(body: Reply["body"]): Buffer {
  if (body === null) return Buffer.alloc(0);
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return Buffer.concat(body.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}
