import { SORTS, type Sort } from "../../lists/lists.js";
import {
  RANKING_DEFINITIONS,
  RANKINGS,
  type RankingDefinition,
  type ScoreName,
} from "../../rankings/rankings.js";
import { withQuery } from "./addresses.js";
import { formatDay } from "./numbers.js";
import type { ColumnHead, RepositoryListProps, SortableColumn } from "./repository-list.js";

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
export function offeredSorts(current: string, hasText: boolean): Sort[] {
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

/** The sorts whose lists show forks in place of stars. */
const FORK_SORTS: readonly string[] = [
  "forks",
  "forks-gained",
  "forks-delta",
  "fork-growth",
] satisfies Sort[];

/** The columns that show what a list is sorted by. */
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
export interface SortHead extends ColumnHead {
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
