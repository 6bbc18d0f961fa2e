/**
 * Discovery: lists, search, facets and ranks, answered from a model of the catalogue in memory that follows the changes of the database;
 * ranks of past days and summaries are stored. It only reads repositories, and its numbers come from `growth`.
 */
export { CHANGE_KINDS, ChangeLog, START } from "./changes.js";
export type { Facet, FacetGain, FacetKind, FacetPage, FacetSort } from "./facets.js";
export { isCovered, RANKED_FROM } from "./facets.js";
export { type CountedGroup, freshnessOf, otherDaysWords } from "./freshness.js";
export type { RankedList } from "./home.js";
export { FILTER_NAMES, type FilterName } from "./lists/filters.js";
export { type ListPage, Lists, listPage, watchlistPage } from "./lists/lists.js";
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
} from "./lists/parameters.js";
export {
  filterParameters,
  filterWords,
  type ListFilters,
  type ListQuery,
  listQuery,
  listSpec,
  pageOffset,
  type WatchlistQuery,
  watchlistQuery,
} from "./lists/query.js";
export { type ListRow, measuredAt } from "./lists/rows.js";
export { isGrowthSort, isSort, SORT_DEFINITIONS, SORTS, type Sort, WATCHLIST_SORTS } from "./lists/sorts.js";
export {
  decodeCursor,
  LAST_NUMBERED,
  type ListSpec,
  listKey,
  type Scope,
} from "./lists/spec.js";
export type { RenamedName, UnmatchedValue } from "./lists/unmatched.js";
export type { BoundFilter, CountRequest, FacetCounts, Precision, ValueCounts } from "./memory/counts.js";
export { LiveModel } from "./memory/live-model.js";
export { findMeant, readName, type WrittenName } from "./names.js";
export { Rankings, type Standing } from "./rankings.js";
export { type Leaders, RANK_LIMITS } from "./ranks/heads.js";
export { RANK_SCOPES, type Rank } from "./ranks/rank.js";
export { checkRankHistory, type PastRank } from "./ranks/rank-history.js";
export { Search, type SuggestedFacet, type Suggestions } from "./search/search.js";
export { type CurrentSummary, catalogueFreshness, type Summary } from "./summary.js";
