/**
 * The HTTP front: everything between a socket and a handler. It takes a table of routes, each of which declares its facts,
 * and derives routing, rate limits, caching, headers, error responses and usage from them. It guarantees that every request
 * gets exactly one response in a known form, that limits hold on every path, and that a cached response costs no handler. It
 * knows nothing of repositories, JSON views or pages: those are the routes' own.
 */
export { Admission } from "./admission.js";
export type { ErrorRenderers } from "./error-response.js";
export { Front } from "./front.js";
export { RATE_HEADERS } from "./headers.js";
export type { Identities } from "./identity.js";
export { IGNORED_HEADER } from "./ignored-parameters.js";
export { type Level, Limiter, quotaOf } from "./limiter.js";
export { openRedis, type SharedRedis } from "./redis.js";
export {
  type BodyPart,
  bytesOf,
  content,
  json,
  jsonText,
  noContent,
  pngReply,
  type Reply,
  redirect,
  streamed,
} from "./reply.js";
export {
  type Ask,
  addressOf,
  type HttpRequest,
  type InnerReply,
  type InnerRequest,
  type Sender,
} from "./request.js";
export type { CacheState } from "./response-cache.js";
export {
  type Access,
  type CachePolicy,
  DEFAULT_LIMIT,
  type Form,
  FREE_LIMIT,
  type Method,
  PER_ROWS,
  pathPattern,
  type RateLimit,
  type Route,
  type Surcharge,
  UNKNOWN_TOKEN_COST,
} from "./route.js";
export { createHttpServer, type HttpServer, listen } from "./server.js";
export { matchesTag } from "./stored-response.js";
