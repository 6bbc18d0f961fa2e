import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { listQuery, nameField } from "../../discovery/discovery.js";
import { repositoryKey } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import {
  type Changes,
  DEFAULT_NAME,
  type Watchlist,
  type WatchlistAccess,
} from "../../watchlists/watchlists.js";
import { ActionButton, addressOf, Confirm, Field, Note, Snippet, Ways } from "../components/elements.js";
import { type Listing, readListing } from "../components/listing.js";
import { formatDate } from "../components/numbers.js";
import { RepositoryList } from "../components/repository-list.js";
import { READING_SECONDS } from "../components/tracking-state.js";
import { recordView } from "../cookies.js";
import { findNamed } from "../naming.js";
import { readUsableQuery } from "../page.js";
import type { MemberRequest, Page, PageRequest, Redirect } from "../page-request.js";
import {
  type ListStars,
  nextOf,
  offeredBy,
  repositoryIdOf,
  saveBeforeSignIn,
  savedAmong,
  starScripts,
  starsOf,
} from "../saving.js";
import { Requested, requestFor } from "../tracking.js";
import {
  AddRepository,
  addingOf,
  hiddenKey,
  type NotAdded,
  notAdded,
  readWatched,
  Story,
  WATCHED_SCRIPTS,
  type Watched,
  WatchedBody,
  WatchedChanges,
  watchlistPageQuery,
} from "../watchlist.js";
import { toSignIn } from "./sign-in.js";

/**
 * A watchlist at its page: that of the signed-in account, or one without an owner. Both links of the latter show it, and the first
 * one can change it.
 */
interface Held {
  access: WatchlistAccess;
  path: string;
}

/** The list at an address; undefined if nobody is signed in. */
function heldBy({ account, http }: PageRequest): Held | undefined {
  const { token } = http.params;
  if (token !== undefined) return { access: { token }, path: `/watchlists/${token}` };
  return account && { access: { accountId: account.id }, path: "/watchlist" };
}

/** The list that a form of those with a token in their address is about. */
const tokenOf = ({ http }: PageRequest) => ({ token: http.params.token ?? "" });

export function showWatchlist(request: PageRequest): Promise<Page> {
  const held = heldBy(request);
  return held === undefined ? signedOut(request) : listPage(request, held);
}

async function signedOut(request: PageRequest): Promise<Page> {
  const offered = await offeredBy(request.url, request.modules);
  const next = offered === undefined ? "/watchlist" : `/watchlist?save=${offered.id}`;
  return {
    title: "Watchlist",
    showsAge: true,
    description: "Save the repositories you care about and see what changed since your last visit.",
    canonical: "/watchlist",
    scripts: starScripts(request),
    body: (
      <>
        <div class="mast">
          <div>
            <h1>Watchlist</h1>
            <p class="say">
              {offered === undefined
                ? "Your repositories on one page: what is unusual, what comes next, and what changed since your last visit."
                : `Sign in to save ${offered.fullName}.`}
            </p>
            <p class="soft">A shared list needs no account. Anyone with its link can open it.</p>
          </div>
          <div>
            <a class="button press" href={`/sign-in?next=${encodeURIComponent(next)}`}>
              Sign in
            </a>
            <a class="button" href="/watchlists">
              Create a shared list
            </a>
          </div>
        </div>
        <Beginning beginning={await readBeginning(request)} />
      </>
    ),
  };
}

/** Adds a repository: one that a star names by its id, or that a person writes. Visitors sign in before their own list has it. */
export async function addToWatchlist(request: PageRequest, form: URLSearchParams): Promise<Page | Redirect> {
  const { modules } = request;
  const held = heldBy(request);
  const written = form.get("repository");
  const { ids, unknown } =
    written === null ? { ids: [repositoryIdOf(form)], unknown: [] } : await findNamed(modules, written);
  const [first] = ids;
  if (held === undefined)
    return first === undefined
      ? toSignIn(request, "/watchlist")
      : saveBeforeSignIn(request, (await modules.catalog.get(first)).id, nextOf(request, form));
  if (written === null && first !== undefined) await modules.catalog.get(first);
  const limits = "token" in held.access ? { adding: addingOf(request) } : {};
  if (ids.length > 0) await modules.watchlists.add(held.access, ids, limits);
  const list = await requestFor(request, unknown, () => modules.watchlists.get(held.access));
  if (list === undefined && (unknown.length > 0 || ids.length === 0))
    return listPage(request, held, { notAdded: await notAdded(request, unknown) });
  const next = new URL(nextOf(request, form, held), request.url);
  if (list !== undefined) next.searchParams.set("adding", list);
  return { location: addressOf(next), status: 303 };
}

/** Removes repositories: one that a star names by its id, or those that are chosen in the list, by their names in it. */
export async function removeFromWatchlist(request: PageRequest, form: URLSearchParams): Promise<Redirect> {
  const chosen = new Set(form.getAll("repo"));
  const id = chosen.size === 0 && form.has("repositoryId") ? repositoryIdOf(form) : undefined;
  const { watchlists, catalog } = request.modules;
  const held = heldBy(request);
  if (held !== undefined) {
    const { items } = await watchlists.get(held.access);
    const listed = await catalog.findMany(items.map(({ repositoryId }) => repositoryId));
    const keys = new Map(listed.map((repository) => [repository.id, repositoryKey(repository)]));
    const ids = items.map(({ repositoryId }) => repositoryId);
    const named = ids.filter((one) => chosen.has(keys.get(one) ?? hiddenKey(one)));
    await watchlists.removeItems(held.access, id === undefined ? named : [id]);
  }
  return { location: nextOf(request, form, held), status: 303 };
}

export async function renameTokenWatchlist(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const access = tokenOf(request);
  const path = `/watchlists/${access.token}`;
  const name = nameField.safeParse(form.get("name") ?? "");
  if (!name.success) {
    const nameProblem = `The name ${name.error.issues[0]?.message ?? "is not valid"}.`;
    return listPage(request, { access, path }, { nameProblem });
  }
  await request.modules.watchlists.rename(access, name.data);
  return { location: path, status: 303 };
}

export async function removeTokenWatchlist(request: PageRequest): Promise<Redirect> {
  await request.modules.watchlists.remove(tokenOf(request));
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

/** Saves all repositories of the list to the user's own watchlist. */
export async function copyTokenWatchlist(request: PageRequest): Promise<Redirect> {
  const { account, modules } = request;
  if (account === undefined) return toSignIn(request, "/watchlist");
  const { items } = await modules.watchlists.get(tokenOf(request));
  await modules.watchlists.add(
    { accountId: account.id },
    items.map(({ repositoryId }) => repositoryId),
  );
  return { location: "/watchlist", status: 303 };
}

/** Why a form was rejected. */
interface Rejected {
  notAdded?: NotAdded;
  nameProblem?: string;
}

async function listPage(
  request: PageRequest,
  { access, path }: Held,
  rejected: Rejected = {},
): Promise<Page> {
  const { modules, url, account, http } = request;
  const watchlist = await modules.watchlists.get(access);
  const { id, name, items, canEdit } = watchlist;
  const isOwn = "accountId" in access;
  const ids = items.map(({ repositoryId }) => repositoryId);
  const repositories = await modules.catalog.findMany(ids);
  const { changes, cookies } = await readVisit(request, access, repositories);
  // A rejected form is shown at the address of the form, which has none of the parameters of the list.
  const shown = new URL(`${path}${http.method === "GET" ? url.search : ""}`, url);
  const { adding } = readUsableQuery(watchlistPageQuery, shown).query;
  const added = adding === undefined ? undefined : await modules.trackRequests.findList(adding);
  const [watched, beginning, hasFeed, saved] = await Promise.all([
    readWatched({ ...request, url: shown }, { scope: { kind: "watchlist", id }, repositories, changes }),
    isOwn && ids.length === 0 ? readBeginning(request) : undefined,
    isOwn && modules.watchlists.feeds.has(access.accountId),
    isOwn ? new Set(ids) : savedAmong(request, ids),
  ]);
  const isWrong = watched.problems.length > 0 || (rejected.notAdded ?? rejected.nameProblem) !== undefined;
  return {
    title: name,
    showsAge: true,
    isFresh: isOwn,
    status: isWrong ? 400 : 200,
    ...((added?.waiting ?? 0) > 0 && { isFresh: true, isLive: true, refreshSeconds: READING_SECONDS }),
    scripts: [...WATCHED_SCRIPTS, ...(beginning === undefined ? [] : starScripts(request))],
    // The link that changes the list is not passed on to those who keep pictures.
    ...(canEdit ? {} : { image: `/cards${path}` }),
    cookies,
    body: (
      <div data-live={(added?.waiting ?? 0) > 0 ? "watchlist" : undefined}>
        <Mast {...{ path, watchlist, watched, isOwn }} now={request.now} notAdded={rejected.notAdded} />
        {added === undefined ? null : <Requested list={added} />}
        {ids.length === 0 ? null : (
          <List {...{ path, watchlist, watched, isOwn }} now={request.now}>
            {account !== undefined && saved.size < ids.length ? (
              <button type="submit" formmethod="post" formaction={`${path}/copy`}>
                Copy to my watchlist
              </button>
            ) : null}
          </List>
        )}
        {beginning === undefined ? null : <Beginning beginning={beginning} />}
        {isOwn && (ids.length > 0 || hasFeed) ? <Feed hasFeed={hasFeed} /> : null}
        {!isOwn && canEdit ? <Settings {...{ path, name }} problem={rejected.nameProblem} /> : null}
      </div>
    ),
  };
}

/** The changes since the last visit, which the service knows of an account, and of other lists only the browser. */
async function readVisit(
  request: PageRequest,
  access: WatchlistAccess,
  repositories: readonly Repository[],
): Promise<{ changes: Changes | undefined; cookies: readonly string[] }> {
  const { modules, http } = request;
  const { visits } = modules.watchlists;
  if ("accountId" in access)
    return {
      changes: http.isView ? await visits.record(access.accountId, repositories) : undefined,
      cookies: [],
    };
  const { since, cookie } = recordView(access.token, request);
  const changes = since === undefined ? undefined : await modules.watchlists.changes(repositories, since);
  return { changes, cookies: http.isView ? [cookie] : [] };
}

interface ListProps {
  path: string;
  watchlist: Watchlist;
  watched: Watched;
  isOwn: boolean;
  now: number;
}

/** The head of a list: its name, what happened, and the field that adds to it. */
const Mast: FC<ListProps & { notAdded: NotAdded | undefined }> = ({ watched, isOwn, now, ...list }) => {
  const { name, items, canEdit } = list.watchlist;
  return (
    <div class="mast">
      <div>
        <h1>{isOwn && name === DEFAULT_NAME ? "My watchlist" : <bdi>{name}</bdi>}</h1>
        {items.length === 0 ? (
          <p class="say">
            {isOwn ? "Your watchlist" : "This list"} is empty.{canEdit ? " Add repositories here." : ""}
          </p>
        ) : (
          <>
            <Story watched={watched} now={now} />
            <WatchedChanges watched={watched} />
          </>
        )}
        {isOwn ? null : <About {...list.watchlist} />}
      </div>
      {canEdit ? (
        <div>
          <AddRepository
            action={`${list.path}/items`}
            kept={{ next: addressOf(watched.url) }}
            notAdded={list.notAdded}
          />
        </div>
      ) : null}
    </div>
  );
};

/** Notes for visitors of a list without an owner. */
const About: FC<Pick<Watchlist, "expiresAt" | "canEdit">> = (list) => (
  <p class="soft">
    {list.canEdit ? "Anyone with this link can edit the list: keep it private." : "Read only."}
    {list.expiresAt === undefined ? "" : ` Expires ${formatDate(list.expiresAt)} unless opened.`}
  </p>
);

/** The list, and its data. */
const List: FC<ListProps & { children: Child }> = ({
  path,
  watchlist: { name, canEdit },
  watched,
  isOwn,
  now,
  children,
}) => {
  const { window, sort } = watched.query;
  const data = isOwn
    ? `/api/me/watchlist?${new URLSearchParams({ window, sort, limit: "100" })}`
    : `/api${path}/repositories?window=${window}`;
  return (
    <>
      <WatchedBody {...{ watched, name, now }} removal={canEdit ? `${path}/items/remove` : undefined}>
        {isOwn ? (
          <a class="button" href="/watchlists">
            Share list
          </a>
        ) : (
          children
        )}
      </WatchedBody>
      <Ways
        lead="Open data: "
        links={[
          ["CSV", `${data}&format=csv`],
          ["JSON", data],
          ...(isOwn ? [] : ([["Totals", `/api${path}/metrics?window=90d`]] as const)),
          ...(canEdit ? [] : ([["Atom feed", `/api${path}/feed.atom`]] as const)),
        ]}
      />
    </>
  );
};

/** Repositories to begin a list with: what is trending. */
async function readBeginning(request: PageRequest): Promise<Listing & ListStars> {
  const listing = await readListing(request, listQuery.parse({ limit: "6" }));
  return { ...listing, ...(await starsOf(request, listing.list.rows, "/watchlist")) };
}

/** How to fill a list that is empty. */
const Beginning: FC<{ beginning: Listing & ListStars }> = ({ beginning: { list, days, ...stars } }) =>
  list.rows.length === 0 ? null : (
    <section>
      <div class="apart">
        <h2>Begin with one of these</h2>
        <a href="/explore">Explore all</a>
      </div>
      <RepositoryList rows={list.rows} caption="Trending" days={days} from={1} {...stars} />
    </section>
  );

/** The address that a feed reader reads an account's list at. */
const Feed: FC<{ hasFeed: boolean }> = ({ hasFeed }) => (
  <section class="narrow" id="feed" aria-labelledby="feed-title">
    <h2 id="feed-title">Feed</h2>
    <p>Read in a feed reader what these repositories gain, and which are renamed or gone.</p>
    {hasFeed ? (
      <>
        <p class="soft small">Your watchlist has a feed. Its address was shown when it was created.</p>
        <details class="confirm">
          <summary>Replace or end the feed</summary>
          <p>The present address stops working immediately. This cannot be undone.</p>
          <div class="buttons">
            <ActionButton action="/watchlist/feed">Replace the address</ActionButton>
            <form method="post" action="/watchlist/feed/revoke">
              <button type="submit" class="danger">
                End the feed
              </button>
            </form>
          </div>
        </details>
      </>
    ) : (
      <ActionButton action="/watchlist/feed">Create a feed address</ActionButton>
    )}
  </section>
);

/** The name and the end of a list without an owner. */
const Settings: FC<{ path: string; name: string; problem: string | undefined }> = ({
  path,
  name,
  problem,
}) => (
  <section class="narrow">
    <h2>Settings</h2>
    <form method="post" action={`${path}/rename`} class="row-form">
      <Field name="name" label="Name" problem={problem} value={name} required maxlength={200} />
      <button type="submit">Rename</button>
    </form>
    <p class="soft small">The share link was shown when the list was created. We cannot show it again.</p>
    <Confirm verb="Delete" name={name} action={`${path}/delete`}>
      Both links stop working for everyone. This cannot be undone.
    </Confirm>
  </section>
);

/** Makes an address for the feed of the signed-in user's watchlist, and shows it on this page only. */
export async function createFeed(request: MemberRequest): Promise<Page> {
  const { account, modules, members, site } = request;
  const { token, hasReplaced } = await modules.watchlists.feeds.create(account.id);
  members.events.record(hasReplaced ? "feed_replaced" : "feed_created", request.http);
  return {
    title: "Feed of your watchlist",
    scripts: ["copy.js"],
    body: (
      <>
        <h1>Feed of your watchlist</h1>
        <Note>
          <strong>Copy its address now.</strong> It is shown only here, and we cannot show it again. If you
          lose it, replace it.
        </Note>
        <Snippet
          id="feed-address"
          label="Address for a feed reader"
          text={`${site.baseUrl}/api/watchlists/${token}/feed.atom`}
        />
        <p>
          Anyone with this address can read your watchlist, but cannot change it. Each repository has one
          entry a week; add <code>?window=24h</code> for one a day, or <code>?window=30d</code> for one a
          month.
        </p>
        <p>
          <a class="button" href="/watchlist">
            Done
          </a>
        </p>
      </>
    ),
  };
}

export async function revokeFeed(request: MemberRequest): Promise<Redirect> {
  const { account, modules, members } = request;
  if (await modules.watchlists.feeds.revoke(account.id)) members.events.record("feed_ended", request.http);
  return { location: "/watchlist#feed", status: 303 };
}
