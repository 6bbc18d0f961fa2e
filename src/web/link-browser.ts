import { randomBytes } from "node:crypto";
import { type Note, readNote, writeNote } from "./cookies.js";
import type { PageRequest } from "./page-request.js";

/** A secret that identifies the browser that requested a sign-in link, kept as long as the link is valid. */
const ASKED: Note = { name: "sidereal.asked", path: "/", seconds: 900 };
const SECRET = /^[\w-]{43}$/;

/** The secret of the browser; undefined if it has not requested a link. */
export function browserOf({ cookie, baseUrl }: PageRequest): string | undefined {
  const secret = readNote(ASKED, cookie, baseUrl);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

/** The secret for a link that this browser requests, and its cookie. A browser keeps its secret for later requests. */
export function requestingBrowser(request: PageRequest): { browser: string; cookie: string } {
  const browser = browserOf(request) ?? randomBytes(32).toString("base64url");
  return { browser, cookie: writeNote(ASKED, browser, request.baseUrl) };
}

/** The cookie that clears the secret after sign-in. */
export function clearingCookie({ baseUrl }: PageRequest): string {
  return writeNote(ASKED, undefined, baseUrl);
}
