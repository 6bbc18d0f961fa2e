import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { forgeName } from "../../config/config.js";
import {
  cursorParameter,
  type Facet,
  type FacetKind,
  type FacetPage,
  type FacetSort,
  facetSortParameter,
  isGrowthSort,
  listQuery,
  MAIN_SORTS,
  pageParameter,
  providerParameter,
  RANKED_FROM,
  type Rankings,
  SORT_DEFINITIONS,
  windowParameter,
  windowsOf,
} from "../../discovery/discovery.js";
import { WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { AppError } from "../../lib/errors.js";
import {
  explorePage,
  LANGUAGES_PAGE,
  languagePage,
  TOPICS_PAGE,
  topicPage,
} from "../../lib/page-addresses.js";
import { oneOf } from "../../lib/schema.js";
import { readSum, SumChart, sumParameters } from "../components/chart-controls.js";
import {
  addressOf,
  BeyondEnd,
  canonicalAddress,
  Facts,
  Pager,
  Tabs,
  Tags,
  WindowTabs,
  withQuery,
} from "../components/elements.js";
import {
  Alternates,
  alternatesOf,
  feedPath,
  type Listing,
  ListingView,
  readListing,
  sortTab,
} from "../components/listing.js";
import { AsOf, Dot, FacetDelta, formatCompact, formatCount, isolated } from "../components/numbers.js";
import { PLOT_SCRIPTS } from "../components/plot.js";
import { FacetGains } from "../components/small-charts.js";
import { type Column, Table } from "../components/table.js";
import { Nothing } from "../first-run.js";
import { Problems, readQuery, resultOrProblems } from "../page.js";
import type { Page, PageRequest, RenderContext } from "../page-request.js";
import { starScripts, starsOf } from "../saving.js";

const LIMIT = 50;
/** The part of a gain from which it is called mostly that of one repository, which then counts for less in the order. */
const MOSTLY = 0.5;
/** Facets beyond these pages are not sorted. */
const MAX_PAGE = 200;

export const facetsQuery = z.object({
  // The list begins with the growing ones: the numbers of repositories are much alike.
  sort: facetSortParameter.removeDefault().default("stars-gained"),
  window: windowParameter,
  provider: providerParameter.optional(),
  page: pageParameter.refine((page = 1) => page <= MAX_PAGE, `must be a whole number from 1 to ${MAX_PAGE}`),
});
type FacetsQuery = z.output<typeof facetsQuery>;

/** Names and paths of the two kinds. */
const KINDS: Readonly<
  Record<FacetKind, { path: string; pageOf: (name: string) => string; title: string; one: string }>
> = {
  language: { path: LANGUAGES_PAGE, pageOf: languagePage, title: "Languages", one: "Language" },
  topic: { path: TOPICS_PAGE, pageOf: topicPage, title: "Topics", one: "Topic" },
};

const SORT_NAMES: Readonly<Record<FacetSort, string>> = {
  "repository-count": "Repositories",
  stars: "Stars",
  "stars-gained": "Stars gained",
};

/** All languages, or all topics. */
export const showFacets =
  (kind: FacetKind) =>
  async ({ modules: { rankings }, summary, ...request }: PageRequest): Promise<Page> => {
    const { title } = KINDS[kind];
    const description = `${title} by repositories, stars and measured growth.`;
    if (summary.repositories === 0) return { title, description, body: <Nothing leadsHome /> };
    const { url, query, problems } = readQuery(facetsQuery, request.url);
    const found = query && (await rankings.facets(requestOf(kind, query)));
    const { languages, topics } = await rankings.summary();
    const known = kind === "language" ? languages : topics;
    return {
      title,
      description,
      ...(found ? { showsAge: true, canonical: canonicalAddress(url) } : { status: 400 }),
      body: (
        <>
          <h1>{title}</h1>
          <p class="lead">
            {known === 0 ? `No ${title.toLowerCase()}` : `${formatCount(known)} ${title.toLowerCase()}`} in{" "}
            {formatCount(summary.repositories)} {summary.repositories === 1 ? "repository" : "repositories"} ·{" "}
            <AsOf at={summary.asOf} measured={summary.measured} />
          </p>
          <Problems problems={problems} />
          {known === 0 ? null : <WindowTabs url={url} current={query?.window ?? ""} />}
          {known === 0 || summary.providers.length < 2 ? null : (
            <Tabs
              look="strip"
              label="Forge"
              tabs={[
                {
                  name: "All forges",
                  href: withQuery(url, { provider: undefined }),
                  isCurrent: query?.provider === undefined,
                },
                ...summary.providers.map(({ provider }) => ({
                  name: forgeName(provider),
                  href: withQuery(url, { provider: provider.toLowerCase() }),
                  isCurrent: query?.provider === provider,
                })),
              ]}
            />
          )}
          {found && query ? <FacetTable {...{ kind, url, query }} page={found} /> : null}
        </>
      ),
    };
  };

function requestOf(kind: FacetKind, { sort, window, provider, page = 1 }: FacetsQuery) {
  const among = provider === undefined ? {} : { provider };
  return { kind, sort, window, ...among, limit: LIMIT, offset: (page - 1) * LIMIT };
}

interface ShownFacets {
  kind: FacetKind;
  url: URL;
  sort: FacetSort;
  window: Window;
  /** Facets before the first row. */
  offset: number;
}

function columnsOf({ kind, url, sort, window, offset }: ShownFacets): Column<Facet>[] {
  const sorted = (name: FacetSort, column: Pick<Column<Facet>, "head" | "cell">): Column<Facet> => ({
    ...column,
    isNumber: true,
    sorting:
      name === sort ? { sorted: "descending" } : { href: withQuery(url, { sort: name }), sorted: undefined },
  });
  return [
    { head: <abbr title="Rank">#</abbr>, class: "rank", cell: (_, i) => offset + i + 1 },
    {
      head: KINDS[kind].one,
      isName: true,
      class: "title",
      cell: ({ name, measured, largestGain, starsGained }) => (
        <>
          {kind === "language" ? <Dot name={name} /> : null}
          <a href={KINDS[kind].pageOf(name)}>{name}</a>
          {measured >= RANKED_FROM && largestGain > MOSTLY * starsGained ? (
            <small class="counted">mostly one repository</small>
          ) : null}
        </>
      ),
    },
    sorted("repository-count", {
      head: <abbr title="Repositories">Repos</abbr>,
      cell: ({ repositories }) => formatCount(repositories),
    }),
    sorted("stars", { head: "Stars", cell: ({ stars }) => formatCompact(stars) }),
    sorted("stars-gained", {
      head: (
        <>
          Gained<span class="spare"> in {window}</span>
        </>
      ),
      cell: (facet) => <FacetDelta gain={facet} of={facet} />,
    }),
  ];
}

const FacetTable: FC<{ kind: FacetKind; url: URL; page: FacetPage; query: FacetsQuery }> = ({
  kind,
  url,
  page: { facets: rows, total, totalIsExact },
  query: { sort, window, provider, page = 1 },
}) => {
  const { title } = KINDS[kind];
  const offset = (page - 1) * LIMIT;
  if (rows.length === 0 && page > 1) return <BeyondEnd url={url} />;
  if (rows.length === 0)
    return (
      <p>
        No {title.toLowerCase()} yet. Not every source reports them.{" "}
        {provider === undefined ? null : (
          <a href={withQuery(url, { provider: undefined })}>Show all forges</a>
        )}
      </p>
    );
  return (
    <>
      <Table
        label={`${title}${provider === undefined ? "" : ` on ${forgeName(provider)}`}, by ${SORT_NAMES[sort].toLowerCase()}`}
        class="list facets"
        columns={columnsOf({ kind, url, sort, window, offset })}
        rows={rows}
      />
      <Pager
        {...{ url, page, total }}
        limit={LIMIT}
        hasMore={offset + rows.length < total}
        nextCursor={null}
      />
      {sort !== "stars-gained" || rows.every(({ measured }) => measured >= RANKED_FROM) ? null : (
        <p class="soft small">Those with fewer than {RANKED_FROM} measured repositories come last.</p>
      )}
      {totalIsExact ? null : (
        <p class="soft small">
          Only the {formatCount(total)} most common are listed. <a href="/explore">Search</a> finds all of
          them.
        </p>
      )}
    </>
  );
};

export const facetQuery = z.object({
  sort: oneOf(MAIN_SORTS).default("trending"),
  window: windowParameter,
  page: pageParameter,
  cursor: cursorParameter,
  ...sumParameters.shape,
});
type FacetQuery = z.output<typeof facetQuery>;

type NamedFacet = NonNullable<Awaited<ReturnType<Rankings["findFacet"]>>>;

/** The parameters of a list by default. */
const UNFILTERED = listQuery.parse({});

/** The page of one language or topic. */
export const showFacet =
  (kind: FacetKind) =>
  async (request: PageRequest): Promise<Page> => {
    const facet = await request.modules.rankings.findFacet(kind, request.http.params.name ?? "");
    if (facet === undefined) throw new AppError("NOT_FOUND", `No repository has this ${kind}.`);
    const shown = await readFacet(request, kind, facet);
    const { url, found } = shown;
    const { name, repositories } = facet;
    const feed = found && feedPath(found.list.sort);
    // Feeds default to a week, lists to a day.
    const window = url.searchParams.get("window") ?? "24h";
    return {
      title: kind === "language" ? `${name} repositories` : `Repositories about ${name}`,
      description: `${formatCount(repositories)} repositories: trending, rising, new and largest.`,
      status: found ? 200 : 400,
      ...(found && { showsAge: true, canonical: KINDS[kind].pageOf(name) + url.search }),
      scripts: [...starScripts(request), ...((found?.grown.sum.points.length ?? 0) < 2 ? [] : PLOT_SCRIPTS)],
      ...(feed && {
        alternates: [
          {
            type: "application/atom+xml",
            href: withQuery(new URL(feed, url), { [kind]: name.toLowerCase(), window }),
            title: `${name}, ${found.list.sort}`,
          },
        ],
      }),
      body: <FacetBody {...shown} />,
    };
  };

type ShownFacet = Awaited<ReturnType<typeof readFacet>>;

async function readFacet(request: PageRequest, kind: FacetKind, facet: NamedFacet) {
  const { summary } = request;
  const { name } = facet;
  const { url, query, ...read } = readQuery(facetQuery, request.url);
  const { found, problems } = await resultOrProblems(
    async () =>
      query && {
        query,
        ...(await readListing(request, { ...UNFILTERED, ...query, [kind]: [name.toLowerCase()] })),
        grown: await readGrown(request, { kind, name, query }),
      },
  );
  return {
    ...{ kind, facet, summary, url },
    problems: [...read.problems, ...problems],
    found: found && { ...found, stars: await starsOf(request, found.list.rows, addressOf(url)) },
  };
}

const FacetBody: FC<ShownFacet> = (shown) => {
  const { kind, facet, url, problems, found } = shown;
  const { name, repositories } = facet;
  return (
    <>
      <h1>
        {kind === "language" ? <Dot name={name} /> : null}
        {name}
      </h1>
      <Facts
        facts={[
          { name: "Repositories", value: formatCount(repositories) },
          { name: "Stars", value: formatCount(facet.stars) },
          ...WINDOWS.map((window) => ({
            name: `Gained in ${WINDOW_LABELS[window]}`,
            value: <FacetDelta gain={facet.gained[window]} of={facet} />,
          })),
        ]}
      />
      <Problems problems={problems} />
      {found === undefined ? null : <Related kind={kind} name={name} list={found.list} />}
      <Tabs
        label="Ranking"
        look="strip"
        tabs={MAIN_SORTS.map((sort) => sortTab(url, sort, found?.query.sort))}
      />
      {found === undefined ? null : <FacetList {...shown} found={found} />}
    </>
  );
};

/** The repositories of a language or topic, and how it has grown. */
const FacetList: FC<ShownFacet & { found: NonNullable<ShownFacet["found"]> }> = (
  { kind, facet, summary, url, found },
  { isStatic }: RenderContext,
) => {
  const { list, query, grown } = found;
  const { sort, window } = query;
  const explore = withQuery(new URL("/explore", url), { [kind]: facet.name, sort, window });
  return (
    <>
      <div class="apart">
        <h2 class="count">
          {SORT_DEFINITIONS[sort].label}
          <small>
            <AsOf at={list.asOf} measured={list.measured} />
          </small>
        </h2>
        <WindowTabs url={url} current={window} windows={windowsOf(sort)} />
      </div>
      {list.rows.length > 0 ? (
        <ListingView
          {...{ list, days: found.days, url }}
          withForge={summary.providers.length > 1}
          {...found.stars}
          withLanguage={kind !== "language"}
          query={{ limit: UNFILTERED.limit, order: "desc" }}
          sorts={MAIN_SORTS}
          hasOrder={false}
          caption={`${isolated(facet.name)}: ${SORT_DEFINITIONS[sort].label}, ${window}`}
        />
      ) : list.page !== 1 ? (
        <BeyondEnd url={url} />
      ) : (
        <p>
          {isGrowthSort(sort)
            ? `No repositories with known growth in ${window}. `
            : "No repositories in this ranking. "}
          <a href={withQuery(url, { sort: "stars" })}>Sort by stars</a>
        </p>
      )}
      {isStatic ? null : (
        <p>
          <a href={explore}>Filter this list</a>
        </p>
      )}
      <Alternates alternates={alternatesOf(new URL(explore, url), sort)} />
      <FacetGains total={facet.gained[window].starsGained} window={window} leaders={grown.leaders} />
      {grown.sum.measured === 0 ? null : (
        <SumChart
          sum={grown.sum}
          of={grown.sum.repositories === LARGEST ? `, ${LARGEST} largest repositories` : ""}
          asOf={summary.asOf}
          url={url}
          query={query}
        />
      )}
    </>
  );
};

/** Repositories in the chart of gains, and in that of stars over time. */
const GAINING = 5;
const LARGEST = 50;

/**
 * How a language or topic has grown: the repositories that gained most, and the sums of the largest. Nothing for a topic that is too
 * rare to be ranked.
 */
async function readGrown(
  { modules }: PageRequest,
  { kind, name, query: { window, range } }: { kind: FacetKind; name: string; query: FacetQuery },
) {
  const leaders = await modules.rankings.leaders({ scope: kind, name, limit: LARGEST });
  const [rows, sum] = await Promise.all([
    modules.lists.rows(leaders("stars-gained", window).slice(0, GAINING), window),
    readSum(modules, leaders("stars", window), range),
  ]);
  return { leaders: rows, sum };
}

/** Topics or languages shown as related. */
const RELATED = 12;

/** The most common topics of the repositories on this page, and languages of those of a topic, which cost no query. */
const Related: FC<{ kind: FacetKind; name: string; list: Listing["list"] }> = ({ kind, name, list }) => {
  const rows = list.rows.map(({ repository }) => repository);
  const topics = mostCommon(rows.flatMap((repository) => repository.topics)).filter(
    (topic) => kind === "language" || topic !== name,
  );
  const languages = kind === "topic" ? mostCommon(rows.flatMap(({ language }) => language ?? [])) : [];
  const pathOf = (one: { language: string; topic: string }) => explorePage(new URLSearchParams(one));
  return (
    <>
      <Tags
        label="Related topics"
        tags={topics.map((topic) => [
          topic,
          kind === "topic" ? topicPage(topic) : pathOf({ language: name, topic }),
        ])}
      />
      <Tags
        label="Languages"
        tags={languages.map((language) => [language, pathOf({ language, topic: name })])}
      />
    </>
  );
};

function mostCommon(names: readonly string[]): string[] {
  return [...Map.groupBy(names, (name) => name)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, RELATED)
    .map(([name]) => name);
}
