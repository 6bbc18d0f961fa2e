import type { FunctionComponent as FC } from "preact";
import type { Home, Summary } from "../../discovery/discovery.js";
import {
  type FacetCounts,
  isGrowthSort,
  isSort,
  type ListQuery,
  listPage,
  listQuery,
  SORT_DEFINITIONS,
} from "../../discovery/discovery.js";
import type { Modules } from "../../modules.js";
import { FilterChoices } from "../components/filter-choices.js";
import { type Answerable, FILTER_FIELDS, FilterForm } from "../components/filter-form.js";
import {
  type ActiveFilter,
  activeFilters,
  countedBy,
  type PresetGroup,
  presetGroups,
} from "../components/filters.js";
import { addressOf, BeyondEnd, canonicalAddress, WindowTabs, withQuery } from "../components/links.js";
import { Alternates, alternatesOf, type Listing, ListingView, readListing } from "../components/listing.js";
import { type Help, helpWith, NoMatches, noMatchesText } from "../components/no-matches.js";
import { AsOf, formatCount, repositoriesText } from "../components/numbers.js";
import { RenamedHint } from "../components/repository-notes.js";
import { SortBar } from "../components/sorts.js";
import { Nothing } from "../first-run.js";
import { type Problem, Problems, readQuery, resultOrProblems } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { type ListStars, starScripts, starsOf } from "../saving.js";
import { FIELD_SCRIPTS } from "../tracking.js";

/** The page shows one ranking at a time. */
const sorted = (query: ListQuery): ListQuery =>
  query.q || query.sort ? query : { ...query, sort: "trending" };

/** All repositories, with every filter and sort. */
export async function showExplore(request: PageRequest): Promise<Page> {
  const { modules, summary, now } = request;
  if (summary.repositories === 0) return { title: "Explore", description: DESCRIPTION, body: <Nothing /> };
  const { url, query, problems } = readQuery(listQuery, request.url);
  const presets = presetGroups({ asOf: summary.asOf, now });
  const [home, result] = await Promise.all([
    modules.rankings.home(),
    resultOrProblems(
      async () => query && { query, ...(await readListing(request, sorted(query), countedBy(presets))) },
    ),
  ]);
  const filters = activeFilters(url);
  const { found } = result;
  const sort = found?.list.sort ?? url.searchParams.get("sort") ?? "trending";
  const known = found?.list.counts?.known ?? (await readKnown(modules));
  const frame = {
    ...{ url, filters, sort, presets, summary, home, known },
    problems: [...problems, ...result.problems],
  };
  const shared = {
    description: DESCRIPTION,
    scripts: ["filters.js", ...FIELD_SCRIPTS, ...starScripts(request)],
  };
  if (found === undefined)
    return { ...shared, title: "Explore", status: 400, body: <ExplorePage {...frame} /> };
  const { list } = found;
  const hasNoMatch = list.rows.length === 0 && list.page === 1;
  const help = hasNoMatch ? await helpWith(request, { url, filters, query: found.query }) : undefined;
  const stars = await starsOf(request, list.rows, addressOf(url));
  return {
    ...shared,
    title: `${titleOf(sort, filters)}: ${hasNoMatch ? "no matches" : repositoriesText(list.total)}`,
    showsAge: true,
    canonical: canonicalAddress(url),
    alternates: alternatesOf(url, sort).map(({ type, href, name }) => ({ type, href, title: name })),
    body: <ExplorePage {...frame} {...{ found, help, stars }} />,
  };
}

type Known = FacetCounts["known"] | undefined;

/** The facts that any repository has, for a list without counts; undefined without counts. */
async function readKnown(modules: Modules): Promise<Known> {
  const query = listQuery.parse({ sort: "stars", limit: "1" });
  const { counts } = await listPage(modules, query, {
    counted: { minStars: [], createdAfter: [], pushedAfter: [], values: 0 },
  });
  return counts?.known;
}

const DESCRIPTION = "Repositories by language, topic, size, age and measured growth.";

/** The title of a list. */
export function titleOf(sort: string, filters: readonly ActiveFilter[]): string {
  const name = isSort(sort) ? SORT_DEFINITIONS[sort].label : "Explore";
  return [name, ...filters.slice(0, 4).map(({ text }) => text)].join(", ");
}

interface ExploreProps {
  url: URL;
  filters: readonly ActiveFilter[];
  sort: string;
  presets: readonly PresetGroup[];
  summary: Summary;
  home: Home;
  known: Known;
  problems: readonly Problem[];
  /** Absent if a parameter is invalid. */
  found?: Listing & { query: ListQuery };
  /** Of a list without a match. */
  help?: Help | undefined;
  stars?: ListStars;
}

const ExplorePage: FC<ExploreProps> = ({
  url,
  filters,
  sort,
  presets,
  summary,
  home,
  known,
  problems,
  found,
  help,
  stars = {},
}) => {
  const fields = [...Object.keys(FILTER_FIELDS), "order", "limit"];
  const several = summary.providers.length > 1;
  const hasForm = (parameter: string) => parameter !== "provider" || several;
  const { languages, topics } = home;
  const counts = found?.list.counts;
  const order = found?.query.order ?? "desc";
  const isAnswerable: Answerable = (parameter) =>
    parameter === "topic" ? summary.topics > 0 : (known?.[parameter] ?? true);
  return (
    <>
      <h1>Explore</h1>
      <Problems problems={problems} fields={fields.filter(hasForm)} />
      <div class="beside">
        <details class="filters" open={problems.length > 0}>
          <summary class="button">Filters{filters.length === 0 ? "" : ` (${filters.length})`}</summary>
          {found === undefined ? null : (
            <FilterChoices
              {...{ url, counts, presets, summary, languages, topics }}
              isEmpty={help !== undefined}
            />
          )}
          <details class="exact" open={problems.length > 0}>
            <summary>More filters</summary>
            <FilterForm {...{ url, problems, summary, languages, topics, isAnswerable }} />
          </details>
        </details>
        <section aria-labelledby="found">
          <SortBar {...{ url, sort, order, isAnswerable }} />
          {found === undefined ? (
            <h2 id="found" class="count">
              Fix the filters above to see results
            </h2>
          ) : (
            <Found {...{ url, filters, summary, help, stars, ...found }} />
          )}
        </section>
      </div>
    </>
  );
};

interface FoundProps extends Listing {
  url: URL;
  filters: readonly ActiveFilter[];
  summary: Summary;
  help: Help | undefined;
  query: ListQuery;
  stars: ListStars;
}

const Found: FC<FoundProps> = ({ url, filters, summary, help, query, stars, list, sparks }) => (
  <>
    <div class="apart">
      <h2 id="found" class="count">
        {help === undefined ? repositoriesText(list.total) : noMatchesText(filters)}{" "}
        {help === undefined && isGrowthSort(list.sort) ? (
          <small>
            with growth in {query.window}
            {filters.length === 0 ? `, of ${formatCount(summary.repositories)}` : ""}
          </small>
        ) : null}{" "}
        <small>
          <AsOf at={list.asOf} measured={list.measured} />
        </small>
      </h2>
      <WindowTabs url={url} current={query.window} />
    </div>
    <FilterTags url={url} filters={filters} />
    {list.corrected === null ? null : (
      <p>
        Showing results for <strong>{list.corrected}</strong>.{" "}
        <a href={withQuery(url, { verbatim: "true" })}>Search instead for {query.q}</a>
      </p>
    )}
    {list.renamed === undefined ? null : <RenamedHint renamed={list.renamed} />}
    {help !== undefined ? (
      <NoMatches {...{ url, query, list, help }} />
    ) : list.rows.length === 0 ? (
      <BeyondEnd url={url} />
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

/** The active filters, each with a link that removes it. */
const FilterTags: FC<{ url: URL; filters: readonly ActiveFilter[] }> = ({ url, filters }) =>
  filters.length === 0 ? null : (
    <ul class="tags" aria-label="Filters">
      {filters.map(({ text, href }) => (
        <li>
          <a href={href}>
            <span class="hidden">Remove filter </span>
            <bdi>{text}</bdi> <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
      {filters.length < 2 ? null : (
        <li>
          <a href={withoutFilters(url)}>Clear all</a>
        </li>
      )}
    </ul>
  );

/** The list without filters, in the same order and window. */
function withoutFilters({ pathname, searchParams }: URL): string {
  const kept = ["sort", "window", "order", "limit"].flatMap((name) =>
    searchParams.getAll(name).map((value): [string, string] => [name, value]),
  );
  // Sorting by relevance needs keywords.
  const query = new URLSearchParams(kept.filter(([, value]) => value !== "relevance"));
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}
