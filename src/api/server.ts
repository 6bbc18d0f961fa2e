import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { Clock } from "../clock.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Caller, Usage } from "../metering/metering.js";
import { createRequestId, type StoredAnswer, sendAnswer, storeAnswer } from "./answer.js";
import { checkKey, type FindKey, type FindSession, sessionOf } from "./caller.js";
import { countKeyed } from "./count-keyed.js";
import { type ApiBindings, errorForm, errorResponse } from "./endpoint.js";
import { toAppError } from "./faults.js";
import { FrontCache } from "./front-cache.js";
import { finishHeaders, isForPage } from "./headers.js";
import { ANY_OTHER, BAD_KEY, type Meter } from "./meter.js";
import { tooMuch } from "./overload.js";
import { requestTarget } from "./request-line.js";
import { type FoundRoute, findRoute } from "./route-table.js";

export interface FrontOptions {
  /** Answers what the cache does not have. */
  handle: (request: Request, bindings: ApiBindings) => Promise<Response> | Response;
  /** The page that tells an error to a browser. */
  errorPage: (error: AppError, request: Request) => Promise<Response>;
  /** Differs whenever a cached answer may have become wrong. */
  readRevision: () => Promise<string>;
  findKey: FindKey;
  findSession: FindSession;
  cacheBytes: number;
  clock: Clock;
  log: Logger;
  meter: Meter;
  /** Counts what is asked with keys. */
  usage: Pick<Usage, "record">;
}

/** Paths whose answers are for the caller alone, or of this moment. */
const PRIVATE =
  /^\/(?:api\/(?:watchlists|limits|me|auth)|watchlists?|account|sign-in|sign-out|healthz|readyz)(?:\/|$)/;

/** Our own cookies, which tell pages apart; what others leave in a browser does not. */
const OWN_COOKIE = /(?:^|; ?)(?:__Host-|__Secure-)?sidereal[.-]/;

/** Several addresses of one repository are one answer, with one tag. */
const SAME_TAG = /\/api\/repos\/\{provider\}\//;

/** What pages with lists are asked with. */
const PAGE_PARAMETERS = findRoute("GET", "/api/repos").parameters;

/** The name of a public request in the cache; undefined for those that must be computed for the caller alone. */
function cacheKey(
  { method, headers }: Request,
  { pathname, searchParams }: URL,
  route: FoundRoute,
): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (PRIVATE.test(route.path)) return undefined;
  if (!route.path.startsWith("/api/")) {
    // A page shows who is signed in, and it sees every parameter; those of no list are seldom asked twice.
    const isKnown = [...searchParams.keys()].every((name) => PAGE_PARAMETERS.has(name));
    return isKnown && !OWN_COOKIE.test(headers.get("cookie") ?? "")
      ? `${pathname}?${searchParams}`
      : undefined;
  }
  const known = [...searchParams].filter(([name]) => route.parameters.has(name));
  known.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${pathname}?${new URLSearchParams(known)}`;
}

/** A request for an answer that others may be given too: for the key itself, so what the route does not know is not seen. */
function normalised(request: Request, url: URL): Request {
  const headers = new Headers(request.headers);
  // Nor is who asks: others are given the same answer.
  for (const name of ["cookie", "authorization", "x-api-key"]) headers.delete(name);
  return new Request(url, { headers });
}

/** Answers a request of a caller whose connection comes from `peer`; undefined: from no address. */
export type Front = (request: Request, peer: string | undefined) => Promise<Response>;

/** A request to an answer, with all that stands before the routes: limits, cache, tags, compression. */
export function createFront({
  handle,
  errorPage,
  readRevision,
  findKey,
  findSession,
  cacheBytes,
  clock,
  log,
  meter,
  usage,
}: FrontOptions): Front {
  const cache = new FrontCache({ maxBytes: cacheBytes, clock, readRevision, log });
  /** A refusal in the form the caller reads. */
  const refuseAsked = async (error: AppError, request: Request, path: string): Promise<Response> => {
    const accept = request.headers.get("accept");
    if (!isForPage(path, accept)) return refusal(error, accept, path);
    try {
      const page = await errorPage(error, request);
      finishHeaders(page.headers, path, createRequestId());
      return page;
    } catch (cause) {
      log.error({ err: cause }, "the page of a refusal could not be made");
      return refusal(error, accept, path);
    }
  };
  const answer = async (
    request: Request,
    url: URL,
    route: FoundRoute,
    caller: Caller,
  ): Promise<StoredAnswer> => {
    const { method, headers } = request;
    const key = cacheKey(request, url, route);
    const tagged = SAME_TAG.test(route.name) ? "" : (key ?? `${url.pathname}${url.search}`);
    const make = (asked: () => Request) =>
      meter.make(caller, route.limit, method, url.searchParams, async () =>
        storeAnswer(await handle(asked(), { caller }), tagged),
      );
    const find = () => {
      // A HEAD is answered as GET would be, and loses its body at the end.
      if (key === undefined)
        return make(() => (method === "HEAD" ? new Request(request.url, { headers }) : request));
      const accept = headers.get("accept");
      const form = isForPage(route.path, accept) ? "page" : errorForm(accept);
      return cache.get(key, form, () => make(() => normalised(request, new URL(key, url))));
    };
    return (await find()) ?? storeAnswer(await refuseAsked(tooMuch(), request, route.path));
  };
  return async (request, peer) => {
    const began = clock.monotonic();
    const url = new URL(request.url);
    const route = findRoute(request.method, url.pathname);
    const address = meter.callerOf(peer, request.headers.get("x-forwarded-for"));
    let caller = address;
    let fault: AppError | undefined;
    let keyId: number | undefined;
    try {
      const holder = await checkKey(request, findKey);
      keyId = holder?.keyId;
      // Signing in is limited by address alone, and so is what is refused.
      if (route.limit.bucket !== "auth" && route.limit.bucket !== "none") {
        const account = holder === undefined ? await sessionOf(request, findSession, log) : undefined;
        if (holder !== undefined)
          caller = { kind: "key", name: String(holder.keyId), account: holder.accountId };
        else if (account !== undefined) caller = { kind: "signed_in", name: account };
      }
    } catch (error) {
      fault = toAppError(error);
      if (fault.status >= 500) log.error({ err: error }, "a key could not be looked up");
    }
    const limit = fault === undefined ? route.limit : BAD_KEY;
    const place = meter.enter(caller, limit, request.method);
    try {
      fault = place.refusal ?? fault;
      const toll =
        place.refusal === undefined
          ? await meter.admit(caller, limit, request.method, url.searchParams)
          : undefined;
      if (toll?.decision.allowed === false) fault = toll.refusal();
      // Before the cache: bytes that are ready are counted like those that must be made.
      const made =
        fault === undefined
          ? await answer(request, url, route, caller)
          : await storeAnswer(await refuseAsked(fault, request, route.path));
      const response = await sendAnswer(made, request);
      // "*" fits every answer, so who sends it may have none: that is no saving.
      const isGuess = response.status === 304 && request.headers.get("if-none-match")?.trim() === "*";
      await toll?.settle(isGuess ? 200 : response.status, response.headers);
      if (keyId !== undefined)
        usage.record(
          countKeyed({
            keyId,
            caller,
            address,
            route,
            request,
            response,
            made,
            left: toll?.left,
            ms: clock.monotonic() - began,
          }),
        );
      return response;
    } finally {
      place.leave();
    }
  };
}

/** An error that is answered before any route is asked. */
function refusal(error: AppError, accept: string | null | undefined, path: string): Response {
  const requestId = createRequestId();
  const response = errorResponse(error, requestId, accept);
  finishHeaders(response.headers, path, requestId);
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
  const listener = getRequestListener(
    (request, { incoming }) => front(request, incoming.socket.remoteAddress),
    {
      overrideGlobalObjects: false,
      errorHandler: (error) => {
        log.error({ err: error }, "a request could not be answered");
        return errorResponse(new AppError("INTERNAL", "Something went wrong here."), "none", undefined);
      },
    },
  );
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    try {
      request.url = requestTarget(request);
      // Answers never depend on the host a caller claims; links are built from the configured address.
      request.headers.host = "localhost";
    } catch (error) {
      refuse(request, response, error, options).catch(() => response.destroy());
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

/** Answers a request that is malformed; it counts, as nothing may be asked without end. */
async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { meter, errorPage }: Pick<FrontOptions, "meter" | "errorPage">,
): Promise<void> {
  const known =
    error instanceof AppError ? error : new AppError("INVALID_REQUEST", "The request is malformed.");
  const forwardedFor = request.headersDistinct["x-forwarded-for"]?.join() ?? null;
  const caller = meter.callerOf(request.socket.remoteAddress, forwardedFor);
  const toll = await meter.admit(caller, ANY_OTHER, "GET", new URLSearchParams());
  const refused = toll?.decision.allowed === false ? toll.refusal() : known;
  const { accept } = request.headers;
  const path = request.url ?? "/";
  let answer = refusal(refused, accept, path);
  if (isForPage(path, accept)) {
    // The address cannot be read, so the page is that of none.
    answer = await errorPage(refused, new Request("http://localhost/"));
    finishHeaders(answer.headers, "/", createRequestId());
  }
  await toll?.settle(answer.status, answer.headers);
  const text = await answer.text();
  answer.headers.set("Content-Length", String(Buffer.byteLength(text)));
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
}
