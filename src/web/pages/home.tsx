import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import type { CurrentSummary, Facet, Leaders, ListRow } from "../../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import {
  explorePage,
  LANGUAGES_PAGE,
  languagePage,
  TOPICS_PAGE,
  topicPage,
} from "../../lib/page-addresses.js";
import type { StarCount } from "../../repositories/repositories.js";
import { Chips, canonicalAddress, withQuery } from "../components/links.js";
import { AsOf, formatCount, formatDate, isOld, StillHeldNote } from "../components/numbers.js";
import { RepositoryList } from "../components/repository-list.js";
import { FacetBars } from "../components/small-charts.js";
import { Nothing } from "../first-run.js";
import { type Problem, Problems, readUsableQuery } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { type ListStars, starScripts, starsOf } from "../saving.js";
import { AskForm, FIELD_SCRIPTS } from "../tracking.js";

/** The parameters of the page: one window and one language for all of it. */
export const homeQuery = z.object({
  window: z.enum(WINDOWS).optional(),
  language: z.string().max(100, "must be at most 100 characters").optional(),
});

/** With fewer repositories of its own, the field is the centre of the page. */
const FEW = 100;

/** Rows of each list. */
const ROWS = 10;
/** Rows read of each ranking, to replace those that another list shows. */
const READ = 2 * ROWS;
/** Languages offered as chips. */
const CHIPS = 5;

/** The rankings on the page, in order. */
const LISTS = ["trending", "rising", "new-hot", "fork-growth"] as const;
type HomeRanking = (typeof LISTS)[number];
/** The lists that leave out the rows of Trending: most of their first rows would be the same. */
const BEYOND_TRENDING: readonly HomeRanking[] = ["rising", "fork-growth"];

/** The repositories, languages and topics that grew most, and how recent that is. */
export async function showHome(request: PageRequest): Promise<Page> {
  const { modules, summary, now } = request;
  const { rankings, catalog, lists } = modules;
  const description = "What grows on GitHub, GitLab, Codeberg and other forges, measured from stored counts.";
  const lead =
    summary.catalogue === "sample" || summary.repositories < FEW ? (
      <AskForm request={request} isCentre />
    ) : undefined;
  const scripts = lead === undefined ? [] : FIELD_SCRIPTS;
  if (summary.repositories === 0)
    return { title: "What is growing", description, lead, scripts, body: <Nothing /> };
  const { url, query, problems } = readUsableQuery(homeQuery, request.url);
  const language = await languageOf(request, query.language);
  if (language === undefined) url.searchParams.delete("language");
  else url.searchParams.set("language", language);
  const leaders = await rankings.leaders({
    ...(language === undefined ? { scope: "overall", name: "" } : { scope: "language", name: language }),
    limit: READ,
  });
  const window = query.window ?? usualWindow(leaders);
  const shown = shownLists(leaders, window);
  const [rows, sparks, home] = await Promise.all([
    lists.rowsOfEach(shown.map(({ ids }) => ({ ids, window }))),
    catalog.sparks([...new Set(shown.flatMap(({ ids }) => ids))]),
    rankings.home(),
  ]);
  const gaining = home.gaining[window];
  const found = shown.map(({ sort, isBeyond }, i) => ({ sort, isBeyond, rows: rows[i] ?? [] }));
  const stars = await starsOf(
    request,
    found.flatMap((list) => list.rows),
    `${url.pathname}${url.search}`,
  );
  const isUnknown = query.language !== undefined && language === undefined;
  const title = titleOf({ window, language, summary, now });
  return {
    title,
    description,
    showsAge: true,
    canonical: canonicalAddress(url),
    status: problems.length === 0 ? 200 : 400,
    lead,
    scripts: [...scripts, ...starScripts(request)],
    alternates: LISTS.map((sort) => ({
      type: "application/atom+xml",
      href: feedAddress({ sort, window: "7d", language }),
      title: `${RANKING_DEFINITIONS[sort].label}, ${WINDOW_LABELS["7d"]}`,
    })),
    body: (
      <HomeBody
        {...{ url, window, language, title, summary, sparks, stars }}
        problems={isUnknown ? [...problems, UNKNOWN_LANGUAGE] : problems}
        isFallback={query.window === undefined && window !== "24h"}
        lists={found}
        languages={gaining.languages}
        topics={language === undefined ? gaining.topics : []}
      />
    ),
  };
}

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
  return day < ROWS && leaders("trending", "7d").length > day ? "7d" : "24h";
}

interface ShownList {
  sort: HomeRanking;
  /** Whether it leaves out the rows of Trending. */
  isBeyond: boolean;
}

/** The repositories of each list. One that Trending would empty repeats them. */
function shownLists(leaders: Leaders, window: Window): (ShownList & { ids: number[] })[] {
  const trending = new Set(leaders("trending", window).slice(0, ROWS));
  return LISTS.map((sort) => {
    const ids = leaders(sort, window);
    const others = BEYOND_TRENDING.includes(sort) ? ids.filter((id) => !trending.has(id)) : [];
    const isBeyond = others.length > 0;
    return { sort, isBeyond, ids: (isBeyond ? others : ids).slice(0, ROWS) };
  });
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
}: Chosen & { summary: CurrentSummary; now: number }): string {
  const { asOf } = summary;
  const span = isOld(asOf, now)
    ? `the ${WINDOW_LABELS[window]} to ${formatDate(asOf)}`
    : `the last ${WINDOW_LABELS[window]}`;
  return `What grew in ${span}${language === undefined ? "" : `: ${language}`}`;
}

interface HomeBodyProps extends Chosen {
  url: URL;
  title: string;
  summary: CurrentSummary;
  problems: readonly Problem[];
  /** Whether 7 days replace 24 hours, for which too little is known. */
  isFallback: boolean;
  lists: readonly (ShownList & { rows: readonly ListRow[] })[];
  languages: readonly Facet[];
  topics: readonly Facet[];
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
  stars: ListStars;
}

const HomeBody: FC<HomeBodyProps> = (props) => {
  const { url, title, summary, window, language, problems, isFallback, lists, languages, topics } = props;
  const full = lists.filter(({ rows }) => rows.length > 0);
  const empty = lists.filter(({ rows }) => rows.length === 0);
  return (
    <>
      <div class="apart home-head">
        <h1>{title}</h1>
        <Choices {...{ url, window, language, languages }} />
      </div>
      <Problems problems={problems} isLeftOut />
      <div class="grid lists">
        {full.map((list) => (
          <ListSection {...props} {...list} />
        ))}
        <Facets
          title="Languages"
          path={LANGUAGES_PAGE}
          facets={languages}
          page={languagePage}
          window={window}
        />
        <Facets title="Topics" path={TOPICS_PAGE} facets={topics} page={topicPage} window={window} />
      </div>
      <Missing lists={empty} window={window} />
      <p class="measured">
        <a class="chip" href="/about">
          <AsOf at={summary.asOf} measured={summary.measured} />
          <span>
            {" "}
            · {formatCount(summary.repositories)} repositories · {formatCount(summary.snapshots)} snapshots
          </span>
        </a>{" "}
        <span class="soft small">
          Every gain is the difference of two stored counts.
          {isFallback
            ? ` Fewer than ten ${language === undefined ? "" : `${language} `}repositories have known growth in 24 hours, so this is a week.`
            : ""}
        </span>
      </p>
      <StillHeldNote trends={full.flatMap(({ rows }) => rows.map(({ trend }) => trend))} />
    </>
  );
};

/** The chips of the page: windows, and the languages that gained most in this one. */
const Choices: FC<Pick<HomeBodyProps, "url" | "window" | "language" | "languages">> = ({
  url,
  window,
  language,
  languages,
}) => {
  const top = languages.slice(0, CHIPS).map(({ name }) => name);
  const offered = language === undefined || top.includes(language) ? top : [language, ...top];
  return (
    <div class="pickers">
      <Chips
        label="Window"
        chips={WINDOWS.map((one) => ({
          name: one,
          href: withQuery(url, { window: one }),
          isCurrent: one === window,
        }))}
      />
      {offered.length === 0 ? null : (
        <Chips
          label="Language"
          chips={[
            {
              name: "All languages",
              href: withQuery(url, { language: undefined }),
              isCurrent: language === undefined,
            },
            ...offered.map((name) => ({
              name,
              language: name,
              href: withQuery(url, { language: name }),
              isCurrent: name === language,
            })),
          ]}
        />
      )}
    </div>
  );
};

type ListSectionProps = Pick<HomeBodyProps, "window" | "language" | "sparks" | "stars"> &
  HomeBodyProps["lists"][number];

const ListSection: FC<ListSectionProps> = ({ sort, isBeyond, rows, window, language, sparks, stars }) => {
  const { label, description } = RANKING_DEFINITIONS[sort];
  const list = explorePage(
    new URLSearchParams({ sort, window, ...(language === undefined ? {} : { language }) }),
  );
  return (
    <section>
      <div class="apart">
        <h2>
          <a href={list}>{label}</a>
        </h2>
        <span class="soft small">
          {description}
          {isBeyond ? ", beyond Trending" : ""}
          {sort === "new-hot" ? ", or first seen then" : ""}
        </span>
      </div>
      <RepositoryList
        rows={rows}
        caption={label}
        // Without those in Trending, ranks would have gaps.
        {...(isBeyond ? {} : { from: 1 })}
        sparks={sparks}
        metric={sort === "fork-growth" ? "forks" : "stars"}
        withGrowth={sort === "rising"}
        marksFirstSeen={sort === "new-hot"}
        isShort
        ranking={sort}
        {...stars}
      />
      <p class="soft small ways">
        <a href={list} aria-label={`Full list of ${label}, ${window}`}>
          Full list
        </a>{" "}
        ·{" "}
        <a href={feedAddress({ sort, window, language })} aria-label={`Atom feed of ${label}, ${window}`}>
          Atom feed
        </a>
      </p>
    </section>
  );
};

function feedAddress({ sort, window, language }: Chosen & { sort: HomeRanking }): string {
  const query = new URLSearchParams({ window, ...(language === undefined ? {} : { language }) });
  return `/api/feeds/${sort}.atom?${query}`;
}

/** Names the lists without repositories, and why they are empty; nothing without any. */
const Missing: FC<Pick<HomeBodyProps, "lists" | "window">> = ({ lists, window }) => {
  if (lists.length === 0) return null;
  const names = lists.map(({ sort }) => RANKING_DEFINITIONS[sort].label).join(", ");
  return (
    <p class="soft">
      Nothing in {WINDOW_LABELS[window]} yet: {names}.
      {lists.some(({ sort }) => sort === "trending")
        ? " Growth needs two snapshots of a repository, at least half a day apart."
        : ""}
      {lists.some(({ sort }) => sort === "new-hot")
        ? " New and hot has repositories younger than 90 days, or first seen with few stars where creation dates are not known."
        : ""}{" "}
      <a href={explorePage(new URLSearchParams({ sort: "stars" }))}>Repositories by stars</a>
    </p>
  );
};

interface FacetsProps {
  title: string;
  path: string;
  facets: readonly Facet[];
  page: (name: string) => string;
  window: Window;
}

/** The languages or topics that gained most; nothing if none did, since not every forge reports them. */
const Facets: FC<FacetsProps> = ({ title, path, facets, page, window }) =>
  facets.length === 0 ? null : (
    <section>
      <div class="apart">
        <h2>
          <a href={`${path}?sort=stars-gained&window=${window}`}>{title}</a>
        </h2>
        <span class="soft small">Most stars gained</span>
      </div>
      <FacetBars facets={facets} page={page} hasDots={path === LANGUAGES_PAGE} />
    </section>
  );
