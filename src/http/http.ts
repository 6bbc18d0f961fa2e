/**
 * The HTTP front: everything between a socket and a handler. It takes a table of routes, each of which declares its facts,
 * and derives routing, rate limits, caching, headers, error responses and usage from them. It guarantees that every request
 * gets exactly one response in a known form, that limits hold on every path, and that a cached response costs no handler. It
 * knows nothing of repositories, JSON views or pages: those are the routes' own.
 */
export { Admission } from "./admission.js";
export { Callers } from "./callers.js";
export {
  DEFAULT_LIMIT,
  FREE_LIMIT,
  PER_ROWS,
  type RateLimit,
  type Surcharge,
  UNKNOWN_TOKEN_COST,
} from "./cost.js";
export { type ErrorRenderers, toAppError } from "./error-response.js";
export { Front } from "./front.js";
export { RATE_HEADERS } from "./headers.js";
export type { Locality } from "./hosts.js";
export { IGNORED_HEADER } from "./ignored-parameters.js";
export { type Level, quotaOf } from "./limiter.js";
export { noteProxy, readNotedProxy } from "./noted-proxy.js";
export { openRedis, type SharedRedis } from "./redis.js";
export {
  content,
  json,
  jsonText,
  noContent,
  pngReply,
  type Reply,
  redirect,
  streamed,
} from "./reply.js";
export { addressOf, type ChargedAs, type HttpRequest } from "./request.js";
export { type CachedRevision, ResponseCache } from "./response-cache.js";
export { type Access, type CachePolicy, type Form, type Method, pathPattern, type Route } from "./route.js";
export { Router } from "./router.js";
export { createHttpServer, type HttpServer, listen } from "./server.js";
export { matchesTag } from "./stored-response.js";
export { addTraffic } from "./traffic.js";
export { UnnamedProxy } from "./unnamed-proxy.js";
