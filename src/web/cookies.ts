import { createHash } from "node:crypto";
import { createBrowserSecret } from "../accounts/accounts.js";
import { type PageCookie, readCookie, writeCookie } from "../lib/cookies.js";
import { VISIT_MS } from "../watchlists/watchlists.js";
import type { FrameRequest, PageRequest } from "./page-request.js";

/** The cookies of pages besides the session: how they are written, the last visits of lists, and who requested a mail. */

/** The value of a cookie that a browser sent; undefined without one. */
export function cookieIn({ http, site }: FrameRequest, of: PageCookie): string | undefined {
  return readCookie(of, http.headers.cookie ?? null, site.baseUrl);
}

/** The Set-Cookie header of a cookie; undefined deletes it. */
export function setCookie({ site }: PageRequest, of: PageCookie, value: string | undefined): string {
  return writeCookie(of, value, site.baseUrl);
}

/** That a browser hides the note on the sample, for 180 days. */
export const SAMPLE_HIDDEN: PageCookie = { name: "sidereal.sample", path: "/", seconds: 180 * 86_400 };

/** When a browser viewed lists without an owner: at most twenty, kept for 180 days, sent to their pages only. */
const SEEN: PageCookie = { name: "sidereal.seen", path: "/watchlists", seconds: 180 * 86_400 };
const MAX_SEEN = 20;

interface Seen {
  /** Part of a hash of the token; the token itself is not stored. */
  list: string;
  /** Seconds since 1970. */
  at: number;
  /** End of the previous visit; 0: none. */
  before: number;
}

/** When this browser last visited the list (ms since 1970; undefined on the first visit), and the cookie that records this view. */
export function recordView(
  token: string,
  request: PageRequest,
): { since: number | undefined; cookie: string } {
  const list = createHash("sha256").update(`seen ${token}`).digest("hex").slice(0, 12);
  const all = readSeen(cookieIn(request, SEEN) ?? "");
  const known = all.find((one) => one.list === list);
  const at = Math.floor(request.now / 1_000);
  const isNew = known !== undefined && (at - known.at) * 1_000 >= VISIT_MS;
  const before = isNew ? known.at : (known?.before ?? 0);
  const kept = [{ list, at, before }, ...all.filter((one) => one !== known)].slice(0, MAX_SEEN);
  const value = kept.map((one) => `${one.list}-${one.at}-${one.before}`).join(".");
  return {
    since: before === 0 ? undefined : before * 1_000,
    cookie: setCookie(request, SEEN, value),
  };
}

/** Ignores malformed entries: anybody can send them. */
function readSeen(value: string): Seen[] {
  return value
    .split(".")
    .slice(0, MAX_SEEN)
    .flatMap((text) => {
      const [, list = "", at, before] = /^([0-9a-f]{12})-(\d{1,12})-(\d{1,12})$/.exec(text) ?? [];
      return list === "" ? [] : [{ list, at: Number(at), before: Number(before) }];
    });
}

/** A secret that identifies the browser that requested a sign-in mail, valid as long as the mail. */
const REQUESTER: PageCookie = { name: "sidereal.asked", path: "/", seconds: 600 };
const SECRET = /^[\w-]{43}$/;

/** The secret of the browser; undefined if it has not requested a mail. */
export function browserOf(request: PageRequest): string | undefined {
  const secret = cookieIn(request, REQUESTER);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

/** The secret of this browser to request a mail with, and its cookie. A browser keeps its secret for later requests. */
export function requestingBrowser(request: PageRequest): { browser: string; cookie: string } {
  const browser = browserOf(request) ?? createBrowserSecret();
  return { browser, cookie: setCookie(request, REQUESTER, browser) };
}

/** Clears the secret. */
export function cookieAfterSignIn(request: PageRequest): string {
  return setCookie(request, REQUESTER, undefined);
}
