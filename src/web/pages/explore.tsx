import type { FunctionComponent as FC } from "preact";
import {
  isGrowthSort,
  isSort,
  type ListPage,
  type ListQuery,
  listPage,
  listQuery,
  SORT_DEFINITIONS,
  type UnmatchedValue,
  windowsOf,
} from "../../discovery/discovery.js";
import { addressOf, BeyondEnd, canonicalAddress, WindowTabs, withQuery } from "../components/elements.js";
import { countedBy, FilterChoices, presetGroups } from "../components/filter-choices.js";
import {
  type ActiveFilter,
  type Answerable,
  activeFilters,
  FILTER_FIELDS,
  FilterForm,
  filterText,
} from "../components/filters.js";
import { Alternates, alternatesOf, ListingView, readListing, SortBar } from "../components/listing.js";
import { AsOf, formatCount, repositoriesText } from "../components/numbers.js";
import { RenamedHint } from "../components/repository.js";
import { Nothing } from "../first-run.js";
import { Problems, readQuery, resultOrProblems } from "../page.js";
import type { Page, PageRequest, RenderContext } from "../page-request.js";
import { starScripts, starsOf } from "../saving.js";
import {
  AskForm,
  type Asking,
  FIELD_SCRIPTS,
  offerTracking,
  readAsking,
  TrackButton,
  type TrackingOffer,
} from "../tracking.js";

/** The page shows one ranking at a time. */
const sorted = (query: ListQuery): ListQuery =>
  query.q || query.sort ? query : { ...query, sort: "trending" };

/** All repositories, with every filter and sort. */
export async function showExplore(request: PageRequest): Promise<Page> {
  const description = "Repositories by language, topic, size, age and measured growth.";
  if (request.summary.repositories === 0) return { title: "Explore", description, body: <Nothing /> };
  const explored = await readExplored(request);
  const { url, filters, sort, found, help } = explored;
  return {
    title:
      found === undefined
        ? "Explore"
        : `${titleOf(sort, filters)}: ${help === undefined ? repositoriesText(found.list.total) : "no matches"}`,
    description,
    scripts: ["filters.js", ...FIELD_SCRIPTS, ...starScripts(request)],
    ...(found === undefined
      ? { status: 400 }
      : { showsAge: true, canonical: canonicalAddress(url), alternates: alternatesOf(url, sort) }),
    body: <Explore {...explored} />,
  };
}

type Explored = Awaited<ReturnType<typeof readExplored>>;

async function readExplored(request: PageRequest) {
  const { modules, summary, now } = request;
  const { url, query, ...read } = readQuery(listQuery, request.url);
  const presets = presetGroups({ asOf: summary.asOf, now });
  const [{ languages, topics }, { found, problems }] = await Promise.all([
    modules.rankings.home(),
    resultOrProblems(
      async () => query && { query, ...(await readListing(request, sorted(query), countedBy(presets))) },
    ),
  ]);
  const filters = activeFilters(url);
  const counts = found?.list.counts;
  const known = counts?.known ?? (await modules.lists.knownFacts());
  const isAnswerable: Answerable = (parameter) =>
    parameter === "topic" ? summary.hasTopics : known[parameter];
  const hasNoMatch = found?.list.rows.length === 0 && found.list.page === 1;
  const help = hasNoMatch ? await helpWith(request, { url, filters, query: found.query }) : undefined;
  return {
    url,
    problems: [...read.problems, ...problems],
    found,
    stars: found === undefined ? {} : await starsOf(request, found.list.rows, addressOf(url)),
    sort: found?.list.sort ?? url.searchParams.get("sort") ?? "trending",
    order: found?.query.order ?? "desc",
    filters,
    /** Ways out of an empty list. */
    help,
    ...{ counts, presets, summary, languages, topics, isAnswerable },
  };
}

const Explore: FC<Explored> = (explored, { isStatic }: RenderContext) => {
  const { summary, problems, found } = explored;
  const fields = [...Object.keys(FILTER_FIELDS), "order", "limit"].filter(
    (parameter) => parameter !== "provider" || summary.providers.length > 1,
  );
  return (
    <>
      <h1>Explore</h1>
      <Problems problems={problems} fields={fields} />
      <div class={isStatic ? undefined : "beside"}>
        {isStatic ? null : <Filters {...explored} />}
        <section aria-labelledby="found">
          <SortBar {...explored} />
          {found === undefined ? (
            <h2 id="found" class="count">
              Fix the filters above to see results
            </h2>
          ) : (
            <Found {...explored} {...found} />
          )}
        </section>
      </div>
    </>
  );
};

/** The filters as links and as a form. */
const Filters: FC<Explored> = (explored) => {
  const { problems, filters, found, help } = explored;
  return (
    <details class="filters" open={problems.length > 0}>
      <summary class="button">Filters{filters.length === 0 ? "" : ` (${filters.length})`}</summary>
      {found === undefined ? null : <FilterChoices {...explored} isEmpty={help !== undefined} />}
      <details class="exact" open={problems.length > 0}>
        <summary>More filters</summary>
        <FilterForm {...explored} />
      </details>
    </details>
  );
};

/** The title of a list. */
export function titleOf(sort: string, filters: readonly ActiveFilter[]): string {
  const name = isSort(sort) ? SORT_DEFINITIONS[sort].label : "Explore";
  return [name, ...filters.slice(0, 4).map(({ text }) => text)].join(", ");
}

const Found: FC<Explored & NonNullable<Explored["found"]>> = ({
  url,
  filters,
  summary,
  help,
  query,
  stars,
  list,
  days,
}) => (
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
        {help === undefined ? (
          <small>
            <AsOf at={list.asOf} measured={list.measured} />
          </small>
        ) : null}
      </h2>
      <WindowTabs url={url} current={query.window} windows={windowsOf(list.sort)} />
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
        {...{ list, days, url, query }}
        {...stars}
        caption={`Repositories, growth in ${query.window}`}
        withForge={summary.providers.length > 1}
      />
    )}
    <Alternates url={url} alternates={alternatesOf(url, list.sort)} />
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

/** Ways out of an empty list. */
interface Help {
  /** Lists with results: without one of the filters, or with one word of the search alone. */
  wider: readonly Wider[];
  asking: Asking;
  /** The repository that the search is the address of. */
  offers: readonly TrackingOffer[];
}

interface Wider {
  /** Before the link. */
  label: "Without" | "Only";
  text: string;
  href: string;
  total: number;
}

/** Lists that are tried. */
const MOST_TRIED = 5;

/** Tries wider lists than one that is empty, at most five, and looks whether its search names a repository. */
async function helpWith(
  request: PageRequest,
  { url, filters, query }: { url: URL; filters: readonly ActiveFilter[]; query: ListQuery },
): Promise<Help> {
  // Without its only filter, a list is that of everything.
  const removed = filters.length < 2 ? [] : filters;
  const candidates = [
    ...removed.map(({ text, href }) => ({ label: "Without" as const, text, href })),
    ...wordsOf(query.q ?? "").map((word) => ({
      label: "Only" as const,
      text: filterText("q", word) ?? word,
      href: withQuery(url, { q: word }),
    })),
  ];
  const wider = candidates.slice(0, MOST_TRIED).map(async (candidate): Promise<Wider[]> => {
    const found = await totalOf(request, candidate.href);
    return found === undefined || found === 0 ? [] : [{ ...candidate, total: found }];
  });
  const asking = await readAsking(request);
  const { offers } = await offerTracking(request, asking, query.q === undefined ? [] : [query.q]);
  return { wider: offers.length > 0 ? [] : (await Promise.all(wider)).flat(), asking, offers };
}

/** The parts of a search that may be searched for alone; none of a single word. */
function wordsOf(text: string): string[] {
  const words = [...new Set(text.split(/[\s/]+/).filter((word) => word !== ""))];
  return words.length < 2 ? [] : words;
}

async function totalOf({ modules }: PageRequest, href: string): Promise<number | undefined> {
  const { query } = readQuery(listQuery, new URL(href, "http://localhost"));
  if (query === undefined) return undefined;
  const { found } = await resultOrProblems(() => listPage(modules, { ...query, limit: 1, page: 1 }));
  return found?.total;
}

interface NoMatchesProps {
  url: URL;
  query: ListQuery;
  list: ListPage;
  help: Help;
}

/** The heading of an empty list. */
function noMatchesText(filters: readonly ActiveFilter[]): string {
  if (filters.length === 0) return "This list is empty";
  const [only] = filters;
  return filters.length === 1 && only !== undefined
    ? `No matches for ${only.text}`
    : "No repository matches all of these filters";
}

/** Why a list is empty, and how to get results. */
const NoMatches: FC<NoMatchesProps> = ({ url, query, list, help: { wider, asking, offers } }) => (
  <div class="note no-matches">
    {(list.unmatched ?? []).map((unmatched) => (
      <Unmatched url={url} unmatched={unmatched} />
    ))}
    {query.q === undefined || offers.length > 0 ? null : <p>Nothing has all these words.</p>}
    <TrackButton offers={offers} />
    {query.q === undefined || !asking.isOpen || offers.length > 0 ? null : (
      <AskForm asking={asking} text={query.q} />
    )}
    {wider.length === 0 ? null : (
      <ul>
        {wider.map(({ label, text, href, ...found }) => (
          <li>
            {label} <a href={href}>{text}</a>: {repositoriesText(found.total)}
          </li>
        ))}
      </ul>
    )}
    {isGrowthSort(list.sort) ? (
      <p>
        This list has only repositories with known growth in {query.window}. Try{" "}
        <a href={withQuery(url, { window: windowsOf(list.sort).findLast((one) => one !== query.window) })}>
          another window
        </a>{" "}
        or <a href={withQuery(url, { sort: "stars" })}>sort by stars</a>.
      </p>
    ) : null}
  </div>
);

/** A value of a filter that no repository has, with the one that was probably meant. */
const Unmatched: FC<{ url: URL; unmatched: UnmatchedValue }> = ({ url, unmatched }) => {
  const { parameter, value, nearest, message } = unmatched;
  const others = url.searchParams
    .getAll(parameter)
    .filter((one) => one.toLowerCase() !== value.toLowerCase());
  const meant = parameter === "provider" ? nearest?.toLowerCase() : nearest;
  return (
    <p>
      <bdi>{filterText(parameter, value) ?? value}</bdi>: {message}
      {meant === null || meant === undefined ? null : (
        <>
          {" "}
          Did you mean <a href={withQuery(url, { [parameter]: [...others, meant] })}>{nearest}</a>?
        </>
      )}
    </p>
  );
};
