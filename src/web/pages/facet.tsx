import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  cursorParameter,
  type FacetKind,
  type FacetTotals,
  isGrowthSort,
  type ListRow,
  listQuery,
  pageParameter,
  rankingParameter,
  SORT_DEFINITIONS,
  type Summary,
  windowParameter,
} from "../../discovery/discovery.js";
import { RANKINGS, WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { AppError } from "../../lib/errors.js";
import { explorePage, languagePage, topicPage } from "../../lib/page-addresses.js";
import { Facts } from "../components/elements.js";
import { Dot } from "../components/language.js";
import { addressOf, BeyondEnd, Strip, Tags, WindowTabs, withQuery } from "../components/links.js";
import { Alternates, alternatesOf, type Listing, ListingView, readListing } from "../components/listing.js";
import { AsOf, FacetDelta, formatCount, isolated } from "../components/numbers.js";
import { FacetGains } from "../components/small-charts.js";
import { feedPath } from "../components/sorts.js";
import { type Problem, Problems, readQuery, resultOrProblems } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { type ListStars, starScripts, starsOf } from "../saving.js";

export const facetQuery = z.object({
  sort: rankingParameter,
  window: windowParameter,
  page: pageParameter,
  cursor: cursorParameter,
});
type FacetQuery = z.output<typeof facetQuery>;

/** The parameters of a list by default. */
const UNFILTERED = listQuery.parse({});

/** The page of one language. */
export function showLanguage(request: PageRequest): Promise<Page> {
  return facet(request, "language");
}

/** The page of one topic. */
export function showTopic(request: PageRequest): Promise<Page> {
  return facet(request, "topic");
}

async function facet(request: PageRequest, kind: FacetKind): Promise<Page> {
  const { modules, summary } = request;
  const found = await modules.rankings.findFacet(kind, request.params.name ?? "");
  if (found === undefined) throw new AppError("NOT_FOUND", `No repository has this ${kind}.`);
  const { url, query, problems } = readQuery(facetQuery, request.url);
  const filter = { [kind]: [found.name.toLowerCase()] };
  const result = await resultOrProblems(
    async () => query && { query, ...(await readListing(request, { ...UNFILTERED, ...query, ...filter })) },
  );
  const canonical = kind === "language" ? languagePage(found.name) : topicPage(found.name);
  const shared = {
    title: kind === "language" ? `${found.name} repositories` : `Repositories about ${found.name}`,
    description: `${formatCount(found.repositories)} repositories: trending, rising, new and largest.`,
  };
  const frame = { kind, facet: found, url, summary };
  if (result.found === undefined)
    return {
      ...shared,
      status: 400,
      body: <FacetBody {...frame} problems={[...problems, ...result.problems]} />,
    };
  const { list } = result.found;
  const leaders = await gainingMost(request, { kind, name: found.name, window: result.found.query.window });
  const stars = await starsOf(request, list.rows, addressOf(url));
  const feed = feedPath(list.sort);
  // Feeds default to a week, lists to a day.
  const feedQuery = { ...filter, window: url.searchParams.get("window") ?? "24h" };
  return {
    ...shared,
    canonical: url.searchParams.size === 0 ? canonical : `${canonical}?${url.searchParams}`,
    alternates:
      feed === undefined
        ? []
        : [
            {
              type: "application/atom+xml",
              href: withQuery(new URL(feed, url), feedQuery),
              title: `${found.name}, ${list.sort}`,
            },
          ],
    showsAge: true,
    scripts: starScripts(request),
    body: <FacetBody {...frame} problems={[]} found={{ ...result.found, stars, leaders }} />,
  };
}

/** Repositories in the chart of a language or topic. */
const CHARTED = 5;

/** The repositories of a language or topic that gained most in a window; none for a topic that is too rare to be ranked. */
async function gainingMost(
  { modules: { rankings, lists } }: PageRequest,
  { kind, name, window }: { kind: FacetKind; name: string; window: Window },
): Promise<ListRow[]> {
  const leaders = await rankings.leaders({ scope: kind, name, limit: CHARTED });
  return lists.rows(leaders("stars-gained", window), window);
}

interface FacetBodyProps {
  kind: FacetKind;
  facet: FacetTotals;
  url: URL;
  summary: Summary;
  problems: readonly Problem[];
  /** Absent if a parameter is invalid. */
  found?: Listing & { query: FacetQuery; stars: ListStars; leaders: readonly ListRow[] };
}

const FacetBody: FC<FacetBodyProps> = ({ kind, facet, url, summary, problems, found }) => (
  <>
    <h1>
      {kind === "language" ? <Dot name={facet.name} /> : null}
      {facet.name}
    </h1>
    <Facts
      facts={[
        { name: "Repositories", value: formatCount(facet.repositories) },
        { name: "Stars", value: formatCount(facet.stars) },
        ...WINDOWS.map((window) => ({
          name: `Gained in ${WINDOW_LABELS[window]}`,
          value: <FacetDelta gain={facet.gained[window]} repositories={facet.repositories} />,
        })),
      ]}
    />
    <Problems problems={problems} />
    {found === undefined ? null : (
      <>
        <Related kind={kind} name={facet.name} list={found.list} />
        <FacetGains totals={facet} window={found.query.window} leaders={found.leaders} />
      </>
    )}
    <Strip
      label="Ranking"
      tabs={RANKINGS.map((sort) => ({
        name: SORT_DEFINITIONS[sort].label,
        href: withQuery(url, { sort }),
        isCurrent: sort === found?.query.sort,
      }))}
    />
    {found === undefined ? null : (
      <FacetList {...{ kind, url }} {...found} name={facet.name} withForge={summary.providers.length > 1} />
    )}
  </>
);

type FacetListProps = NonNullable<FacetBodyProps["found"]> & {
  kind: FacetKind;
  name: string;
  url: URL;
  withForge: boolean;
};

const FacetList: FC<FacetListProps> = ({ kind, name, url, query, stars, list, sparks, withForge }) => {
  const explore = withQuery(new URL("/explore", url), {
    [kind]: name,
    sort: query.sort,
    window: query.window,
  });
  return (
    <>
      <div class="apart">
        <h2 class="count">
          {SORT_DEFINITIONS[query.sort].label}
          <small>
            <AsOf at={list.asOf} measured={list.measured} />
          </small>
        </h2>
        <WindowTabs url={url} current={query.window} />
      </div>
      {list.rows.length === 0 && list.page !== 1 ? (
        <BeyondEnd url={url} />
      ) : list.rows.length === 0 ? (
        <p>
          {isGrowthSort(query.sort)
            ? `No repositories with known growth in ${query.window}. `
            : "No repositories in this ranking. "}
          <a href={withQuery(url, { sort: "stars" })}>Sort by stars</a>
        </p>
      ) : (
        <ListingView
          {...{ list, sparks, url, withForge }}
          {...stars}
          withLanguage={kind !== "language"}
          query={{ limit: UNFILTERED.limit, order: "desc" }}
          sorts={RANKINGS}
          hasOrder={false}
          caption={`${isolated(name)}: ${SORT_DEFINITIONS[query.sort].label}, ${query.window}`}
        />
      )}
      <p>
        <a href={explore}>Filter this list</a>
      </p>
      <Alternates alternates={alternatesOf(new URL(explore, url), query.sort)} />
    </>
  );
};

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
