/**
 * The HTTP front: everything between a socket and a handler. It takes a table of routes, each of which declares its facts,
 * and derives routing, rate limits, caching, headers, error responses and usage from them. It guarantees that every request
 * gets exactly one response in a known form, that limits hold on every path, and that a cached response costs no handler. It
 * knows nothing of repositories, JSON views or pages: those are the routes' own.
 */
export { type CachedRevision, ResponseCache } from "./cache.js";
export { Callers } from "./caller.js";
export { type ErrorRenderers, toAppError } from "./errors.js";
export { Front } from "./front.js";
export { type Level, quotaOf } from "./limiter.js";
export { Admission } from "./limits.js";
export type { Locality } from "./message.js";
export { openRedis, type SharedRedis } from "./redis.js";
export { matchesTag } from "./response.js";
export {
  type Access,
  addressOf,
  type CachePolicy,
  type ChargedAs,
  content,
  DEFAULT_LIMIT,
  type Form,
  FREE_LIMIT,
  type HttpRequest,
  IGNORED_HEADER,
  json,
  jsonText,
  type Method,
  noContent,
  PER_ROWS,
  pathPattern,
  pngReply,
  RATE_HEADERS,
  type RateLimit,
  type Reply,
  type Route,
  Router,
  redirect,
  type Surcharge,
  streamed,
  UNKNOWN_TOKEN_COST,
} from "./route.js";
export { addTraffic } from "./sender.js";
export {
  createHttpServer,
  type HttpServer,
  listen,
  noteProxy,
  type ProxySign,
  readNotedProxy,
  UnnamedProxy,
} from "./server.js";
