import { type Repository, repositoryId } from "../catalog/catalog.js";
import { AppError } from "../errors.js";
import type { Modules } from "../modules.js";
import { type Note, readNote, writeNote } from "./cookies.js";

/** Repositories that somebody wanted to save before signing in: kept in the browser for an hour, at most twenty. */
const PENDING: Note = { name: "sidereal.saving", path: "/", seconds: 3_600 };
const MAX_PENDING = 20;

function pendingIds(cookie: string | null, baseUrl: string): number[] {
  const value = readNote(PENDING, cookie, baseUrl) ?? "";
  const ids = value.split(".").map((text) => repositoryId(text) ?? 0);
  return [...new Set(ids.filter((id) => id > 0))].slice(-MAX_PENDING);
}

/** The cookie that keeps one more; the oldest of too many leaves. */
export function keepPending(cookie: string | null, id: number, baseUrl: string): string {
  const ids = [...pendingIds(cookie, baseUrl).filter((one) => one !== id), id].slice(-MAX_PENDING);
  return writeNote(PENDING, ids.join("."), baseUrl);
}

/** What came of what was pending: a sentence for the page, and the cookie that ends it. */
export interface Attached {
  notice: string;
  cookie: string;
}

/**
 * Puts what a browser has kept on the list of the account that is signed in there now. Undefined where nothing was kept.
 * What cannot be saved is told and dropped: it must not stand in the way of pages.
 */
export async function attachPending(
  { watchlists, catalog }: Modules,
  accountId: string,
  cookie: string | null,
  baseUrl: string,
): Promise<Attached | undefined> {
  if (readNote(PENDING, cookie, baseUrl) === undefined) return undefined;
  const end = writeNote(PENDING, undefined, baseUrl);
  const found = await catalog.findMany(pendingIds(cookie, baseUrl));
  if (found.length === 0) return { notice: "What was to be saved is not known here any more.", cookie: end };
  try {
    await watchlists.add(
      { accountId },
      found.map(({ id }) => id),
    );
  } catch (error) {
    const reason = error instanceof AppError ? error.message : "Try again.";
    return { notice: `${namesOf(found)} could not be saved. ${reason}`, cookie: end };
  }
  return { notice: `${namesOf(found)} ${found.length === 1 ? "is" : "are"} on your watchlist.`, cookie: end };
}

function namesOf(found: readonly { fullName: string }[]): string {
  const names = found.map(({ fullName }) => fullName);
  return names.length <= 3 ? names.join(", ") : `${names.length} repositories`;
}

/** The parameter by which an address brings a wish to save into another browser. */
const OFFER = "save";

/** The path with the wish to save a repository. */
export function withOffer(path: string, id: number, baseUrl: string): string {
  const url = new URL(path, baseUrl);
  url.searchParams.set(OFFER, String(id));
  return `${url.pathname}${url.search}${url.hash}`;
}

/** The repository that an address asks to be offered for saving; undefined for none, or one that is not known. */
export async function offeredBy(
  { searchParams }: URL,
  { catalog }: Modules,
): Promise<Repository | undefined> {
  const id = repositoryId(searchParams.get(OFFER) ?? "");
  return id === undefined ? undefined : catalog.find(id);
}
