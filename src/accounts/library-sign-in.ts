/** Signing in through the sign-in library: with a site, or by an address that has been proven. */
import { createToken, hashToken } from "../lib/tokens.js";
import type { Library } from "./library.js";
import { libraryNow } from "./library-time.js";

/** Sites with which somebody can sign in, where configured. */
export const SITES = ["github", "google"] as const;
export type Site = (typeof SITES)[number];

/** The sign-in origin of each site, for the Content-Security-Policy of pages with a sign-in form. */
export const SITE_ORIGINS: Readonly<Record<Site, string>> = {
  github: "https://github.com",
  google: "https://accounts.google.com",
};

/** Sends a browser on its way through OAuth: cookies to set, and where to go. */
export interface OAuthRedirect {
  cookies: string[];
  location: string;
}

/** The page that says that signing in failed. */
export function failedUrl(baseUrl: string): string {
  return `${baseUrl}/sign-in/failed`;
}

/** The redirect to a configured site. Afterwards the browser continues to `next`, a safe path. */
export async function startOAuth(
  library: Library,
  baseUrl: string,
  { site, next }: { site: Site; next: string },
): Promise<OAuthRedirect> {
  const response = await library.api.signInSocial({
    body: {
      provider: site,
      callbackURL: `${baseUrl}${next}`,
      errorCallbackURL: failedUrl(baseUrl),
    },
    headers: new Headers(),
    asResponse: true,
  });
  const body: unknown = await response.json();
  const url = typeof body === "object" && body !== null && "url" in body ? body.url : undefined;
  if (typeof url !== "string") throw new Error("the sign-in library returned no address to redirect to");
  return { cookies: response.headers.getSetCookie(), location: url };
}

/** Handles the callback of a site. Only the cookies show whether the sign-in succeeded. */
export async function finishOAuth(
  library: Library,
  { site, query, cookie }: { site: Site; query: Record<string, string>; cookie: string },
): Promise<{ cookies: string[]; location: string | null }> {
  const response = await library.api.callbackOAuth({
    method: "GET",
    params: { id: site },
    query,
    headers: new Headers({ cookie }),
    asResponse: true,
  });
  return { cookies: response.headers.getSetCookie(), location: response.headers.get("location") };
}

/** How long a token for the library is valid; it is used immediately. */
const TOKEN_MS = 60_000;

/**
 * Lets the library begin a session for somebody who has just proven to read mail to this address, and create the account of a
 * new one. The library takes a token for that, which never leaves this process. Returns the library's response.
 */
export async function signInVerified(library: Library, email: string): Promise<Response> {
  const { internalAdapter } = await library.$context;
  const token = createToken("sidl");
  await internalAdapter.createVerificationValue({
    identifier: hashToken(token),
    value: JSON.stringify({ email }),
    expiresAt: new Date(libraryNow().getTime() + TOKEN_MS),
  });
  return library.api.magicLinkVerify({ query: { token }, headers: new Headers(), asResponse: true });
}
