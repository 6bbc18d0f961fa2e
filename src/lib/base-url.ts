/** Facts that follow from the public address of the service. Below it means: a path that is appended to it. */

/** The path of a base URL, without a slash at its end; empty for most. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, "");
}

/** How our cookies are named and scoped. */
interface CookieScope {
  /** Prefix of the name; browsers enforce the attributes it requires. */
  prefix: "__Host-" | "__Secure-" | "";
  path: string;
  secure: boolean;
}

/** The scope of a cookie for `path` below the base URL. `__Host-` needs https and the whole host. */
export function cookieScope(baseUrl: string, path = "/"): CookieScope {
  const secure = baseUrl.startsWith("https:");
  const full = path === "/" ? basePathOf(baseUrl) || "/" : basePathOf(baseUrl) + path;
  return { prefix: secure ? (full === "/" ? "__Host-" : "__Secure-") : "", path: full, secure };
}
