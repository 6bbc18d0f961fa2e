import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  type Facet,
  type FacetDays,
  type FacetKind,
  type FacetPage,
  type FacetSort,
  facetSortParameter,
  pageParameter,
  RANKED_FROM,
  windowParameter,
} from "../../discovery/discovery.js";
import { BeyondEnd, canonicalAddress, Link, Pager, WindowTabs, withQuery } from "../components/elements.js";
import { FacetCards, FacetLead, FacetName, KINDS, readCards } from "../components/facet-cards.js";
import { AsOf, FacetDelta, formatCompact, formatCount } from "../components/numbers.js";
import { Bars } from "../components/small-charts.js";
import { type Column, Table } from "../components/table.js";
import { Nothing } from "../first-run.js";
import { Problems, readQuery } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";

/** Rows of a page of the table, and cards below the lead. */
const LIMIT = 50;
const CARDS = 12;
/** Facets beyond these pages are not sorted. */
const MAX_PAGE = 200;

export const facetsQuery = z.object({
  // The list begins with the growing ones: the numbers of repositories are much alike.
  sort: facetSortParameter.removeDefault().default("stars-gained"),
  window: windowParameter,
  view: z.enum(["cards", "table"]).default("cards"),
  page: pageParameter.refine((page = 1) => page <= MAX_PAGE, `must be a whole number from 1 to ${MAX_PAGE}`),
});
type FacetsQuery = z.output<typeof facetsQuery>;

const SORT_NAMES: Readonly<Record<FacetSort, string>> = {
  "stars-gained": "Most gained",
  stars: "Most stars",
  "repository-count": "Most repositories",
};

/** All languages, or all topics: the first as cards, or all of them in a table. */
export const showFacets =
  (kind: FacetKind) =>
  async (request: PageRequest): Promise<Page> => {
    const { summary, modules } = request;
    const { title, many } = KINDS[kind];
    const description = `${title} by repositories, stars and measured growth.`;
    if (summary.repositories === 0) return { title, description, body: <Nothing leadsHome /> };
    const { url, query, problems } = readQuery(facetsQuery, request.url);
    const { languages, topics } = await modules.rankings.summary();
    const known = kind === "language" ? languages : topics;
    const isTable = query?.view === "table" || (query?.page ?? 1) > 1;
    const show = isTable ? tableOf : cardsOf;
    return {
      title,
      description,
      ...(query ? { showsAge: true, canonical: canonicalAddress(url) } : { status: 400 }),
      body: (
        <>
          <div class="mast">
            <div>
              <h1>{title}</h1>
              <p class="soft">
                {known === 0 ? "No" : formatCount(known)} {many}. Each bar is a day.{" "}
                <AsOf at={summary.asOf} />
              </p>
            </div>
            {known === 0 ? null : <Controls {...{ url, query, isTable }} />}
          </div>
          <Problems problems={problems} />
          {query === undefined || known === 0 ? null : await show(request, { kind, url, query, known })}
        </>
      ),
    };
  };

/** The one line of controls: the window, the order, and cards or a table. */
const Controls: FC<{ url: URL; query: FacetsQuery | undefined; isTable: boolean }> = ({
  url,
  query,
  isTable,
}) => (
  <div>
    <WindowTabs url={url} current={query?.window} />
    <details class="menu pick" data-menu="">
      <summary>{SORT_NAMES[query?.sort ?? "stars-gained"]}</summary>
      <div>
        {Object.entries(SORT_NAMES).map(([sort, name]) => (
          <Link
            href={withQuery(url, { sort })}
            aria-current={sort === query?.sort ? "true" : undefined}
            isControl
          >
            {name}
          </Link>
        ))}
      </div>
    </details>
    <Link
      class={isTable ? "button" : "button roomy"}
      href={withQuery(url, { view: isTable ? undefined : "table" })}
      isControl
    >
      {isTable ? "Cards" : "Table"}
    </Link>
  </div>
);

interface FacetsProps {
  kind: FacetKind;
  url: URL;
  query: FacetsQuery;
  /** How many there are. */
  known: number;
}

/** The most unusual one, or else the first, as a story; then the first others. */
async function cardsOf({ modules, summary }: PageRequest, { kind, url, query, known }: FacetsProps) {
  const { rankings } = modules;
  const { sort, window } = query;
  const { facets } = await rankings.facets({ kind, sort, window, limit: CARDS + 1, offset: 0 });
  const most = sort === "stars-gained" ? facets[0]?.name : undefined;
  const totals = await rankings.findFacet(kind, (await rankings.hottest(kind, window)) ?? most ?? "");
  const leads = totals === undefined ? [] : [{ ...totals, ...totals.gained[window] }];
  const lead = leads.find(({ starsGained }) => starsGained > 0);
  const others = facets.filter(({ name }) => name !== lead?.name).slice(0, CARDS);
  const cards = await readCards(modules, lead ? [lead, ...others] : others, { kind, window });
  const first = lead && cards.shift();
  const shared = { kind, window, end: summary.asOf ?? 0 };
  return (
    <>
      {first === undefined ? null : <FacetLead {...shared} shown={first} />}
      <FacetCards {...shared} sort={sort} cards={cards} />
      {known <= CARDS ? null : (
        <Link href={withQuery(url, { view: "table" })} isControl>
          All {formatCount(known)} {KINDS[kind].many}
        </Link>
      )}
    </>
  );
}

async function tableOf({ modules: { rankings } }: PageRequest, { kind, url, query }: FacetsProps) {
  const { sort, window, page = 1 } = query;
  const offset = (page - 1) * LIMIT;
  const found = await rankings.facets({ kind, sort, window, limit: LIMIT, offset });
  const names = found.facets.map(({ name }) => name);
  return <FacetTable {...{ kind, url, query, found }} days={await rankings.facetDays(kind, names)} />;
}

type TableProps = Omit<FacetsProps, "known"> & { found: FacetPage; days: ReadonlyMap<string, FacetDays> };

const FacetTable: FC<TableProps> = (props) => {
  const { kind, url, query, found } = props;
  const { facets: rows, total, totalIsExact } = found;
  const { sort, page = 1 } = query;
  if (rows.length === 0) return <BeyondEnd url={url} />;
  return (
    <>
      <Table
        label={`${KINDS[kind].title}: ${SORT_NAMES[sort].toLowerCase()}`}
        class="list facets"
        columns={columnsOf(props)}
        rows={rows}
      />
      <Pager {...{ url, page, total }} limit={LIMIT} hasMore={page * LIMIT < total} nextCursor={null} />
      {sort !== "stars-gained" || rows.every(({ measured }) => measured >= RANKED_FROM) ? null : (
        <p class="soft small">Small ones last.</p>
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

function columnsOf({ kind, url, query: { sort, window, page = 1 }, days }: TableProps): Column<Facet>[] {
  const sorted = (name: FacetSort, column: Pick<Column<Facet>, "head" | "cell">): Column<Facet> => ({
    ...column,
    isNumber: true,
    sorting:
      name === sort ? { sorted: "descending" } : { href: withQuery(url, { sort: name }), sorted: undefined },
  });
  return [
    { head: <abbr title="Rank">#</abbr>, class: "rank", cell: (_, i) => (page - 1) * LIMIT + i + 1 },
    {
      head: KINDS[kind].one,
      isName: true,
      class: "title",
      cell: ({ name }) => <FacetName {...{ kind, name, window }} />,
    },
    sorted("repository-count", {
      head: <abbr title="Repositories">Repos</abbr>,
      cell: ({ repositories }) => formatCount(repositories),
    }),
    sorted("stars", { head: "Stars", cell: ({ stars }) => formatCompact(stars) }),
    {
      head: "30 days",
      class: "of-days spare",
      cell: ({ name }) => <Bars values={days.get(name)?.gains ?? []} />,
    },
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
