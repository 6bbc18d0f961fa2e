import type { FunctionComponent as FC } from "preact";
import {
  type CountRequest,
  FEEDS,
  isSort,
  type ListPage,
  type ListQuery,
  type ListRow,
  listPage,
  SORT_DEFINITIONS,
  SORTS,
  type Sort,
  windowsOf,
} from "../../discovery/discovery.js";
import { readLastDays } from "../../growth/growth.js";
import type { Page, PageRequest } from "../page-request.js";
import type { ListStars } from "../saving.js";
import { wayToCard } from "../share.js";
import { Link, Pager, type Tab, TabLink, Ways, withQuery } from "./elements.js";
import type { Answerable } from "./filters.js";
import { formatDate } from "./numbers.js";
import { RepositoryList, type RepositoryListProps, type SortableColumn } from "./repository-list.js";
import type { Sorting } from "./table.js";

/** The sorts of lists: their places, columns, feeds and links. */

type ListColumns = Pick<RepositoryListProps, "metric" | "first" | "more" | "marksFirstSeen" | "isTrending">;

/** How pages offer a sort, and show the values that it compares. */
interface SortView {
  /** Rankings have tabs; all others are in the menu. */
  isTab?: true;
  /** Whether the menu offers it; absent: always. */
  isOffered?: (page: SortBarProps) => boolean;
  /** The columns with the values that a list is sorted by. */
  columns: ListColumns;
}

const FORKS: ListColumns = { metric: "forks" };

const SORT_VIEWS: Readonly<Record<Sort, SortView>> = {
  relevance: { isOffered: ({ url }) => url.searchParams.has("q"), columns: {} },
  trending: { isTab: true, columns: { isTrending: true } },
  rising: { isTab: true, columns: {} },
  "new-hot": { isTab: true, columns: { marksFirstSeen: true } },
  "stars-gained": { columns: {} },
  "forks-gained": { columns: FORKS },
  // The plain difference is offered next to the gain that counts.
  "stars-delta": { isOffered: isSortedBy("stars-delta", "stars-gained"), columns: {} },
  stars: { columns: { first: "count" } },
  forks: { columns: { ...FORKS, first: "count" } },
  pushed: {
    isOffered: (page) => page.sort === "pushed" || page.isAnswerable("pushedAfter"),
    columns: dayColumn("Pushed", "pushed", ({ repository }) => repository.pushedAt),
  },
  created: {
    isOffered: (page) => page.sort === "created" || page.isAnswerable("createdAfter"),
    columns: dayColumn("Created", "created", ({ repository }) => repository.createdAt),
  },
  // For programs, which follow changes.
  updated: { isOffered: isSortedBy("updated"), columns: {} },
};

function isSortedBy(...sorts: readonly Sort[]): (page: SortBarProps) => boolean {
  return ({ sort }) => sorts.some((name) => name === sort);
}

function dayColumn(title: string, sorts: SortableColumn, of: (row: ListRow) => number | null): ListColumns {
  return { more: [{ head: title, onPhone: "for-gain", sorts, cell: (row) => formatDate(of(row)) }] };
}

/** The columns with the values that a list is sorted by. */
export function columnsOf(sort: string): ListColumns {
  return isSort(sort) ? SORT_VIEWS[sort].columns : {};
}

/** Path of the feed of a sort; undefined if it has none. */
export function feedPath(sort: string): string | undefined {
  return FEEDS.some((name) => name === sort) ? `/api/feeds/${sort}.atom` : undefined;
}

/** The sort of each column that a list can be sorted by at its head. */
export const COLUMN_SORTS = {
  stars: "stars",
  forks: "forks",
  starsGained: "stars-gained",
  forksGained: "forks-gained",
  rising: "rising",
  pushed: "pushed",
  created: "created",
} as const satisfies Record<SortableColumn, Sort>;

/**
 * How the head of a column sorts the list at an address: from the highest value first; if the list is sorted so already, in the
 * other direction. `sort` is that of the column.
 */
export function sortHead(url: URL, sort: string, current: { sort: string; order: string }): Sorting {
  const isCurrent = sort === current.sort;
  const isDown = isCurrent && current.order !== "asc";
  return {
    href: withQuery(url, { sort, order: isDown ? "asc" : undefined }),
    sorted: isCurrent ? (isDown ? "descending" : "ascending") : undefined,
  };
}

interface ListSorting {
  url: URL;
  sorts: readonly string[] | undefined;
  sort: string;
  order: string;
  hasOrder: boolean;
}

/** How the heads of a list sort it. `sorts`: default all. Without `hasOrder`, the head that it is sorted by is no link. */
export function headsOf({
  url,
  sort: current,
  order,
  sorts,
  hasOrder,
}: ListSorting): NonNullable<RepositoryListProps["headOf"]> {
  return (column) => {
    const sort = COLUMN_SORTS[column];
    if (sorts !== undefined && !sorts.includes(sort)) return undefined;
    const head = sortHead(url, sort, { sort: current, order });
    return head.sorted !== undefined && !hasOrder ? { sorted: head.sorted } : head;
  };
}

interface SortBarProps {
  url: URL;
  /** The sort of the page; an unknown text if its parameter is invalid. */
  sort: string;
  order: string;
  isAnswerable: Answerable;
}

/** The tab of a sort, which leads to another window of it if it does not have the present one. */
export function sortTab(url: URL, name: Sort, current: string | undefined): Tab {
  const windows = windowsOf(name);
  const hasWindow = windows.some((window) => window === (url.searchParams.get("window") ?? window));
  const window = hasWindow ? {} : { window: windows.at(-1) };
  return {
    name: SORT_DEFINITIONS[name].label,
    href: withQuery(url, { sort: name, order: undefined, ...window }),
    isCurrent: name === current,
  };
}

/** The rankings as tabs; the other sorts and the direction in a menu, which works without scripts. */
export const SortBar: FC<SortBarProps> = (page) => {
  const { url, sort, order } = page;
  const tabOf = (name: Sort) => sortTab(url, name, sort);
  const others = SORTS.filter((name) => {
    const { isTab = false, isOffered } = SORT_VIEWS[name];
    return !isTab && (isOffered === undefined || isOffered(page));
  });
  const isOther = isSort(sort) && others.includes(sort);
  return (
    <div class="sort-bar">
      <nav class="strip" aria-label="Rankings">
        {SORTS.filter((name) => SORT_VIEWS[name].isTab).map((name) => (
          <TabLink {...tabOf(name)} />
        ))}
      </nav>
      <details class="sort-menu" data-menu="">
        <summary class={isOther ? "current" : undefined}>
          {isOther ? `Sort: ${SORT_DEFINITIONS[sort].label}` : "Sort"}
          {order === "asc" && sort !== "relevance" ? ", lowest first" : ""}
        </summary>
        <nav aria-label="Sort by">
          {others.map((name) => (
            <TabLink {...tabOf(name)} />
          ))}
          {sort === "relevance" ? null : <Direction url={url} order={order} />}
        </nav>
      </details>
    </div>
  );
};

const Direction: FC<{ url: URL; order: string }> = ({ url, order }) => (
  <Link class="direction" href={withQuery(url, { order: order === "asc" ? undefined : "asc" })} isControl>
    {order === "asc" ? "Highest first" : "Lowest first"}
  </Link>
);

/** Lists of repositories on pages of their own: read, shown with a pager, and in other formats. */

/** A page of a list with sparklines. */
export interface Listing {
  list: ListPage;
  days: ReadonlyMap<number, readonly (number | null)[]>;
}

/** Reads a page of a list with its sparklines. Throws as `listPage` does. */
export async function readListing(
  { modules }: Pick<PageRequest, "modules">,
  query: ListQuery,
  counted?: CountRequest,
): Promise<Listing> {
  const list = await listPage(modules, query, { counted });
  const ids = list.rows.map(({ repository }) => repository.id);
  const days = await readLastDays(modules.database, ids);
  return { list, days };
}

interface ListingViewProps extends Listing, ListStars {
  url: URL;
  query: Pick<ListQuery, "limit" | "order">;
  caption: string;
  withForge: boolean;
  withLanguage?: boolean;
  /** The sorts that the page knows; absent: all. */
  sorts?: readonly string[];
  /** Whether the page can be sorted from the lowest value. */
  hasOrder?: boolean;
}

/** The rows with their ranks, and the pager. */
export const ListingView: FC<ListingViewProps> = ({
  list,
  days,
  url,
  query: { limit, order },
  caption,
  withForge,
  withLanguage = true,
  sorts,
  hasOrder = true,
  ...stars
}) => (
  <>
    <RepositoryList
      rows={list.rows}
      caption={caption}
      {...(list.page === null ? {} : { from: (list.page - 1) * limit + 1 })}
      days={days}
      withForge={withForge}
      withLanguage={withLanguage}
      headOf={headsOf({ url, sort: list.sort, order, sorts, hasOrder })}
      {...stars}
      {...columnsOf(list.sort)}
    />
    <Pager url={url} limit={limit} {...list} />
  </>
);

type Alternate = NonNullable<Page["alternates"]>[number];

/** Other formats of the list at this address of the explore page: JSON, CSV, and a feed if its sort has one. */
export function alternatesOf(url: URL, sort: string): Alternate[] {
  const data = new URL(url);
  data.pathname = "/api/repos";
  const feed = feedPath(sort);
  const feedUrl = new URL(url);
  feedUrl.pathname = feed ?? "";
  const unordered = { sort: undefined, order: undefined, limit: undefined };
  // Feeds default to a week, lists to a day.
  const window = url.searchParams.get("window") ?? "24h";
  return [
    { type: "text/csv", href: withQuery(data, { format: "csv", limit: "100" }), title: "CSV" },
    { type: "application/json", href: withQuery(data, {}), title: "JSON" },
    ...(feed === undefined
      ? []
      : [
          {
            type: "application/atom+xml",
            href: withQuery(feedUrl, { ...unordered, window }),
            title: "Atom feed",
          },
        ]),
  ];
}

/** Links to the list in other formats. */
export const Alternates: FC<{ url: URL; alternates: readonly Alternate[] }> = ({ url, alternates }) => (
  <Ways
    lead="Download: "
    links={[...alternates.map(({ title, href }) => [title, href] as const), wayToCard(url)]}
  />
);
