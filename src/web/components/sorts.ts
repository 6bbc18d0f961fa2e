import type { Sort } from "../../lists/lists.js";
import {
  RANKING_DEFINITIONS,
  RANKINGS,
  type RankingDefinition,
  type ScoreName,
} from "../../rankings/rankings.js";
import { formatDay } from "./numbers.js";
import type { RepositoryListProps } from "./repository-list.js";

/** Names of the sorts. */
export const SORT_NAMES: Readonly<Record<Sort, string>> = {
  relevance: "Best match",
  trending: RANKING_DEFINITIONS.trending.label,
  rising: RANKING_DEFINITIONS.rising.label,
  new_hot: RANKING_DEFINITIONS.new_hot.label,
  activity: "Active",
  stars_gained: RANKING_DEFINITIONS.stars_gained.label,
  forks_gained: RANKING_DEFINITIONS.forks_gained.label,
  stars: RANKING_DEFINITIONS.stars.label,
  forks: "Forks",
  pushed: "Last push",
  created: "Newest",
};

const definitionOf = (sort: string): RankingDefinition | undefined => {
  const ranking = RANKINGS.find((name) => name === sort);
  return ranking === undefined ? undefined : RANKING_DEFINITIONS[ranking];
};

/** Path of the feed of a sort; undefined if it has none. */
export function feedPath(sort: string): string | undefined {
  const slug = definitionOf(sort)?.slug ?? null;
  return slug === null ? undefined : `/api/feeds/${slug}.atom`;
}

const scoreOf = (sort: string): ScoreName | null =>
  sort === "activity" ? "activity" : (definitionOf(sort)?.score ?? null);

/** The columns that show what a list is sorted by. */
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
  const score = scoreOf(sort);
  if (score === null) return {};
  return {
    more: [
      { title: "Score", onPhone: "nowhere", cell: ({ trend }) => trend?.scores[score]?.toFixed(1) ?? "–" },
    ],
  };
}
