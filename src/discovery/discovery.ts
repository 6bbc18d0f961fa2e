/**
 * Discovery: lists, search, facets and ranks, answered from a model of the catalogue in memory that follows the changes of the database;
 * ranks of past days and summaries are stored. It only reads repositories, and its numbers come from `growth`.
 */
export { CHANGE_KINDS, ChangeLog, START } from "./changes.js";
export type { BoundFilter, CountRequest, FacetCounts, Precision, ValueCounts } from "./evaluate.js";
export {
  type Facet,
  type FacetDays,
  type FacetGain,
  type FacetKind,
  type FacetPage,
  type FacetSort,
  isCovered,
  RANKED_FROM,
  timesOfDays,
} from "./facets.js";
export { FILTER_NAMES, type FilterName } from "./filters.js";
export { type ListPage, type ListRow, Lists, listPage, measuredAt, watchlistPage } from "./lists.js";
export { LiveModel } from "./live.js";
export { findMeant, readName, type WrittenName } from "./names.js";
export {
  count,
  cursorParameter,
  dayParameter,
  facetSortParameter,
  idParameter,
  idText,
  instantParameter,
  limitParameter,
  nameField,
  pageParameter,
  providerParameter,
  rankingParameter,
  searchText,
  timeParameter,
  windowParameter,
} from "./parameters.js";
export {
  decodeCursor,
  FEEDS,
  filterParameters,
  filterWords,
  isGrowthSort,
  isSort,
  LAST_NUMBERED,
  type ListFilters,
  type ListQuery,
  type ListSpec,
  listKey,
  listQuery,
  listSpec,
  MAIN_SORTS,
  pageOffset,
  type Scope,
  SORT_DEFINITIONS,
  SORTS,
  type Sort,
  WATCHLIST_SORTS,
  type WatchlistQuery,
  watchlistQuery,
  windowsOf,
} from "./query.js";
export { checkRankHistory, type PastRank } from "./rank-history.js";
export type { RankedList } from "./rankings.js";
export { Rankings, Search, type Standing, type SuggestedFacet, type Suggestions } from "./rankings.js";
export { type Leaders, RANK_LIMITS, RANK_SCOPES, type Rank } from "./ranks.js";
export {
  type CountedGroup,
  type CurrentCounters,
  type CurrentSummary,
  catalogueFreshness,
  freshnessOf,
  otherDaysWords,
} from "./summary.js";
export type { RenamedName, UnmatchedValue } from "./unmatched.js";
