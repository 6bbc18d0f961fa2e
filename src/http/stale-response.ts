import type { StoredResponse } from "./stored-response.js";

/** How long a response is served after it was last known to be current, when there is no newer one. */
export const MAX_STALE_MS = 3_600_000;

/** No cache may take it for fresh, but each may keep it for the same reason for which it is sent. */
const CACHE_CONTROL = `public, max-age=0, stale-if-error=${MAX_STALE_MS / 1_000}`;
/** RFC 9211. */
const CACHE_STATUS = "sidereal; hit; detail=stale";

export interface StaleOptions {
  /** Time since it was last known to be current, in ms, whenever it is sent. */
  ageMs: () => number;
  /** When that was, in Unix milliseconds. */
  at: number;
  /** Adds to the HTML of a page what its reader should know. */
  markPage: (html: string, at: number) => string;
}

/**
 * A shared response that may be outdated, as it is sent while the database does not respond: marked as stale for programs and
 * caches, and visibly on pages.
 */
export function staleResponse(stored: StoredResponse, { ageMs, at, markPage }: StaleOptions): StoredResponse {
  const fields = new Map<string, string>();
  for (let i = 0; i < stored.headers.length; i += 2)
    fields.set(stored.headers[i] ?? "", stored.headers[i + 1] ?? "");
  const isPage = fields.get("Content-Type")?.startsWith("text/html") ?? false;
  const body = isPage ? Buffer.from(markPage(stored.body.toString(), at)) : stored.body;
  // A page that says when it is from is another one.
  const etag = isPage ? stored.etag?.replace(/"$/, `.${Math.floor(at / 1_000)}"`) : stored.etag;
  fields.set("Cache-Control", CACHE_CONTROL).set("Cache-Status", CACHE_STATUS);
  if (etag !== undefined) fields.set("ETag", etag);
  const headers = [...fields].flat();
  return {
    ...stored,
    headers,
    body,
    etag,
    age: () => String(Math.floor(ageMs() / 1_000)),
    variants: new Map(),
  };
}
