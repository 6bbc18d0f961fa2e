import { repositoryId } from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import type { RepositoryListProps } from "./components/repository-list.js";
import type { Pages, Redirect, Visit } from "./page.js";
import { keepPending, withOffer } from "./pending.js";

export type ListStars = Pick<RepositoryListProps, "saved" | "next">;

/** Props that give each row of a list a star to save it. `next`: the list's own address. */
export function starsOf({ saved }: Visit, next: string): ListStars {
  return { saved, next };
}

/** Browser modules of a page with such stars: whoever is not signed in is led there by the form. */
export function starScripts({ account }: Visit): readonly string[] {
  return account !== undefined ? ["save.js"] : [];
}

/** What saves repositories from any page, and takes them out again. */
export function serveSaving(pages: Pages): void {
  pages.post("/watchlist/items", (visit, form) => save(visit, form));
  pages.post("/watchlist/items/remove", async (visit, form) => {
    const { account, modules } = visit;
    const id = idOf(form);
    if (account !== undefined) await modules.watchlists.removeItems({ accountId: account.id }, id);
    return { location: nextOf(visit, form), status: 303 };
  });
}

async function save(visit: Visit, form: URLSearchParams): Promise<Redirect> {
  const { account, modules, request, baseUrl } = visit;
  const id = idOf(form);
  const { id: known } = await modules.catalog.get(id);
  if (account !== undefined) {
    await modules.watchlists.add({ accountId: account.id }, [known]);
    return { location: nextOf(visit, form), status: 303 };
  }
  // A link may be opened in another browser, which has no note of it: there the page offers to save it.
  const next = encodeURIComponent(withOffer(nextOf(visit, form), known, baseUrl));
  const cookie = keepPending(request.headers.get("cookie"), known, baseUrl);
  return { location: `/sign-in?next=${next}`, status: 303, cookies: [cookie] };
}

function idOf(form: URLSearchParams): number {
  const id = repositoryId(form.get("repositoryId") ?? "");
  if (id === undefined) throw invalidParameter("repositoryId", "must be the identifier of a repository");
  return id;
}

/** The path that a form of a list wants to come back to; that of the watchlist unless it is one of ours. */
export function nextOf({ members }: Visit, form: URLSearchParams): string {
  return members.accounts.safeNext(form.get("next") ?? "") ?? "/watchlist";
}
