/** The Cookie header that a browser sends after these Set-Cookie headers. */
export function cookieHeader(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(";")[0] ?? "").join("; ");
}

/**
 * The value the sign-in library gives a session cookie: 32 letters and digits, a dot, and 32 bytes of signature in Base64,
 * percent-encoded. The last digit of the signature has two unused bits, which are zero.
 */
const VALUE = /^[0-9A-Za-z]{32}\.(?:[0-9A-Za-z]|%2B|%2F){42}[AEIMQUYcgkosw048]%3D$/;

/**
 * The only session cookie in a Cookie header, as `name=value`. Undefined where there are several, or where it is not spelled as
 * issued: the library would accept many spellings of one session, and each would be looked up as if it were another one.
 */
export function sessionCookie(cookie: string | undefined, name: string): string | undefined {
  if (!cookie?.includes(name)) return undefined;
  const [own, ...others] = cookie
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  if (own === undefined || others.length > 0) return undefined;
  return VALUE.test(own.slice(name.length + 1)) ? own : undefined;
}
