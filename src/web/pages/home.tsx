import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { chartPoints, dayGains, dayText, nthWords, recordWords } from "../../charts/charts.js";
import {
  type CurrentCounters,
  type Leaders,
  type ListRow,
  listPage,
  listQuery,
  SORT_DEFINITIONS,
  windowsOf,
} from "../../discovery/discovery.js";
import {
  readLastDays,
  readSeries,
  type Trend,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
} from "../../growth/growth.js";
import { DAY_MS, isoTime } from "../../lib/clock.js";
import { explorePage, LANGUAGES_PAGE } from "../../lib/page-addresses.js";
import { addressOf, canonicalAddress, TabLink, Ways, WindowTabs, withQuery } from "../components/elements.js";
import { FRONT, Front, forgesText, Side, SmallCard, timeWords } from "../components/front.js";
import {
  AsOf,
  capital,
  Delta,
  formatCompact,
  formatCount,
  formatDate,
  isOld,
  repositoriesText,
} from "../components/numbers.js";
import { RepositoryList } from "../components/repository-list.js";
import { LanguageBars } from "../components/small-charts.js";
import { Times } from "../components/why.js";
import { Nothing } from "../first-run.js";
import { type Problem, Problems, readUsableQuery } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import { starScripts, starsOf } from "../saving.js";
import { wayToCard } from "../share.js";
import { AskForm, FIELD_SCRIPTS, readAsking } from "../tracking.js";
import { showProfile } from "./profile.js";
import { showYours } from "./yours.js";

/** The parameters of the page: one window and one language for all of it. */
export const homeQuery = z.object({
  window: z.enum(WINDOWS).optional(),
  language: z.string().max(100, "must be at most 100 characters").optional(),
});

/** With fewer repositories, the page begins with the field that adds some. */
const FEW = 100;

/** Places shown: those at the front, and rows. */
const PLACES = 15;
/** Places that the link below the list promises at most. */
const LISTED = 100;
const SIDE_ROWS = 5;
/** The lists at the side are as high as the rows if they have this many together. */
const SIDE_ROWS_IN_ALL = 18;
/** Fewer with known growth in a day: the page shows a week. */
const ENOUGH = 10;

const FEEDS = ["trending", "rising", "new-hot"] as const;

/** The repositories and languages that grew most, and how recent that is. No repository is shown twice. */
export async function showHome(request: PageRequest): Promise<Page> {
  const { summary, site } = request;
  if (site.files !== undefined) return showProfile(request, site.files);
  const { isOwn, catalogue, repositories } = summary;
  const isAsking = catalogue === "sample" || repositories < FEW;
  const asking = isAsking ? await readAsking(request) : undefined;
  const page = {
    description: "What grows on GitHub, GitLab, Codeberg and other forges, measured from stored counts.",
    lead: asking === undefined || isOwn ? undefined : <AskForm asking={asking} isCentre />,
    scripts: [...(isAsking ? FIELD_SCRIPTS : []), ...starScripts(request)],
  };
  if (repositories === 0) return { ...page, title: "What is growing", body: <Nothing /> };
  if (isOwn && asking !== undefined) return { ...page, ...(await showYours(request, asking)) };
  const home = await readHome(request);
  const title = titleOf({ ...home, summary });
  return {
    ...page,
    title,
    showsAge: true,
    canonical: canonicalAddress(home.url),
    status: home.isValid ? 200 : 400,
    alternates: FEEDS.map((sort) => ({
      type: "application/atom+xml",
      href: feedAddress({ sort, window: "7d", language: home.language }),
      title: `${SORT_DEFINITIONS[sort].label}, ${WINDOW_LABELS["7d"]}`,
    })),
    body: (
      <>
        <div class="mast">
          <div>
            <h1>{title}</h1>
            <DateLine {...home} summary={summary} />
          </div>
          <Pickers {...home} />
        </div>
        <Problems problems={home.problems} isLeftOut />
        <Yours {...home} />
        <Front {...home} />
        <div class="home">
          <Places {...home} measured={summary.freshRepositories} />
          <Aside {...home} />
        </div>
      </>
    ),
  };
}

type HomeData = Awaited<ReturnType<typeof readHome>>;

async function readHome(request: PageRequest) {
  const { rankings, database, lists } = request.modules;
  const { summary, now } = request;
  const { url, query, problems } = readUsableQuery(homeQuery, request.url);
  const language = await languageOf(request, query.language);
  if (language === undefined) url.searchParams.delete("language");
  else url.searchParams.set("language", language);
  const leaders = await rankings.leaders({
    ...(language === undefined ? { scope: "overall", name: "" } : { scope: "language", name: language }),
    limit: LISTED,
  });
  const window = query.window ?? usualWindow(leaders);
  const places = leaders("trending", window);
  const leading = places.slice(0, PLACES);
  const [rising, yours] = await Promise.all([
    readRising(request, { window, language, leading }),
    readYours(request, window),
  ]);
  const shown = new Set([...leading, ...rising.map(({ repository }) => repository.id)]);
  const fresh = next(leaders("new-hot", window), shown).slice(0, FRONT);
  const passed = await readPassed(
    request,
    next(leaders("stars-gained", "7d"), new Set([...shown, ...fresh])),
  );
  const [[rows = [], newHot = [], passing = []], days, { gaining }, moves] = await Promise.all([
    lists.rowsOfEach([leading, fresh, [...passed.keys()]].map((ids) => ({ ids, window }))),
    readLastDays(database, [
      ...leading,
      ...yours.rows.map(({ repository }) => repository.id),
      ...passed.keys(),
    ]),
    rankings.home(),
    language === undefined
      ? rankings.moves(leading, { ranking: "trending", window })
      : new Map<number, number>(),
  ]);
  const isUnknown = query.language !== undefined && language === undefined;
  return {
    url,
    window,
    /** Whether nobody has chosen the window, and a day has too little. */
    isWidened: query.window === undefined && window !== "24h",
    isPast: isOld(summary.asOf, now),
    language,
    isValid: problems.length === 0,
    problems: isUnknown ? [...problems, UNKNOWN_LANGUAGE] : problems,
    languages: gaining[window].languages.toSorted((a, b) => b.starsGained - a.starsGained),
    rows,
    days,
    moves,
    /** Places that the whole list has, up to 100. */
    listed: places.length,
    record: await readRecord(request, rows[0]?.trend, leading[0]),
    stars: await starsOf(request, rows, addressOf(url)),
    rising,
    newHot,
    passed: passing.map((row) => milestoneOf(row, passed, days)),
    yours,
  };
}

const next = (ids: readonly number[], shown: ReadonlySet<number>) => ids.filter((id) => !shown.has(id));

/** "Today on GitHub", "This week in Rust"; of old measurements "30 Apr 2026 on GitHub". */
export function titleOf({
  window,
  language,
  isPast,
  summary: { asOf, providers },
}: Pick<HomeData, "window" | "language" | "isPast"> & { summary: CurrentCounters }): string {
  const label = WINDOW_LABELS[window];
  const span = isPast
    ? `${window === "24h" ? "" : `${label} to `}${formatDate(asOf)}`
    : window === "30d"
      ? label
      : capital(timeWords(window, false));
  const forges = forgesText(providers);
  return language === undefined ? `${span} on ${forges}` : `${span} in ${language}`;
}

const longDate = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

interface DateLineProps extends Pick<HomeData, "isPast" | "isWidened" | "language"> {
  summary: CurrentCounters;
}

/** "Thursday, 30 April 2026, measured 04:07 UTC". */
const DateLine: FC<DateLineProps> = ({ isPast, isWidened, language, summary: { asOf, measured } }) => (
  <p class="soft">
    {isPast || asOf === null ? (
      <AsOf at={asOf} measured={measured} />
    ) : (
      <>
        {longDate.format(asOf).replace(/^(\w+) /, "$1, ")}, measured{" "}
        <time datetime={isoTime(asOf)}>{isoTime(asOf).slice(11, 16)} UTC</time>
      </>
    )}
    {isWidened
      ? `. Not enough ${language === undefined ? "" : `${language} `}data for 24 hours: showing 7 days.`
      : ""}
  </p>
);

/** The choice of a window and a language for all of the page. */
const Pickers: FC<HomeData> = ({ url, window, language, languages }) => {
  const top = languages.map(({ name }) => name);
  const offered = language === undefined || top.includes(language) ? top : [language, ...top];
  return (
    <div>
      <WindowTabs url={url} current={window} />
      {offered.length === 0 ? null : (
        <details class="menu pick" data-menu="">
          <summary>{language ?? "All languages"}</summary>
          <div>
            {[undefined, ...offered].map((name) => (
              <TabLink
                name={name ?? "All languages"}
                {...(name === undefined ? {} : { language: name })}
                href={withQuery(url, { language: name })}
                isCurrent={name === language}
              />
            ))}
          </div>
        </details>
      )}
    </div>
  );
};

/** The repositories of the reader: what they gained, and those that gained most. Nothing for visitors, and without any. */
const Yours: FC<HomeData> = ({ yours: { rows, moved, gained, of }, days, window, isPast }) =>
  of === 0 ? null : (
    <section class="yours">
      <div class="apart">
        <h2>
          <a href="/watchlist">Yours</a>
        </h2>
        {moved === 0 ? (
          <p class="soft">
            {repositoriesText(of)}, quiet {timeWords(window, isPast)}
          </p>
        ) : (
          <p>
            {formatCount(moved)} of {formatCount(of)} gained stars {timeWords(window, isPast)}:{" "}
            <Delta value={gained} />
          </p>
        )}
      </div>
      <div class="cards">
        {rows.map((row) => (
          <SmallCard row={row} days={days.get(row.repository.id) ?? []} />
        ))}
      </div>
    </section>
  );

/** The other places as rows. */
const Places: FC<HomeData & { measured: number }> = ({ window, language, ...home }) => {
  const { rows, days, moves, stars, listed } = home;
  return (
    <section>
      {rows.length === 0 ? (
        <p>
          No growth in {WINDOW_LABELS[window]} yet: it needs two snapshots of a repository, at least half a
          day apart. <a href={explorePage(new URLSearchParams({ sort: "stars" }))}>Repositories by stars</a>
        </p>
      ) : null}
      {rows.length <= FRONT ? null : (
        <RepositoryList
          rows={rows.slice(FRONT)}
          {...{ days, moves, ...stars }}
          caption={`Places ${FRONT + 1} to ${rows.length}`}
          from={FRONT + 1}
          isTrending
        />
      )}
      <div class="apart">
        {listed <= PLACES ? null : (
          <a href={listAddress({ sort: "trending", window, language })}>
            Places {PLACES + 1} to {listed}
          </a>
        )}
        {language === undefined ? (
          <span class="soft small">{repositoriesText(home.measured)} measured</span>
        ) : null}
        <Ways links={[wayToCard(home.url)]} />
      </div>
    </section>
  );
};

/** The short lists next to the rows, as many as end with them. */
const Aside: FC<HomeData> = ({ window, language, languages, isPast, rising, newHot, passed }) => {
  const left = SIDE_ROWS_IN_ALL - rising.length - passed.length - newHot.length;
  return (
    <aside>
      <Side
        heading="Busier than usual"
        href={listAddress({ sort: "rising", window, language })}
        rows={rising.map((row) => ({
          row,
          facts: (
            <>
              <span class="soft">+{formatCount(row.trend?.starsDelta ?? null)}</span>
              <Times trend={row.trend} />
            </>
          ),
        }))}
      />
      <Side
        heading={`Milestones ${timeWords("7d", isPast)}`}
        rows={passed.map(({ row, stars, at }) => ({
          row,
          lead: <b class="milestone">{formatCompact(stars)}</b>,
          facts: <span class="soft">{at === null ? "" : isPast ? dayText(at) : weekday.format(at)}</span>,
        }))}
      />
      <Side
        heading="New and hot"
        href={listAddress({ sort: "new-hot", window, language })}
        rows={newHot.map((row) => ({ row, facts: <Delta value={row.trend?.starsDelta} /> }))}
      />
      {languages.length === 0 ? null : (
        <section>
          <h2>
            <a href={`${LANGUAGES_PAGE}?sort=stars-gained&window=${window}`}>
              Languages {timeWords(window, isPast)}
            </a>
          </h2>
          <LanguageBars languages={languages.slice(0, Math.max(SIDE_ROWS, Math.min(2 * SIDE_ROWS, left)))} />
        </section>
      )}
    </aside>
  );
};

/** "Mon". */
const weekday = new Intl.DateTimeFormat("en-US", { weekday: "short", timeZone: "UTC" });

const UNKNOWN_LANGUAGE: Problem = {
  parameter: "language",
  message: "no repository here has this language",
};

/** The language as the catalogue spells it; undefined if none is requested or no repository has it. */
async function languageOf({ modules }: PageRequest, name: string | undefined): Promise<string | undefined> {
  return name === undefined ? undefined : (await modules.rankings.findFacet("language", name))?.name;
}

/** 24 hours, or 7 days while too few repositories have known growth in a day. */
function usualWindow(leaders: Leaders): Window {
  const day = leaders("trending", "24h").length;
  return day < ENOUGH && leaders("trending", "7d").length > day ? "7d" : "24h";
}

interface Chosen {
  window: Window;
  language: string | undefined;
}

/** The first by times their usual day that do not lead the page; none in a window that has no such list. */
async function readRising(
  { modules }: PageRequest,
  { window, language, leading }: Chosen & { leading: readonly number[] },
): Promise<ListRow[]> {
  if (!windowsOf("rising").includes(window)) return [];
  const most = String(PLACES + SIDE_ROWS);
  const query = listQuery.parse({ sort: "rising", window, language, limit: most });
  const { rows } = await listPage(modules, query);
  return rows.filter(({ repository }) => !leading.includes(repository.id)).slice(0, SIDE_ROWS);
}

/** The watchlist of the reader: how many it has, how many of them gained stars and how many, and those that gained most. */
async function readYours({ account, modules }: PageRequest, window: Window) {
  const { items } =
    account === undefined ? { items: [] } : await modules.watchlists.get({ accountId: account.id });
  const ids = items.map(({ repositoryId }) => repositoryId);
  const gains = [...(await modules.rankings.trends(ids, window))]
    .filter(([, { starsDelta }]) => starsDelta > 0)
    .sort(([, a], [, b]) => b.starsDelta - a.starsDelta);
  const most = gains.slice(0, FRONT).map(([id]) => id);
  return {
    of: items.length,
    moved: gains.length,
    gained: gains.reduce((sum, [, { starsDelta }]) => sum + starsDelta, 0),
    rows: await modules.lists.rows(most, window),
  };
}

/** A day of a leading repository in words, if it is a record or one of few; empty for other windows. Reads its whole series. */
async function readRecord({ modules }: PageRequest, trend: Trend | undefined, id = 0): Promise<string> {
  if (trend?.window !== "24h" || trend.starsDelta <= 0) return "";
  const { series } = await readSeries(modules.database, id);
  const days = dayGains(chartPoints(series, "stars"));
  return recordWords(days, trend.to) || nthWords(days, trend.to);
}

/** Multiples of these are round, from a size on. */
const ROUND = [
  [100_000, 50_000],
  [10_000, 10_000],
  [1_000, 1_000],
] as const;

/** A round number of stars, and the end of the growth that passed it. */
interface Passed {
  stars: number;
  to: number;
}

/** The repositories that passed a round number in the last seven days: those with the highest. */
async function readPassed(
  { modules: { rankings } }: PageRequest,
  ids: readonly number[],
): Promise<Map<number, Passed>> {
  const trends = await rankings.trends(ids, "7d");
  const passed = ids.flatMap((id) => {
    const { starsFrom = 0, starsDelta = 0, starsCounted = 0, to = 0 } = trends.get(id) ?? {};
    const stars = starsFrom + starsDelta;
    const step = ROUND.find(([least]) => stars >= least)?.[1] ?? stars + 1;
    const round = Math.floor(stars / step) * step;
    return starsDelta === starsCounted && round > starsFrom ? [[id, { stars: round, to }] as const] : [];
  });
  return new Map(passed.sort(([, a], [, b]) => b.stars - a.stars).slice(0, SIDE_ROWS));
}

/** What a repository passed, and when; null: unknown. */
function milestoneOf(
  row: ListRow,
  passed: ReadonlyMap<number, Passed>,
  days: Awaited<ReturnType<typeof readLastDays>>,
) {
  const { id } = row.repository;
  const { stars, to } = passed.get(id) ?? { stars: 0, to: 0 };
  const totals = days.get(id) ?? [];
  const day = totals.findIndex((total) => total !== null && total >= stars);
  return { row, stars, at: day < 1 ? null : to - (totals.length - 1 - day) * DAY_MS };
}

function listAddress({ sort, window, language }: Chosen & { sort: string }): string {
  return explorePage(new URLSearchParams({ sort, window, ...(language === undefined ? {} : { language }) }));
}

function feedAddress({ sort, window, language }: Chosen & { sort: string }): string {
  const query = new URLSearchParams({ window, ...(language === undefined ? {} : { language }) });
  return `/api/feeds/${sort}.atom?${query}`;
}
