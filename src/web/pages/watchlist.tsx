import type { FC } from "hono/jsx";
import type { Account } from "../../accounts/accounts.js";
import type { Repository } from "../../catalog/catalog.js";
import { withQuery } from "../components/addresses.js";
import { RemoveButton } from "../components/remove-button.js";
import type { MoreColumn } from "../components/repository-list.js";
import { isLook } from "../last-seen.js";
import type { Page, PageRequest } from "../page-request.js";
import { offeredBy } from "../pending-save.js";
import { readWatched, type Watched, WatchedBody, watchedScripts } from "../watchlist-view.js";

/** The watchlist of the signed-in user. */
export function showWatchlist(request: PageRequest): Promise<Page> {
  return request.account === undefined ? signedOut(request) : ownList(request, request.account);
}

async function signedOut(request: PageRequest): Promise<Page> {
  const offered = await offeredBy(request.url, request.modules);
  return {
    title: "Watchlist",
    description: "Keep the repositories you care about in one list, and see what changed since you looked.",
    canonical: "/watchlist",
    body: <SignedOut offered={offered} />,
  };
}

async function ownList(request: PageRequest, account: Account): Promise<Page> {
  const { modules, url } = request;
  const { id, items } = await modules.watchlists.get({ accountId: account.id });
  const ids = items.map(({ repositoryId }) => repositoryId);
  const list = {
    scope: { kind: "watchlist", id } as const,
    ids,
    changes: isLook(request) ? modules.watchlists.visits.record(account.id, ids) : Promise.resolve(undefined),
  };
  const watched = await readWatched({ url, modules }, list);
  return {
    title: "Watchlist",
    status: watched.problems.length === 0 ? 200 : 400,
    scripts: watchedScripts(watched),
    body: <OwnList watched={watched} total={ids.length} />,
  };
}

const OwnList: FC<{ watched: Watched; total: number }> = ({ watched, total }) => (
  <>
    <h1>Watchlist</h1>
    {total === 0 ? (
      <Empty />
    ) : (
      <>
        <WatchedBody watched={watched} name="Your watchlist" more={[removal(watched.url)]} />
        <p class="soft small ways">
          Download: <a href={dataPath(watched, {})}>JSON</a>,{" "}
          <a href={dataPath(watched, { format: "csv" })}>CSV</a>
        </p>
      </>
    )}
  </>
);

function dataPath({ query: { window, sort } }: Watched, more: Readonly<Record<string, string>>): string {
  return `/api/me/watchlist?${new URLSearchParams({ window, sort, limit: "100", ...more })}`;
}

/** The button that takes a row out. */
function removal(url: URL): MoreColumn {
  const next = withQuery(url, { save: undefined, page: url.searchParams.get("page") ?? undefined });
  return {
    title: "Remove",
    isTitleHidden: true,
    cell: ({ repository: { id, fullName } }) => (
      <form method="post" action="/watchlist/items/remove" class="inline">
        <input type="hidden" name="repositoryId" value={id} />
        <input type="hidden" name="next" value={next} />
        <RemoveButton fullName={fullName} />
      </form>
    ),
  };
}

const Empty: FC = () => (
  <>
    <p class="lead">Nothing is on your list yet.</p>
    <p>
      Press the star beside a repository, in a list or on its page, to keep it here.{" "}
      <a href="/explore">Look for some</a>, or begin with{" "}
      <a href="/explore?sort=trending&window=7d">what is trending</a>.
    </p>
  </>
);

const SignedOut: FC<{ offered: Repository | undefined }> = ({ offered }) => {
  const next = offered === undefined ? "/watchlist" : `/watchlist?save=${offered.id}`;
  return (
    <div class="narrow">
      <h1>Watchlist</h1>
      <p class="lead">
        {offered === undefined
          ? "Keep the repositories you care about in one list."
          : `Sign in to save ${offered.fullName} to your list.`}
      </p>
      <ul>
        <li>What each gained, over a day, a week and a month.</li>
        <li>What has changed since you looked last: stars, new names, what was archived or is gone.</li>
        <li>All of them added up over time.</li>
      </ul>
      <div class="buttons">
        <a class="button press" href={`/sign-in?next=${encodeURIComponent(next)}`}>
          Sign in
        </a>
        <a class="button" href="/watchlists">
          Make a list without an account
        </a>
      </div>
      <p class="soft">A list without an account lives at a link of its own, which you can share.</p>
    </div>
  );
};
