import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.js";

/** The least that RFC 9110, 4.1 recommends to accept. */
const MAX_TARGET = 8_000;
const METHODS = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]);

/** Path and query of a request, escapes included. */
export interface RequestLine {
  /** One of the known methods. */
  method: string;
  path: string;
  /** Without the question mark; empty for a target without a query. */
  query: string;
}

/**
 * The request line of a message. Throws AppError for an unknown method, and for a target that is not a path, is too long, or
 * has malformed escapes or dot segments.
 */
export function readRequestLine(request: Pick<IncomingMessage, "method" | "url">): RequestLine {
  const method = request.method ?? "";
  if (!METHODS.has(method)) {
    const allow = [...METHODS].join(", ");
    throw new AppError("METHOD_NOT_ALLOWED", `The method is unknown. Known methods: ${allow}.`, {
      headers: { Allow: allow },
    });
  }
  const { url = "/" } = request;
  if (url.length > MAX_TARGET)
    throw new AppError(
      "ADDRESS_TOO_LONG",
      `The address must be at most ${MAX_TARGET} characters, with its query.`,
    );
  const target = originForm(url, method);
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? "" : target.slice(mark + 1);
  for (const segment of path.slice(1).split("/")) checkSegment(segment);
  checkText(query.replaceAll("+", " "), "query");
  return { method, path, query };
}

/** The path and query of a target. The host of an absolute one is not ours to judge, so it is dropped (RFC 9112, 3.2.2). */
function originForm(target: string, method: string): string {
  if (target === "*" && method === "OPTIONS") return "*";
  const absolute = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  const path = absolute === null ? target : `/${(absolute[1] ?? "").replace(/^\//, "")}`;
  if (!path.startsWith("/") || path.startsWith("//") || path.includes("#") || path.includes("\\"))
    throw new AppError("INVALID_REQUEST", "The address must be a path that begins with a single slash.");
  return path;
}

function checkSegment(segment: string): void {
  const decoded = checkText(segment, "path");
  for (const part of decoded.split("/")) {
    if (part === "." || part === "..")
      throw new AppError("INVALID_REQUEST", "The path must not contain the segments . or ..");
  }
  if (decoded.includes("\\")) throw new AppError("INVALID_REQUEST", "The path must not contain a backslash.");
}

/** Decodes once; throws for an escape that is malformed, not UTF-8, or NUL. */
function checkText(text: string, part: "path" | "query"): string {
  let decoded = text;
  if (text.includes("%")) {
    try {
      decoded = decodeURIComponent(text);
    } catch {
      throw new AppError("INVALID_REQUEST", `The ${part} contains a malformed percent escape.`);
    }
  }
  if (decoded.includes("\0")) throw new AppError("INVALID_REQUEST", `The ${part} must not contain NUL.`);
  return decoded;
}
