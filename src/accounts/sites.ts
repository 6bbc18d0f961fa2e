import type { Library } from "./library.js";

/** Sites that may vouch for somebody. */
export const SITES = ["github", "google"] as const;
export type Site = (typeof SITES)[number];

/** Where a browser is sent to by each, for the policy of the page whose form begins it. */
export const SITE_ORIGINS: Readonly<Record<Site, string>> = {
  github: "https://github.com",
  google: "https://accounts.google.com",
};

/** What a browser is to be told: cookies to set, and where to go. */
export interface Passage {
  cookies: string[];
  location: string;
}

/** The page that says that it did not work. */
export function failedUrl(baseUrl: string): string {
  return `${baseUrl}/sign-in/failed`;
}

/** The way to a configured site; what comes back goes on to `next`, a safe path. */
export async function goToSite(
  library: Library,
  baseUrl: string,
  site: Site,
  next: string,
): Promise<Passage> {
  const response = await library.api.signInSocial({
    body: {
      provider: site,
      callbackURL: `${new URL(baseUrl).origin}${next}`,
      errorCallbackURL: failedUrl(baseUrl),
    },
    headers: new Headers(),
    asResponse: true,
  });
  const told: unknown = await response.json();
  const url = typeof told === "object" && told !== null && "url" in told ? told.url : undefined;
  if (typeof url !== "string") throw new Error("the sign-in library told no address to send the browser to");
  return { cookies: response.headers.getSetCookie(), location: url };
}

/** Takes what a site sent back with the browser. Whether somebody is signed in then, only the cookies tell. */
export async function comeFromSite(
  library: Library,
  site: Site,
  query: Record<string, string>,
  cookie: string,
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
