import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.js";

const MAX_TARGET = 8_000;
const METHODS = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]);

/**
 * What Node's parser lets through and an answer must not be built on: HTTP/0.9, more than one Host, another host in the target,
 * escapes that are malformed or hide a path. Returns the path with its query, decoded by nobody yet; throws AppError.
 */
export function requestTarget(request: IncomingMessage): string {
  if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") {
    throw new AppError("INVALID_REQUEST", "A request must be of HTTP/1.1 or HTTP/1.0.", {
      headers: { Connection: "close" },
    });
  }
  const hosts = request.rawHeaders.filter(
    (header, i) => i % 2 === 0 && header.toLowerCase() === "host",
  ).length;
  if (hosts > 1 || (hosts === 0 && request.httpVersion === "1.1")) {
    throw new AppError("INVALID_REQUEST", "A request must have exactly one Host header.", {
      headers: { Connection: "close" },
    });
  }
  const method = request.method ?? "";
  if (!METHODS.has(method)) {
    const allow = [...METHODS].join(", ");
    throw new AppError("METHOD_NOT_ALLOWED", `The method is not known; ${allow} are.`, {
      headers: { Allow: allow },
    });
  }
  const target = originForm(request.url ?? "/", method);
  if (target.length > MAX_TARGET)
    throw new AppError("INVALID_REQUEST", `The address is longer than ${MAX_TARGET} characters.`);
  const [path = "/", query] = splitOnce(target, "?");
  for (const segment of path.slice(1).split("/")) checkSegment(segment);
  if (query !== undefined) checkText(query.replaceAll("+", " "), "query");
  return target;
}

/** The path and query of a target. The host of an absolute one is not ours to judge, and is dropped (RFC 9112, 3.2.2). */
function originForm(target: string, method: string): string {
  if (target === "*" && method === "OPTIONS") return "/";
  const absolute = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  const path = absolute === null ? target : `/${(absolute[1] ?? "").replace(/^\//, "")}`;
  if (!path.startsWith("/") || path.startsWith("//") || path.includes("#") || path.includes("\\")) {
    throw new AppError("INVALID_REQUEST", "The address must be a path that begins with one slash.");
  }
  return path;
}

function checkSegment(segment: string): void {
  const decoded = checkText(segment, "path");
  for (const part of decoded.split("/")) {
    if (part === "." || part === "..")
      throw new AppError("INVALID_REQUEST", "The path must not hold the segments . or ..");
  }
  if (decoded.includes("\\")) throw new AppError("INVALID_REQUEST", "The path must not hold a backslash.");
}

/** Decodes once; throws for an escape that is malformed, is not UTF-8, or stands for NUL. */
function checkText(text: string, part: "path" | "query"): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new AppError("INVALID_REQUEST", `The ${part} holds a malformed percent escape.`);
  }
  if (decoded.includes("\0")) throw new AppError("INVALID_REQUEST", `The ${part} must not hold NUL.`);
  return decoded;
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
