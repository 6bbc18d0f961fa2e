import { RATE_HEADERS } from "./admission.js";
import type { Reply } from "./reply.js";
import { isApi, type Route } from "./route.js";

/** For responses whose route does not say how long they may be kept. */
const PUBLIC_CACHE = "public, max-age=30, stale-while-revalidate=60";

/** Headers that scripts of other origins may read. */
const EXPOSED = [
  "ETag",
  "Link",
  "Location",
  "Retry-After",
  "Allow",
  "X-Request-Id",
  ...Object.keys(RATE_HEADERS),
].join(", ");

type Facts = Pick<Route, "access" | "cache" | "form">;

/** The headers of a reply with those that follow from the facts of its route. The reply's own headers win. */
export function completeHeaders(
  reply: Reply,
  { access, cache, form }: Facts,
  basePath: string,
): Reply["headers"] {
  const isPersonal = access === "session" || access === "browser";
  const isProgram = isApi({ form });
  const location = reply.headers.Location;
  return {
    "X-Content-Type-Options": "nosniff",
    // Whoever knows the address of a watchlist can read it, so no other site may learn it.
    "Referrer-Policy": access === "token" ? "no-referrer" : "strict-origin-when-cross-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    ...(isProgram && isPersonal ? { "Cross-Origin-Resource-Policy": "same-origin" } : {}),
    ...(isProgram && !isPersonal
      ? {
          "Access-Control-Allow-Origin": "*",
          "Access-Control-Expose-Headers": EXPOSED,
          "Cross-Origin-Resource-Policy": "cross-origin",
        }
      : {}),
    ...(access === "token" ? { "X-Robots-Tag": "noindex" } : {}),
    "Cache-Control": cacheControl(cache),
    Vary: "Accept-Encoding, Authorization, X-API-Key",
    ...reply.headers,
    ...(typeof location === "string" && location.startsWith("/") ? { Location: basePath + location } : {}),
  };
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
