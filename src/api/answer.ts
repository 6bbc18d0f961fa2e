import { createHash, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";

/** In the order of our preference, where the caller has none. */
const ENCODINGS = ["br", "zstd", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Smaller bodies gain nothing from being compressed. */
const MIN_COMPRESSED_BYTES = 1_000;

const COMPRESS: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (body) => promisify(zstdCompress)(body),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
};

/** An answer as bytes, with the forms it has been asked for. */
export interface StoredAnswer {
  status: number;
  headers: [string, string][];
  body: Buffer;
  etag: string | undefined;
  /** Whether others may be given the same answer. */
  isShared: boolean;
  compressed: Map<Encoding, Promise<Buffer>>;
}

/** A name for one request, in its answer and in the log. */
export function createRequestId(): string {
  return randomBytes(9).toString("base64url");
}

/**
 * Reads a response to its end and gives it a tag, if it has none of its own. The tag is also of `address`, where given: who
 * has it has been answered there before, and the same words under another address, such as of a list that is empty,
 * have another.
 */
export async function storeAnswer(response: Response, address = ""): Promise<StoredAnswer> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = new Headers(response.headers);
  // Weak: the same tag stands for all encodings of the body.
  const computed = () =>
    `W/"${createHash("sha256").update(address).update(body).digest("base64url").slice(0, 22)}"`;
  const etag = response.status === 200 ? (headers.get("etag") ?? computed()) : undefined;
  if (etag !== undefined) headers.set("ETag", etag);
  const isPublic = headers.get("cache-control")?.startsWith("public") ?? false;
  const isShared = response.status === 200 && isPublic && !headers.has("set-cookie");
  return { status: response.status, headers: [...headers], body, etag, isShared, compressed: new Map() };
}

/** The answer for one request: 304 where the caller has it, compressed as the caller likes, without a body for HEAD. */
export async function sendAnswer(answer: StoredAnswer, request: Request): Promise<Response> {
  const headers = new Headers(answer.headers);
  if (answer.isShared) headers.set("X-Request-Id", createRequestId());
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (isRead && answer.etag !== undefined && matches(request.headers.get("if-none-match"), answer.etag)) {
    for (const name of ["content-type", "content-length", "content-disposition"]) headers.delete(name);
    return new Response(null, { status: 304, headers });
  }
  const hasBody = ![204, 304].includes(answer.status);
  let body = answer.body;
  // A strong tag promises these very bytes, so they are sent as they are. What is no success has no tag.
  const mayCompress = (answer.etag?.startsWith("W/") ?? true) && body.byteLength >= MIN_COMPRESSED_BYTES;
  const encoding = mayCompress ? chooseEncoding(request.headers.get("accept-encoding")) : undefined;
  if (encoding !== undefined) {
    let compressed = answer.compressed.get(encoding);
    if (compressed === undefined) {
      compressed = COMPRESS[encoding](answer.body);
      answer.compressed.set(encoding, compressed);
    }
    body = await compressed;
    headers.set("Content-Encoding", encoding);
  }
  if (hasBody) headers.set("Content-Length", String(body.byteLength));
  const sent = hasBody && request.method !== "HEAD" ? new Uint8Array(body) : null;
  return new Response(sent, { status: answer.status, headers });
}

/** Whether an If-None-Match names the tag: weak comparison (RFC 9110, 13.1.2). */
export function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => opaque(tag) === opaque(etag));
}

/** The encoding the caller likes best of ours; undefined for none (RFC 9110, 12.5.3). */
export function chooseEncoding(accept: string | null): Encoding | undefined {
  if (accept === null) return undefined;
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
