import { type Repository, repositoryId } from "../catalog/catalog.js";
import { AppError } from "../errors.js";
import type { Modules } from "../modules.js";
import { type Note, readNote, writeNote } from "./cookies.js";
import type { PageRequest } from "./page-request.js";

/** Repositories to save after sign-in: kept in a cookie for an hour, at most twenty. */
const PENDING: Note = { name: "sidereal.saving", path: "/", seconds: 3_600 };
const MAX_PENDING = 20;

function pendingIds(cookie: string | null, baseUrl: string): number[] {
  const value = readNote(PENDING, cookie, baseUrl) ?? "";
  const ids = value.split(".").map((text) => repositoryId(text) ?? 0);
  return [...new Set(ids.filter((id) => id > 0))].slice(-MAX_PENDING);
}

/** The cookie with one more repository; drops the oldest beyond the limit. */
export function keepPending(cookie: string | null, id: number, baseUrl: string): string {
  const ids = [...pendingIds(cookie, baseUrl).filter((one) => one !== id), id].slice(-MAX_PENDING);
  return writeNote(PENDING, ids.join("."), baseUrl);
}

/** The outcome of saving pending repositories: a notice, and the cookie that clears them. */
export interface Attached {
  notice: { text: string; isDone: boolean };
  cookie: string;
}

/**
 * Saves the pending repositories of a browser to the account that is signed in. Undefined if none are pending. A failure is
 * reported in the notice and not retried, so that it does not block pages.
 */
export async function attachPending(
  { watchlists, catalog }: Modules,
  accountId: string,
  { cookie, baseUrl }: Pick<PageRequest, "cookie" | "baseUrl">,
): Promise<Attached | undefined> {
  if (readNote(PENDING, cookie, baseUrl) === undefined) return undefined;
  const end = writeNote(PENDING, undefined, baseUrl);
  const failed = (text: string): Attached => ({ notice: { text, isDone: false }, cookie: end });
  const found = await catalog.findMany(pendingIds(cookie, baseUrl));
  if (found.length === 0) return failed("The repository you wanted to save is no longer tracked.");
  try {
    await watchlists.add(
      { accountId },
      found.map(({ id }) => id),
    );
  } catch (error) {
    const reason = error instanceof AppError ? error.message : "Try again.";
    return failed(`${namesOf(found)} could not be saved. ${reason}`);
  }
  return { notice: { text: `Saved ${namesOf(found)} to your watchlist.`, isDone: true }, cookie: end };
}

/** What is saved once this browser has signed in, in words; undefined for nothing. */
export async function pendingNames({
  modules,
  cookie,
  baseUrl,
}: Pick<PageRequest, "modules" | "cookie" | "baseUrl">): Promise<string | undefined> {
  const ids = pendingIds(cookie, baseUrl);
  const found = ids.length === 0 ? [] : await modules.catalog.findMany(ids);
  return found.length === 0 ? undefined : namesOf(found);
}

function namesOf(found: readonly { fullName: string }[]): string {
  const names = found.map(({ fullName }) => fullName);
  return names.length <= 3 ? names.join(", ") : `${names.length} repositories`;
}

/** The parameter that carries a pending repository into another browser. */
const OFFER = "save";

/** The path with a repository to offer for saving. */
export function withOffer(path: string, id: number, baseUrl: string): string {
  const url = new URL(path, baseUrl);
  url.searchParams.set(OFFER, String(id));
  return `${url.pathname}${url.search}${url.hash}`;
}

/** The repository that an address offers to save; undefined for none, or an unknown one. */
export async function offeredBy(
  { searchParams }: URL,
  { catalog }: Modules,
): Promise<Repository | undefined> {
  const id = repositoryId(searchParams.get(OFFER) ?? "");
  return id === undefined ? undefined : catalog.find(id);
}
