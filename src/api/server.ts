import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { z } from "@hono/zod-openapi";
import type { Clock } from "../clock.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import { sendAnswer, storeAnswer } from "./answer.js";
import { errorResponse } from "./endpoint.js";
import { FrontCache } from "./front-cache.js";
import { requestTarget } from "./request-line.js";
import { ROUTES } from "./routes.js";

export interface FrontOptions {
  /** Answers what the cache does not have. */
  handle: (request: Request) => Promise<Response> | Response;
  /** Differs whenever a cached answer may have become wrong. */
  readRevision: () => Promise<string>;
  cacheBytes: number;
  clock: Clock;
  log: Logger;
}

/** Query parameters that some route knows; others do not split the cache. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(
  ROUTES.flatMap(({ route }) => Object.keys((route.request?.query as z.ZodObject | undefined)?.shape ?? {})),
);

/** The name of a public request in the cache; undefined for those that must be computed for the caller alone. */
export function cacheKey(request: Request): string | undefined {
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const { pathname, searchParams } = new URL(request.url);
  if (!pathname.startsWith("/api/") || pathname.startsWith("/api/watchlists")) return undefined;
  const known = [...searchParams].filter(([name]) => KNOWN_PARAMETERS.has(name));
  known.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${pathname}?${new URLSearchParams(known)}`;
}

/** A request to an answer, with all that stands before the routes: cache, tags, compression. */
export function createFront({
  handle,
  readRevision,
  cacheBytes,
  clock,
}: FrontOptions): (request: Request) => Promise<Response> {
  const cache = new FrontCache({ maxBytes: cacheBytes, clock, readRevision });
  return async (request) => {
    const key = cacheKey(request);
    if (key === undefined) return sendAnswer(await storeAnswer(await handle(request)), request);
    // Computed for the key itself: a HEAD is answered as GET would be, and what no route knows is not seen.
    const normalised = new Request(new URL(key, request.url), { headers: request.headers });
    const answer = await cache.get(key, async () => storeAnswer(await handle(normalised)));
    return sendAnswer(answer, request);
  };
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
  return createServer(SERVER_OPTIONS, (request, response) => {
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
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const known =
    error instanceof AppError ? error : new AppError("INVALID_REQUEST", "The request is malformed.");
  const answer = errorResponse(known, "none", request.headers.accept);
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    "X-Content-Type-Options": "nosniff",
  });
  answer.text().then(
    (text) => response.end(text),
    () => response.destroy(),
  );
}
