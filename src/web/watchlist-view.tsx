import type { FC } from "hono/jsx";
import type { z } from "zod";
import type { Repository, StarCount } from "../catalog/catalog.js";
import {
  count,
  type ListPage,
  type Scope,
  WATCHLIST_SORTS,
  type WatchlistQuery,
  watchlistPage,
  watchlistQuery,
} from "../lists/lists.js";
import type { Changes, StarTotal } from "../watchlists/watchlists.js";
import { withQuery } from "./components/addresses.js";
import { AsOf, Delta } from "./components/numbers.js";
import { BeyondEnd, Pager } from "./components/pager.js";
import { PLOT_SCRIPTS } from "./components/plot.js";
import { Problems } from "./components/problems.js";
import { type MoreColumn, RepositoryList } from "./components/repository-list.js";
import { SinceVisit } from "./components/since-visit.js";
import { columnsOf, SORT_NAMES } from "./components/sorts.js";
import { Strip } from "./components/strip.js";
import { SumChart } from "./components/sum-chart.js";
import { WindowTabs } from "./components/tabs.js";
import { isolated } from "./naming.js";
import { type Problem, readUsableQuery } from "./page-query.js";
import type { PageRequest } from "./page-request.js";

/** Shared by the pages of all watchlists: parameters, rows, totals and changes. */

const ROWS = 50;
/** A list has at most 500 repositories. */
const MAX_PAGES = 10;

export const watchlistPageQuery = watchlistQuery
  .pick({ window: true, sort: true, order: true })
  .extend({ page: count(1, MAX_PAGES).default(1) });
type PageQuery = z.output<typeof watchlistPageQuery>;

/** A watchlist as its page shows it. */
export interface Watched {
  url: URL;
  /** Invalid parameters, which are ignored. */
  problems: readonly Problem[];
  query: PageQuery;
  page: ListPage;
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
  sums: readonly StarTotal[];
  changes: Changes | undefined;
  /** The repositories that the changes name, by id. */
  named: ReadonlyMap<number, Repository>;
}

/** The list to show. */
export interface WatchedList {
  scope: Scope;
  ids: readonly number[];
  changes: Promise<Changes | undefined>;
}

/** Reads the data of the page of a list. */
export async function readWatched(
  { modules, summary: { asOf }, ...request }: Pick<PageRequest, "url" | "modules" | "summary">,
  list: WatchedList,
): Promise<Watched> {
  const { url, query, problems } = readUsableQuery(watchlistPageQuery, request.url);
  const rowsQuery: WatchlistQuery = { ...query, limit: ROWS, cursor: undefined };
  const [page, sums, changes] = await Promise.all([
    watchlistPage(modules, list.scope, rowsQuery),
    asOf === null ? [] : modules.watchlists.starHistory(list.ids, asOf),
    list.changes,
  ]);
  const ids = page.rows.map(({ repository }) => repository.id);
  const [sparks, named] = await Promise.all([
    asOf === null ? new Map<number, (StarCount | null)[]>() : modules.catalog.sparks(ids, asOf),
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

/** Browser modules of the page of a list. */
export function watchedScripts({ sums }: Watched): readonly string[] {
  return sums.length < 2 ? [] : PLOT_SCRIPTS;
}

/** The list: changes, rows and total stars. `more` adds columns. */
export const WatchedBody: FC<{ watched: Watched; name: string; more: readonly MoreColumn[] }> = ({
  watched: { url, problems, query, page, sparks, sums, changes, named },
  name,
  more,
}) => {
  const { more: sortedBy = [], ...shown } = columnsOf(query.sort);
  return (
    <>
      <Problems problems={problems} isLeftOut />
      {changes === undefined ? null : <SinceVisit changes={changes} known={named} />}
      <Strip
        label="Sort by"
        tabs={WATCHLIST_SORTS.map((sort) => ({
          name: sort === "added" ? "Added" : SORT_NAMES[sort],
          href: withQuery(url, { sort, order: undefined }),
          isCurrent: sort === query.sort,
        }))}
      />
      <div class="row">
        <WindowTabs url={url} current={query.window} />
        <span class="soft small">
          <AsOf at={page.asOf} ageDays={page.ageDays} />
        </span>
      </div>
      {page.rows.length === 0 ? (
        <BeyondEnd url={url} />
      ) : (
        <>
          <RepositoryList
            rows={page.rows}
            caption={`${isolated(name)}, growth in ${query.window}`}
            sparks={sparks}
            {...shown}
            more={[...sortedBy, ...sinceColumn(changes), ...more]}
          />
          <Pager url={url} limit={ROWS} {...page} />
        </>
      )}
      {sums.length < 2 ? null : (
        <>
          <h2>Total stars</h2>
          <SumChart points={sums} asOf={page.asOf} />
        </>
      )}
    </>
  );
};

/** Stars gained since the last visit. */
function sinceColumn(changes: Changes | undefined): MoreColumn[] {
  if (changes === undefined) return [];
  const cell: MoreColumn["cell"] = ({ repository }) => <Delta value={changes.gained.get(repository.id)} />;
  return [{ title: "Since last visit", onPhone: "for-count", cell }];
}
