import { RATE_HEADERS } from "./meter.js";

const PUBLIC_CACHE = "public, max-age=30, stale-while-revalidate=60";

/** Whether an address is of somebody signed in, or of signing in: such answers are for nobody else, and from no other origin. */
export function isPersonal(path: string): boolean {
  return /^\/api\/(?:me|auth)(?:\/|$)/.test(path);
}

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

/** Whether an error is told by a page: to browsers, where there is no API. */
export function isForPage(path: string, accept: string | null | undefined): boolean {
  return !/^\/api(?:\/|$)/.test(path) && (accept?.includes("text/html") ?? false);
}

/** Sets every header that all answers share, whoever made them. */
export function finishHeaders(headers: Headers, path: string, requestId: string): void {
  headers.set("X-Request-Id", requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  if (headers.get("Content-Type") === "application/json")
    headers.set("Content-Type", "application/json; charset=utf-8");
  if (!headers.has("Referrer-Policy"))
    headers.set(
      "Referrer-Policy",
      path.includes("/watchlists/") ? "no-referrer" : "strict-origin-when-cross-origin",
    );
  if (!headers.has("Content-Security-Policy")) {
    headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  }
  if (isPersonal(path)) {
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    headers.set("Cache-Control", "no-store");
  } else if (path.startsWith("/api/")) {
    headers.set("Access-Control-Allow-Origin", "*");
    headers.set("Access-Control-Expose-Headers", EXPOSED);
    headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  }
  // The page of a watchlist too: its address is all that it takes to read it.
  if (/^\/(?:api\/)?watchlists(?:\/|$)/.test(path)) headers.set("X-Robots-Tag", "noindex");
  if (!headers.has("Cache-Control")) {
    const isPrivate = path.startsWith("/api/watchlists");
    headers.set("Cache-Control", isPrivate ? "private, no-cache" : PUBLIC_CACHE);
  }
  if (!headers.has("Vary")) headers.set("Vary", "Accept-Encoding, Authorization, X-API-Key");
}
