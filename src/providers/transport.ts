import type { LookupFunction } from "node:net";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, buildConnector, type Dispatcher, errors } from "undici";
import { AddressRefused, publicConnector } from "./addresses.js";
import { UpstreamFailure } from "./failures.js";
import type { UpstreamAnswer, UpstreamFetch, UpstreamRequest } from "./fetch.js";

/** How to reach one instance, and what is put up with. */
export interface TransportOptions {
  /** Origins that requests may be sent to, such as `https://api.github.com`: the instance and, where it is apart, its API. */
  origins: readonly string[];
  /** Whether addresses of private networks, this machine among them, may be connected to. */
  mayBePrivate: boolean;
  userAgent: string;
  /** Until a connection stands; default 10 s. */
  connectMs?: number;
  /** Until an answer begins, and between two pieces of it; default 30 s, kept to about a second. */
  silenceMs?: number;
  /** Until the answer has come whole, from the call on; default 2 min. Ends what comes drop by drop. */
  answerMs?: number;
  /** Length of a decoded body; default 16 MiB. */
  maxBytes?: number;
  /** Connections at the same time; further requests wait for one. Default 16. */
  connections?: number;
  /** Finds the addresses of a name; default: as the system does. */
  lookup?: LookupFunction;
}

export interface Transport {
  fetch: UpstreamFetch;
  /** Ends all connections; requests under way fail as `unreachable`. */
  close(): Promise<void>;
}

const MAX_BYTES = 16 * 2 ** 20;
/** More encodings on top of each other than this are an attack. */
const MAX_ENCODINGS = 2;

/** A way to the hosts of one instance and to nowhere else, whatever an answer, a name server or a redirect says. */
export function createTransport(options: TransportOptions): Transport {
  const { connectMs = 10_000, silenceMs = 30_000, answerMs = 120_000, maxBytes = MAX_BYTES } = options;
  const origins = new Set(options.origins.map((origin) => new URL(origin).origin));
  const connecting = { timeout: connectMs, allowH2: false };
  const agent = new Agent({
    connect: options.mayBePrivate
      ? buildConnector({ ...connecting, ...(options.lookup && { lookup: options.lookup }) })
      : publicConnector(connecting, options.lookup),
    connections: options.connections ?? 16,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    allowH2: false,
  });

  const fetch: UpstreamFetch = async (url, request) => {
    const target = URL.parse(url);
    if (target === null || !origins.has(target.origin) || target.username !== "" || target.password !== "") {
      throw new UpstreamFailure("unreachable", "an address outside of the instance was asked for");
    }
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, answerMs);
    request.signal.addEventListener("abort", end, { once: true });
    if (request.signal.aborted) end();
    let hasBegun = false;
    try {
      const answer = await agent.request(requestOptions(target, request, options.userAgent, ending.signal));
      hasBegun = true;
      return await readWhole(answer, maxBytes);
    } catch (error) {
      if (request.signal.aborted) throw failure(target, "unreachable", "the request was given up", error);
      if (ending.signal.aborted)
        throw failure(target, "unreachable", `no whole answer in ${answerMs} ms`, error);
      throw failureOf(target, error, hasBegun);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", end);
    }
  };
  return { fetch, close: () => agent.destroy() };
}

function requestOptions(
  target: URL,
  request: UpstreamRequest,
  userAgent: string,
  signal: AbortSignal,
): Dispatcher.RequestOptions {
  let headers: Headers;
  try {
    headers = new Headers(request.headers);
  } catch {
    // The error quotes the value, which may be a token.
    throw new UpstreamFailure("refused", "a header that cannot be sent, perhaps from a damaged token");
  }
  headers.set("user-agent", userAgent);
  headers.set("accept-encoding", "gzip, br");
  return {
    origin: target.origin,
    path: target.pathname + target.search,
    method: request.method ?? "GET",
    headers: Object.fromEntries(headers),
    ...(request.body !== undefined && { body: request.body }),
    signal,
  };
}

async function readWhole(answer: Dispatcher.ResponseData, maxBytes: number): Promise<UpstreamAnswer> {
  const headers = readHeaders(answer.headers);
  const pieces: Buffer[] = [];
  let bytes = 0;
  const collect = new Writable({
    write(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      pieces.push(piece);
      done(
        bytes > maxBytes
          ? new UpstreamFailure("malformed", `the answer is longer than ${maxBytes} bytes`)
          : null,
      );
    },
  });
  let decoders: NodeJS.ReadWriteStream[];
  try {
    decoders = decodersOf(headers.get("content-encoding") ?? "");
  } catch (error) {
    answer.body.on("error", () => {}).destroy();
    throw error;
  }
  await pipeline([answer.body, ...(answer.statusCode === 304 ? [] : decoders), collect]);
  return { status: answer.statusCode, headers, text: new TextDecoder().decode(Buffer.concat(pieces)) };
}

function decodersOf(encodings: string): NodeJS.ReadWriteStream[] {
  const names = encodings
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > MAX_ENCODINGS)
    throw new UpstreamFailure("malformed", "the answer is encoded too many times");
  return names.toReversed().map((name) => {
    if (name === "gzip" || name === "x-gzip") return createGunzip();
    if (name === "br") return createBrotliDecompress();
    if (name === "deflate") return createInflate();
    throw new UpstreamFailure("malformed", "the answer has an encoding that was not asked for");
  });
}

/** Without those that a `Headers` cannot hold, such as values outside of Latin-1. */
function readHeaders(raw: Dispatcher.ResponseData["headers"]): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(raw)) {
    for (const value of [values ?? []].flat()) {
      try {
        headers.append(name, value);
      } catch {}
    }
  }
  return headers;
}

function failureOf(target: URL, error: unknown, hasBegun: boolean): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof AddressRefused) return failure(target, "unreachable", error.message, error);
  const code = error instanceof Error ? String(("code" in error && error.code) || error.name) : "unknown";
  if (code.endsWith("_TIMEOUT")) return failure(target, "unreachable", `too slow (${code})`, error);
  if (hasBegun) return failure(target, "malformed", `the answer was cut off or is damaged (${code})`, error);
  const isNoHttp = error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
  return failure(target, isNoHttp ? "malformed" : "unreachable", `no answer (${code})`, error);
}

function failure(
  target: URL,
  kind: UpstreamFailure["kind"],
  message: string,
  cause: unknown,
): UpstreamFailure {
  return new UpstreamFailure(kind, `${target.host}: ${message}`, { cause });
}
