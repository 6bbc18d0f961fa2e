import type { Account } from "../../accounts/accounts.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import type { Repository } from "../../repositories/repositories.js";
import { ActionButton, Note, Snippet } from "../components/elements.js";
import { withQuery } from "../components/links.js";
import { findByLines } from "../naming.js";
import type { MemberRequest, Page, PageRequest, Redirect } from "../page-request.js";
import { nextOf, offeredBy, repositoryIdOf, SaveButton, saveRepository } from "../saving.js";
import {
  AddRepository,
  type NotAdded,
  notAdded,
  readWatched,
  rowActions,
  type Watched,
  WatchedBody,
  WatchedChanges,
  watchedScripts,
} from "../watchlist.js";
import { toSignIn } from "./sign-in.js";

/** The watchlist of the signed-in user. */
export function showWatchlist(request: PageRequest): Promise<Page> {
  return request.account === undefined ? signedOut(request) : ownList(request, request.account);
}

async function signedOut(request: PageRequest): Promise<Page> {
  const offered = await offeredBy(request.url, request.modules);
  const next = offered === undefined ? "/watchlist" : `/watchlist?save=${offered.id}`;
  return {
    title: "Watchlist",
    showsAge: true,
    description: "Save the repositories you care about and see what changed since your last visit.",
    canonical: "/watchlist",
    body: (
      <div class="narrow">
        <h1>Watchlist</h1>
        <p class="lead">
          {offered === undefined
            ? "Save the repositories you care about."
            : `Sign in to save ${offered.fullName}.`}
        </p>
        <ul>
          <li>Growth of each repository over a day, a week and a month.</li>
          <li>Changes since your last visit: stars, renames, archived and deleted repositories.</li>
          <li>Total stars over time.</li>
        </ul>
        <div class="buttons">
          <a class="button press" href={`/sign-in?next=${encodeURIComponent(next)}`}>
            Sign in
          </a>
          <a class="button" href="/watchlists">
            Create a shared list
          </a>
        </div>
        <p class="soft">A shared list needs no account. Anyone with its link can open it.</p>
      </div>
    ),
  };
}

/** Adds a repository to the signed-in user's watchlist: one that a star names by its id, or that a person writes. */
export async function addToWatchlist(request: PageRequest, form: URLSearchParams): Promise<Page | Redirect> {
  const written = form.get("repository")?.slice(0, 500);
  if (written === undefined) return saveRepository(request, repositoryIdOf(form), nextOf(request, form));
  const { account, modules } = request;
  const { ids } = await findByLines(modules, [written]);
  const [id] = ids;
  if (id !== undefined) return saveRepository(request, id, nextOf(request, form));
  if (account === undefined) return toSignIn(request, "/watchlist");
  const shown = { ...request, url: new URL("/watchlist", request.url) };
  return ownList(shown, account, await notAdded(request, written));
}

async function ownList(request: PageRequest, account: Account, refused?: NotAdded): Promise<Page> {
  const { modules } = request;
  const { id, name, items } = await modules.watchlists.get({ accountId: account.id });
  const ids = items.map(({ repositoryId }) => repositoryId);
  const list = {
    scope: { kind: "watchlist", id } as const,
    ids,
    changes: request.isView ? modules.watchlists.visits.record(account.id, ids) : Promise.resolve(undefined),
  };
  const [watched, trending, hasFeed] = await Promise.all([
    readWatched(request, list),
    ids.length === 0 ? readTrending(modules) : [],
    modules.watchlists.feeds.has(account.id),
  ]);
  return {
    title: name,
    showsAge: true,
    isFresh: true,
    status: watched.problems.length === 0 && refused === undefined ? 200 : 400,
    scripts: [...watchedScripts(watched), ...(ids.length === 0 ? ["save.js"] : [])],
    body: (
      <>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        {ids.length === 0 ? (
          <p class="lead">Your watchlist is empty. Add the repositories you care about.</p>
        ) : null}
        {ids.length === 0 ? null : <WatchedChanges watched={watched} />}
        <AddRepository
          action="/watchlist/items"
          kept={{ next: withQuery(watched.url, { save: undefined }) }}
          notAdded={refused}
        />
        {ids.length === 0 ? (
          <>
            {trending.length === 0 ? null : (
              <section class="narrow" aria-labelledby="trending">
                <h2 id="trending">Trending</h2>
                <ul class="plain suggested">
                  {trending.map((repository) => (
                    <li>
                      <a href={repositoryPage(repository)}>{repository.fullName}</a>
                      <SaveButton
                        repositoryId={repository.id}
                        fullName={repository.fullName}
                        isSaved={false}
                        next="/watchlist"
                      />
                    </li>
                  ))}
                </ul>
              </section>
            )}
            <p>
              Or select the star next to any repository: <a href="/explore">explore all of them</a>, or see
              what is <a href="/explore?sort=trending&window=7d">trending over 7 days</a>.
            </p>
          </>
        ) : (
          <>
            <WatchedBody watched={watched} name="Your watchlist" more={[rowActions(removal(watched.url))]} />
            <p class="soft small ways">
              Download: <a href={dataPath(watched, {})}>JSON</a>,{" "}
              <a href={dataPath(watched, { format: "csv" })}>CSV</a>
            </p>
          </>
        )}
        {ids.length === 0 && !hasFeed ? null : (
          <section class="narrow" id="feed" aria-labelledby="feed-title">
            <h2 id="feed-title">Feed</h2>
            <p>Read in a feed reader what these repositories gain, and which are renamed or gone.</p>
            {hasFeed ? (
              <>
                <p class="soft small">
                  Your watchlist has a feed. Its address was shown when it was created.
                </p>
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
        )}
      </>
    ),
  };
}

/** Repositories to begin a list with. */
const SUGGESTED = 6;

async function readTrending({ rankings, catalog }: Modules): Promise<Repository[]> {
  const { trending } = await rankings.home();
  return catalog.findMany(trending.ids.slice(0, SUGGESTED));
}

function dataPath({ query: { window, sort } }: Watched, more: Readonly<Record<string, string>>): string {
  return `/api/me/watchlist?${new URLSearchParams({ window, sort, limit: "100", ...more })}`;
}

/** Removing a row returns to this page of the list. */
function removal(url: URL) {
  const next = withQuery(url, { save: undefined, page: url.searchParams.get("page") ?? undefined });
  return { action: "/watchlist/items/remove", kept: { next } };
}

/** Makes an address for the feed of the signed-in user's watchlist, and shows it on this page only. */
export async function createFeed(request: MemberRequest): Promise<Page> {
  const { account, modules, members, baseUrl } = request;
  const { token, hasReplaced } = await modules.watchlists.feeds.create(account.id);
  members.events.record(hasReplaced ? "feed_replaced" : "feed_created", request);
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
          text={`${baseUrl}/api/watchlists/${token}/feed.atom`}
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
  if (await modules.watchlists.feeds.revoke(account.id)) members.events.record("feed_ended", request);
  return { location: "/watchlist#feed", status: 303 };
}
