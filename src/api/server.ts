import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { z } from "@hono/zod-openapi";
import type { Clock } from "../clock.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import { createRequestId, sendAnswer, storeAnswer } from "./answer.js";
import { checkKey, type FindKey } from "./caller.js";
import { acceptsProblem, errorResponse } from "./endpoint.js";
import { toAppError } from "./faults.js";
import { FrontCache } from "./front-cache.js";
import { finishHeaders, isPersonal } from "./headers.js";
import { requestTarget } from "./request-line.js";
import { ROUTES } from "./routes.js";

export interface FrontOptions {
  /** Answers what the cache does not have. */
  handle: (request: Request) => Promise<Response> | Response;
  /** Differs whenever a cached answer may have become wrong. */
  readRevision: () => Promise<string>;
  findKey: FindKey;
  cacheBytes: number;
  clock: Clock;
  log: Logger;
}

/** The query parameters that each route knows; others do not split the cache. */
const KNOWN_PARAMETERS = ROUTES.map(({ route, pattern }) => ({
  path: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, pattern === undefined ? "[^/]+" : ".+")}$`),
  names: new Set(Object.keys((route.request?.query as z.ZodObject | undefined)?.shape ?? {})),
}));
/** For an address in an unusual spelling, such as one with needless escapes: those of any route. */
const ALL_PARAMETERS = new Set(KNOWN_PARAMETERS.flatMap(({ names }) => [...names]));

/** The name of a public request in the cache; undefined for those that must be computed for the caller alone. */
export function cacheKey(request: Request): string | undefined {
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const { pathname, searchParams } = new URL(request.url);
  if (!pathname.startsWith("/api/") || pathname.startsWith("/api/watchlists")) return undefined;
  if (isPersonal(pathname)) return undefined;
  const names = KNOWN_PARAMETERS.find(({ path }) => path.test(pathname))?.names ?? ALL_PARAMETERS;
  const known = [...searchParams].filter(([name]) => names.has(name));
  known.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${pathname}?${new URLSearchParams(known)}`;
}

/** A request to an answer, with all that stands before the routes: cache, tags, compression. */
export function createFront({
  handle,
  readRevision,
  findKey,
  cacheBytes,
  clock,
  log,
}: FrontOptions): (request: Request) => Promise<Response> {
  const cache = new FrontCache({ maxBytes: cacheBytes, clock, readRevision, log });
  return async (request) => {
    try {
      await checkKey(request, findKey);
    } catch (error) {
      return sendAnswer(await storeAnswer(refuseKey(request, error, log)), request);
    }
    const key = cacheKey(request);
    if (key === undefined) {
      // A HEAD is answered as GET would be, and loses its body at the end.
      const asked =
        request.method === "HEAD" ? new Request(request.url, { headers: request.headers }) : request;
      return sendAnswer(await storeAnswer(await handle(asked)), request);
    }
    // Computed for the key itself, so what the route does not know is not seen.
    const normalised = () => {
      const headers = new Headers(request.headers);
      // Nor is who asks: others are given the same answer.
      for (const name of ["cookie", "authorization", "x-api-key"]) headers.delete(name);
      return new Request(new URL(key, request.url), { headers });
    };
    const form = acceptsProblem(request.headers.get("accept")) ? "problem" : "plain";
    const answer = await cache.get(key, form, async () => storeAnswer(await handle(normalised())));
    return sendAnswer(answer, request);
  };
}

/** The answer to a request whose key is not valid, or cannot be looked up. */
function refuseKey(request: Request, error: unknown, log: Logger): Response {
  const known = toAppError(error);
  const requestId = createRequestId();
  if (known.status >= 500) log.error({ requestId, err: error }, "a key could not be looked up");
  const response = errorResponse(known, requestId, request.headers.get("accept") ?? undefined);
  finishHeaders(response.headers, new URL(request.url).pathname, requestId);
  return response;
}

/** Time limits and bounds of connections; slow ones are looked for every two seconds. */
const SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
  noDelay: true,
};

/** The front on a Node server. Malformed requests are refused before anything is built from them. */
export function createHttpServer(options: FrontOptions): Server {
  const { log } = options;
  const front = createFront(options);
  const listener = getRequestListener((request) => front(request), {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      log.error({ err: error }, "a request could not be answered");
      return errorResponse(new AppError("INTERNAL", "Something went wrong here."), "none", undefined);
    },
  });
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    try {
      request.url = requestTarget(request);
      // Answers never depend on the host a caller claims; links are built from the configured address.
      request.headers.host = "localhost";
    } catch (error) {
      refuse(request, response, error);
      return;
    }
    void listener(request, response);
  });
  server.on("clientError", refuseUnparsed);
  return server;
}

/** What Node's parser refuses, by its code: the status line, and the message. All else is a malformed request. */
const UNPARSED: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The header, with the address, is too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long to arrive."],
};

/** Answers what is not even a request, in the same form as all errors, and closes. */
function refuseUnparsed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, message] = UNPARSED[error.code ?? ""] ?? ["400 Bad Request", "The request is malformed."];
  const requestId = createRequestId();
  const { headers } = errorResponse(new AppError("INVALID_REQUEST", message), requestId, undefined);
  finishHeaders(headers, "/", requestId);
  const body = JSON.stringify({ data: null, error: { code: "INVALID_REQUEST", message, requestId } });
  headers.set("Content-Length", String(Buffer.byteLength(body)));
  headers.set("Connection", "close");
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status}\r\n${lines}\r\n${body}`);
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const known =
    error instanceof AppError ? error : new AppError("INVALID_REQUEST", "The request is malformed.");
  const requestId = createRequestId();
  const answer = errorResponse(known, requestId, request.headers.accept);
  finishHeaders(answer.headers, request.url ?? "/", requestId);
  answer.text().then(
    (text) => {
      answer.headers.set("Content-Length", String(Buffer.byteLength(text)));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
    },
    () => response.destroy(),
  );
}
