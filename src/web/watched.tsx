import type { FC } from "hono/jsx";
import type { z } from "zod";
import type { Repository } from "../catalog/catalog.js";
import type { ErrorDetail } from "../errors.js";
import {
  count,
  type ListedWatchlist,
  type ListPage,
  WATCHLIST_SORTS,
  type WatchlistQuery,
  watchlistPage,
  watchlistQuery,
} from "../lists/lists.js";
import { validationError } from "../validation.js";
import type { Changes, StarSum } from "../watchlists/watchlists.js";
import { withQuery } from "./components/addresses.js";
import { Delta, Time } from "./components/numbers.js";
import { type MoreColumn, RepositoryList } from "./components/repository-list.js";
import { SinceVisit } from "./components/since-visit.js";
import { SumChart } from "./components/sum-chart.js";
import { Tabs, WindowTabs } from "./components/tabs.js";
import type { Visit } from "./page.js";

/** What the pages of all watchlists have in common: their parameters, rows, sums, and changes. */

const ROWS = 50;
/** A list has at most 500 repositories. */
const MAX_PAGES = 10;

const pageQuery = watchlistQuery
  .pick({ window: true, sort: true, order: true })
  .extend({ page: count(1, MAX_PAGES).default(1) });
type PageQuery = z.output<typeof pageQuery>;

const SORT_NAMES: Readonly<Record<(typeof WATCHLIST_SORTS)[number], string>> = {
  added: "Added",
  stars: "Stars",
  forks: "Forks",
  pushed: "Last push",
  created: "Created",
};

/** A watchlist as its page shows it. */
export interface Watched {
  url: URL;
  /** What is wrong with the address; then the list is shown as if that were not asked for. */
  problems: readonly ErrorDetail[];
  query: PageQuery;
  page: ListPage;
  sparks: ReadonlyMap<number, readonly (number | null)[]>;
  sums: readonly StarSum[];
  changes: Changes | undefined;
  /** The repositories that the changes name, by id. */
  named: ReadonlyMap<number, Repository>;
}

/** What is to be shown. */
export interface WatchedList extends ListedWatchlist {
  ids: readonly number[];
  changes: Promise<Changes | undefined>;
}

/** Reads what the page of a list shows; its modules are those of the catalogue that the list is of. */
export async function readWatched(
  { url, modules }: Pick<Visit, "url" | "modules">,
  list: WatchedList,
): Promise<Watched> {
  const { query, problems } = readQuery(url);
  const asked: WatchlistQuery = { ...query, limit: ROWS, cursor: undefined };
  const { asOf } = await modules.rankings.summary();
  const [page, sums, changes] = await Promise.all([
    watchlistPage(modules, list, asked),
    asOf === null ? [] : modules.watchlists.course(list.ids, asOf),
    list.changes,
  ]);
  const ids = page.rows.map(({ repository }) => repository.id);
  const [sparks, named] = await Promise.all([
    asOf === null ? new Map<number, (number | null)[]>() : modules.catalog.sparks(ids, asOf),
    changes === undefined
      ? []
      : modules.catalog.findMany([
          ...changes.renamed.map(({ repositoryId }) => repositoryId),
          ...changes.archived,
          ...changes.unavailable,
        ]),
  ]);
  const byId = new Map(named.map((repository) => [repository.id, repository]));
  return { url, problems, query, page, sparks, sums, changes, named: byId };
}

/** What the address asks for; what is wrong is told, and left out. */
function readQuery({ searchParams }: URL): { query: PageQuery; problems: readonly ErrorDetail[] } {
  const given = Object.fromEntries(searchParams);
  const parsed = pageQuery.safeParse(given);
  if (parsed.success) return { query: parsed.data, problems: [] };
  const problems = validationError(parsed.error, "query").details ?? [];
  const wrong = new Set(problems.map(({ parameter }) => parameter));
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  return { query: pageQuery.parse(rest), problems };
}

/** The list itself: what changed, the sum, and the rows; `more`: columns of the page's own. */
export const WatchedBody: FC<{ watched: Watched; name: string; more: readonly MoreColumn[] }> = ({
  watched: { url, problems, query, page, sparks, sums, changes, named },
  name,
  more,
}) => (
  <>
    {problems.length === 0 ? null : (
      <div class="note" role="alert">
        {problems.map(({ parameter, message }) => (
          <p>
            <code>{parameter}</code> {message}. The list is shown without it.
          </p>
        ))}
      </div>
    )}
    {changes === undefined ? null : <SinceVisit changes={changes} known={named} />}
    <div class="controls">
      <WindowTabs url={url} current={query.window} />
      <Tabs
        label="Sort by"
        tabs={WATCHLIST_SORTS.map((sort) => ({
          name: SORT_NAMES[sort],
          href: withQuery(url, { sort, order: undefined }),
          isCurrent: sort === query.sort,
        }))}
      />
    </div>
    <RepositoryList
      rows={page.rows}
      caption={`${name}, growth in ${query.window}`}
      sparks={sparks}
      more={[...sinceColumn(changes), ...more]}
    />
    <Pager {...{ url, page }} current={query.page} />
    <p class="soft small">
      Growth is measured in {query.window} up to <Time at={page.asOf} />.
    </p>
    {sums.length < 2 ? null : (
      <>
        <h2>All together</h2>
        <SumChart points={sums} />
      </>
    )}
  </>
);

/** What each gained since the last visit. */
function sinceColumn(changes: Changes | undefined): MoreColumn[] {
  if (changes === undefined) return [];
  const cell: MoreColumn["cell"] = ({ repository }) => <Delta value={changes.gained.get(repository.id)} />;
  return [{ title: "Since visit", onPhone: "for-count", cell }];
}

const Pager: FC<{ url: URL; page: ListPage; current: number }> = ({ url, page, current }) => {
  const pages = Math.ceil(page.total / ROWS);
  if (pages < 2 && page.rows.length > 0) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {current > 1 ? <a href={withQuery(url, { page: String(current - 1) })}>Previous</a> : null}
      <span>
        Page {current} of {Math.max(1, pages)}
      </span>
      {page.hasMore ? <a href={withQuery(url, { page: String(current + 1) })}>Next</a> : null}
    </nav>
  );
};
