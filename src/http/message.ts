import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { hostname } from "node:os";
import { AppError } from "../lib/errors.js";
import { canonicalHost, isLoopbackHost, isPrivateHost } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";

/** The facts of a request that are known before its body is read. */
export interface Message
  extends Pick<
    IncomingMessage,
    "method" | "url" | "httpVersion" | "headers" | "headersDistinct" | "rawHeaders"
  > {
  socket: Pick<Socket, "remoteAddress" | "destroyed">;
}

/** Whether a request carries an API key, or something in its place. */
export function hasKey({ authorization, "x-api-key": key }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || key !== undefined;
}

/** Cookies of ours; pages look different with them. Cookies that others leave in a browser change nothing. */
const OWN_COOKIE = /(?:^|; ?)(?:__Host-|__Secure-)?sidereal[.-]/;

export function hasOwnCookie(cookie: string | undefined): boolean {
  return cookie !== undefined && OWN_COOKIE.test(cookie);
}

/** All X-Forwarded-For lines of a request, joined by commas. */
export function forwardedFor({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const value = headers["x-forwarded-for"];
  return typeof value === "string" ? value : value?.join();
}

/** How many header lines have a name, which is in lower case. Node's `headers` keep only one of some. */
export function countLines(rawHeaders: readonly string[], name: string): number {
  let lines = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i];
    if (given?.length === name.length && given.toLowerCase() === name) lines++;
  }
  return lines;
}

/** Requests that Node's parser lets through and that must be refused: HTTP/0.9, no Host header, or several; headers that are too large. */
export function checkHead({ httpVersion, rawHeaders }: Message): void {
  checkHeaders(rawHeaders);
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw new AppError("INVALID_REQUEST", "The request must use HTTP/1.1 or HTTP/1.0.", {
      headers: { Connection: "close" },
    });
  }
  const hosts = countLines(rawHeaders, "host");
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
    throw new AppError("INVALID_REQUEST", "The request must have exactly one Host header.", {
      headers: { Connection: "close" },
    });
  }
}

/** Most parameters of a query, and parts of a header. Browsers send up to 180 cookies, and no route takes more parameters. */
const MAX_PARTS = 200;

/** Whether a text has more parts than may be split. Looks no further than that. */
function hasTooManyParts(text: string, separator: string, most = MAX_PARTS): boolean {
  let at = text.indexOf(separator);
  for (let parts = 1; at !== -1; parts++) {
    if (parts === most) return true;
    at = text.indexOf(separator, at + 1);
  }
  return false;
}

/** The least that RFC 9110, 4.1 recommends to accept. */
const MAX_TARGET = 8_000;
/** The longest full name has 400 characters. */
const MAX_PATH = 1_000;
/** Twice the depth of the deepest groups of a forge, and more. */
const MAX_SEGMENTS = 50;
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
  if (url.length > MAX_TARGET) throw tooLong(`must be at most ${MAX_TARGET} characters, with its query`);
  const target = originForm(url, method);
  const { path, query } = splitTarget(target);
  checkPath(path);
  if (hasTooManyParts(query, "&")) throw tooLong(`must have at most ${MAX_PARTS} parameters`);
  checkText(query.replaceAll("+", " "), "query");
  return { method, path, query };
}

/** The path and query of a target, without the question mark between them. */
export function splitTarget(target: string): Pick<RequestLine, "path" | "query"> {
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function tooLong(message: string): AppError {
  return new AppError("ADDRESS_TOO_LONG", `The address ${message}.`);
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

/** Whether a path may belong to a route: to look for one takes longer, the longer it is and the more segments it has. */
export function isPathShort(path: string): boolean {
  return path.length <= MAX_PATH && !hasTooManyParts(path.slice(1), "/", MAX_SEGMENTS);
}

function checkPath(path: string): void {
  if (path.length > MAX_PATH) throw tooLong(`must have a path of at most ${MAX_PATH} characters`);
  const decoded = checkText(path, "path").slice(1);
  if (hasTooManyParts(decoded, "/", MAX_SEGMENTS))
    throw tooLong(`must have a path of at most ${MAX_SEGMENTS} segments`);
  for (const segment of decoded.split("/")) {
    if (segment === "." || segment === "..")
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

/**
 * The headers that are split or parsed: their separator, and the most characters, all lines of a name together. Generous: browsers bound a
 * cookie to 4,096, and credentials for a proxy in front of us may come along.
 */
const SPLIT = new Map([
  ["accept", { separators: ",;", most: 4_096 }],
  ["accept-encoding", { separators: ",;", most: 4_096 }],
  ["authorization", { separators: ",", most: 4_096 }],
  ["cookie", { separators: ";", most: 8_192 }],
  ["if-match", { separators: ",", most: 4_096 }],
  ["if-none-match", { separators: ",", most: 4_096 }],
  ["x-api-key", { separators: ",", most: 4_096 }],
  ["x-forwarded-for", { separators: ",", most: 4_096 }],
]);

interface Bounds {
  separators: string;
  most: number;
}

/** Throws HEADER_TOO_LARGE if a header is longer than it may be or has too many parts, before anything looks into it. */
function checkHeaders(rawHeaders: readonly string[]): void {
  const found = new Map<Bounds, { name: string; value: string }>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const bounds = SPLIT.get(name.toLowerCase());
    if (bounds === undefined) continue;
    const [line = "", before] = [rawHeaders[i + 1], found.get(bounds)];
    const value = before === undefined ? line : before.value + bounds.separators[0] + line;
    found.set(bounds, { name, value });
  }
  for (const [bounds, { name, value }] of found) {
    const message = excessOf(value, bounds);
    if (message === undefined) continue;
    throw new AppError("HEADER_TOO_LARGE", `The header ${name} ${message}.`, {
      details: [{ parameter: name, message }],
    });
  }
}

function excessOf(value: string, { separators, most }: Bounds): string | undefined {
  if (value.length > most) return `must be at most ${most} characters`;
  const hasExcess = [...separators].some((separator) => hasTooManyParts(value, separator));
  return hasExcess ? `must have at most ${MAX_PARTS} parts` : undefined;
}

/** Weights of media types in an `Accept` header (RFC 9110, 12.5.1). A type without a weight that can be read has the weight 1. */
function weightsOf(accept: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
    weights.set(type, Number.isNaN(weight) ? 1 : weight);
  }
  return weights;
}

/** Whether a caller would rather have a table than JSON: it must name text/csv, and not like JSON more, or as much by its name. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes("text/csv")) return false;
  const weights = weightsOf(accept);
  const csv = weights.get("text/csv") ?? 0;
  const json = weights.get("application/json");
  if (csv === 0) return false;
  if (json !== undefined) return csv > json;
  return csv >= (weights.get("application/*") ?? weights.get("*/*") ?? 0);
}

/** Characters of a refused host in the log. */
const MAX_LENGTH = 100;
/** A port at the end of a host; the largest are left to the full check. */
const PORT = /:[1-5]?\d{1,4}$/;

/**
 * The hosts that requests may name. If they are checked, no site can make its own name point to this service and read it from
 * the browser of somebody who can reach it (DNS rebinding). This machine is always among them: no other site can have its names.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string> | undefined;
  readonly #log: Logger;
  #mayWarn = true;

  /** `allowed`: canonical; undefined: hosts are not checked. */
  constructor(allowed: readonly string[] | undefined, log: Logger) {
    const ofMachine = [canonicalHost(hostname()) ?? "localhost", "localhost", "127.0.0.1"];
    this.#names = allowed && new Set([...allowed, ...ofMachine]);
    this.#log = log;
  }

  /** Whether requests may name this host, as it is in the header. Without a header, as in HTTP/1.0, there is nothing to check. */
  accepts(host: string | undefined): boolean {
    const names = this.#names;
    // Nearly every client writes the name as we do.
    if (names === undefined || host === undefined || names.has(host.replace(PORT, ""))) return true;
    const canonical = canonicalHost(host);
    return canonical !== undefined && (names.has(canonical) || isLoopbackHost(canonical));
  }

  /** The error for a host that is not accepted. The first one is logged. */
  refusal(host: string | undefined): AppError {
    if (this.#mayWarn) {
      this.#mayWarn = false;
      this.#log.warn(
        { host: host?.slice(0, MAX_LENGTH) },
        "a request named a host that is not allowed; if people use it, set SIDEREAL_BASE_URL to it or add it to SIDEREAL_ALLOWED_HOSTS",
      );
    }
    return new AppError(
      "MISDIRECTED_REQUEST",
      "This service does not respond under this host. Its operator can set SIDEREAL_BASE_URL to the address that people use, or add the host to SIDEREAL_ALLOWED_HOSTS.",
    );
  }
}

/** Headers that proxies and the networks of clouds add. No browser sends them by itself. */
const OF_PROXIES =
  /^(?:forwarded|via|cdn-loop|(?:true-client|cf-connecting|do-connecting|fastly-client|incap-client|ali-cdn-real)-ip|(?:cf|fly)-.+|x-(?:forwarded|real|client|original|envoy|cluster|azure|amzn|amz|arr|appengine|vercel|nf|cloud|akamai|sucuri)-.+)$/;

/** Whether a header shows that a proxy has passed the request on. */
export function hasProxyHeader(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (OF_PROXIES.test(rawHeaders[i]?.toLowerCase() ?? "")) return true;
  return false;
}

/** The address that a connection comes from; empty if it has none. */
export function peerOf({ socket }: Pick<Message, "socket">): string {
  return (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d)/i, "");
}

/**
 * How a request has come that names this machine as its host: `local` straight from here or a private network, as all that reach a
 * container do; `proxied` with the trace of a proxy. Everything else is `remote`. A proxy without a trace looks local, so that alone
 * permits nothing.
 */
export type Locality = "local" | "proxied" | "remote";

export function localityOf(message: Message): Locality {
  const peer = peerOf(message);
  const host = canonicalHost(message.headers.host ?? "");
  if (peer === "" || !isPrivateHost(peer) || host === undefined || !isLoopbackHost(host)) return "remote";
  return hasProxyHeader(message.rawHeaders) ? "proxied" : "local";
}

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
