/** What every response must keep, whatever was requested. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { checkDocumented } from "../../support/openapi.js";
import { parseXml } from "../../support/xml.js";
import type { RawResponse } from "./connection.js";
import type { FuzzRequest } from "./request.js";
import { isBodiless } from "./response.js";
import { MARKUP } from "./values.js";

/** A response that breaks a promise. */
export class BadResponse extends Error {
  override readonly name = "BadResponse";
}

/** Statuses of pages and files, which no contract lists. */
const PAGE_STATUSES = new Set([
  200, 204, 301, 302, 303, 304, 400, 401, 403, 404, 405, 409, 413, 414, 415, 421, 431,
]);

/** Statuses of requests that are refused before there is a route. */
const PROTOCOL_STATUSES = new Set([400, 405, 417, 431]);

const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

/** Addresses that a response may lead to. */
const FOREIGN = ["https://github.com/login/oauth/authorize?", "https://accounts.google.com/"];

/** The path of a request, without the host of an absolute target. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return path.split("?")[0] || "/";
}

/** Throws BadResponse where a response is not as it must be. Returns its text; empty for pictures. */
export function checkResponse(request: FuzzRequest, response: RawResponse, origin: string): string {
  const { status, headers } = response;
  const fail = (message: string): never => {
    throw new BadResponse(`${message} (status ${status})`);
  };
  if (status >= 500) fail(`a server error: ${response.body.toString().slice(0, 200)}`);
  // Node responds itself where it does not know what is expected.
  if (status === 417) return "";
  const id = headers.get("x-request-id") ?? "";
  if (!/^[\w-]{12}$/.test(id)) fail("no X-Request-Id");
  if (headers.get("x-content-type-options") !== "nosniff") fail("no nosniff");
  if (!headers.has("content-security-policy")) fail("no Content-Security-Policy");
  if (!headers.has("cache-control")) fail("no Cache-Control");
  if (headers.has("x-powered-by") || headers.has("server")) fail("the server names itself");
  const etag = headers.get("etag");
  if (etag !== undefined && !ETAG.test(etag)) fail(`not an ETag: ${etag}`);
  checkLocation(headers.get("location"), origin, fail);
  if (status >= 400 && headers.get("cache-control") !== "no-store") fail("an error may be stored");
  const text = textOf(request, response, fail);
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").split("; ");
  if (type !== "" && !BINARY.has(type) && !parameters.includes("charset=utf-8"))
    fail(`${type} without charset`);
  const path = pathOf(request.target);
  if (PROTOCOL_STATUSES.has(status) && !path.startsWith("/")) return text;
  try {
    const answer = {
      method: request.method,
      path,
      status,
      type,
      text: request.method === "HEAD" ? "" : text,
    };
    if (status === 431) return text;
    if (!checkDocumented(answer) && !PAGE_STATUSES.has(status)) fail("a status that pages do not have");
  } catch (error) {
    if (error instanceof BadResponse) throw error;
    fail(error instanceof Error ? error.message : String(error));
  }
  return text;
}

/** Types of bodies that are no text. */
const BINARY = new Set(["image/png", "application/gzip"]);

function checkLocation(location: string | undefined, origin: string, fail: (message: string) => never): void {
  if (location === undefined) return;
  const isOwn = /^\/(?![/\\])/.test(location) || location.startsWith(`${origin}/`);
  if (!isOwn && !FOREIGN.some((start) => location.startsWith(start))) fail(`leads to ${location}`);
}

function textOf(request: FuzzRequest, response: RawResponse, fail: (message: string) => never): string {
  const { status, headers, body } = response;
  if (isBodiless(status, request.method) || body.length === 0) return "";
  const type = headers.get("content-type") ?? "";
  if (BINARY.has(type)) return "";
  const isText = /; charset=utf-8$/.test(type) || type === "image/svg+xml";
  if (!isText) fail(`a Content-Type without a charset: ${type}`);
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(decoded(body, headers.get("content-encoding")));
  } catch (error) {
    fail(`a body that cannot be read: ${error}`);
  }
  const isMarkup = /html|svg|xml/.test(type);
  if (isMarkup && text.includes(MARKUP)) fail("markup of the request reached the document");
  if (type.startsWith("text/html") && !text.startsWith("<!doctype html>")) fail("not a whole page");
  if (isMarkup && !type.startsWith("text/html")) {
    try {
      parseXml(text);
    } catch (error) {
      fail(`not well-formed: ${error}`);
    }
  }
  return text;
}

function decoded(body: Buffer, encoding: string | undefined): Buffer {
  switch (encoding) {
    case undefined:
      return body;
    case "br":
      return brotliDecompressSync(body);
    case "gzip":
      return gunzipSync(body);
    case "zstd":
      return zstdDecompressSync(body);
    default:
      throw new Error(`an unknown Content-Encoding: ${encoding}`);
  }
}
