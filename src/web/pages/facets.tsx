import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { forgeName } from "../../config/config.js";
import type { Facet, FacetKind, FacetPage, FacetSort } from "../../discovery/discovery.js";
import {
  facetSortParameter,
  pageParameter,
  providerParameter,
  RANKED_FROM,
  windowParameter,
} from "../../discovery/discovery.js";
import { LANGUAGES_PAGE, languagePage, TOPICS_PAGE, topicPage } from "../../lib/page-addresses.js";
import { Dot } from "../components/language.js";
import { BeyondEnd, canonicalAddress, Pager, Tabs, WindowTabs, withQuery } from "../components/links.js";
import { AsOf, FacetDelta, formatCompact, formatCount } from "../components/numbers.js";
import { type Column, Table } from "../components/table.js";
import { Nothing } from "../first-run.js";
import { Problems, readQuery } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";

const LIMIT = 50;
/** The part of a gain from which it is called mostly that of one repository, which then counts for less in the order. */
const MOSTLY = 0.5;
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

/** All languages, or all topics. */
export const showFacets =
  (kind: FacetKind) =>
  async ({ modules: { rankings }, summary, ...request }: PageRequest): Promise<Page> => {
    const { title } = KINDS[kind];
    const description = `${title} by repositories, stars and measured growth.`;
    if (summary.repositories === 0) return { title, description, body: <Nothing leadsHome /> };
    const { url, query, problems } = readQuery(facetsQuery, request.url);
    const found = query && (await rankings.facets(requestOf(kind, query)));
    const known = kind === "language" ? summary.languages : summary.topics;
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

const FacetTable: FC<{ kind: FacetKind; url: URL; page: FacetPage; query: FacetsQuery }> = ({
  kind,
  url,
  page: { facets: rows, total, totalIsExact },
  query: { sort, window, provider, page = 1 },
}) => {
  const { title, one } = KINDS[kind];
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
  const sorted = (name: FacetSort, column: Pick<Column<Facet>, "head" | "cell">): Column<Facet> => ({
    ...column,
    isNumber: true,
    sorting:
      name === sort ? { sorted: "descending" } : { href: withQuery(url, { sort: name }), sorted: undefined },
  });
  return (
    <>
      <Table
        label={`${title}${provider === undefined ? "" : ` on ${forgeName(provider)}`}, by ${SORT_NAMES[sort].toLowerCase()}`}
        class="list facets"
        columns={[
          { head: <abbr title="Rank">#</abbr>, class: "rank", cell: (_, i) => offset + i + 1 },
          {
            head: one,
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
            cell: (facet) => <FacetDelta gain={facet} repositories={facet.repositories} />,
          }),
        ]}
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
