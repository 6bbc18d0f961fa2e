/** The content of the first page. */
import { perWindow, type Ranking, type Window } from "../growth/growth.js";
import { type Facet, inWindow } from "./facets.js";
import type { LoadedModel } from "./memory/live-model.js";
import type { Leaders } from "./ranks/heads.js";

/** Rows of each list on the first page. */
const ROWS = 10;

/** The top of a ranking. */
export interface RankedList {
  window: "24h" | "7d";
  /** Whether 7 days replace 24 hours, for which too little is known. */
  isFallback: boolean;
  ids: readonly number[];
}

/** The languages and topics that gained most stars in a window, the greatest gain first. */
interface GainingFacets {
  languages: readonly Facet[];
  topics: readonly Facet[];
}

export interface Home {
  trending: RankedList;
  rising: RankedList;
  newHot: RankedList;
  forkGrowth: RankedList;
  languages: Facet[];
  topics: Facet[];
  /** Those that gained most, by window. */
  gaining: Readonly<Record<Window, GainingFacets>>;
}

export async function homeOf({ ranks, facets }: LoadedModel): Promise<Home> {
  const leaders = (await ranks.get()).leaders({ scope: "overall", name: "", limit: ROWS });
  const [languages, topics] = [await facets.of("language"), await facets.of("topic")];
  return {
    trending: rankedList(leaders, "trending"),
    rising: rankedList(leaders, "rising"),
    newHot: rankedList(leaders, "new-hot"),
    forkGrowth: rankedList(leaders, "fork-growth"),
    languages: languages.frequent.slice(0, ROWS).map((facet) => inWindow(facet, "24h")),
    topics: topics.frequent.slice(0, ROWS).map((facet) => inWindow(facet, "24h")),
    gaining: perWindow((window) => ({
      languages: languages.gaining[window],
      topics: topics.gaining[window],
    })),
  };
}

/** The list of 24 hours, or that of 7 days if the first is not full and the second is longer. */
function rankedList(leaders: Leaders, ranking: Ranking): RankedList {
  const day = leaders(ranking, "24h");
  const week = day.length >= ROWS ? [] : leaders(ranking, "7d");
  return week.length > day.length
    ? { window: "7d", isFallback: true, ids: week }
    : { window: "24h", isFallback: false, ids: day };
}
