import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import { forgeName } from "../../config/config.js";
import type {
  CurrentSummary,
  Facet,
  FacetKind,
  FacetPage,
  FacetSort,
  Summary,
} from "../../discovery/discovery.js";
import {
  facetSortParameter,
  pageParameter,
  providerParameter,
  RANKED_FROM,
  windowParameter,
} from "../../discovery/discovery.js";
import { LANGUAGES_PAGE, languagePage, TOPICS_PAGE, topicPage } from "../../lib/page-addresses.js";
import { Dot } from "../components/language.js";
import { BeyondEnd, canonicalAddress, Pager, Strip, WindowTabs, withQuery } from "../components/links.js";
import { AsOf, FacetDelta, formatCompact, formatCount, isCovered } from "../components/numbers.js";
import { Nothing } from "../first-run.js";
import { type Problem, Problems, readQuery } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";

const LIMIT = 50;
/** Facets beyond these pages are not sorted. */
const MAX_PAGE = 200;

export const facetsQuery = z.object({
  // The list begins with what grows: the numbers of repositories are much alike.
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

/** All languages. */
export function showLanguages(request: PageRequest): Promise<Page> {
  return facets(request, "language");
}

/** All topics. */
export function showTopics(request: PageRequest): Promise<Page> {
  return facets(request, "topic");
}

async function facets(
  { modules: { rankings }, summary, ...request }: PageRequest,
  kind: FacetKind,
): Promise<Page> {
  const { title } = KINDS[kind];
  const shared = { title, description: `${title} by repositories, stars and measured growth.` };
  if (summary.repositories === 0) return { ...shared, body: <Nothing leadsHome /> };
  const { url, query, problems } = readQuery(facetsQuery, request.url);
  const frame = { kind, summary, url, problems };
  if (query === undefined) return { ...shared, status: 400, body: <FacetsPage {...frame} /> };
  const page = await rankings.facets(requestOf(kind, query));
  return {
    ...shared,
    showsAge: true,
    canonical: canonicalAddress(url),
    body: <FacetsPage {...frame} found={{ page, query }} />,
  };
}

function requestOf(kind: FacetKind, { sort, window, provider, page = 1 }: FacetsQuery) {
  const among = provider === undefined ? {} : { provider };
  return { kind, sort, window, ...among, limit: LIMIT, offset: (page - 1) * LIMIT };
}

interface FacetsPageProps {
  kind: FacetKind;
  url: URL;
  summary: CurrentSummary;
  problems: readonly Problem[];
  found?: { page: FacetPage; query: FacetsQuery };
}

const FacetsPage: FC<FacetsPageProps> = ({ kind, url, summary, problems, found }) => {
  const { title } = KINDS[kind];
  const known = kind === "language" ? summary.languages : summary.topics;
  return (
    <>
      <h1>{title}</h1>
      <p class="lead">
        {known === 0 ? `No ${title.toLowerCase()}` : `${formatCount(known)} ${title.toLowerCase()}`} in{" "}
        {formatCount(summary.repositories)} {summary.repositories === 1 ? "repository" : "repositories"} ·{" "}
        <AsOf at={summary.asOf} measured={summary.measured} />
      </p>
      <Problems problems={problems} />
      {known === 0 ? null : <WindowTabs url={url} current={found?.query.window ?? ""} />}
      {known === 0 ? null : <ForgeChoices url={url} summary={summary} current={found?.query.provider} />}
      {found === undefined ? null : <FacetTable {...{ kind, url }} {...found} />}
    </>
  );
};

/** Links that filter the page by forge; nothing if there is only one. */
const ForgeChoices: FC<{ url: URL; summary: Summary; current: string | undefined }> = ({
  url,
  summary: { providers },
  current,
}) =>
  providers.length < 2 ? null : (
    <Strip
      label="Forge"
      tabs={[
        {
          name: "All forges",
          href: withQuery(url, { provider: undefined }),
          isCurrent: current === undefined,
        },
        ...providers.map(({ provider }) => ({
          name: forgeName(provider),
          href: withQuery(url, { provider: provider.toLowerCase() }),
          isCurrent: current === provider,
        })),
      ]}
    />
  );

/** The head of a column, which sorts the list by it. */
const Head: FC<{ url: URL; sort: FacetSort; current: FacetSort; children: Child }> = ({
  url,
  sort,
  current,
  children,
}) => (
  <th scope="col" class="number" aria-sort={sort === current ? "descending" : undefined}>
    {sort === current ? (
      <>
        {children}
        <span class="sorted" aria-hidden="true">
          ▼
        </span>
      </>
    ) : (
      <a href={withQuery(url, { sort })}>{children}</a>
    )}
  </th>
);

const FacetTable: FC<{ kind: FacetKind; url: URL; page: FacetPage; query: FacetsQuery }> = ({
  kind,
  url,
  page: { facets: rows, total, totalIsExact },
  query: { sort, window, provider, page = 1 },
}) => {
  const { title, one } = KINDS[kind];
  const offset = (page - 1) * LIMIT;
  const barOf = (facet: Facet) => (isCovered(facet, facet.repositories) ? Math.max(0, facet.starsGained) : 0);
  const most = Math.max(1, ...rows.map(barOf));
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
      <table class="list facets">
        <caption class="hidden">
          {title}
          {provider === undefined ? "" : ` on ${forgeName(provider)}`}, by {SORT_NAMES[sort].toLowerCase()}
        </caption>
        <thead>
          <tr>
            <th scope="col" class="rank">
              <abbr title="Rank">#</abbr>
            </th>
            <th scope="col">{one}</th>
            <th scope="col" class="spare">
              <span class="hidden">Gained, as a bar</span>
            </th>
            <Head url={url} sort="repository-count" current={sort}>
              <abbr title="Repositories">Repos</abbr>
            </Head>
            <Head url={url} sort="stars" current={sort}>
              Stars
            </Head>
            <Head url={url} sort="stars-gained" current={sort}>
              Gained<span class="spare"> in {window}</span>
            </Head>
          </tr>
        </thead>
        <tbody>
          {rows.map((facet, i) => (
            <tr>
              <td class="rank">{offset + i + 1}</td>
              <th scope="row" class="title">
                {kind === "language" ? <Dot name={facet.name} /> : null}
                <a href={KINDS[kind].pageOf(facet.name)}>{facet.name}</a>
                {facet.measured >= RANKED_FROM && 2 * facet.largestGain > facet.starsGained ? (
                  <small class="counted">mostly one repository</small>
                ) : null}
              </th>
              <td class="spare bar">
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={((100 * barOf(facet)) / most).toFixed(1)} height="6" />
                </svg>
              </td>
              <td class="number">{formatCount(facet.repositories)}</td>
              <td class="number">{formatCompact(facet.stars)}</td>
              <td class="number">
                <FacetDelta gain={facet} repositories={facet.repositories} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
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
