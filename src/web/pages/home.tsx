import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import { MILESTONES } from "../../charts/charts.js";
import {
  type CurrentCounters,
  type Leaders,
  type ListRow,
  listPage,
  listQuery,
  SORT_DEFINITIONS,
  windowsOf,
} from "../../discovery/discovery.js";
import { type Ranking, readLastDays, WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { explorePage, LANGUAGES_PAGE, repositoryPage } from "../../lib/page-addresses.js";
import {
  addressOf,
  canonicalAddress,
  Link,
  Tabs,
  Ways,
  WindowTabs,
  withQuery,
} from "../components/elements.js";
import {
  AsOf,
  Delta,
  formatCompact,
  formatCount,
  formatDate,
  isOld,
  repositoriesText,
  withEmoji,
} from "../components/numbers.js";
import { RepositoryList } from "../components/repository-list.js";
import { LanguageBars } from "../components/small-charts.js";
import { Times } from "../components/why.js";
import { Nothing } from "../first-run.js";
import { type Problem, Problems, readUsableQuery } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import { starScripts, starsOf } from "../saving.js";
import { AskForm, FIELD_SCRIPTS, readAsking } from "../tracking.js";

/** The parameters of the page: one window and one language for all of it. */
export const homeQuery = z.object({
  window: z.enum(WINDOWS).optional(),
  language: z.string().max(100, "must be at most 100 characters").optional(),
});

/** With fewer repositories of its own, the field is the centre of the page. */
const FEW = 100;

/** Rows of the lead list, and of each list next to it. */
const ROWS = 15;
const SIDE_ROWS = 5;
/** Fewer with known growth in a day: the page shows a week. */
const ENOUGH = 10;
/** Repositories read of each ranking, to replace those that the page shows already. */
const READ = 3 * ROWS;
/** Languages offered as chips. */
const CHIPS = 5;

/** The lists next to Trending, with their headings. */
const SIDE_LISTS = [
  ["rising", "Busier than usual"],
  ["new-hot", "New and hot"],
] as const;
const FEEDS = ["trending", "rising", "new-hot"] as const;

/** The repositories and languages that grew most, and how recent that is. No repository is shown twice. */
export async function showHome(request: PageRequest): Promise<Page> {
  const { summary, now } = request;
  const isFew = summary.catalogue === "sample" || summary.repositories < FEW;
  const begin = {
    description: "What grows on GitHub, GitLab, Codeberg and other forges, measured from stored counts.",
    lead: isFew ? <AskForm asking={await readAsking(request)} isCentre /> : undefined,
    scripts: isFew ? FIELD_SCRIPTS : [],
  };
  if (summary.repositories === 0) return { ...begin, title: "What is growing", body: <Nothing /> };
  const home = await readHome(request);
  const title = titleOf({ ...home, summary, now });
  return {
    ...begin,
    title,
    showsAge: true,
    canonical: canonicalAddress(home.url),
    status: home.isValid ? 200 : 400,
    scripts: [...begin.scripts, ...starScripts(request)],
    alternates: FEEDS.map((sort) => ({
      type: "application/atom+xml",
      href: feedAddress({ sort, window: "7d", language: home.language }),
      title: `${SORT_DEFINITIONS[sort].label}, ${WINDOW_LABELS["7d"]}`,
    })),
    body: (
      <>
        <div class="apart home-head">
          <h1>{title}</h1>
          <Pickers {...home} />
        </div>
        <Problems problems={home.problems} isLeftOut />
        <div class="home">
          <Trending {...home} />
          <Aside {...home} />
        </div>
        <Measured {...home} summary={summary} />
      </>
    ),
  };
}

type HomeData = Awaited<ReturnType<typeof readHome>>;

async function readHome(request: PageRequest) {
  const { rankings, database, lists } = request.modules;
  const { url, query, problems } = readUsableQuery(homeQuery, request.url);
  const language = await languageOf(request, query.language);
  if (language === undefined) url.searchParams.delete("language");
  else url.searchParams.set("language", language);
  const leaders = await rankings.leaders({
    ...(language === undefined ? { scope: "overall", name: "" } : { scope: "language", name: language }),
    limit: READ,
  });
  const window = query.window ?? usualWindow(leaders);
  const leading = leaders("trending", window).slice(0, ROWS);
  const rising = await readRising(request, { window, language, leading });
  const ids = shownIds(leaders, window, [...leading, ...rising.map(({ repository }) => repository.id)]);
  const [[trending = [], fresh = [], gaining = []], days, { gaining: among }, moves] = await Promise.all([
    lists.rowsOfEach([leading, ids["new-hot"], ids.others].map((some) => ({ ids: some, window }))),
    readLastDays(database, leading),
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
    language,
    isValid: problems.length === 0,
    problems: isUnknown ? [...problems, UNKNOWN_LANGUAGE] : problems,
    languages: among[window].languages,
    list: { rows: trending, days, moves, ...(await starsOf(request, trending, addressOf(url))) },
    rising,
    "new-hot": fresh,
    gaining,
  };
}

/** The choice of a window and a language for all of the page. */
const Pickers: FC<HomeData> = ({ url, window, language, languages }) => {
  const top = languages.slice(0, CHIPS).map(({ name }) => name);
  const offered = language === undefined || top.includes(language) ? top : [language, ...top];
  const tabOf = (name: string | undefined) => ({
    href: withQuery(url, { language: name }),
    isCurrent: name === language,
  });
  return (
    <div class="pickers">
      <WindowTabs url={url} current={window} look="chips" />
      {offered.length === 0 ? null : (
        <Tabs
          label="Language"
          look="chips"
          tabs={[
            { name: "All languages", ...tabOf(undefined) },
            ...offered.map((name) => ({ name, language: name, ...tabOf(name) })),
          ]}
        />
      )}
    </div>
  );
};

const Trending: FC<HomeData> = ({ window, language, list }) => (
  <section>
    {list.rows.length === 0 ? (
      <p>
        No growth in {WINDOW_LABELS[window]} yet: it needs two snapshots of a repository, at least half a day
        apart. <a href={explorePage(new URLSearchParams({ sort: "stars" }))}>Repositories by stars</a>
      </p>
    ) : (
      <>
        <h2 class="hidden">Trending</h2>
        <RepositoryList {...list} caption="Trending" from={1} isTrending />
        <Ways
          links={[
            ["All of Trending", listAddress({ sort: "trending", window, language })],
            ["Atom feed", feedAddress({ sort: "trending", window, language })],
          ]}
        />
      </>
    )}
  </section>
);

/** The short lists next to Trending. */
const Aside: FC<HomeData> = ({ window, language, languages, ...home }) => (
  <aside>
    {SIDE_LISTS.map(([sort, heading]) => (
      <Brief
        heading={heading}
        href={listAddress({ sort, window, language })}
        rows={home[sort].map((row) => ({
          row,
          fact: sort === "rising" ? <Times trend={row.trend} /> : <Delta value={row.trend?.starsDelta} />,
        }))}
      />
    ))}
    <Brief
      heading="Milestones"
      rows={passed(home.gaining).map(({ row, stars }) => ({ row, fact: formatCompact(stars) }))}
    />
    {languages.length === 0 ? null : (
      <section>
        <h2>
          <Link href={`${LANGUAGES_PAGE}?sort=stars-gained&window=${window}`}>Languages</Link>
        </h2>
        <LanguageBars languages={languages.slice(0, SIDE_ROWS)} />
      </section>
    )}
  </aside>
);

/** How recent the numbers are, and of how much. */
const Measured: FC<HomeData & { summary: CurrentCounters }> = ({ language, isWidened, summary }) => (
  <p class="measured">
    <a class="chip" href="/about">
      <AsOf at={summary.asOf} measured={summary.measured} />
      {language === undefined ? (
        <span>
          {" "}
          · {repositoriesText(summary.repositories)} · {formatCount(summary.snapshots)} snapshots
        </span>
      ) : null}
    </a>
    {isWidened ? (
      <span class="soft small">
        Not enough {language === undefined ? "" : `${language} `}data for 24 hours: showing 7 days.
      </span>
    ) : null}
  </p>
);

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

/** The first by times their usual day that do not lead the page; none in a window that has no such list. */
async function readRising(
  { modules }: PageRequest,
  { window, language, leading }: Chosen & { leading: readonly number[] },
): Promise<ListRow[]> {
  if (!windowsOf("rising").includes(window)) return [];
  const most = String(ROWS + SIDE_ROWS);
  const query = listQuery.parse({ sort: "rising", window, language, limit: most });
  const { rows } = await listPage(modules, query);
  return rows.filter(({ repository }) => !leading.includes(repository.id)).slice(0, SIDE_ROWS);
}

/** The repositories of the other lists, none twice; `others` gained most among the remaining ones. */
function shownIds(
  leaders: Leaders,
  window: Window,
  shown: readonly number[],
): Record<"new-hot" | "others", number[]> {
  const seen = new Set(shown);
  const next = (ranking: Ranking, most: number) => {
    const ids = leaders(ranking, window)
      .filter((id) => !seen.has(id))
      .slice(0, most);
    for (const id of ids) seen.add(id);
    return ids;
  };
  return {
    "new-hot": next("new-hot", SIDE_ROWS),
    others: next("stars-gained", READ),
  };
}

/** A repository that reached a round number of stars. */
interface Passed {
  row: ListRow;
  stars: number;
}

/** The repositories whose stars reached a round number in the window, the highest first. */
function passed(rows: readonly ListRow[]): Passed[] {
  return rows
    .flatMap((row): Passed[] => {
      const { starsFrom = 0, starsDelta = 0 } = row.trend ?? {};
      const stars = MILESTONES.findLast((one) => starsFrom < one && one <= starsFrom + starsDelta);
      return stars === undefined ? [] : [{ row, stars }];
    })
    .sort((a, b) => b.stars - a.stars)
    .slice(0, SIDE_ROWS);
}

interface Chosen {
  window: Window;
  language: string | undefined;
}

/** "What grew in the last 24 hours"; old measurements are not called recent. */
function titleOf({
  window,
  language,
  summary,
  now,
}: Chosen & { summary: CurrentCounters; now: number }): string {
  const { asOf } = summary;
  const span = isOld(asOf, now)
    ? `the ${WINDOW_LABELS[window]} to ${formatDate(asOf)}`
    : `the last ${WINDOW_LABELS[window]}`;
  return `What grew in ${span}${language === undefined ? "" : `: ${language}`}`;
}

interface BriefProps {
  heading: string;
  /** The whole list. */
  href?: string;
  rows: readonly { row: ListRow; fact: Child }[];
}

/** A short list next to the lead: names, a description, and one fact each; nothing without rows. */
const Brief: FC<BriefProps> = ({ heading, href, rows }) =>
  rows.length === 0 ? null : (
    <section>
      <h2>{href === undefined ? heading : <Link href={href}>{heading}</Link>}</h2>
      <ol class="brief">
        {rows.map(({ row: { repository }, fact }) => (
          <li>
            <a href={repositoryPage(repository)}>
              <bdi>{repository.fullName}</bdi>
            </a>
            <span class="number">{fact}</span>
            <span class="soft small">
              <bdi>{withEmoji(repository.description ?? "")}</bdi>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );

function listAddress({ sort, window, language }: Chosen & { sort: string }): string {
  return explorePage(new URLSearchParams({ sort, window, ...(language === undefined ? {} : { language }) }));
}

function feedAddress({ sort, window, language }: Chosen & { sort: string }): string {
  const query = new URLSearchParams({ window, ...(language === undefined ? {} : { language }) });
  return `/api/feeds/${sort}.atom?${query}`;
}
