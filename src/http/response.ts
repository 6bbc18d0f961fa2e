import { createHash, randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import { basePathOf, cookieScope } from "../lib/base-url.js";
import type { ErrorCode } from "../lib/errors.js";
import {
  bytesOf,
  DEPRECATION_HEADER,
  IGNORED_HEADER,
  isApi,
  type PublicAddress,
  RATE_HEADERS,
  type Reply,
  type Route,
} from "./route.js";

/** Statuses of refusals, which must cost less than the refused work: compressing takes longer than all other steps. */
const REFUSED: readonly number[] = [429, 503];

/** Whether a status refuses: over a limit, or more than the service can do. */
export const isRefusal = (status: number): boolean => REFUSED.includes(status);

/** In order of our preference. */
const ENCODINGS = ["br", "zstd", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Smaller bodies gain nothing from compression. */
const MIN_COMPRESSED_BYTES = 1_000;
/** Node copies a text behind its head and writes both in one go; larger bodies are cheaper to send as they are. */
const MAX_TEXT_BYTES = 8_192;

const COMPRESS: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (body) => promisify(zstdCompress)(body),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
};

/** A response as bytes, ready to be sent to any number of callers. */
export interface StoredResponse {
  /** The outcome, by which a request is charged and counted. */
  status: number;
  /** The status that is sent, if it is not that of the outcome. */
  sentAs: number | undefined;
  /** Names and values alternate, as `writeHead` takes them. */
  headers: readonly string[];
  body: Buffer;
  etag: string | undefined;
  /** Instead of the body, for the one request that it was opened for. */
  stream: Readable | undefined;
  /** Whether the response may be kept and sent to other callers too. */
  isShared: boolean;
  errorCode: ErrorCode | null;
  /** Its cost for each caller; undefined: the units of the request. */
  units: number | undefined;
  /** The `Age` of a response that may be outdated, whenever it is sent; undefined for all others. */
  age?: () => string;
  /** The forms in which it has been sent. */
  variants: Map<Encoding | "plain" | "unchanged", Variant | Promise<Variant>>;
}

/**
 * Turns a reply with all its headers into bytes, and gives a 200 an ETag unless it has one. `taggedBy` goes into the tag:
 * a caller that has the tag has received this response from that address before.
 */
export function storeResponse(reply: Reply, headers: Reply["headers"], taggedBy: string): StoredResponse {
  const { status, sentAs, body, stream, errorCode = null, units } = reply;
  const bytes = bytesOf(body);
  const own = headers.ETag;
  // Weak, since all encodings share the tag of the body. Nobody gains by a collision, so the fastest hash will do.
  const computed = () =>
    `W/"${createHash("sha1").update(taggedBy).update(bytes).digest("base64url").slice(0, 22)}"`;
  const isTagged = status === 200 && stream === undefined;
  const etag = !isTagged ? undefined : typeof own === "string" ? own : computed();
  const list: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name === "ETag") continue;
    for (const one of [value].flat()) list.push(name, String(one));
  }
  const kept = isTagged ? etag : own;
  if (kept !== undefined) list.push("ETag", String(kept));
  const control = headers["Cache-Control"];
  const isPublic = typeof control === "string" && control.startsWith("public");
  const isShared = isTagged && isPublic && headers["Set-Cookie"] === undefined;
  return {
    status,
    sentAs,
    headers: list,
    body: bytes,
    etag,
    stream,
    isShared,
    errorCode,
    units,
    variants: new Map(),
  };
}

const RATE_NAMES = Object.keys(RATE_HEADERS);

/** The differences between the heads of two responses with the same content. */
interface HeadValues {
  id: string;
  date: string;
  /** The values of RATE_HEADERS in their order; undefined where nothing is limited. */
  rates: readonly string[] | undefined;
  /** Names and values of headers about the parameters. */
  notes: readonly string[];
}

/** One form of a response with its head prepared. Only the values that differ with each request are filled in. */
export class Variant {
  readonly status: number;
  readonly sentAs: number;
  /** Undefined: none is sent. */
  readonly body: Buffer | string | undefined;
  /** Of the body. */
  readonly bytes: number;
  readonly #head: string[];
  readonly #limitedHead: string[];
  readonly #idAt: number;
  readonly #age: StoredResponse["age"];

  constructor(
    { status, sentAs, age }: Pick<StoredResponse, "status" | "sentAs" | "age">,
    headers: readonly string[],
    body: Buffer | undefined,
  ) {
    this.status = status;
    this.sentAs = sentAs ?? status;
    this.#age = age;
    this.bytes = body?.byteLength ?? 0;
    this.body = body !== undefined && this.bytes <= MAX_TEXT_BYTES ? body.toString("latin1") : body;
    this.#head = [...(age === undefined ? [] : ["Age", ""]), ...headers, "Date", "", "X-Request-Id", ""];
    this.#limitedHead = [...this.#head, ...RATE_NAMES.flatMap((name) => [name, ""])];
    this.#idAt = this.#head.length - 1;
  }

  /** Names and values for `writeHead`, valid until the next call. */
  head({ id, date, rates, notes }: HeadValues): string[] {
    const head = rates === undefined ? this.#head : this.#limitedHead;
    if (this.#age !== undefined) head[1] = this.#age();
    head[this.#idAt - 2] = date;
    head[this.#idAt] = id;
    for (let i = 0; i < (rates?.length ?? 0); i++) head[this.#idAt + 2 * (i + 1)] = rates?.[i] ?? "";
    return notes.length === 0 ? head : [...head, ...notes];
  }
}

/** The headers and limits that the form of a response depends on. */
interface Wanted {
  /** Whether the method is GET or HEAD. */
  isRead: boolean;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
}

/** The form for one request: 304 if the caller has it, else compressed as it likes. A promise only while it is compressed for the first time. */
export function variantOf(stored: StoredResponse, wanted: Wanted): Variant | Promise<Variant> {
  const { variants, etag } = stored;
  if (wanted.isRead && etag !== undefined && matchesTag(wanted.ifNoneMatch, etag))
    return variants.get("unchanged") ?? keep(stored, "unchanged", unchanged(stored));
  const encoding = encodingFor(stored, wanted.acceptEncoding);
  if (encoding === undefined) return variants.get("plain") ?? keep(stored, "plain", plain(stored));
  return variants.get(encoding) ?? compressed(stored, encoding);
}

function keep(stored: StoredResponse, name: "plain" | "unchanged", variant: Variant): Variant {
  stored.variants.set(name, variant);
  return variant;
}

/** The form of a stream, and how it is encoded: one whose length is known is sent as it is. */
export function streamVariant(stored: StoredResponse, accept: string | undefined) {
  const { headers } = stored;
  const at = headers.indexOf("Content-Length");
  const length = at === -1 ? undefined : Number(headers[at + 1]);
  const encoding = accept === undefined || length !== undefined ? undefined : chooseEncoding(accept);
  const coding = encoding === undefined ? [] : ["Content-Encoding", encoding];
  return { variant: new Variant(stored, [...headers, ...coding], undefined), encoding, length };
}

const CONTENT_HEADERS = new Set(["Content-Type", "Content-Disposition"]);

function unchanged({ headers, ...stored }: StoredResponse): Variant {
  const kept = headers.filter((_, i) => !CONTENT_HEADERS.has(headers[i - (i % 2)] ?? ""));
  return new Variant({ ...stored, status: 304 }, kept, undefined);
}

function plain(stored: StoredResponse): Variant {
  const { status, headers, body } = stored;
  if (status === 204 || status === 304) return new Variant(stored, headers, undefined);
  return new Variant(stored, [...headers, "Content-Length", String(body.byteLength)], body);
}

function compressed(stored: StoredResponse, encoding: Encoding): Promise<Variant> {
  const { headers, body, variants } = stored;
  const compressing = COMPRESS[encoding](body).then((bytes) => {
    const length = ["Content-Encoding", encoding, "Content-Length", String(bytes.byteLength)];
    const variant = new Variant(stored, [...headers, ...length], bytes);
    variants.set(encoding, variant);
    return variant;
  });
  // A failure must not be served to all later requests.
  compressing.catch(() => variants.delete(encoding));
  variants.set(encoding, compressing);
  return compressing;
}

function encodingFor(
  { etag, body, status }: StoredResponse,
  accept: string | undefined,
): Encoding | undefined {
  if (accept === undefined || body.byteLength < MIN_COMPRESSED_BYTES) return undefined;
  if (isRefusal(status)) return undefined;
  // A strong tag promises exactly these bytes.
  if (status === 204 || status === 304 || etag?.startsWith("W/") === false) return undefined;
  return chooseEncoding(accept);
}

/** Whether an If-None-Match contains the tag: weak comparison (RFC 9110, 13.1.2). */
export function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => opaque(tag) === opaque(etag));
}

/** The encoding of ours that the caller prefers; undefined for none (RFC 9110, 12.5.3). */
function chooseEncoding(accept: string): Encoding | undefined {
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

/** For responses whose route does not say how long they may be kept. */
const PUBLIC_CACHE = "public, max-age=30, stale-while-revalidate=60";

/** Headers that scripts of other origins may read. */
const EXPOSED = [
  "ETag",
  "Link",
  "Location",
  "Retry-After",
  "Age",
  "Cache-Status",
  "Allow",
  "Accept-Ranges",
  "Content-Range",
  "Content-Disposition",
  "X-Request-Id",
  IGNORED_HEADER,
  DEPRECATION_HEADER,
  ...Object.keys(RATE_HEADERS),
].join(", ");

/** For every response of a service whose address is https; browsers ignore most of them elsewhere (RFC 6797, 8.1). */
const SECURE_HEADERS = {
  // Without includeSubDomains: the domain may have other services, some of them without https.
  "Strict-Transport-Security": "max-age=31536000",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy":
    "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
};

/** Of pages and of the files that they load. */
const SAME_ORIGIN = { "Cross-Origin-Resource-Policy": "same-origin" };

type Facts = Pick<Route, "access" | "cache" | "form" | "endsSession" | "csv">;

export function publicAddressOf(baseUrl: string, isOpen = true): PublicAddress {
  return { basePath: basePathOf(baseUrl), isSecure: cookieScope(baseUrl).secure, isOpen };
}

/** The headers of a reply with those that follow from the facts of its route. The reply's own headers win. */
export function completeHeaders(
  reply: Reply,
  { access, cache, form, endsSession, csv }: Facts,
  { basePath, isSecure, isOpen }: PublicAddress,
): Reply["headers"] {
  const isPersonal = access === "session" || access === "browser";
  const isProgram = isApi({ form });
  const location = reply.headers.Location;
  return {
    "X-Content-Type-Options": "nosniff",
    ...(isSecure ? SECURE_HEADERS : {}),
    // The address of a watchlist is all that reading it takes, so no other site may learn it.
    "Referrer-Policy": access === "token" ? "no-referrer" : "strict-origin-when-cross-origin",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    ...(isProgram ? originHeaders(reply, { isPersonal, isOpen }) : SAME_ORIGIN),
    ...(isProgram || access === "token" ? { "X-Robots-Tag": "noindex" } : {}),
    // Only the cache: "cookies" would reach every other service of the domain, "storage" the preferences of the browser.
    ...(endsSession && reply.status < 400 ? { "Clear-Site-Data": '"cache"' } : {}),
    "Cache-Control": cacheControl(cache),
    Vary: `${csv ? "Accept, " : ""}Accept-Encoding, Authorization, X-API-Key`,
    ...reply.headers,
    ...(typeof location === "string" && location.startsWith("/") ? { Location: basePath + location } : {}),
  };
}

/** The rights of pages of other sites to a response of the API. */
function originHeaders(
  { headers }: Reply,
  { isPersonal, isOpen }: { isPersonal: boolean; isOpen: boolean },
): Reply["headers"] {
  if (isOpen && !isPersonal)
    return {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers": EXPOSED,
      "Cross-Origin-Resource-Policy": "cross-origin",
    };
  // A picture may be shown elsewhere, such as in the wiki of a private network; scripts there cannot read it.
  const isPicture = String(headers["Content-Type"]).startsWith("image/");
  return { "Cross-Origin-Resource-Policy": isPicture && !isPersonal ? "cross-origin" : "same-origin" };
}

function cacheControl(cache: Route["cache"]): string {
  switch (cache.kind) {
    case "shared":
      return cache.control ?? PUBLIC_CACHE;
    case "visitor":
      return PUBLIC_CACHE;
    case "private":
      return "private, no-cache";
    case "none":
      return "no-store";
  }
}

/** Makes the id of a request: twelve hexadecimal digits of a UUID, as Node.js draws the randomness of many UUIDs together. */
export function requestId(): string {
  return randomUUID().slice(-12);
}
