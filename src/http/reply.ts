import type { ErrorCode } from "../errors.js";

/** A response as a handler returns it: plain data, turned into bytes and sent by the front. */
export interface Reply {
  status: number;
  /** A Location that begins with a slash is below the base URL. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  body: string | Uint8Array | null;
  /** The code of an error; absent for all other responses. */
  errorCode?: ErrorCode;
}

export interface ReplyOptions {
  status?: number;
  headers?: Reply["headers"];
}

/** A JSON response. */
export function json(body: unknown, { status = 200, headers = {} }: ReplyOptions = {}): Reply {
  return {
    status,
    headers: { "Content-Type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  };
}

/** A response of any other type. */
export function content(
  type: string,
  body: string | Uint8Array,
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
