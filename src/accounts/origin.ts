/** Rules about where a request comes from, and where a browser may be sent. */

/**
 * Whether a request that changes something comes from our own pages: by Sec-Fetch-Site, which no page can set and which
 * holds under whatever name this service is opened, else by Origin. A program that sends neither is let through as long
 * as it has no cookie, since then there is nothing it could borrow.
 */
export function isOwnOrigin(headers: Headers, baseUrl: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site === "same-origin") return true;
  const origin = headers.get("origin");
  if (origin !== null) return origin === new URL(baseUrl).origin;
  if (site !== null) return site === "none";
  return !headers.has("cookie");
}

/** A second slash in any spelling, after which browsers and proxies may read a host. */
const HOST_AFTER = /^\/(?:[/\\]|%(?:25)*(?:2f|5c))/i;

/** The path to go on to, as it may be put into a Location; undefined for anything that is not a path on this origin. */
export function safeNext(next: string, baseUrl: string): string | undefined {
  if (next.length > 2_000 || !next.startsWith("/") || /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(next)) return undefined;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(next, origin)) return undefined;
  const url = new URL(next, origin);
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Looked at again, as "/.//host" becomes "//host" only now.
  return url.origin === origin && !HOST_AFTER.test(next) && !HOST_AFTER.test(path) ? path : undefined;
}

/** Whether an address is of this machine alone, as in development. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
