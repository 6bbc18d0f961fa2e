import type { FC } from "hono/jsx";
import { isGrowthSort, isSort, type ListQuery, listPage, listQuery } from "../../lists/lists.js";
import type { Modules } from "../../modules.js";
import type { Home, Summary } from "../../rankings/rankings.js";
import { addressOf, canonicalAddress, withQuery } from "../components/addresses.js";
import { Alternates, alternatesOf } from "../components/alternates.js";
import { FILTER_FIELDS } from "../components/filter-fields.js";
import { FilterForm } from "../components/filter-form.js";
import { type ActiveFilter, activeFilters } from "../components/filters.js";
import { type Listing, ListingView, readListing } from "../components/listing.js";
import { Nothing } from "../components/nothing.js";
import { AsOf, formatCount } from "../components/numbers.js";
import { BeyondEnd } from "../components/pager.js";
import { Problems } from "../components/problems.js";
import { RenamedHint } from "../components/rename-notice.js";
import { offeredSorts, SORT_NAMES } from "../components/sorts.js";
import { Strip } from "../components/strip.js";
import { WindowTabs } from "../components/tabs.js";
import { TrackForms } from "../components/track-forms.js";
import { type Problem, readQuery, resultOrProblems } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { type ListStars, starScripts, starsOf } from "../saving.js";
import { offerTracking, type TrackingOffer } from "../tracking-offer.js";

/** All repositories, with every filter and sort. */
export async function showExplore(request: PageRequest): Promise<Page> {
  const { modules, summary, tracked } = request;
  const { url, query, problems } = readQuery(listQuery, request.url);
  const [home, result] = await Promise.all([
    modules.rankings.home(),
    resultOrProblems(async () => query && { query, ...(await readListing(modules, query)) }),
  ]);
  if (summary.repositories === 0)
    return { title: "Explore", description: DESCRIPTION, body: <Nothing tracked={tracked} /> };
  const filters = activeFilters(url);
  const { found } = result;
  const sort = found?.list.sort ?? url.searchParams.get("sort") ?? "trending";
  const frame = { url, filters, sort, summary, home, problems: [...problems, ...result.problems] };
  const shared = { description: DESCRIPTION, scripts: ["filters.js", ...starScripts(request)] };
  if (found === undefined)
    return { ...shared, title: "Explore", status: 400, body: <ExplorePage {...frame} /> };
  const isEmpty = found.list.rows.length === 0;
  const looser = isEmpty ? await withoutEach(modules, filters) : [];
  const isWithoutMatch = isEmpty && found.list.page === 1 && found.query.q !== undefined;
  const offers = isWithoutMatch ? await offerTracking(request, [found.query.q ?? ""]) : [];
  const stars = await starsOf(request, found.list.rows, addressOf(url));
  return {
    ...shared,
    title: titleOf(sort, filters),
    canonical: canonicalAddress(url),
    alternates: alternatesOf(url, sort).map(({ type, href, name }) => ({ type, href, title: name })),
    body: <ExplorePage {...frame} {...{ found, looser, offers, stars }} />,
  };
}

const DESCRIPTION = "Repositories by language, topic, size, age and measured growth.";

function titleOf(sort: string, filters: readonly ActiveFilter[]): string {
  const name = isSort(sort) ? SORT_NAMES[sort] : "Explore";
  return [`${name} repositories`, ...filters.slice(0, 4).map(({ text }) => text)].join(", ");
}

/** The list without one of its filters. */
interface Looser extends ActiveFilter {
  total: number;
  totalIsExact: boolean;
}

/** Filters of an empty list that are tried without. */
const MAX_TRIED = 5;

/** The lists without each of the filters, as far as they have results. */
async function withoutEach(modules: Modules, filters: readonly ActiveFilter[]): Promise<Looser[]> {
  const tried = filters.slice(0, MAX_TRIED).map(async (filter): Promise<Looser[]> => {
    const { query } = readQuery(listQuery, new URL(filter.href, "http://localhost"));
    if (query === undefined) return [];
    const { found } = await resultOrProblems(() => listTotal(modules, query));
    return found === undefined || found.total === 0 ? [] : [{ ...filter, ...found }];
  });
  return (await Promise.all(tried)).flat();
}

async function listTotal(
  modules: Modules,
  query: ListQuery,
): Promise<Pick<Looser, "total" | "totalIsExact">> {
  const { total, totalIsExact } = await listPage(modules, { ...query, limit: 1, page: 1 });
  return { total, totalIsExact };
}

interface ExploreProps {
  url: URL;
  filters: readonly ActiveFilter[];
  sort: string;
  summary: Summary;
  home: Home;
  problems: readonly Problem[];
  /** Absent if a parameter is invalid. */
  found?: Listing & { query: ListQuery };
  looser?: readonly Looser[];
  /** The repository that the search names, if it may be requested. */
  offers?: readonly TrackingOffer[];
  stars?: ListStars;
}

const ExplorePage: FC<ExploreProps> = ({
  url,
  filters,
  sort,
  summary,
  home,
  problems,
  found,
  looser = [],
  offers = [],
  stars = {},
}) => {
  const fields: readonly string[] = FILTER_FIELDS;
  const several = summary.providers.length > 1;
  const hasForm = (parameter: string) => parameter !== "provider" || several;
  return (
    <>
      <h1>Explore</h1>
      <Problems problems={problems} fields={fields.filter(hasForm)} />
      <div class="beside">
        <details class="filters" open={problems.length > 0}>
          <summary class="button">Filters{filters.length === 0 ? "" : ` (${filters.length})`}</summary>
          <FilterForm {...{ url, problems, summary }} languages={home.languages} topics={home.topics} />
        </details>
        <section aria-labelledby="found">
          <Sorts url={url} sort={sort} />
          {found === undefined ? (
            <h2 id="found" class="count">
              Fix the filters above to see results
            </h2>
          ) : (
            <Found {...{ url, filters, summary, looser, offers, stars, ...found }} />
          )}
        </section>
      </div>
    </>
  );
};

const Sorts: FC<{ url: URL; sort: string }> = ({ url, sort }) => (
  <Strip
    label="Sort by"
    tabs={offeredSorts(sort, url.searchParams.has("q")).map((name) => ({
      name: SORT_NAMES[name],
      href: withQuery(url, { sort: name }),
      isCurrent: name === sort,
    }))}
  />
);

interface FoundProps extends Listing {
  url: URL;
  filters: readonly ActiveFilter[];
  summary: Summary;
  looser: readonly Looser[];
  offers: readonly TrackingOffer[];
  query: ListQuery;
  stars: ListStars;
}

const Found: FC<FoundProps> = ({ url, filters, summary, looser, offers, query, stars, list, sparks }) => (
  <>
    <div class="apart">
      <h2 id="found" class="count">
        {countText(list.total, list.totalIsExact)}{" "}
        {isGrowthSort(list.sort) ? (
          <small>
            with growth in {query.window}
            {filters.length === 0 ? `, of ${formatCount(summary.repositories)}` : ""}
          </small>
        ) : null}{" "}
        <small>
          <AsOf at={list.asOf} ageDays={list.ageDays} />
        </small>
      </h2>
      <WindowTabs url={url} current={query.window} />
    </div>
    {filters.length === 0 ? null : (
      <ul class="tags" aria-label="Filters">
        {filters.map(({ text, href }) => (
          <li>
            <a href={href}>
              <span class="hidden">Remove filter </span>
              <bdi>{text}</bdi> <span aria-hidden="true">×</span>
            </a>
          </li>
        ))}
      </ul>
    )}
    {list.corrected === null ? null : (
      <p>
        Showing results for <strong>{list.corrected}</strong>.{" "}
        <a href={withQuery(url, { verbatim: "true" })}>Search instead for {query.q}</a>
      </p>
    )}
    {list.renamed === undefined ? null : <RenamedHint renamed={list.renamed} />}
    {list.rows.length === 0 ? (
      <Empty {...{ url, filters, looser, offers, query }} sort={list.sort} isFirst={list.page === 1} />
    ) : (
      <ListingView
        {...{ list, sparks, url, query }}
        {...stars}
        caption={`Repositories, growth in ${query.window}`}
        withForge={summary.providers.length > 1}
      />
    )}
    <Alternates alternates={alternatesOf(url, list.sort)} />
  </>
);

function countText(total: number, totalIsExact: boolean): string {
  const count = `${formatCount(total)} ${total === 1 ? "repository" : "repositories"}`;
  return totalIsExact ? count : `more than ${count}`;
}

interface EmptyProps {
  url: URL;
  filters: readonly ActiveFilter[];
  looser: readonly Looser[];
  offers: readonly TrackingOffer[];
  query: ListQuery;
  sort: string;
  isFirst: boolean;
}

/** Why the list is empty, and how to get results. */
const Empty: FC<EmptyProps> = ({ url, filters, looser, offers, query, sort, isFirst }) => {
  if (!isFirst) return <BeyondEnd url={url} />;
  const isGrowth = isGrowthSort(sort);
  return (
    <>
      <p>
        {filters.length === 0
          ? "This list is empty."
          : filters.length === 1
            ? `No matches: ${filters[0]?.text}.`
            : "No repository matches all of these filters."}
      </p>
      <TrackForms offers={offers} />
      {looser.length === 0 ? null : (
        <ul>
          {looser.map(({ text, href, total, totalIsExact }) => (
            <li>
              Without <a href={href}>{text}</a>: {countText(total, totalIsExact)}
            </li>
          ))}
        </ul>
      )}
      {isGrowth ? (
        <p>
          This list has only repositories with known growth in {query.window}. Try{" "}
          <a href={withQuery(url, { window: query.window === "30d" ? "7d" : "30d" })}>another window</a> or{" "}
          <a href={withQuery(url, { sort: "stars" })}>sort by stars</a>.
        </p>
      ) : null}
      {filters.length > 1 ? (
        <p>
          <a href={url.pathname}>Clear all filters</a>
        </p>
      ) : null}
    </>
  );
};
