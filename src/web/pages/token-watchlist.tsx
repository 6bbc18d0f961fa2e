import { nameField } from "../../discovery/discovery.js";
import { ActionButton, Field } from "../components/elements.js";
import { withQuery } from "../components/links.js";
import { formatDate } from "../components/numbers.js";
import { recordView } from "../cookies.js";
import { findByLines } from "../naming.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { repositoryIdOf } from "../saving.js";
import {
  AddRepository,
  type NotAdded,
  notAdded,
  readWatched,
  rowActions,
  WatchedBody,
  WatchedChanges,
  watchedScripts,
} from "../watchlist.js";
import { toSignIn } from "./sign-in.js";

/** A list without an owner: both its links show it, and the first one can change it. */
export function showTokenWatchlist(request: PageRequest): Promise<Page> {
  return listPage(request, {});
}

export async function removeFromTokenWatchlist(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Redirect> {
  await request.modules.watchlists.removeItems(accessOf(request), [repositoryIdOf(form)]);
  return backTo(request, form.get("query"));
}

export async function renameTokenWatchlist(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const name = nameField.safeParse(form.get("name") ?? "");
  if (!name.success)
    return listPage(request, { nameProblem: `The name ${name.error.issues[0]?.message ?? "is not valid"}.` });
  await request.modules.watchlists.rename(accessOf(request), name.data);
  return backTo(request);
}

export async function removeTokenWatchlist(request: PageRequest): Promise<Redirect> {
  await request.modules.watchlists.remove(accessOf(request));
  return { location: "/watchlists/gone", status: 303 };
}

export function showWatchlistRemoved(): Page {
  return {
    title: "Watchlist deleted",
    body: (
      <div class="narrow">
        <h1>List deleted</h1>
        <p class="lead">Both links have stopped working.</p>
        <p>
          <a href="/watchlists">Create another list</a>
        </p>
      </div>
    ),
  };
}

function tokenOf({ params }: PageRequest): string {
  return params.token ?? "";
}

const accessOf = (request: PageRequest) => ({ token: tokenOf(request) });

/** Back to the list with this query of its page. */
function backTo(request: PageRequest, query?: string | null): Redirect {
  const parameters = new URLSearchParams(query ?? "");
  return {
    location: withQuery(new URL(`/watchlists/${tokenOf(request)}?${parameters}`, request.url), {}),
    status: 303,
  };
}

export async function addToTokenWatchlist(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const written = (form.get("repository") ?? "").slice(0, 500);
  const { ids } = await findByLines(request.modules, [written]);
  const [id] = ids;
  if (id === undefined) return listPage(request, { notAdded: await notAdded(request, written) });
  await request.modules.watchlists.add(accessOf(request), [id], { adding: request.adding });
  return backTo(request);
}

/** Saves all repositories of the list to the user's own watchlist. */
export async function copyTokenWatchlist(request: PageRequest): Promise<Redirect> {
  const { account, modules } = request;
  if (account === undefined) return toSignIn(request, "/watchlist");
  const { items } = await modules.watchlists.get(accessOf(request));
  await modules.watchlists.add(
    { accountId: account.id },
    items.map(({ repositoryId }) => repositoryId),
  );
  return { location: "/watchlist", status: 303 };
}

interface Messages {
  notAdded?: NotAdded;
  nameProblem?: string;
}

async function listPage(request: PageRequest, messages: Messages): Promise<Page> {
  const { modules, url, method, account } = request;
  const token = tokenOf(request);
  const watchlist = await modules.watchlists.get({ token });
  const { name, items, canEdit, createdAt, expiresAt } = watchlist;
  const path = `/watchlists/${token}`;
  const ids = items.map(({ repositoryId }) => repositoryId);
  const seen = recordView(token, request);
  // A rejected form is shown at the address of the form, which has none of the parameters of the list.
  const shown = new URL(`${path}${method === "GET" ? url.search : ""}`, url);
  const watched = await readWatched(
    { ...request, url: shown },
    {
      scope: { kind: "watchlist", id: watchlist.id },
      ids,
      changes:
        seen.since === undefined ? Promise.resolve(undefined) : modules.watchlists.changes(ids, seen.since),
    },
  );
  const isWrong = watched.problems.length > 0 || (messages.notAdded ?? messages.nameProblem) !== undefined;
  const canCopy = account !== undefined && (await request.savedAmong(ids)).size < ids.length;
  return {
    title: name,
    status: isWrong ? 400 : 200,
    scripts: watchedScripts(watched),
    // The link that changes the list is not passed on to those who keep pictures.
    ...(canEdit ? {} : { image: `/cards/watchlists/${token}` }),
    cookies: request.isView ? [seen.cookie] : [],
    body: (
      <>
        <h1>{name}</h1>
        <p class="lead">
          {items.length === 1 ? "1 repository" : `${items.length} repositories`} · created{" "}
          {formatDate(createdAt)} ·{" "}
          {canEdit ? "Anyone with this link can edit the list: keep it private." : "Read only"}
        </p>
        {items.length === 0 ? null : <WatchedChanges watched={watched} />}
        {canCopy ? <ActionButton action={`${path}/copy`}>Copy to my watchlist</ActionButton> : null}
        {canEdit ? <AddRepository action={`${path}/items`} notAdded={messages.notAdded} /> : null}
        {items.length === 0 ? (
          <p class="soft">
            {canEdit ? "This list is empty. Add a repository above." : "This list is empty."}
          </p>
        ) : (
          <>
            <WatchedBody
              watched={watched}
              name={name}
              more={[
                rowActions(
                  canEdit
                    ? { action: `${path}/items/remove`, kept: { query: watched.url.search.slice(1) } }
                    : undefined,
                ),
              ]}
            />
            <p class="soft small">
              Download: <a href={`/api${path}/repositories?window=${watched.query.window}`}>JSON</a>,{" "}
              <a href={`/api${path}/repositories?window=${watched.query.window}&format=csv`}>CSV</a>, and{" "}
              <a href={`/api${path}/metrics?window=90d`}>totals</a>
              {canEdit ? null : (
                <>
                  , <a href={`/api${path}/feed.atom`}>Atom feed</a>
                </>
              )}
              .
            </p>
          </>
        )}
        {expiresAt === undefined ? null : (
          <p class="soft small">Expires {formatDate(expiresAt)} unless opened.</p>
        )}
        {canEdit ? (
          <section class="narrow">
            <h2>Settings</h2>
            <form method="post" action={`${path}/rename`} class="row-form">
              <Field
                name="name"
                label="Name"
                problem={messages.nameProblem}
                value={name}
                required
                maxlength={200}
              />
              <button type="submit">Rename</button>
            </form>
            <p class="soft small">
              The share link was shown when the list was created. We cannot show it again.
            </p>
            <details class="confirm">
              <summary>Delete this list</summary>
              <form method="post" action={`${path}/delete`}>
                <p>Both links stop working for everyone. This cannot be undone.</p>
                <button type="submit" class="danger">
                  Delete <bdi>{name}</bdi>
                </button>
              </form>
            </details>
          </section>
        ) : null}
      </>
    ),
  };
}
