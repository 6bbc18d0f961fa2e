import type { Sort } from "../../lists/lists.js";
import type { ScoreName } from "../../rankings/rankings.js";
import { formatDay } from "./numbers.js";
import type { RepositoryListProps } from "./repository-list.js";

/** What lists of repositories can be sorted by, as people call it. */
export const SORT_NAMES: Readonly<Record<Sort, string>> = {
  relevance: "Best match",
  trending: "Trending",
  rising: "Rising",
  new_hot: "New and hot",
  activity: "Active",
  stars_gained: "Stars gained",
  forks_gained: "Forks gained",
  stars: "Stars",
  forks: "Forks",
  pushed: "Last push",
  created: "Newest",
};

/** The rankings that are offered as feeds, by what they are sorted by. */
const FEEDS: Readonly<Record<string, string>> = {
  trending: "trending",
  rising: "rising",
  new_hot: "new-hot",
  forks_gained: "fork-growth",
  stars: "stars",
};

/** Path of the feed of a sort; undefined where there is none. */
export function feedPath(sort: string): string | undefined {
  const name = FEEDS[sort];
  return name === undefined ? undefined : `/api/feeds/${name}.atom`;
}

const SCORES: Readonly<Record<string, ScoreName>> = {
  trending: "trending",
  rising: "rising",
  new_hot: "newHot",
  activity: "activity",
};

/** What a list shows besides, so that what it is sorted by can be seen in every row. */
export function columnsOf(sort: string): Pick<RepositoryListProps, "metric" | "more"> {
  if (sort === "forks" || sort === "forks_gained") return { metric: "forks" };
  if (sort === "pushed")
    return {
      more: [
        { title: "Pushed", onPhone: "for-gain", cell: ({ repository }) => formatDay(repository.pushedAt) },
      ],
    };
  if (sort === "created")
    return {
      more: [
        { title: "Created", onPhone: "for-gain", cell: ({ repository }) => formatDay(repository.createdAt) },
      ],
    };
  const score = SCORES[sort];
  if (score === undefined) return {};
  return {
    more: [
      { title: "Score", onPhone: "nowhere", cell: ({ trend }) => trend?.scores[score]?.toFixed(1) ?? "–" },
    ],
  };
}
