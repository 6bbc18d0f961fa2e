import type { FunctionComponent as FC } from "preact";
import type { z } from "zod";
import { MAX_SERIES } from "../charts/charts.js";
import {
  count,
  type ListPage,
  type Scope,
  SORT_DEFINITIONS,
  WATCHLIST_SORTS,
  type WatchlistQuery,
  watchlistPage,
  watchlistQuery,
} from "../discovery/discovery.js";
import type { Trend } from "../growth/growth.js";
import { chartPage } from "../lib/page-addresses.js";
import type { Repository, StarCount } from "../repositories/repositories.js";
import type { Changes, StarTotal } from "../watchlists/watchlists.js";
import { BeyondEnd, Pager, Strip, WindowTabs, withQuery } from "./components/links.js";
import { AsOf, Delta, isolated } from "./components/numbers.js";
import { PLOT_SCRIPTS } from "./components/plot.js";
import { type MoreColumn, RepositoryList } from "./components/repository-list.js";
import { SinceVisit, topGains } from "./components/since-visit.js";
import { columnsOf, headsOf } from "./components/sorts.js";
import { SumChart, sumParameters } from "./components/sum-chart.js";
import { type Problem, Problems, readUsableQuery } from "./page-query.js";
import type { PageRequest } from "./page-request.js";
import { FIELD_SCRIPTS } from "./tracking.js";

/** The content of the pages of all watchlists: rows, totals and changes. */

const ROWS = 50;
/** A list has at most 500 repositories. */
const MAX_PAGES = 10;

export const watchlistPageQuery = watchlistQuery
  .pick({ window: true, sort: true, order: true })
  .extend({ page: count(1, MAX_PAGES).default(1) })
  .extend(sumParameters.shape);
type PageQuery = z.output<typeof watchlistPageQuery>;

/** The data of a watchlist for its page. */
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
  /** Each repository's share of the stars that the list gained in the window. */
  shares: ReadonlyMap<number, number>;
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
  const [page, trends, sums, changes] = await Promise.all([
    watchlistPage(modules, list.scope, rowsQuery),
    modules.rankings.trends(list.ids, query.window),
    asOf === null ? [] : modules.watchlists.starHistory(list.ids, { end: asOf, window: query.range }),
    list.changes,
  ]);
  const ids = page.rows.map(({ repository }) => repository.id);
  const [sparks, named] = await Promise.all([
    modules.catalog.sparks(ids),
    changes === undefined
      ? []
      : modules.catalog.findMany([
          ...topGains(changes).map(([id]) => id),
          ...changes.renamed.map(({ repositoryId }) => repositoryId),
          ...changes.archived,
          ...changes.unavailable,
        ]),
  ]);
  const byId = new Map(named.map((repository) => [repository.id, repository]));
  return { url, problems, query, page, sparks, sums, changes, named: byId, shares: sharesOf(trends) };
}

/** Shares of all counted gains. A repository that lost stars, or whose growth is unknown, has none. */
function sharesOf(trends: ReadonlyMap<number, Trend>): Map<number, number> {
  const gains = [...trends].filter(([, { starsCounted }]) => starsCounted > 0);
  const total = gains.reduce((sum, [, { starsCounted }]) => sum + starsCounted, 0);
  return new Map(gains.map(([id, { starsCounted }]) => [id, starsCounted / total]));
}

/** Browser modules of the page of a list. */
export function watchedScripts({ sums }: Watched): readonly string[] {
  return [...FIELD_SCRIPTS, ...(sums.length < 2 ? [] : PLOT_SCRIPTS)];
}

/** The changes since the last visit; nothing on the first one. */
export const WatchedChanges: FC<{ watched: Watched }> = ({ watched: { changes, named } }) =>
  changes === undefined ? null : <SinceVisit changes={changes} known={named} />;

/** The list: rows and total stars. `more` adds columns. */
export const WatchedBody: FC<{ watched: Watched; name: string; more: readonly MoreColumn[] }> = ({
  watched: { url, problems, query, page, sparks, sums, changes, shares },
  name,
  more,
}) => {
  const { more: sortedBy = [], ...shown } = columnsOf(query.sort);
  return (
    <>
      <Problems problems={problems} isLeftOut />
      <Strip
        label="Sort by"
        tabs={WATCHLIST_SORTS.map((sort) => ({
          name: SORT_DEFINITIONS[sort].label,
          href: withQuery(url, { sort, order: undefined }),
          isCurrent: sort === query.sort,
        }))}
      />
      <div class="row">
        <WindowTabs url={url} current={query.window} />
        <CompareThese repositories={page.rows.map(({ repository }) => repository)} />
        <span class="soft small">
          <AsOf at={page.asOf} measured={page.measured} />
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
            headOf={headsOf({
              url,
              sort: query.sort,
              order: query.order ?? "desc",
              sorts: WATCHLIST_SORTS,
              hasOrder: true,
            })}
            {...shown}
            more={[...sortedBy, shareColumn(shares), ...sinceColumn(changes), ...more]}
          />
          <Pager url={url} limit={ROWS} {...page} />
        </>
      )}
      {sums.length === 0 ? null : <SumChart points={sums} asOf={page.asOf} url={url} query={query} />}
    </>
  );
};

/** Leads from a list to its first repositories on one chart. */
const CompareThese: FC<{ repositories: readonly Repository[] }> = ({ repositories }) => {
  const first = repositories.slice(0, MAX_SERIES);
  if (first.length < 2) return null;
  return (
    <a class="button" href={chartPage(first)} data-command="">
      {first.length === repositories.length ? "Compare these" : `Compare the first ${first.length}`}
    </a>
  );
};

const percent = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 0 });

/** Each repository's share of the gain of the list. */
function shareColumn(shares: ReadonlyMap<number, number>): MoreColumn {
  return {
    title: "Share of gain",
    onPhone: "nowhere",
    cell: ({ repository }) => {
      const share = shares.get(repository.id);
      if (share === undefined) return <span class="soft">–</span>;
      return share < 0.005 ? "< 1%" : percent.format(share);
    },
  };
}

/** Stars gained since the last visit. */
function sinceColumn(changes: Changes | undefined): MoreColumn[] {
  if (changes === undefined) return [];
  const cell: MoreColumn["cell"] = ({ repository }) => <Delta value={changes.gained.get(repository.id)} />;
  return [{ title: "Since last visit", onPhone: "for-count", cell }];
}
