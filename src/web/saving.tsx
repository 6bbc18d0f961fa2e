import type { FunctionComponent as FC } from "preact";
import { safeNext } from "../accounts/accounts.js";
import type { PageCookie } from "../lib/cookies.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import type { Modules } from "../modules.js";
import { type Repository, repositoryId } from "../repositories/repositories.js";
import { cookieIn, setCookie } from "./cookies.js";
import type { PageRequest, Redirect, RenderContext } from "./page-request.js";

/** Saving repositories to one's watchlist: the star and its form, and repositories that are pending until sign-in. */

/** Keeps a repository until its visitor has signed in, which saves it. */
export function saveBeforeSignIn(request: PageRequest, id: number, next: string): Redirect {
  // The sign-in link may be opened in another browser, without this cookie: there the page offers to save it.
  const offering = encodeURIComponent(withOffer(next, id, request.site.baseUrl));
  const cookie = keepPending(request, id);
  return { location: `/sign-in?next=${offering}`, status: 303, cookies: [cookie] };
}

/** The field `repositoryId` of a form. Throws VALIDATION_FAILED. */
export function repositoryIdOf(form: URLSearchParams): number {
  const id = repositoryId(form.get("repositoryId") ?? "");
  if (id === undefined) throw invalidParameter("repositoryId", "must be the identifier of a repository");
  return id;
}

/** The path to return to after a form; the list at `path` if it is not a path of ours. */
export function nextOf(
  { site }: PageRequest,
  form: URLSearchParams,
  { path } = { path: "/watchlist" },
): string {
  return safeNext(form.get("next") ?? "", site.baseUrl) ?? path;
}

/** Repositories to save after sign-in: kept in a cookie for an hour, at most twenty. */
const PENDING: PageCookie = { name: "sidereal.saving", path: "/", seconds: 3_600 };
const MAX_PENDING = 20;

function pendingIds(request: PageRequest): number[] {
  const value = cookieIn(request, PENDING) ?? "";
  const ids = value.split(".").map((text) => repositoryId(text) ?? 0);
  return [...new Set(ids.filter((id) => id > 0))].slice(-MAX_PENDING);
}

/** The cookie with one more repository; drops the oldest beyond the limit. */
function keepPending(request: PageRequest, id: number): string {
  const ids = [...pendingIds(request).filter((one) => one !== id), id].slice(-MAX_PENDING);
  return setCookie(request, PENDING, ids.join("."));
}

/** The outcome of saving pending repositories: a notice, and the cookie that clears them. */
interface Attached {
  notice: { text: string; isDone: boolean };
  cookie: string;
}

/**
 * Saves the pending repositories of a browser to the account that is signed in. Undefined if none are pending. A failure is
 * reported in the notice and not retried, so that it does not block pages.
 */
export async function attachPending(request: PageRequest, accountId: string): Promise<Attached | undefined> {
  if (cookieIn(request, PENDING) === undefined) return undefined;
  const { watchlists, catalog } = request.modules;
  const end = setCookie(request, PENDING, undefined);
  const failed = (text: string): Attached => ({ notice: { text, isDone: false }, cookie: end });
  const found = await catalog.findMany(pendingIds(request));
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

/** The repositories that sign-in will save, which a visitor may put on a shared list instead. */
export async function pendingRepositories(request: PageRequest): Promise<Repository[]> {
  const ids = pendingIds(request);
  return ids.length === 0 ? [] : request.modules.catalog.findMany(ids);
}

export function namesOf(found: readonly { fullName: string }[]): string {
  const names = found.map(({ fullName }) => fullName);
  return names.length <= 3 ? names.join(", ") : `${names.length} repositories`;
}

/** The parameter that carries a pending repository into another browser. */
export const OFFER = "save";

/** The path with a repository to offer for saving. */
function withOffer(path: string, id: number, baseUrl: string): string {
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

/** Which of these repositories are on the watchlist of the account; none for visitors. */
export async function savedAmong(
  { account, modules }: PageRequest,
  repositoryIds: readonly number[],
): Promise<ReadonlySet<number>> {
  return account === undefined
    ? new Set()
    : modules.watchlists.contains({ accountId: account.id }, repositoryIds);
}

/** The stars of a list: which of its rows are saved, and the path to return to without scripts. */
export interface ListStars {
  /** Saved repositories. If given, each row has a star that saves it; the page needs the script save.js. */
  saved?: ReadonlySet<number>;
  /** Default: the home page. */
  next?: string;
}

/** Gives each of these rows a star, except on a site of files. `next`: the list's own address. */
export async function starsOf(
  request: PageRequest,
  rows: readonly { repository: Pick<Repository, "id"> }[],
  next: string,
): Promise<ListStars> {
  if (request.site.files !== undefined) return {};
  return {
    saved: await savedAmong(
      request,
      rows.map(({ repository }) => repository.id),
    ),
    next,
  };
}

/** Browser modules of a page with stars. Visitors need none: the form takes them to sign-in. */
export function starScripts({ account }: PageRequest): readonly string[] {
  return account !== undefined ? ["save.js"] : [];
}

const actionOf = (isSaved: boolean): string => (isSaved ? "/watchlist/items/remove" : "/watchlist/items");

/** A star, filled once saved. */
const Star: FC = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path
      d="M12 3 14.6 9 21 9.6 16.2 13.9 17.6 20.2 12 16.9 6.4 20.2 7.8 13.9 3 9.6 9.4 9Z"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linejoin="round"
    />
  </svg>
);

interface SaveButtonProps {
  repositoryId: number;
  /** Its name, if the page has several such buttons. */
  fullName?: string;
  isSaved: boolean;
  /** Path to return to without scripts. */
  next: string;
}

/** Saves a repository to the user's watchlist or removes it. The script save.js does so without leaving the page. */
export const SaveButton: FC<SaveButtonProps> = (
  { repositoryId, fullName, isSaved, next },
  { isStatic }: RenderContext,
) =>
  isStatic ? null : (
    <form method="post" action="/watchlist/items" class="inline">
      <input type="hidden" name="repositoryId" value={repositoryId} />
      <input type="hidden" name="next" value={next} />
      <button
        type="submit"
        class={isSaved ? "save saved" : "save"}
        formaction={actionOf(isSaved)}
        data-save={repositoryId}
        data-name={fullName}
        data-command={fullName === undefined ? "" : undefined}
        aria-label={fullName === undefined ? undefined : `Save ${fullName}`}
      >
        <Star />
        <span>{isSaved ? "Saved" : "Save"}</span>
      </button>
    </form>
  );

/** A star without text for the rows of a list; a button of the form of the list. */
export const SaveStar: FC<{
  repository: Pick<Repository, "id" | "fullName">;
  form: string;
  isSaved: boolean;
}> = ({ repository: { id, fullName }, form, isSaved }) => (
  <button
    type="submit"
    class={isSaved ? "star saved" : "star"}
    form={form}
    name="repositoryId"
    value={id}
    formaction={actionOf(isSaved)}
    data-save={id}
    data-name={fullName}
    aria-label={isSaved ? `Remove ${fullName} from your watchlist` : `Save ${fullName}`}
  >
    <Star />
  </button>
);
