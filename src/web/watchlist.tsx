import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import { MAX_SERIES } from "../charts/charts.js";
import {
  count,
  readName,
  type Scope,
  SORT_DEFINITIONS,
  WATCHLIST_SORTS,
  type WatchlistQuery,
  watchlistPage,
  watchlistQuery,
} from "../discovery/discovery.js";
import { readLastDays, type Trend } from "../growth/growth.js";
import { quotaOf } from "../http/http.js";
import { chartPage, queryOf, repositoryKey, repositoryPage } from "../lib/page-addresses.js";
import type { Repository } from "../repositories/repositories.js";
import type { Adding, Changes } from "../watchlists/watchlists.js";
import { readSum, SumChart, sumParameters } from "./components/chart-controls.js";
import { BeyondEnd, MainButton, Options, Pager, RepositoryField, WindowTabs } from "./components/elements.js";
import { columnsOf, headsOf } from "./components/listing.js";
import { AsOf, Delta, isolated, Time } from "./components/numbers.js";
import { PLOT_SCRIPTS } from "./components/plot.js";
import { type MoreColumn, RepositoryList } from "./components/repository-list.js";
import { ACTIONS } from "./components/table.js";
import { similarTo } from "./naming.js";
import { Problems, readUsableQuery } from "./page.js";
import type { PageRequest } from "./page-request.js";
import { FIELD_SCRIPTS, offerTracking, readAsking, TrackButton, type TrackingOffer } from "./tracking.js";

/** The content of the pages of all watchlists: rows, totals and changes. */

const SORT_WORDS = Object.fromEntries(WATCHLIST_SORTS.map((sort) => [sort, SORT_DEFINITIONS[sort].label]));
const ROWS = 50;
/** A list has at most 500 repositories. */
const MAX_PAGES = 10;

export const watchlistPageQuery = watchlistQuery
  .pick({ window: true, sort: true, order: true })
  .extend({ page: count(1, MAX_PAGES).default(1), adding: z.string().max(100).optional() })
  .extend(sumParameters.shape);

/** Who adds to lists without an owner, for the daily quota; undefined without one. */
export const addingOf = ({ http, site }: PageRequest): Adding | undefined =>
  quotaOf(http.caller, site.watchlistQuota);

/** The list to show. */
export interface WatchedList {
  scope: Scope;
  ids: readonly number[];
  /** Since the last visit; undefined on the first one. */
  changes: Changes | undefined;
}

/** Reads the data of the page of a list. */
export async function readWatched(
  { modules, ...request }: Pick<PageRequest, "url" | "modules">,
  { scope, ids: all, changes }: WatchedList,
) {
  const { url, query, problems } = readUsableQuery(watchlistPageQuery, request.url);
  const rowsQuery: WatchlistQuery = { ...query, limit: ROWS, cursor: undefined };
  const [page, trends, sum] = await Promise.all([
    watchlistPage(modules, scope, rowsQuery),
    modules.rankings.trends(all, query.window),
    readSum(modules, all, query.range),
  ]);
  const ids = page.rows.map(({ repository }) => repository.id);
  const [days, named] = await Promise.all([
    readLastDays(modules.database, ids),
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
  return { url, problems, query, page, days, sum, changes, named: byId, shares: sharesOf(trends) };
}

/** The data of a watchlist for its page. */
export type Watched = Awaited<ReturnType<typeof readWatched>>;

/** Shares of all gains. A repository that lost stars, or whose growth is unknown, has none. */
function sharesOf(trends: ReadonlyMap<number, Trend>): Map<number, number> {
  const gains = [...trends].filter(([, { starsDelta }]) => starsDelta > 0);
  const total = gains.reduce((sum, [, { starsDelta }]) => sum + starsDelta, 0);
  return new Map(gains.map(([id, { starsDelta }]) => [id, starsDelta / total]));
}

/** Browser modules of the page of a list. */
export function watchedScripts({ sum }: Watched): readonly string[] {
  return [...FIELD_SCRIPTS, ...(sum.points.length < 2 ? [] : PLOT_SCRIPTS)];
}

/** The list: rows and total stars. `more` adds columns. */
export const WatchedBody: FC<{ watched: Watched; name: string; more: readonly MoreColumn[] }> = ({
  watched: { url, problems, query, page, days, sum, changes, shares },
  name,
  more,
}) => {
  const { more: sortedBy = [], ...shown } = columnsOf(query.sort);
  return (
    <>
      <Problems problems={problems} isLeftOut />
      <Options
        label="Sort by"
        url={url}
        parameter="sort"
        words={SORT_WORDS}
        current={query.sort}
        also={{ order: undefined }}
        look="strip"
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
            days={days}
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
      {sum.measured === 0 ? null : <SumChart sum={sum} asOf={page.asOf} url={url} query={query} />}
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
    head: "Share of gain",
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
  return [{ head: "Since last visit", onPhone: "for-gain", cell }];
}

/** Repositories named for their gain. */
const NAMED = 3;

/** The repositories that gained most since the last visit, with their gains. */
function topGains({ gained }: Changes): [id: number, gain: number][] {
  return [...gained]
    .flatMap(([id, gain]): [number, number][] => (gain === null || gain <= 0 ? [] : [[id, gain]]))
    .sort(([, a], [, b]) => b - a)
    .slice(0, NAMED);
}

/** The changes since the last visit; nothing on the first one. */
export const WatchedChanges: FC<{ watched: Watched }> = ({ watched: { changes, named: known } }) => {
  if (changes === undefined) return null;
  const { since, gained, totalGained, renamed, archived, unavailable } = changes;
  const moved = [...gained.values()].filter((value) => value !== null && value !== 0).length;
  const isQuiet = moved === 0 && renamed.length + archived.length + unavailable.length === 0;
  return (
    <section class="since" aria-labelledby="since">
      <h2 id="since">Since your last visit</h2>
      <p>
        <span class="soft">
          <Time at={since} />
        </span>
        {isQuiet ? (
          ": no changes."
        ) : (
          <>
            : <Delta value={totalGained} /> stars in total; {moved} of {gained.size}{" "}
            {gained.size === 1 ? "repository" : "repositories"} changed.
          </>
        )}
      </p>
      <ul class="plain">
        {topGains(changes).map(([id, gain]) => (
          <Line {...{ known, id }}>
            <Delta value={gain} />
          </Line>
        ))}
        {renamed.map(({ repositoryId, from }) => (
          <Line {...{ known }} id={repositoryId}>
            was renamed from {from}
          </Line>
        ))}
        {archived.map((id) => (
          <Line {...{ known, id }}>was archived</Line>
        ))}
        {unavailable.map((id) => (
          <Line {...{ known, id }}>is {absenceOf(known.get(id))}</Line>
        ))}
      </ul>
    </section>
  );
};

function absenceOf(repository: Repository | undefined): string {
  switch (repository?.availability) {
    case "PRIVATE":
      return "now private";
    case "BLOCKED":
      return "blocked by its forge";
    default:
      return "no longer available";
  }
}

const Line: FC<{ known: ReadonlyMap<number, Repository>; id: number; children: Child }> = ({
  known,
  id,
  children,
}) => {
  const repository = known.get(id);
  return repository === undefined ? null : (
    <li>
      <a href={repositoryPage(repository)}>{repository.fullName}</a> {children}
    </li>
  );
};

/** Changing a watchlist: the field that adds repositories, and the actions of its rows. */

/** Names that are not tracked, with suggestions. */
export interface NotAdded {
  written: string;
  similar: readonly Repository[];
  offers: readonly TrackingOffer[];
}

interface AddRepositoryProps {
  /** Path that takes the field `repository`. */
  action: string;
  /** Other fields of the form. */
  kept: Readonly<Record<string, string>>;
  notAdded: NotAdded | undefined;
}

/** The field that adds a repository to a list; after a name that is not tracked, with similar ones. */
export const AddRepository: FC<AddRepositoryProps> = ({ action, kept, notAdded }) => {
  const hidden = Object.entries(kept).map(([name, value]) => (
    <input type="hidden" name={name} value={value} />
  ));
  return (
    <>
      <form method="post" action={action} class="row-form">
        {hidden}
        <RepositoryField
          name="repository"
          label="Add repositories"
          problem={
            notAdded && `${notAdded.written.includes(" ") ? "These are" : "This is"} not tracked here.`
          }
          value={notAdded?.written}
          required
        />
        <MainButton>Add</MainButton>
      </form>
      {notAdded === undefined || notAdded.similar.length === 0 ? null : (
        <form method="post" action={action} class="buttons">
          {hidden}
          <span>Did you mean</span>
          {notAdded.similar.map((repository) => (
            <button type="submit" name="repository" value={repositoryKey(repository)}>
              {repository.fullName}
            </button>
          ))}
        </form>
      )}
      {notAdded === undefined ? null : <TrackButton offers={notAdded.offers} />}
    </>
  );
};

/** Suggestions for names that are not tracked; similar ones for the first. */
export async function notAdded(request: PageRequest, names: readonly string[]): Promise<NotAdded> {
  const [first] = names;
  const [similar, { offers }] = await Promise.all([
    first === undefined ? [] : similarTo(request.modules, readName(first)?.fullNames[0] ?? first),
    offerTracking(request, await readAsking(request), names),
  ]);
  return { written: names.join(" "), similar, offers };
}

/** The form that removes a row: its path, and fields besides `repositoryId`. */
interface Removal {
  action: string;
  kept: Readonly<Record<string, string>>;
}

/** The actions of a row: compare it, and remove it where that is possible. */
export function rowActions(removal?: Removal): MoreColumn {
  return {
    ...ACTIONS,
    cell: ({ repository }) => (
      <span class="row-actions">
        <a
          class="star quiet"
          href={`/compare?${queryOf([["repo", repositoryKey(repository)]])}`}
          title="Compare with…"
        >
          <span class="hidden">Compare {repository.fullName} with…</span>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4 17l5-6 4 3 7-8M4 20h16" stroke="currentColor" stroke-width="1.75" />
          </svg>
        </a>
        {removal === undefined ? null : <RemoveForm {...removal} {...repository} />}
      </span>
    ),
  };
}

const RemoveForm: FC<Removal & Pick<Repository, "id" | "fullName">> = ({ action, kept, id, fullName }) => (
  <form method="post" action={action} class="inline">
    <input type="hidden" name="repositoryId" value={id} />
    {Object.entries(kept).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <button type="submit" class="star quiet" aria-label={`Remove ${fullName}`} title="Remove">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path
          d="M6.5 6.5l11 11m0-11l-11 11"
          stroke="currentColor"
          stroke-width="1.75"
          stroke-linecap="round"
        />
      </svg>
    </button>
  </form>
);
