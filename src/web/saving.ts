import { repositoryId } from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import type { ListedRow, RepositoryListProps } from "./components/repository-list.js";
import type { PageRequest, Redirect } from "./page-request.js";
import { keepPending, withOffer } from "./pending-save.js";

export type ListStars = Pick<RepositoryListProps, "saved" | "next">;

/** Props that give each of these rows a star to save it. `next`: the list's own address. */
export async function starsOf(
  { savedAmong }: Pick<PageRequest, "savedAmong">,
  rows: readonly ListedRow[],
  next: string,
): Promise<ListStars> {
  return { saved: await savedAmong(rows.map(({ repository }) => repository.id)), next };
}

/** Browser modules of a page with stars. Visitors need none: the form takes them to sign-in. */
export function starScripts({ account }: PageRequest): readonly string[] {
  return account !== undefined ? ["save.js"] : [];
}

/** Removes a repository from the signed-in user's watchlist. */
export async function unsaveRepository(request: PageRequest, form: URLSearchParams): Promise<Redirect> {
  const { account, modules } = request;
  const id = idOf(form);
  if (account !== undefined) await modules.watchlists.removeItems({ accountId: account.id }, id);
  return { location: nextOf(request, form), status: 303 };
}

/** Saves a repository to the signed-in user's watchlist; visitors sign in first. */
export async function saveRepository(request: PageRequest, form: URLSearchParams): Promise<Redirect> {
  const { account, modules, cookie: sent, baseUrl } = request;
  const id = idOf(form);
  const { id: known } = await modules.catalog.get(id);
  if (account !== undefined) {
    await modules.watchlists.add({ accountId: account.id }, [known]);
    return { location: nextOf(request, form), status: 303 };
  }
  // The sign-in link may be opened in another browser, without this cookie: there the page offers to save it.
  const next = encodeURIComponent(withOffer(nextOf(request, form), known, baseUrl));
  const cookie = keepPending(sent, known, baseUrl);
  return { location: `/sign-in?next=${next}`, status: 303, cookies: [cookie] };
}

function idOf(form: URLSearchParams): number {
  const id = repositoryId(form.get("repositoryId") ?? "");
  if (id === undefined) throw invalidParameter("repositoryId", "must be the identifier of a repository");
  return id;
}

/** The path to return to after a form; the watchlist if it is not a path of ours. */
export function nextOf({ members }: PageRequest, form: URLSearchParams): string {
  return members.accounts.safeNext(form.get("next") ?? "") ?? "/watchlist";
}
