import type { FC } from "hono/jsx";
import type { Account } from "../../accounts/accounts.js";
import type { Repository } from "../../catalog/catalog.js";
import { withQuery } from "../components/addresses.js";
import { RemoveButton } from "../components/remove-button.js";
import type { MoreColumn } from "../components/repository-list.js";
import { isView } from "../last-seen.js";
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
    description: "Save the repositories you care about and see what changed since your last visit.",
    canonical: "/watchlist",
    body: <SignedOut offered={offered} />,
  };
}

async function ownList(request: PageRequest, account: Account): Promise<Page> {
  const { modules } = request;
  const { id, items } = await modules.watchlists.get({ accountId: account.id });
  const ids = items.map(({ repositoryId }) => repositoryId);
  const list = {
    scope: { kind: "watchlist", id } as const,
    ids,
    changes: isView(request) ? modules.watchlists.visits.record(account.id, ids) : Promise.resolve(undefined),
  };
  const watched = await readWatched(request, list);
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

/** The button that removes a row. */
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
    <p class="lead">Your watchlist is empty.</p>
    <p>
      Select the star next to a repository to save it here. <a href="/explore">Explore repositories</a> or see
      what is <a href="/explore?sort=trending&window=7d">trending over 7 days</a>.
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
  );
};
