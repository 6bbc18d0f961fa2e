import { cookieScope } from "./base-url.js";

/** A cookie that only the server reads, no script and no other site. */
export interface PageCookie {
  /** Without its prefix. */
  name: string;
  /** Below the base URL. */
  path: string;
  seconds: number;
  /** Default: Lax. */
  sameSite?: "Strict";
}

/** The value of a cookie in a Cookie header. */
export function readCookie(cookie: PageCookie, header: string | null, baseUrl: string): string | undefined {
  const wanted = `${cookieScope(baseUrl, cookie.path).prefix}${cookie.name}=`;
  return header
    ?.split(/; ?/)
    .find((one) => one.startsWith(wanted))
    ?.slice(wanted.length);
}

/** The Set-Cookie header of a cookie; undefined deletes it. Values consist of letters, digits, `.`, `-` and `_`. */
export function writeCookie(cookie: PageCookie, value: string | undefined, baseUrl: string): string {
  const { prefix, path, secure } = cookieScope(baseUrl, cookie.path);
  const seconds = value === undefined ? 0 : cookie.seconds;
  const { name, sameSite = "Lax" } = cookie;
  return `${prefix}${name}=${value ?? ""}; Max-Age=${seconds}; Path=${path}; HttpOnly; SameSite=${sameSite}${secure ? "; Secure" : ""}`;
}
