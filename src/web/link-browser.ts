import { randomBytes } from "node:crypto";
import { type Note, readNote, writeNote } from "./cookies.js";
import type { PageRequest } from "./page-request.js";

/** What tells the browser that asked for a link from all others: a secret, kept as long as the link lasts. */
const ASKED: Note = { name: "sidereal.asked", path: "/", seconds: 900 };
const SECRET = /^[\w-]{43}$/;

/** The secret of the browser that sends this; undefined where it has not asked for a link. */
export function browserOf({ cookie, baseUrl }: PageRequest): string | undefined {
  const secret = readNote(ASKED, cookie, baseUrl);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

/** The secret for a link that this browser asks for, and the cookie that keeps it: the same for one that has asked before. */
export function askingBrowser(request: PageRequest): { browser: string; cookie: string } {
  const browser = browserOf(request) ?? randomBytes(32).toString("base64url");
  return { browser, cookie: writeNote(ASKED, browser, request.baseUrl) };
}

/** The cookie that forgets it, for when somebody has signed in. */
export function forgettingCookie({ baseUrl }: PageRequest): string {
  return writeNote(ASKED, undefined, baseUrl);
}
