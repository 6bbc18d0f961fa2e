import type { FunctionComponent as FC } from "preact";
import { isSort, SORTS, type Sort } from "../../discovery/discovery.js";
import {
  RANKING_DEFINITIONS,
  RANKINGS,
  type RankingDefinition,
  type ScoreName,
} from "../../growth/growth.js";
import type { Answerable } from "./filter-form.js";
import { type Tab, TabLink, withQuery } from "./links.js";
import { formatDay } from "./numbers.js";
import type { ColumnHead, RepositoryListProps, SortableColumn } from "./repository-list.js";

/** The sorts of lists: their names, columns, feeds and links. */

/** Names of the sorts. */
export const SORT_NAMES: Readonly<Record<Sort, string>> = {
  relevance: "Best match",
  trending: RANKING_DEFINITIONS.trending.label,
  rising: RANKING_DEFINITIONS.rising.label,
  "new-hot": RANKING_DEFINITIONS["new-hot"].label,
  "fork-growth": RANKING_DEFINITIONS["fork-growth"].label,
  activity: "Active",
  "stars-gained": RANKING_DEFINITIONS["stars-gained"].label,
  "forks-gained": RANKING_DEFINITIONS["forks-gained"].label,
  "stars-delta": "Stars gained, raw",
  "forks-delta": "Forks gained, raw",
  stars: RANKING_DEFINITIONS.stars.label,
  forks: "Forks",
  pushed: "Last push",
  created: "Newest",
};

/** The sorts by plain differences, offered only beside the sort by the gain that counts. */
const RAW_OF: Readonly<Partial<Record<Sort, Sort>>> = {
  "stars-delta": "stars-gained",
  "forks-delta": "forks-gained",
};

/** The sorts to offer on a page that is sorted by `current`; relevance only with a search text. */
function offeredSorts(current: string, hasText: boolean): Sort[] {
  return SORTS.filter((sort) => {
    const counted = RAW_OF[sort];
    if (counted !== undefined) return current === sort || current === counted;
    return sort !== "relevance" || hasText;
  });
}

const definitionOf = (sort: string): RankingDefinition | undefined => {
  const ranking = RANKINGS.find((name) => name === sort);
  return ranking === undefined ? undefined : RANKING_DEFINITIONS[ranking];
};

/** Path of the feed of a sort; undefined if it has none. */
export function feedPath(sort: string): string | undefined {
  return definitionOf(sort)?.hasFeed ? `/api/feeds/${sort}.atom` : undefined;
}

const scoreOf = (sort: string): ScoreName | null =>
  sort === "activity" ? "activity" : (definitionOf(sort)?.score ?? null);

/** The sorts whose lists show forks instead of stars. */
const FORK_SORTS: readonly string[] = [
  "forks",
  "forks-gained",
  "forks-delta",
  "fork-growth",
] satisfies Sort[];

/** The columns with the values that a list is sorted by. */
export function columnsOf(sort: string): Pick<RepositoryListProps, "metric" | "more" | "marksFirstSeen"> {
  if (sort === "pushed")
    return {
      more: [
        {
          title: "Pushed",
          onPhone: "for-gain",
          sorts: "pushed",
          cell: ({ repository }) => formatDay(repository.pushedAt),
        },
      ],
    };
  if (sort === "created")
    return {
      more: [
        {
          title: "Created",
          onPhone: "for-gain",
          sorts: "created",
          cell: ({ repository }) => formatDay(repository.createdAt),
        },
      ],
    };
  const metric = FORK_SORTS.includes(sort) ? { metric: "forks" as const } : {};
  const score = scoreOf(sort);
  if (score === null) return metric;
  return {
    ...metric,
    marksFirstSeen: sort === "new-hot",
    more: [
      {
        title: "Score",
        onPhone: "nowhere",
        sorts: "score",
        cell: ({ trend }) => trend?.scores[score]?.toFixed(1) ?? "–",
      },
    ],
  };
}

/** The sort of each column that a list can be sorted by at its head. A column of scores has that of the list. */
export const COLUMN_SORTS = {
  stars: "stars",
  forks: "forks",
  starsGained: "stars-gained",
  forksGained: "forks-gained",
  pushed: "pushed",
  created: "created",
} as const satisfies Record<Exclude<SortableColumn, "score">, Sort>;

/** The head of a column: where its link leads, and the `aria-sort` of its cell. */
interface SortHead extends ColumnHead {
  href: string;
}

/**
 * How the head of a column sorts the list at an address: from the highest value first; if the list is sorted so already, in the
 * other direction. `sort` is that of the column.
 */
export function sortHead(url: URL, sort: string, current: { sort: string; order: string }): SortHead {
  const isCurrent = sort === current.sort;
  const isDown = isCurrent && current.order !== "asc";
  return {
    href: withQuery(url, { sort, order: isDown ? "asc" : undefined }),
    sorted: isCurrent ? (isDown ? "descending" : "ascending") : undefined,
  };
}

interface Sorting {
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
}: Sorting): NonNullable<RepositoryListProps["headOf"]> {
  return (column) => {
    const sort = column === "score" ? current : COLUMN_SORTS[column];
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

/** The sorts that are rankings, which have tabs; all others are in the menu. */
const RANKING_TABS: readonly Sort[] = ["trending", "rising", "new-hot", "fork-growth"];

/** The rankings as tabs; the other sorts and the direction in a menu, which works without scripts. */
export const SortBar: FC<SortBarProps> = ({ url, sort, order, isAnswerable }) => {
  const tabOf = (name: Sort): Tab => ({
    name: SORT_NAMES[name],
    href: withQuery(url, { sort: name, order: undefined }),
    isCurrent: name === sort,
  });
  const others = offeredSorts(sort, url.searchParams.has("q")).filter(
    (name) => !RANKING_TABS.includes(name) && (name === sort || isUseful(name, isAnswerable)),
  );
  const isOther = isSort(sort) && others.includes(sort);
  return (
    <div class="sort-bar">
      <nav class="strip" aria-label="Rankings">
        {RANKING_TABS.map((name) => (
          <TabLink {...tabOf(name)} />
        ))}
      </nav>
      <details class="sort-menu" data-menu="">
        <summary class={isOther ? "current" : undefined}>
          {isOther ? `Sort: ${SORT_NAMES[sort]}` : "Sort"}
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

/** Whether any repository has the fact that the sort compares. */
function isUseful(sort: Sort, isAnswerable: Answerable): boolean {
  if (sort === "created") return isAnswerable("createdAfter");
  return sort !== "pushed" || isAnswerable("pushedAfter");
}

const Direction: FC<{ url: URL; order: string }> = ({ url, order }) => (
  <a class="direction" href={withQuery(url, { order: order === "asc" ? undefined : "asc" })}>
    {order === "asc" ? "Highest first" : "Lowest first"}
  </a>
);
