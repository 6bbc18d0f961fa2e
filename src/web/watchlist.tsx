import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import { MAX_SERIES } from "../charts/charts.js";
import {
  count,
  type ListRow,
  readName,
  type Scope,
  type WatchlistQuery,
  watchlistPage,
  watchlistQuery,
} from "../discovery/discovery.js";
import {
  lastDays,
  readSeveralSeries,
  sumCounts,
  timesUsual,
  timesWords,
  WINDOW_LABELS,
  type Window,
} from "../growth/growth.js";
import { quotaOf } from "../http/http.js";
import { DAY_MS } from "../lib/clock.js";
import { repositoryKey, repositoryPage } from "../lib/page-addresses.js";
import type { Repository } from "../repositories/repositories.js";
import type { Adding, Changes } from "../watchlists/watchlists.js";
import { Badges, badgesOf, OwnerImage } from "./components/badges.js";
import {
  addressOf,
  BeyondEnd,
  Facts,
  Language,
  MainButton,
  NameLink,
  Pager,
  RepositoryField,
  withQuery,
} from "./components/elements.js";
import { sortHead } from "./components/listing.js";
import { daysWords, leadingStep, type Next, nextRound, PACE_DAYS } from "./components/next.js";
import {
  AsOf,
  Delta,
  formatCompact,
  formatCount,
  isOld,
  isolated,
  repositoriesText,
  Time,
} from "./components/numbers.js";
import { Bars, DayBars, gainsBetween } from "./components/small-charts.js";
import { type Column, type Sorting, Table } from "./components/table.js";
import { Times } from "./components/why.js";
import { similarTo } from "./naming.js";
import { Problems, readUsableQuery } from "./page.js";
import type { PageRequest } from "./page-request.js";
import { sharePage } from "./share.js";
import { FIELD_SCRIPTS, offerTracking, readAsking, TrackButton, type TrackingOffer } from "./tracking.js";

/** The content of the pages of all watchlists: what happened, all together, and the rows, which can be chosen. */

const ROWS = 50;
/** A list has at most 500 repositories. */
const MAX_PAGES = 10;

/** A list is sorted by the numbers that its rows show. */
export const watchlistPageQuery = watchlistQuery.pick({ window: true, order: true }).extend({
  sort: z.enum(["stars-gained", "stars"]).default("stars-gained"),
  page: count(1, MAX_PAGES).default(1),
  /** The list of requests of those added last. */
  adding: z.string().max(100).optional(),
});

/** Who adds to lists without an owner, for the daily quota; undefined without one. */
export const addingOf = ({ http, site }: PageRequest): Adding | undefined =>
  quotaOf(http.caller, site.watchlistQuota);

/** Gains that all lists show; one in another window comes first if the list is sorted by it. */
const SHOWN_WINDOWS: readonly Window[] = ["24h", "7d"];
/** Days shown as bars, in a row and for the whole list. The sum of a long list has a point only every third day over 60 days. */
const ROW_DAYS = 30;
const sumDays = (count: number): number => (count > 250 ? 30 : 60);

/** The list to show. */
export interface WatchedList {
  scope: Scope;
  repositories: readonly Repository[];
  /** Since the last visit; undefined on the first one. */
  changes: Changes | undefined;
}

/** Reads the data of the page of a list. */
export async function readWatched(
  { modules, now, ...request }: Pick<PageRequest, "url" | "modules" | "now">,
  { scope, repositories, changes }: WatchedList,
) {
  const { url, query, problems } = readUsableQuery(watchlistPageQuery, request.url);
  const { catalog, database, rankings } = modules;
  const ids = repositories.map(({ id }) => id);
  const rowsQuery: WatchlistQuery = { ...query, limit: ROWS, cursor: undefined };
  const windows = [...new Set([...SHOWN_WINDOWS, query.window])];
  const [page, trends, sum] = await Promise.all([
    watchlistPage(modules, scope, rowsQuery),
    Promise.all(windows.map(async (window) => [window, await rankings.trends(ids, window)] as const)),
    sumCounts(database, repositories, {
      recency: await catalog.recency(),
      lengthMs: sumDays(ids.length) * DAY_MS,
    }),
  ]);
  const shown = page.rows.map(({ repository }) => repository.id);
  const pasts = await readPasts(modules, shown, now);
  const byId = new Map(repositories.map((repository) => [repository.id, repository]));
  return { url, problems, query, page, trends: new Map(trends), sum, pasts, changes, byId };
}

/** The data of a watchlist for its page. */
export type Watched = Awaited<ReturnType<typeof readWatched>>;

interface Past {
  /** The stars at the ends of the last days, and before the first. */
  days: readonly (number | null)[];
  next: Next | undefined;
}

async function readPasts(
  { database }: PageRequest["modules"],
  ids: readonly number[],
  now: number,
): Promise<Map<number, Past>> {
  const pasts = new Map<number, Past>();
  for await (const [id, { series }] of readSeveralSeries(database, ids, PACE_DAYS * DAY_MS)) {
    const end = series.points.at(series.points.length - 1);
    const next = isOld(end, now) ? undefined : nextRound(lastDays(series, PACE_DAYS), end, leadingStep);
    pasts.set(id, { days: lastDays(series, ROW_DAYS), next });
  }
  return pasts;
}

/** Browser modules of the page of a list. */
export const WATCHED_SCRIPTS = [...FIELD_SCRIPTS, "choose.js"];

/** What is unusual in a list, or else gained most, and what comes next in the rows of the page. */
export const Story: FC<{ watched: Watched; now: number }> = ({ watched: { trends, pasts, byId }, now }) => {
  const days = [...(trends.get("24h") ?? [])];
  const first =
    mostOf(days, ([, trend]) => timesUsual(trend)) ?? mostOf(days, ([, trend]) => trend.starsDelta);
  const [id, trend] = first ?? [];
  const times = trend && timesUsual(trend);
  const [nextId, { next } = {}] = mostOf([...pasts], ([, past]) => past.next && -past.next.at) ?? [];
  const nameOf = (one: number | undefined) => <b>{byId.get(one ?? 0)?.name}</b>;
  return (
    <p class="say">
      {trend === undefined ? (
        "Growth follows the second count."
      ) : trend.starsDelta <= 0 ? (
        "A quiet day."
      ) : times != null && times >= UNUSUAL ? (
        <>
          {nameOf(id)} had {timesWords(times)} its usual day.
        </>
      ) : (
        <>
          {nameOf(id)} gained most: {formatCount(trend.starsDelta)} in {WINDOW_LABELS["24h"]}.
        </>
      )}
      {next === undefined ? null : (
        <>
          {" "}
          Next: {nameOf(nextId)} passes {formatCount(next.stars)} {daysWords(next.at, now)}.
        </>
      )}
    </p>
  );
};

/** A day is unusual from this multiple of the usual day. */
const UNUSUAL = 2;

/** The one with the highest value; undefined if none has one. */
function mostOf<One>(ones: readonly One[], rate: (one: One) => number | null | undefined): One | undefined {
  const valued = ones.flatMap((one) => {
    const value = rate(one) ?? null;
    return value === null ? [] : [{ one, value }];
  });
  return valued.sort((a, b) => b.value - a.value)[0]?.one;
}

/** All repositories of a list together: the gains are those of its rows, the bars those of the repositories that are known throughout. */
const Summary: FC<{ watched: Watched }> = ({ watched: { trends, sum, byId } }) => {
  const { points } = sum;
  const gainIn = (window: Window) => {
    const gains = [...(trends.get(window)?.values() ?? [])].map(({ starsDelta }) => starsDelta);
    return gains.length === 0 ? null : gains.reduce((total, gain) => total + gain, 0);
  };
  const stars = [...byId.values()].reduce((total, repository) => total + (repository.stars ?? 0), 0);
  return (
    <section class="card totals short" aria-label="All together">
      <Facts
        facts={[
          { name: repositoriesText(byId.size), value: formatCompact(stars) },
          ...SHOWN_WINDOWS.map((window) => ({
            name: WINDOW_LABELS[window],
            value: <Delta value={gainIn(window)} />,
          })),
        ]}
      />
      {points.length < 3 ? null : (
        <div>
          <DayBars
            values={gainsBetween(points.map((point) => point.stars))}
            end={points.at(-1)?.at ?? 0}
            wide={{ width: 560, height: 98 }}
            narrow={{ width: 326, height: 88 }}
          />
        </div>
      )}
    </section>
  );
};

interface WatchedBodyProps {
  watched: Watched;
  name: string;
  now: number;
  /** Path of the form that removes the chosen ones; absent: nobody may. */
  removal: string | undefined;
  /** Other controls of the list. */
  children: Child;
}

/** The list: all together, and the rows in a form that compares or removes those that are chosen, without scripts too. */
export const WatchedBody: FC<WatchedBodyProps> = ({ watched, name, now, removal, children }) => {
  const { url, problems, query, page, byId } = watched;
  return (
    <>
      <Problems problems={problems} isLeftOut />
      <Summary watched={watched} />
      {page.rows.length === 0 ? (
        <BeyondEnd url={url} />
      ) : (
        <form action="/compare" class="choice" data-choice="">
          <div class="toolbar">
            <label class="scripted">
              <input type="checkbox" data-all="" />
              <span class="hidden">Choose all</span>
            </label>
            <output class="scripted" />
            <MainButton>Compare</MainButton>
            {byId.size > MAX_SERIES ? (
              <button type="submit" formaction="/embed" name="kind" value="post">
                Picture
              </button>
            ) : (
              <a class="button" href={sharePage([...byId.values()], "post")}>
                Picture
              </a>
            )}
            {removal === undefined ? null : (
              <button type="submit" formmethod="post" formaction={removal} name="next" value={addressOf(url)}>
                Remove
              </button>
            )}
            <span>
              {isOld(page.asOf, now) ? <AsOf at={page.asOf} measured={page.measured} /> : null} {children}
            </span>
          </div>
          <Table
            label={`${isolated(name)}, growth in ${WINDOW_LABELS[query.window]}`}
            class="list watched"
            columns={columnsOf(watched, now)}
            rows={page.rows}
            rowClass={({ isStale }) => (isStale ? "stale" : undefined)}
          />
        </form>
      )}
      <Pager url={url} limit={ROWS} {...page} />
    </>
  );
};

/** How a row without a name is chosen. */
export const hiddenKey = (id: number): string => `hidden:${id}`;

function columnsOf(watched: Watched, now: number): Column<ListRow>[] {
  const { pasts } = watched;
  return [
    {
      head: "Choose",
      isHeadHidden: true,
      class: "choose",
      cell: ({ repository }) => (
        <label>
          <input
            type="checkbox"
            name="repo"
            value={repository.fullName === "" ? hiddenKey(repository.id) : repositoryKey(repository)}
          />
          <span class="hidden">Choose {repository.fullName || "the one without a name"}</span>
        </label>
      ),
    },
    { head: "Repository", isName: true, class: "name", cell: (row) => <Name row={row} /> },
    {
      head: "Next",
      class: "next",
      cell: ({ repository }) => {
        const { next } = pasts.get(repository.id) ?? {};
        return next === undefined ? null : `${formatCompact(next.stars)} ${daysWords(next.at, now)}`;
      },
    },
    { head: "× usual", isHeadHidden: true, class: "of-usual", cell: ({ trend }) => <Times trend={trend} /> },
    {
      head: "30 days",
      class: "of-days",
      cell: ({ repository }) => (
        <Bars values={gainsBetween(pasts.get(repository.id)?.days ?? [])} width={200} />
      ),
    },
    ...numbersOf(watched),
  ];
}

/** The gains and the stars: first the number that the list is sorted by. */
function numbersOf({ url, query, trends }: Watched): Column<ListRow>[] {
  const { sort, window } = query;
  const order = query.order ?? "desc";
  const gains = [...trends].map(([of, gainsOf]) => ({
    isFirst: sort === "stars-gained" && of === window,
    head: WINDOW_LABELS[of],
    sorting: headOf(new URL(withQuery(url, { window: of }), url), "stars-gained", of === window),
    cell: ({ repository }: ListRow) => <Delta value={gainsOf.get(repository.id)?.starsDelta} />,
  }));
  const stars = {
    isFirst: sort === "stars",
    head: "Stars",
    sorting: headOf(url, "stars", true),
    cell: ({ repository }: ListRow) => formatCount(repository.stars),
  };
  function headOf(to: URL, by: string, isShown: boolean): Sorting {
    return sortHead(to, by, { sort: isShown ? sort : "", order });
  }
  return [...gains, stars]
    .sort((a, b) => Number(b.isFirst) - Number(a.isFirst))
    .map(({ isFirst, cell, ...column }) => ({
      ...column,
      isNumber: true,
      class: isFirst ? "of-gain" : "more",
      cell: (row) => (isFirst ? <b>{cell(row)}</b> : cell(row)),
    }));
}

const Name: FC<{ row: ListRow }> = ({ row }) => (
  <div class="row-name">
    <OwnerImage owner={row.repository.owner} provider={row.repository.provider} />
    <div class="named">
      <NameLink repository={row.repository} {...(row.trend && { window: row.trend.window })} />
      <Language name={row.repository.language} />{" "}
      <Badges badges={badgesOf({ ...row, trends: [row.trend] })} />
    </div>
  </div>
);

/** The changes since the last visit as a line; nothing on the first one. */
export const WatchedChanges: FC<{ watched: Watched }> = ({ watched: { changes, byId } }) => {
  if (changes === undefined) return null;
  const { since, totalGained, renamed, archived, unavailable } = changes;
  const events = [
    ...renamed.map(({ repositoryId, from }) => [repositoryId, `was renamed from ${from}`] as const),
    ...archived.map((id) => [id, "was archived"] as const),
    ...unavailable.map((id) => [id, `is ${absenceOf(byId.get(id))}`] as const),
  ];
  return (
    <p class="soft" id="since">
      Since your last visit, <Time at={since} />:{" "}
      {totalGained === null || totalGained === 0 ? (
        "no new stars"
      ) : (
        <>
          <Delta value={totalGained} /> stars
        </>
      )}
      {events.map(([id, words]) => {
        const repository = byId.get(id);
        return repository === undefined ? null : (
          <>
            ; <a href={repositoryPage(repository)}>{repository.fullName}</a> {words}
          </>
        );
      })}
      .
    </p>
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
      <form method="post" action={action} class="row-form add">
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
