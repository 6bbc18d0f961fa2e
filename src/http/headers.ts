import { randomUUID } from "node:crypto";
import { basePathOf, cookieScope } from "../lib/base-url.js";
import { DEPRECATION_HEADER, IGNORED_HEADER } from "./ignored-parameters.js";
import type { Reply } from "./reply.js";
import { isApi, type Route } from "./route.js";

/**
 * The headers that report what is left, and what they mean: `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, and older
 * ones that many clients know.
 */
export const RATE_HEADERS = {
  "RateLimit-Policy": 'The limit: bucket, requests (q), seconds (w), such as "search";q=120;w=60.',
  RateLimit:
    'What is left: bucket, requests that would succeed now (r), seconds until there are more (t), such as "search";r=119;t=1.',
  "X-RateLimit-Limit": "The same as q.",
  "X-RateLimit-Remaining": "The same as r.",
  "X-RateLimit-Reset":
    "When there is more, in seconds since 1970: after a 429 the time at which the same request succeeds.",
  "X-RateLimit-Resource": "The bucket.",
} as const;

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

/** What headers depend on besides the route. */
export interface PublicAddress {
  /** The path of the base URL, without a slash at its end. */
  basePath: string;
  /** Whether the base URL is https. */
  isSecure: boolean;
  /** Whether pages of other sites may use the API. */
  isOpen: boolean;
}

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
    // Whoever knows the address of a watchlist can read it, so no other site may learn it.
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

/** What pages of other sites may do with a response of the API. */
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
