import { createBrowserSecret } from "../accounts/accounts.js";
import { type Note, readNote, writeNote } from "./cookies.js";
import type { PageRequest } from "./page-request.js";

/** A secret that identifies the browser that requested a mail to sign in with, kept as long as that is valid. */
const ASKED: Note = { name: "sidereal.asked", path: "/", seconds: 600 };
const SECRET = /^[\w-]{43}$/;

/** The mark of a browser in which somebody has signed in by mail: it has its own limit of mails. */
const KNOWN: Note = { name: "sidereal.known", path: "/sign-in", seconds: 365 * 86_400 };

/** The secret of the browser; undefined if it has not requested a mail. */
export function browserOf({ cookie, baseUrl }: PageRequest): string | undefined {
  const secret = readNote(ASKED, cookie, baseUrl);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

/** This browser as the requester of a mail, and its cookie. A browser keeps its secret for later requests. */
export function requestingBrowser(request: PageRequest) {
  const { cookie, baseUrl } = request;
  const browser = browserOf(request) ?? createBrowserSecret();
  const mark = readNote(KNOWN, cookie, baseUrl);
  return {
    requester: { browser, mark, source: request.source() },
    cookie: writeNote(ASKED, browser, baseUrl),
  };
}

/** The cookies to set after sign-in: one clears the secret, the other keeps the mark. */
export function cookiesAfterSignIn({ baseUrl }: PageRequest, mark: string): string[] {
  return [writeNote(ASKED, undefined, baseUrl), writeNote(KNOWN, mark, baseUrl)];
}
