/** Connections to one instance: which addresses they may reach, for how long, and how much of a response is read. */
import type { LookupFunction } from "node:net";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, errors } from "undici";
import type { ProxySettings } from "../config/config.js";
import { tlsProblem } from "../lib/tls-problems.js";
import { AddressRefused, checkLiteral, publicConnector } from "./addresses.js";
import { type FailureKind, UpstreamFailure } from "./failures.js";

export interface UpstreamRequest {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** A complete response, whatever its status. Redirects are returned, not followed. */
export interface UpstreamResponse {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Sends a request to an absolute URL on one of the instance's origins. Throws UpstreamFailure: `unreachable` without a response
 * or for a forbidden address, `malformed` for a response that is cut off, too long or cannot be decoded.
 */
export type UpstreamFetch = (url: string, request: UpstreamRequest) => Promise<UpstreamResponse>;

type UpstreamFetchBytes = (
  url: string,
  request: UpstreamRequest,
) => Promise<Omit<UpstreamResponse, "text"> & { bytes: Buffer }>;

/** How to reach one instance, and the limits of a request. */
export interface TransportOptions {
  /** Origins that requests may go to, such as `https://api.github.com`: the site and, if separate, its API. */
  origins: readonly string[];
  /** Whether connections to private networks and to this machine are allowed. */
  mayBePrivate: boolean;
  /** The setting that allows it, for messages. */
  privateSetting?: string;
  userAgent: string;
  /** Proxies to go through. They resolve host names themselves, so only literal addresses are checked then. */
  proxy?: ProxySettings | undefined;
  /** Time to connect; default 10 s. */
  connectMs?: number;
  /** Time until the first byte of a response and between two chunks; default 30 s, accurate to about a second. */
  silenceMs?: number;
  /** Time until the response is complete, from the call; default 2 min. Ends responses that trickle in. */
  responseMs?: number;
  /** Maximum length of a decoded body; default 16 MiB. */
  maxBytes?: number;
  /** Maximum number of connections; further requests wait for one. Default 16. */
  connections?: number;
  /** Resolves host names; default: the system's resolver. */
  lookup?: LookupFunction;
}

export interface Transport {
  fetch: UpstreamFetch;
  fetchBytes: UpstreamFetchBytes;
  close(): Promise<void>;
}

const PROXY_CONNECT_MS = 10_000;
const MAX_BYTES = 16 * 2 ** 20;
/** More nested encodings than this are an attack. */
const MAX_ENCODINGS = 2;

/** Connects to the hosts of one instance and to no others, whatever a response, a name server or a redirect says. */
export function createTransport(options: TransportOptions): Transport {
  const { connectMs = 10_000, silenceMs = 30_000, responseMs = 120_000, maxBytes = MAX_BYTES } = options;
  const origins = new Set(options.origins.map((origin) => new URL(origin).origin));
  const connecting = { timeout: connectMs, allowH2: false };
  const agentOptions = {
    connect: options.mayBePrivate
      ? buildConnector({ ...connecting, ...(options.lookup && { lookup: options.lookup }) })
      : publicConnector(connecting, options.lookup),
    connections: options.connections ?? 16,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    allowH2: false,
  };
  const agent =
    options.proxy === undefined ? new Agent(agentOptions) : proxyAgent(options.proxy, agentOptions);

  const fetchBytes: UpstreamFetchBytes = async (url, request) => {
    const target = URL.parse(url);
    if (target === null || !origins.has(target.origin) || target.username !== "" || target.password !== "")
      throw new UpstreamFailure("unreachable", "the address is not on this instance");
    const failure = (error: unknown, [kind, message]: Reason) =>
      new UpstreamFailure(kind, `${target.host}: ${message}`, { cause: error });
    const refused = options.mayBePrivate ? null : checkLiteral(target.hostname);
    if (refused !== null) throw failure(refused, reasonOf(refused, { ...options, hasBegun: false }));
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, responseMs);
    request.signal.addEventListener("abort", end, { once: true });
    if (request.signal.aborted) end();
    let hasBegun = false;
    try {
      const response = await agent.request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: request.method ?? "GET",
        headers: requestHeaders(request, options.userAgent),
        ...(request.body !== undefined && { body: request.body }),
        signal: ending.signal,
      });
      hasBegun = true;
      return await readResponse(response, maxBytes);
    } catch (error) {
      if (request.signal.aborted) throw failure(error, ["unreachable", "the request was aborted"]);
      if (ending.signal.aborted)
        throw failure(error, ["unreachable", `no complete response in ${responseMs / 1_000} s`]);
      if (error instanceof UpstreamFailure) throw error;
      throw failure(error, reasonOf(error, { ...options, hasBegun }));
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", end);
    }
  };
  const fetch: UpstreamFetch = async (url, request) => {
    const { bytes, ...response } = await fetchBytes(url, request);
    return { ...response, text: new TextDecoder().decode(bytes) };
  };
  return { fetch, fetchBytes, close: () => agent.destroy() };
}

function requestHeaders(request: UpstreamRequest, userAgent: string): Record<string, string> {
  let headers: Headers;
  try {
    headers = new Headers(request.headers);
  } catch {
    // The error quotes the value, which may be a token.
    throw new UpstreamFailure("refused", "a header cannot be sent; the token may be damaged");
  }
  headers.set("user-agent", userAgent);
  headers.set("accept-encoding", "gzip, br");
  return Object.fromEntries(headers);
}

async function readResponse(
  response: Dispatcher.ResponseData,
  maxBytes: number,
): ReturnType<UpstreamFetchBytes> {
  const headers = readHeaders(response.headers);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) done();
      else done(new UpstreamFailure("malformed", `the response is longer than ${maxBytes} bytes`));
    },
  });
  let decoders: Decoder[];
  try {
    decoders = decodersOf(headers.get("content-encoding") ?? "");
  } catch (error) {
    response.body.on("error", () => {}).destroy();
    throw error;
  }
  try {
    await pipeline([response.body, ...decoders, collect]);
  } catch (error) {
    // An empty body, such as that of a redirect, may also claim an encoding.
    const isEmpty = decoders[0]?.bytesWritten === 0 && codeOf(error) === "Z_BUF_ERROR";
    if (!isEmpty) throw error;
  }
  return { status: response.statusCode, headers, bytes: Buffer.concat(chunks) };
}

type Decoder = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createInflate>;

function decodersOf(encodings: string): Decoder[] {
  const names = encodings
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > MAX_ENCODINGS)
    throw new UpstreamFailure("malformed", "the response is encoded too many times");
  return names.toReversed().map((name) => {
    if (name === "gzip" || name === "x-gzip") return createGunzip();
    if (name === "br") return createBrotliDecompress();
    if (name === "deflate") return createInflate();
    throw new UpstreamFailure("malformed", "the response has an encoding that was not requested");
  });
}

/** Drops headers that `Headers` cannot hold, such as values outside Latin-1. */
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

/** Goes through the proxies, and connects directly to hosts that they are not for. */
function proxyAgent({ http, https, except }: ProxySettings, options: Agent.Options): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({
    ...options,
    // An empty text keeps it from looking at the environment.
    httpProxy: http ?? "",
    httpsProxy: https ?? "",
    noProxy: except,
    proxyTls: { timeout: PROXY_CONNECT_MS },
    requestTls: { timeout: PROXY_CONNECT_MS },
  });
}

type Reason = readonly [kind: FailureKind, message: string];

function reasonOf(
  error: unknown,
  { hasBegun, privateSetting, proxy }: TransportOptions & { hasBegun: boolean },
): Reason {
  if (error instanceof AddressRefused) {
    const hint = privateSetting === undefined ? "" : `; ${privateSetting}=true allows it`;
    return ["unreachable", `${error.message}${hint}`];
  }
  const code = codeOf(error);
  if (code.endsWith("_TIMEOUT")) return ["unreachable", `too slow (${code})`];
  if (hasBegun) return ["malformed", `the response was cut off or is damaged (${code})`];
  const via = proxy === undefined ? "" : ", with a proxy configured";
  const isNotHttp = error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
  const problem = tlsProblem(code);
  const why = problem === undefined ? "" : `: ${problem}`;
  return [isNotHttp ? "malformed" : "unreachable", `no response${via} (${code})${why}`];
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
