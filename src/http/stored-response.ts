import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { ErrorCode } from "../errors.js";
import type { Reply } from "./reply.js";

/** In order of our preference. */
const ENCODINGS = ["br", "zstd", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Smaller bodies gain nothing from compression. */
const MIN_COMPRESSED_BYTES = 1_000;

const COMPRESS: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (body) => promisify(zstdCompress)(body),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
};

/** A response as bytes, ready to be sent to any number of callers, with its compressed forms. */
export interface StoredResponse {
  status: number;
  /** Names and values in turn, as `writeHead` takes them. */
  headers: readonly string[];
  body: Buffer;
  etag: string | undefined;
  /** Whether the response may be kept and sent to other callers too. */
  isShared: boolean;
  errorCode: ErrorCode | null;
  encodings: Map<Encoding, Buffer | Promise<Buffer>>;
}

/**
 * Turns a reply with all its headers into bytes, and gives a 200 an ETag unless it has one. `taggedBy` goes into the tag:
 * a caller that has the tag has received this response from that address before.
 */
export function storeResponse(reply: Reply, headers: Reply["headers"], taggedBy: string): StoredResponse {
  const { status, body, errorCode = null } = reply;
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body ?? []);
  const own = headers.ETag;
  // Weak, since all encodings share the tag of the body.
  const computed = () =>
    `W/"${createHash("sha256").update(taggedBy).update(bytes).digest("base64url").slice(0, 22)}"`;
  const etag = status !== 200 ? undefined : typeof own === "string" ? own : computed();
  const list: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name === "ETag") continue;
    for (const one of [value].flat()) list.push(name, String(one));
  }
  const kept = status === 200 ? etag : own;
  if (kept !== undefined) list.push("ETag", String(kept));
  const control = headers["Cache-Control"];
  const isPublic = typeof control === "string" && control.startsWith("public");
  const isShared = status === 200 && isPublic && headers["Set-Cookie"] === undefined;
  return { status, headers: list, body: bytes, etag, isShared, errorCode, encodings: new Map() };
}

/** What the response to one request depends on. */
export interface Wanted {
  method: string;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
}

export interface Rendered {
  status: number;
  headers: string[];
  /** undefined: none is sent. */
  body: Buffer | undefined;
}

const CONTENT_HEADERS = new Set(["Content-Type", "Content-Disposition"]);

/** The response to one request: 304 if the caller has it, compressed as it likes, without a body for HEAD. */
export function render(stored: StoredResponse, wanted: Wanted): Rendered | Promise<Rendered> {
  const { method, ifNoneMatch, acceptEncoding } = wanted;
  const isRead = method === "GET" || method === "HEAD";
  if (isRead && stored.etag !== undefined && matchesTag(ifNoneMatch, stored.etag))
    return { status: 304, headers: withoutContentHeaders(stored.headers), body: undefined };
  const headers = [...stored.headers];
  const { status } = stored;
  if (status === 204 || status === 304) return { status, headers, body: undefined };
  const { encoding, body } = encodeBody(stored, acceptEncoding);
  if (encoding !== undefined) headers.push("Content-Encoding", encoding);
  const withBody = (bytes: Buffer): Rendered => {
    headers.push("Content-Length", String(bytes.byteLength));
    return { status, headers, body: method === "HEAD" ? undefined : bytes };
  };
  return body instanceof Promise ? body.then(withBody) : withBody(body);
}

function withoutContentHeaders(headers: readonly string[]): string[] {
  return headers.filter((_, i) => !CONTENT_HEADERS.has(headers[i - (i % 2)] ?? ""));
}

/** The body for a caller that accepts these encodings. A promise only while it is being compressed for the first time. */
function encodeBody(
  stored: StoredResponse,
  acceptEncoding: string | undefined,
): { encoding: Encoding | undefined; body: Buffer | Promise<Buffer> } {
  const { body, etag, encodings } = stored;
  // A strong tag promises exactly these bytes.
  const mayCompress = (etag?.startsWith("W/") ?? true) && body.byteLength >= MIN_COMPRESSED_BYTES;
  const encoding = mayCompress ? chooseEncoding(acceptEncoding) : undefined;
  if (encoding === undefined) return { encoding, body };
  const known = encodings.get(encoding);
  if (known !== undefined) return { encoding, body: known };
  const compressing = COMPRESS[encoding](body).then((compressed) => {
    encodings.set(encoding, compressed);
    return compressed;
  });
  // A failure must not be served to all later requests.
  compressing.catch(() => encodings.delete(encoding));
  encodings.set(encoding, compressing);
  return { encoding, body: compressing };
}

/** Whether an If-None-Match contains the tag: weak comparison (RFC 9110, 13.1.2). */
function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => opaque(tag) === opaque(etag));
}

/** The encoding of ours that the caller prefers; undefined for none (RFC 9110, 12.5.3). */
function chooseEncoding(accept: string | undefined): Encoding | undefined {
  if (accept === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (encoding: Encoding) => weights.get(encoding) ?? weights.get("*") ?? 0;
  const best = [...ENCODINGS].sort((a, b) => weightOf(b) - weightOf(a))[0];
  return best !== undefined && weightOf(best) > 0 ? best : undefined;
}
