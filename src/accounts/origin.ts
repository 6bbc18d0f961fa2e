import type { Config } from "../config/config.js";
import { isLoopbackHost } from "../lib/host-names.js";

/** Rules about the origin of a request, and about addresses to which a browser may be sent. */

/** Request headers with the origin of a request; names in lower case. */
export interface OriginHeaders {
  readonly "sec-fetch-site"?: string | undefined;
  readonly origin?: string | undefined;
  readonly cookie?: string | undefined;
  readonly host?: string | undefined;
}

/**
 * Whether a request that changes something comes from our own pages. Decided by Sec-Fetch-Site, which no page can set and
 * which is right under whatever name the service is opened, else by Origin, which names the base URL or a host of ours. A
 * program that sends neither is allowed as long as it sends no cookie, since without one it has no rights to abuse.
 */
export function isOwnOrigin(
  headers: OriginHeaders,
  { baseUrl, allowedHosts }: Pick<Config, "baseUrl" | "allowedHosts">,
): boolean {
  const { "sec-fetch-site": site, origin, cookie, host } = headers;
  if (site === "same-origin") return true;
  if (origin !== undefined) {
    const { origin: own, protocol } = new URL(baseUrl);
    // Host can be trusted only if requests under other hosts are refused.
    return origin === own || (allowedHosts !== undefined && origin === `${protocol}//${host}`);
  }
  if (site !== undefined) return site === "none";
  return cookie === undefined;
}

/** A path that starts with two slashes in any spelling: browsers and proxies may read a host after them. */
const HOST_AFTER = /^\/(?:[/\\]|%(?:25)*(?:2f|5c))/i;

/** The path to continue to, normalized for a Location header; undefined unless it is a path on this origin. */
export function safeNext(next: string, baseUrl: string): string | undefined {
  if (next.length > 2_000 || !next.startsWith("/") || /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(next)) return undefined;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(next, origin)) return undefined;
  const url = new URL(next, origin);
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Checked again, as normalizing turns "/.//host" into "//host".
  return url.origin === origin && !HOST_AFTER.test(next) && !HOST_AFTER.test(path) ? path : undefined;
}

/** Whether an address is only reachable from this machine, as in development. */
export function isLoopback(baseUrl: string): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}
